// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// property.c: the accessors that compilers call for synthesized properties.
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "objc/runtime/memory/instance.h"
#include "objc/runtime/message/message.h"

// Atomic properties share these locks, by address.
enum { LOCKS = 64 };
static pthread_mutex_t locks[LOCKS] = {
    [0 ... LOCKS - 1] = PTHREAD_MUTEX_INITIALIZER};

static pthread_mutex_t *lock_of(const void *place) {
  return &locks[(uintptr_t)place / 8 % LOCKS];
}

OBJC_EXPORT id objc_getProperty(id self, SEL _cmd, ptrdiff_t offset,
                                bool is_atomic) {
  (void)_cmd;
  id *place = (id *)((char *)self + offset);
  if (!is_atomic) {
    return *place;
  }
  pthread_mutex_lock(lock_of(place));
  const id value = objc_retain(*place);
  pthread_mutex_unlock(lock_of(place));
  return objc_autorelease(value);
}

static void set(id self, ptrdiff_t offset, id value, bool is_atomic,
                bool copies) {
  id *place = (id *)((char *)self + offset);
  value = copies ? SEND(id(*)(id, SEL, void *), value, "copyWithZone:", NULL)
                 : objc_retain(value);
  id old;
  if (is_atomic) {
    pthread_mutex_lock(lock_of(place));
    old = *place;
    *place = value;
    pthread_mutex_unlock(lock_of(place));
  } else {
    old = *place;
    *place = value;
  }
  objc_release(old);
}

OBJC_EXPORT void objc_setProperty(id self, SEL _cmd, ptrdiff_t offset, id value,
                                  bool is_atomic, signed char should_copy) {
  (void)_cmd;
  // 2 requests a mutable copy, which current compilers do not.
  set(self, offset, value, is_atomic, should_copy != 0);
}

OBJC_EXPORT void objc_setProperty_atomic(id self, SEL _cmd, id value,
                                         ptrdiff_t offset) {
  (void)_cmd;
  set(self, offset, value, true, false);
}

OBJC_EXPORT void objc_setProperty_nonatomic(id self, SEL _cmd, id value,
                                            ptrdiff_t offset) {
  (void)_cmd;
  set(self, offset, value, false, false);
}

OBJC_EXPORT void objc_setProperty_atomic_copy(id self, SEL _cmd, id value,
                                              ptrdiff_t offset) {
  (void)_cmd;
  set(self, offset, value, true, true);
}

OBJC_EXPORT void objc_setProperty_nonatomic_copy(id self, SEL _cmd, id value,
                                                 ptrdiff_t offset) {
  (void)_cmd;
  set(self, offset, value, false, true);
}

// Takes the locks of two places in a fixed order; both may be the same.
static void lock_both(const void *one, const void *other) {
  pthread_mutex_t *first = lock_of(one), *second = lock_of(other);
  if (first > second) {
    pthread_mutex_t *swapped = first;
    first = second;
    second = swapped;
  }
  pthread_mutex_lock(first);
  if (second != first) {
    pthread_mutex_lock(second);
  }
}

static void unlock_both(const void *one, const void *other) {
  pthread_mutex_unlock(lock_of(one));
  if (lock_of(other) != lock_of(one)) {
    pthread_mutex_unlock(lock_of(other));
  }
}

OBJC_EXPORT void objc_copyStruct(void *to, const void *from, ptrdiff_t bytes,
                                 bool is_atomic, bool has_strong) {
  (void)has_strong;
  if (is_atomic) {
    lock_both(to, from);
  }
  memmove(to, from, (size_t)bytes);
  if (is_atomic) {
    unlock_both(to, from);
  }
}

static void copy_cpp(void *to, const void *from,
                     void (*copy)(void *, const void *)) {
  lock_both(to, from);
  copy(to, from);
  unlock_both(to, from);
}

OBJC_EXPORT void objc_copyCppObjectAtomic(void *to, const void *from,
                                          void (*copy)(void *, const void *)) {
  copy_cpp(to, from, copy);
}

OBJC_EXPORT void objc_enumerationMutation(id collection) {
  SEND(void (*)(id, SEL), collection, "mettleMutatedWhileEnumerated");
}
