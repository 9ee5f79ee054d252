// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// object.h: the reference count that every public object starts with.
#ifndef MTLI_OBJECT_H
#define MTLI_OBJECT_H

#include <stdatomic.h>
#include <stdint.h>

typedef struct mtli_object mtli_object;

// Ends an object whose last reference is gone, on the thread that dropped it.
typedef void mtli_object_destroy_fn(mtli_object *object);

struct mtli_object {
  _Atomic uint32_t references;
  mtli_object_destroy_fn *destroy;
};

// Starts with one reference.
static inline void mtli_object_init(mtli_object *object,
                                    mtli_object_destroy_fn *destroy) {
  atomic_init(&object->references, 1);
  object->destroy = destroy;
}

static inline void mtli_object_retain(mtli_object *object) {
  // Relaxed: whoever retains already has a reference to build on.
  atomic_fetch_add_explicit(&object->references, 1, memory_order_relaxed);
}

static inline void mtli_object_release(mtli_object *object) {
  // Acquire and release: what other owners did happens before destroy.
  if (atomic_fetch_sub_explicit(&object->references, 1, memory_order_acq_rel) ==
      1) {
    object->destroy(object);
  }
}

#endif
