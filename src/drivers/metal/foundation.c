// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// foundation.c: the little of Foundation that the driver needs: strings,
// arrays, errors, blocks.
#include <string.h>

#include "drivers/metal/objc.h"

id metal_new(const char *class_name) {
  return GET_OBJECT(GET_OBJECT(metal.get_class(class_name), alloc), init);
}

void metal_release(id object) {
  if (object) {
    CALL(object, release);
  }
}

id metal_retain(id object) {
  return object ? GET_OBJECT(object, retain) : NULL;
}

id metal_string(const char *text, unsigned long length_bytes) {
  enum { UTF8 = 4 };  // NSUTF8StringEncoding
  return SEND(id(*)(id, SEL, const void *, unsigned long, unsigned long),
              GET_OBJECT(metal.get_class("NSString"), alloc), initWithBytes,
              text, length_bytes, (unsigned long)UTF8);
}

const char *metal_text(id string) {
  const char *text =
      string ? SEND(const char *(*)(id, SEL), string, utf8String) : NULL;
  return text ? text : "";
}

id metal_array(const id *objects, unsigned long count) {
  return SEND(id(*)(id, SEL, const id *, unsigned long),
              metal.get_class("NSArray"), arrayWithObjects, objects, count);
}

void metal_label(id object, const char *label) {
  if (!label || !*label) {
    return;
  }
  const id string = metal_string(label, strlen(label));
  if (string) {
    SET_OBJECT(object, setLabel, string);
    metal_release(string);
  }
}

// MTLCommandBufferError and MTLLibraryError.
static mtl_status command_buffer_status(unsigned long code) {
  switch (code) {
    case 2: return MTL_TIMED_OUT;
    case 3: return MTL_KERNEL_FAULT;      // page fault
    case 8: return MTL_OUT_OF_MEMORY;
    case 9: return MTL_INVALID_ARGUMENT;  // invalid resource
    case 12: return MTL_KERNEL_FAULT;     // stack overflow
    default: return MTL_INVALID_STATE;
  }
}

static mtl_status library_status(unsigned long code) {
  switch (code) {
    case 1: return MTL_UNSUPPORTED;
    case 3: return MTL_COMPILE_FAILED;
    case 5: return MTL_NOT_FOUND;  // function
    case 6: return MTL_NOT_FOUND;  // file
    default: return MTL_INVALID_ARGUMENT;
  }
}

// Mettle's own Metal reports which of our statuses it was.
static bool own_status(id error, mtl_status *out_status) {
  const id info = error ? GET_OBJECT(error, userInfo) : NULL;
  const id key = metal_string("MettleStatus", 12);
  const id value =
      info ? SEND(id(*)(id, SEL, id), info, objectForKey, key) : NULL;
  metal_release(key);
  *out_status =
      value ? (mtl_status)GET_NUMBER(value, unsignedLongValue) : MTL_OK;
  return *out_status != MTL_OK;
}

mtl_status metal_status(id error) {
  mtl_status own;
  if (own_status(error, &own)) {
    return own;
  }
  const unsigned long code = error ? GET_NUMBER(error, code) : 0;
  const char *domain = error ? metal_text(GET_OBJECT(error, domain)) : "";
  return strcmp(domain, "MTLLibraryErrorDomain") == 0
             ? library_status(code)
             : command_buffer_status(code);
}

mtl_status metal_fail(id error, const char *what) {
  const char *text =
      error ? metal_text(GET_OBJECT(error, localizedDescription)) : "";
  return *text ? mtli_fail_text(metal_status(error), text)
               : mtli_fail(MTL_OUT_OF_MEMORY, "%s gave nothing", what);
}

// --- blocks ------------------------------------------------------------------

static void block_copy(void *to, const void *from) {
  mtli_object_retain(((const metal_block *)from)->object);  // +1
  ((metal_block *)to)->object = ((const metal_block *)from)->object;
}

static void block_dispose(const void *block) {
  mtli_object_release(((const metal_block *)block)->object);  // -1
}

metal_block metal_block_of(void (*invoke)(void), mtli_object *object) {
  static const metal_block_layout layout = {
      .size = sizeof(metal_block), .copy = block_copy, .dispose = block_dispose};
  enum { HAS_COPY_DISPOSE = 1 << 25 };
  return (metal_block){.isa = metal.stack_block,
                       .flags = HAS_COPY_DISPOSE,
                       .invoke = invoke,
                       .layout = &layout,
                       .object = object};
}
