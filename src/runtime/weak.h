// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// weak.h: weak references: they keep nothing alive, and tell whether the object
// still lives. An object has at most one mtli_weak, which all share.
#ifndef MTLI_WEAK_H
#define MTLI_WEAK_H

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/object.h"

typedef struct mtli_weak {
  mtli_object object;
  pthread_mutex_t lock;           // of promoting against ending
  _Atomic(mtli_object *) target;  // NULL once it has ended
  char name[32];  // name of the ended object, truncated; written before target
                  // is NULL
} mtli_weak;

// Gives the weak reference of target, which keeps it in *slot; the caller's to
// release. NULL when out of memory. The caller has a reference to target.
mtli_weak *mtli_weak_of(_Atomic(mtli_weak *) *slot, mtli_object *target);
static inline mtli_weak *mtli_weak_retain(mtli_weak *weak) {
  if (weak) {
    mtli_object_retain(&weak->object);
  }
  return weak;
}
static inline void mtli_weak_release(mtli_weak *weak) {
  if (weak) {
    mtli_object_release(&weak->object);
  }
}

// When the target ends: its count is 0 already. Its device must not be
// inherited through a fork, for another thread may have held the lock.
void mtli_weak_end(_Atomic(mtli_weak *) *slot, const char *name);

// Returns the target, NULL if it has ended. It may end any moment.
static inline mtli_object *mtli_weak_target(const mtli_weak *weak) {
  // Acquire: pairs with the release in mtli_weak_end, for the name.
  return atomic_load_explicit(&weak->target, memory_order_acquire);
}
// Returns the target with one more reference, NULL if it has ended.
mtli_object *mtli_weak_promote(mtli_weak *weak);
// Counts one more reference, unless there is none left. The caller holds a lock
// that the object's end takes before its memory goes.
bool mtli_object_try_retain(mtli_object *object);

#endif
