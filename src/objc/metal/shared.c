// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// shared.c: errors, labels, sizes and handlers, which the files of Metal's
// objects share.
#include <stdio.h>
#include <stdlib.h>

#include "objc/metal/metal.h"
#include "objc/runtime/failure.h"
#include "objc/runtime/memory/block.h"

CONSTANT_STRING(MTLLibraryErrorDomain, "MTLLibraryErrorDomain");
CONSTANT_STRING(MTLCommandBufferErrorDomain, "MTLCommandBufferErrorDomain");
CONSTANT_STRING(MTLDeviceError, "MTLDeviceError");
CONSTANT_STRING(MTLLogStateErrorDomain, "MTLLogStateErrorDomain");
CONSTANT_STRING(MTLCommandBufferEncoderInfoErrorKey,
                "MTLCommandBufferEncoderInfoErrorKey");

// MTLLibraryError and MTLCommandBufferError, by Apple's documentation.
static NSInteger library_code(mtl_status status) {
  switch (status) {
    case MTL_UNSUPPORTED: return 1;     // unsupported
    case MTL_COMPILE_FAILED: return 3;  // compile failure
    case MTL_NOT_FOUND: return 5;       // function not found
    case MTL_IO_ERROR: return 6;        // file not found
    default: return 2;                  // internal
  }
}

static NSInteger command_buffer_code(mtl_status status) {
  switch (status) {
    case MTL_TIMED_OUT: return 2;
    case MTL_KERNEL_FAULT: return 3;      // page fault
    case MTL_OUT_OF_MEMORY: return 8;
    case MTL_INVALID_ARGUMENT: return 9;  // invalid resource
    default: return 1;                    // internal
  }
}

extern struct objc_class OBJC_CLASS_$_NSNumber;

// userInfo has the Mettle status, which the codes do not distinguish.
void error_from_mettle(id *out_error, id domain, mtl_status status) {
  if (!out_error) {
    error_tell(domain, mtl_last_error());
  } else {
    const bool is_library = domain == MTLLibraryErrorDomain;
    *out_error = error_make_with(
        domain, is_library ? library_code(status) : command_buffer_code(status),
        mtl_last_error(), "MettleStatus",
        SEND(id(*)(id, SEL, NSUInteger), (id)&OBJC_CLASS_$_NSNumber,
             "numberWithUnsignedLong:", (NSUInteger)status));
  }
}

id label_make(const char *label) {
  return label && *label ? string_make(label) : NULL;
}

void metal_assert(const char *format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  if (runtime_raises_assertions()) {
    exception_raise("NSInvalidArgumentException", "%s", text);
  }
  runtime_fail("failed assertion: %s", text);
}

static const mtl_texture_type texture_types[] = {
    MTL_TEXTURE_1D,
    MTL_TEXTURE_1D_ARRAY,
    MTL_TEXTURE_2D,
    MTL_TEXTURE_2D_ARRAY,
    MTL_TEXTURE_2D_MULTISAMPLE,
    MTL_TEXTURE_CUBE,
    MTL_TEXTURE_CUBE_ARRAY,
    MTL_TEXTURE_3D,
    MTL_TEXTURE_2D_MULTISAMPLE_ARRAY,
    MTL_TEXTURE_BUFFER,
};
enum { TEXTURE_TYPES = sizeof texture_types / sizeof *texture_types };

// Any other number is an unknown type, which is refused with its value.
mtl_texture_type texture_type_of(NSUInteger number) {
  return number < TEXTURE_TYPES ? texture_types[number]
                                : (mtl_texture_type)(number + 1);
}

NSUInteger texture_type_number(mtl_texture_type type) {
  NSUInteger number = 0;
  while (number < TEXTURE_TYPES && texture_types[number] != type) {
    ++number;
  }
  return number;
}

mtl_storage_mode storage_mode_of(NSUInteger options) {
  switch (options >> 4 & 15) {
    case STORAGE_MANAGED: return MTL_STORAGE_MANAGED;
    case STORAGE_PRIVATE:
    case STORAGE_MEMORYLESS: return MTL_STORAGE_PRIVATE;
    default: return MTL_STORAGE_SHARED;
  }
}

mtl_hazard_tracking hazard_tracking_of(NSUInteger options) {
  return (options >> 8 & 3) == HAZARD_UNTRACKED ? MTL_HAZARD_UNTRACKED
                                                : MTL_HAZARD_TRACKED;
}

static uint32_t side(NSUInteger length) {
  return length > UINT32_MAX ? UINT32_MAX : (uint32_t)length;
}

mtl_size size_of(MTLSize size) {
  return (mtl_size){side(size.width), side(size.height), side(size.depth)};
}

mtl_region region_of(MTLOrigin origin, MTLSize size) {
  return (mtl_region){side(origin.x),    side(origin.y),    side(origin.z),
                      side(size.width), side(size.height), side(size.depth)};
}

bool is_buffer(id object) {
  return object && object->isa == &OBJC_CLASS_$_MettleBuffer;
}

size_t array_of_buffers(const id *objects, NSUInteger count,
                        mtl_buffer **out_buffers) {
  size_t found = 0;
  for (NSUInteger i = 0; i < count; ++i) {
    if (is_buffer(objects[i])) {
      out_buffers[found++] = buffer_of(objects[i]);
    }
  }
  return found;
}

// --- Handlers ----------------------------------------------------------------

bool handlers_add(handler **list, id literal) {
  handler *made = malloc(sizeof *made);
  if (!made) {
    return false;
  }
  *made = (handler){NULL, _Block_copy(literal)};
  while (*list) {
    list = &(*list)->next;
  }
  *list = made;
  return true;
}

void handlers_free(handler *list) {
  while (list) {
    handler *each = list;
    list = each->next;
    _Block_release(each->literal);
    free(each);
  }
}

void handlers_call(handler *list, id object) {
  for (const handler *each = list; each; each = each->next) {
    BLOCK_CALL(void (*)(id, id), each->literal, object);
  }
  handlers_free(list);
}
