// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// data.c: dispatch_data_t: one contiguous piece of memory, which is an NSData
// too.
#include <stdlib.h>
#include <string.h>

#include "objc/dispatch/dispatch.h"
#include "objc/runtime/class.h"
#include "objc/runtime/define.h"
#include "objc/runtime/failure.h"
#include "objc/runtime/memory/block.h"
#include "objc/runtime/memory/instance.h"
#include "objc/runtime/message/message.h"

typedef struct dispatch_data {
  struct objc_object object;
  const void *bytes;
  size_t length;
  id destructor;  // a block to call at the end, or nil for free
  id kept;  // the owner of the bytes, or nil
} dispatch_data;

extern struct objc_class OBJC_CLASS_$_OS_dispatch_data;

// DISPATCH_DATA_DESTRUCTOR_DEFAULT is NULL: the bytes are copied. These two
// take them over.
OBJC_EXPORT id const _dispatch_data_destructor_free = (id)1;
OBJC_EXPORT id const _dispatch_data_destructor_munmap = (id)2;

static dispatch_data *create(const void *bytes, size_t length) {
  dispatch_data *made = (dispatch_data *)instance_create(
      &OBJC_CLASS_$_OS_dispatch_data, 0);
  if (!made) {
    runtime_fail("no memory for dispatch data");
  }
  made->bytes = bytes;
  made->length = length;
  return made;
}

OBJC_EXPORT id dispatch_data_create(const void *bytes, size_t length, id queue,
                                    id destructor) {
  (void)queue;
  if (destructor == _dispatch_data_destructor_free) {
    return &create(bytes, length)->object;
  }
  if (destructor && destructor != _dispatch_data_destructor_munmap) {
    dispatch_data *made = create(bytes, length);
    made->destructor = _Block_copy(destructor);
    return &made->object;
  }
  void *copy = malloc(length + 1);
  if (!copy) {
    runtime_fail("no memory for dispatch data of %zu bytes", length);
  }
  memcpy(copy, bytes, length);
  return &create(copy, length)->object;
}

static void data_dealloc(id self, SEL _cmd) {
  (void)_cmd;
  dispatch_data *of = (dispatch_data *)self;
  if (of->destructor) {
    BLOCK_CALL(void (*)(id), of->destructor);
    _Block_release(of->destructor);
  } else if (of->kept) {
    objc_release(of->kept);
  } else {
    free((void *)of->bytes);
  }
  instance_dispose(self);
}

static const void *data_bytes(id self, SEL _cmd) {
  (void)_cmd;
  return ((dispatch_data *)self)->bytes;
}

static size_t data_length(id self, SEL _cmd) {
  (void)_cmd;
  return ((dispatch_data *)self)->length;
}

extern struct objc_class OBJC_CLASS_$_OS_dispatch_object;
METHODS(data_methods, METHOD("dealloc", "v16@0:8", data_dealloc),
        METHOD("bytes", "^v16@0:8", data_bytes),
        METHOD("length", "Q16@0:8", data_length));
DEFINE_CLASS(OS_dispatch_data, OS_dispatch_object, sizeof(dispatch_data),
             data_methods, NO_METHODS);

OBJC_EXPORT size_t dispatch_data_get_size(id data) {
  return data ? data_length(data, NULL) : 0;
}

OBJC_EXPORT id dispatch_data_create_map(id data, const void **out_bytes,
                                        size_t *out_length) {
  size_t length = 0;
  const void *bytes = dispatch_data_bytes(data, &length);
  if (out_bytes) {
    *out_bytes = bytes;
  }
  if (out_length) {
    *out_length = length;
  }
  dispatch_data *made = create(bytes, length);
  made->kept = objc_retain(data);
  return &made->object;
}

// Returns a part of data, which it keeps.
OBJC_EXPORT id dispatch_data_create_subrange(id data, size_t offset,
                                             size_t length) {
  size_t all;
  const char *bytes = dispatch_data_bytes(data, &all);
  offset = offset < all ? offset : all;
  dispatch_data *made =
      create(bytes + offset, length < all - offset ? length : all - offset);
  made->kept = objc_retain(data);
  return &made->object;
}

OBJC_EXPORT id dispatch_data_create_concat(id one, id other) {
  size_t first, second;
  const void *head = dispatch_data_bytes(one, &first);
  const void *tail = dispatch_data_bytes(other, &second);
  char *both = malloc(first + second + 1);
  if (!both) {
    runtime_fail("no memory for dispatch data of %zu bytes", first + second);
  }
  memcpy(both, head ? head : "", first);
  memcpy(both + first, tail ? tail : "", second);
  return &create(both, first + second)->object;
}

// There is one piece.
OBJC_EXPORT _Bool dispatch_data_apply(id data, id literal) {
  size_t length;
  const void *bytes = dispatch_data_bytes(data, &length);
  return !length || BLOCK_CALL(_Bool(*)(id, id, size_t, const void *, size_t),
                               literal, data, (size_t)0, bytes, length);
}

const void *dispatch_data_bytes(id data, size_t *out_length) {
  if (!data || !class_getMethodImplementation(data->isa, SELECTOR("bytes"))) {
    *out_length = 0;
    return NULL;
  }
  *out_length = SEND(size_t(*)(id, SEL), data, "length");
  return SEND(const void *(*)(id, SEL), data, "bytes");
}
