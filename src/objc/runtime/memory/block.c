// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// block.c: copies and releases blocks and their __block variables.
#include "objc/runtime/memory/block.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "objc/runtime/class.h"
#include "objc/runtime/define.h"
#include "objc/runtime/failure.h"
#include "objc/runtime/memory/instance.h"
#include "objc/runtime/memory/pool.h"

typedef struct block_descriptor {
  uintptr_t reserved;
  uintptr_t size;
  // Only with BLOCK_HAS_COPY_DISPOSE:
  void (*copy)(void *to, const void *from);
  void (*dispose)(const void *block);
} block_descriptor;

// A __block variable, moved to the heap with the first block that uses it.
typedef struct byref {
  void *isa;
  struct byref *forwarding;  // where the variable is now
  _Atomic int32_t flags;
  uint32_t size;
  // Only with BYREF_HAS_COPY_DISPOSE:
  void (*keep)(struct byref *to, struct byref *from);
  void (*destroy)(struct byref *);
} byref;

// Flags of blocks and, where named so, of __block variables. The low 16 bits
// count references, by two.
enum {
  REFERENCE_MASK = 0xfffe,
  REFERENCE_ONE = 2,
  BLOCK_IS_ON_HEAP = 1 << 24,  // BYREF_IS_ON_HEAP alike
  BLOCK_HAS_COPY_DISPOSE = 1 << 25,  // BYREF_HAS_COPY_DISPOSE alike
  BLOCK_IS_GLOBAL = 1 << 28,
};

// What _Block_object_assign is told of a captured variable.
enum {
  FIELD_IS_OBJECT = 3,
  FIELD_IS_BLOCK = 7,
  FIELD_IS_BYREF = 8,
  FIELD_IS_WEAK = 16,
  BYREF_CALLER = 128,  // from a __block variable's own copy: it owns nothing
};

// --- References --------------------------------------------------------------

// Counts one reference more; at the most it stays for ever.
static void count_up(_Atomic int32_t *flags) {
  int32_t seen = atomic_load_explicit(flags, memory_order_relaxed);
  while ((seen & REFERENCE_MASK) != REFERENCE_MASK &&
         !atomic_compare_exchange_weak_explicit(
             flags, &seen, seen + REFERENCE_ONE, memory_order_relaxed,
             memory_order_relaxed)) {
  }
}

// Counts one reference less. True if it was the last one.
static bool count_down(_Atomic int32_t *flags) {
  int32_t seen = atomic_load_explicit(flags, memory_order_relaxed);
  do {
    if ((seen & REFERENCE_MASK) == REFERENCE_MASK ||
        (seen & REFERENCE_MASK) == 0) {
      return false;
    }
  } while (!atomic_compare_exchange_weak_explicit(
      flags, &seen, seen - REFERENCE_ONE, memory_order_acq_rel,
      memory_order_relaxed));
  return (seen & REFERENCE_MASK) == REFERENCE_ONE;
}

static int32_t flags_of(_Atomic int32_t *flags) {
  return atomic_load_explicit(flags, memory_order_relaxed);
}

// --- Blocks ------------------------------------------------------------------

extern struct objc_class OBJC_CLASS_$___NSMallocBlock__;

void *_Block_copy(const void *literal) {
  block *from = (block *)literal;
  if (!from) {
    return NULL;
  }
  const int32_t flags = flags_of(&from->flags);
  if (flags & BLOCK_IS_ON_HEAP) {
    count_up(&from->flags);
    return from;
  }
  if (flags & BLOCK_IS_GLOBAL) {
    return from;
  }
  block *to = malloc(from->descriptor->size);
  if (!to) {
    return NULL;
  }
  memcpy(to, from, from->descriptor->size);
  atomic_init(&to->flags,
              (flags & ~REFERENCE_MASK) | BLOCK_IS_ON_HEAP | REFERENCE_ONE);
  to->isa = &OBJC_CLASS_$___NSMallocBlock__;
  if (flags & BLOCK_HAS_COPY_DISPOSE) {
    from->descriptor->copy(to, from);
  }
  return to;
}

void _Block_release(const void *literal) {
  block *released = (block *)literal;
  if (!released || !(flags_of(&released->flags) & BLOCK_IS_ON_HEAP) ||
      !count_down(&released->flags)) {
    return;
  }
  if (flags_of(&released->flags) & BLOCK_HAS_COPY_DISPOSE) {
    released->descriptor->dispose(released);
  }
  free(released);
}

// --- Captured variables ------------------------------------------------------

