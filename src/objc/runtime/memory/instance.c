// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// instance.c: allocates, retains, releases and destroys objects.
#include "objc/runtime/memory/instance.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "objc/runtime/class.h"
#include "objc/runtime/failure.h"
#include "objc/runtime/memory/live_counts.h"
#include "objc/runtime/memory/zombie.h"
#include "objc/runtime/message/message.h"

// --- C++ members -------------------------------------------------------------

// Calls the .cxx_construct of the classes from the root down.
static void construct(id object, Class class) {
  if (class->superclass) {
    construct(object, class->superclass);
  }
  runtime_lock();
  const method *found = class_own_method(class, SELECTOR(".cxx_construct"));
  runtime_unlock();
  if (found) {
    ((id(*)(id, SEL))found->imp)(object, found->name);
  }
}

// Calls the .cxx_destruct of the classes up to the root. ARC puts the release
// of its ivars there, too.
static void destruct(id object, Class class) {
  for (; class; class = class->superclass) {
    runtime_lock();
    const method *found = class_own_method(class, SELECTOR(".cxx_destruct"));
    runtime_unlock();
    if (found) {
      ((void (*)(id, SEL))found->imp)(object, found->name);
    }
  }
}

// --- Making and ending -------------------------------------------------------

static void realize(Class class) {
  if (!class_is_realized(class)) {
    runtime_lock();
    class_realize(class);
    runtime_unlock();
  }
}

id instance_create(Class class, size_t extra_bytes) {
  if (!class) {
    return NULL;
  }
  realize(class);
  const size_t bytes = class->data->instance_bytes + extra_bytes;
  object_header *header = calloc(1, sizeof *header + bytes);
  if (!header) {
    return NULL;
  }
  atomic_init(&header->state, OBJECT_ONE);
  const id object = (id)(header + 1);
  object->isa = class;
  if (class_flags(class) & CLASS_HAS_CXX_STRUCTORS) {
    construct(object, class);
  }
  live_count(class, 1);
  return object;
}

void instance_dispose(id object) {
  const Class class = object->isa;
  object_header *header = object_header_of(object);
  if (class_flags(class) &
      (CLASS_HAS_CXX_STRUCTORS | CLASS_HAS_CXX_DESTRUCTOR_ONLY)) {
    destruct(object, class);
  }
  const uint64_t state =
      atomic_load_explicit(&header->state, memory_order_relaxed);
  if (state & OBJECT_HAS_ASSOCIATIONS) {
    associations_clear(object);
  }
  if (state & OBJECT_IS_WEAKLY_REFERENCED) {
    weak_clear(object);
  }
  live_count(class, -1);
  if (!zombie_make(object)) {
    free(header);
  }
}

OBJC_EXPORT id class_createInstance(Class class, size_t extra_bytes) {
  return instance_create(class, extra_bytes);
}

OBJC_EXPORT id object_dispose(id object) {
  if (object) {
    instance_dispose(object);
  }
  return NULL;
}

OBJC_EXPORT void *objc_destructInstance(id object) {
  if (object) {
    destruct(object, object->isa);
    associations_clear(object);
  }
  return object;
}

OBJC_EXPORT id objc_constructInstance(Class class, void *bytes) {
  if (!class || !bytes) {
    return NULL;
  }
  realize(class);
  const id object = bytes;
  object->isa = class;
  construct(object, class);
  return object;
}

// --- Counting ----------------------------------------------------------------

id instance_retain(id object) {
  // Relaxed: whoever retains has a reference to build on.
  atomic_fetch_add_explicit(&object_header_of(object)->state, OBJECT_ONE,
                            memory_order_relaxed);
  return object;
}

void instance_release(id object) {
  // Acquire and release: what other owners did happens before dealloc.
  const uint64_t before = atomic_fetch_sub_explicit(
      &object_header_of(object)->state, OBJECT_ONE, memory_order_acq_rel);
  const uint64_t references = before / OBJECT_ONE;
  if (references == 1) {
    SEND(void (*)(id, SEL), object, "dealloc");
  } else if (references == 0) {
    runtime_fail("%s %p released more often than retained",
                 class_name(object->isa), (void *)object);
  }
}

bool instance_try_retain(id object) {
  _Atomic uint64_t *state = &object_header_of(object)->state;
  uint64_t seen = atomic_load_explicit(state, memory_order_relaxed);
  while (seen >= OBJECT_ONE) {
    if (atomic_compare_exchange_weak_explicit(state, &seen, seen + OBJECT_ONE,
                                              memory_order_acquire,
                                              memory_order_relaxed)) {
      return true;
    }
  }
  return false;
}

uint64_t instance_references(id object) {
  return atomic_load_explicit(&object_header_of(object)->state,
                              memory_order_relaxed) /
         OBJECT_ONE;
}

id objc_retain(id object) {
  if (!object) {
    return NULL;
  }
  const uint32_t flags = class_flags(object->isa);
  if (flags & CLASS_IMMORTAL) {
    return object;
  }
  return flags & CLASS_COUNTS_ITSELF
             ? SEND(id(*)(id, SEL), object, "retain")
             : instance_retain(object);
}

void objc_release(id object) {
  if (!object) {
    return;
  }
  const uint32_t flags = class_flags(object->isa);
  if (flags & CLASS_IMMORTAL) {
    return;
  }
  if (flags & CLASS_COUNTS_ITSELF) {
    SEND(void (*)(id, SEL), object, "release");
  } else {
    instance_release(object);
  }
}

// --- Allocation as compilers call it -----------------------------------------

OBJC_EXPORT id objc_alloc(Class class) {
  return class ? SEND(id(*)(id, SEL), class, "alloc") : NULL;
}

OBJC_EXPORT id objc_allocWithZone(Class class) {
  return class ? SEND(id(*)(id, SEL, void *), class, "allocWithZone:", NULL)
               : NULL;
}

OBJC_EXPORT id objc_alloc_init(Class class) {
  return SEND(id(*)(id, SEL), objc_alloc(class), "init");
}

OBJC_EXPORT id objc_opt_new(Class class) {
  return class ? SEND(id(*)(id, SEL), class, "new") : NULL;
}

OBJC_EXPORT id objc_opt_self(id object) {
  return SEND(id(*)(id, SEL), object, "self");
}

OBJC_EXPORT Class objc_opt_class(id object) {
  return SEND(Class(*)(id, SEL), object, "class");
}

OBJC_EXPORT int objc_opt_isKindOfClass(id object, Class class) {
  return SEND(int (*)(id, SEL, Class), object, "isKindOfClass:", class);
}

OBJC_EXPORT int objc_opt_respondsToSelector(id object, SEL selector) {
  return SEND(int (*)(id, SEL, SEL), object, "respondsToSelector:", selector);
}
