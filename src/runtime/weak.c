// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// weak.c: references that keep nothing alive.
#include "runtime/weak.h"

#include <stdio.h>

static void weak_destroy(mtli_object *object) {
  mtli_weak *weak = (mtli_weak *)object;
  pthread_mutex_destroy(&weak->lock);
  free(weak);
}

mtli_weak *mtli_weak_of(_Atomic(mtli_weak *) *slot, mtli_object *target) {
  // Acquire: pairs with the release below.
  mtli_weak *weak = atomic_load_explicit(slot, memory_order_acquire);
  if (weak) {
    return mtli_weak_retain(weak);  // +1
  }
  mtli_weak *made = calloc(1, sizeof *made);
  if (!made) {
    return NULL;
  }
  mtli_object_init(&made->object, weak_destroy);
  pthread_mutex_init(&made->lock, NULL);
  atomic_init(&made->target, target);
  mtli_object_retain(&made->object);  // +1, the target's
  if (!atomic_compare_exchange_strong_explicit(
          slot, &weak, made, memory_order_release, memory_order_acquire)) {
    weak_destroy(&made->object);
    return mtli_weak_retain(weak);  // +1
  }
  return made;
}

void mtli_weak_end(_Atomic(mtli_weak *) *slot, const char *name) {
  mtli_weak *weak = atomic_load_explicit(slot, memory_order_acquire);
  if (!weak) {
    return;
  }
  snprintf(weak->name, sizeof weak->name, "%s", name);
  pthread_mutex_lock(&weak->lock);
  // Release: pairs with the acquire in mtli_weak_target.
  atomic_store_explicit(&weak->target, NULL, memory_order_release);
  pthread_mutex_unlock(&weak->lock);
  mtli_weak_release(weak);  // -1
}

bool mtli_object_try_retain(mtli_object *object) {
  uint32_t count =
      atomic_load_explicit(&object->references, memory_order_relaxed);
  while (count) {
    // Relaxed: the caller's lock orders this against the end.
    if (atomic_compare_exchange_weak_explicit(&object->references, &count,
                                              count + 1, memory_order_relaxed,
                                              memory_order_relaxed)) {
      return true;
    }
  }
  return false;
}

mtli_object *mtli_weak_promote(mtli_weak *weak) {
  pthread_mutex_lock(&weak->lock);
  mtli_object *target = mtli_weak_target(weak);
  if (target && !mtli_object_try_retain(target)) {
    target = NULL;  // about to end
  }
  pthread_mutex_unlock(&weak->lock);
  return target;
}