// Threads that copy blocks with one variable on a stack move it once. Recursive:
// a copy of what the variable holds may copy a block with it.
static pthread_mutex_t moving = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

static void stop_moving(pthread_mutex_t **held) {
  pthread_mutex_unlock(*held);
}

static byref *byref_copy(byref *variable) {
  if (flags_of(&variable->flags) & BLOCK_IS_ON_HEAP) {
    count_up(&variable->flags);
    return variable;
  }
  pthread_mutex_lock(&moving);
  pthread_mutex_t *held __attribute__((cleanup(stop_moving), unused)) = &moving;
  byref *from = variable->forwarding;
  if (flags_of(&from->flags) & BLOCK_IS_ON_HEAP) {
    count_up(&from->flags);
    return from;
  }
  byref *to = malloc(from->size);
  if (!to) {
    runtime_fail("no memory for a __block variable");
  }
  memcpy(to, from, from->size);
  // One reference for the block, one for the variable's own scope.
  atomic_init(&to->flags, (flags_of(&from->flags) & ~REFERENCE_MASK) |
                              BLOCK_IS_ON_HEAP | 2 * REFERENCE_ONE);
  to->forwarding = to;
  from->forwarding = to;
  if (flags_of(&from->flags) & BLOCK_HAS_COPY_DISPOSE) {
    to->keep(to, from);
  }
  return to;
}

static void byref_release(byref *variable) {
  byref *released = variable->forwarding;
  if (!(flags_of(&released->flags) & BLOCK_IS_ON_HEAP) ||
      !count_down(&released->flags)) {
    return;
  }
  if (flags_of(&released->flags) & BLOCK_HAS_COPY_DISPOSE) {
    released->destroy(released);
  }
  free(released);
}

OBJC_EXPORT void _Block_object_assign(void *to, const void *object,
                                      const int flags) {
  const void **place = to;
  if (flags & BYREF_CALLER) {
    *place = object;
  } else if (flags & FIELD_IS_BYREF) {
    *place = byref_copy((byref *)object);
  } else if ((flags & FIELD_IS_BLOCK) == FIELD_IS_BLOCK) {
    *place = _Block_copy(object);
  } else {
    *place = flags & FIELD_IS_WEAK ? object : objc_retain((id)object);
  }
}

OBJC_EXPORT void _Block_object_dispose(const void *object, const int flags) {
  if (flags & BYREF_CALLER) {
    return;
  }
  if (flags & FIELD_IS_BYREF) {
    byref_release((byref *)object);
  } else if ((flags & FIELD_IS_BLOCK) == FIELD_IS_BLOCK) {
    _Block_release(object);
  } else if (!(flags & FIELD_IS_WEAK)) {
    objc_release((id)object);
  }
}

// --- Blocks as objects -------------------------------------------------------

static id block_retain(id self, SEL _cmd) {
  (void)_cmd;
  return _Block_copy(self);
}

static void block_release(id self, SEL _cmd) {
  (void)_cmd;
  _Block_release(self);
}

static id block_autorelease(id self, SEL _cmd) {
  (void)_cmd;
  pool_add(self);
  return self;
}

static id block_copy(id self, SEL _cmd, void *zone) {
  (void)_cmd;
  (void)zone;
  return _Block_copy(self);
}

METHODS(block_methods, METHOD("retain", "@16@0:8", block_retain),
        METHOD("release", "v16@0:8", block_release),
        METHOD("autorelease", "@16@0:8", block_autorelease),
        METHOD("copy", "@16@0:8", block_retain),
        METHOD("copyWithZone:", "@24@0:8^v16", block_copy));
METHODS(no_block_methods, METHOD_LIST_END);

DEFINE_CLASS(NSBlock, NSObject, sizeof(block), block_methods, NO_METHODS);
DEFINE_CLASS(__NSStackBlock__, NSBlock, sizeof(block), no_block_methods,
             NO_METHODS);
DEFINE_CLASS(__NSMallocBlock__, NSBlock, sizeof(block), no_block_methods,
             NO_METHODS);
DEFINE_CLASS(__NSGlobalBlock__, NSBlock, sizeof(block), no_block_methods,
             NO_METHODS);

// Defines the names that block literals use for their classes.
#define ALIAS(name, target) \
  extern OBJC_EXPORT struct objc_class name __attribute__((alias(target)))
ALIAS(_NSConcreteStackBlock, "OBJC_CLASS_$___NSStackBlock__");
ALIAS(_NSConcreteMallocBlock, "OBJC_CLASS_$___NSMallocBlock__");
ALIAS(_NSConcreteGlobalBlock, "OBJC_CLASS_$___NSGlobalBlock__");
