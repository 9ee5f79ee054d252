// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// lock.h: os_unfair_lock, a word that says who has it.
#ifndef METTLE_OBJC_OS_LOCK_H
#define METTLE_OBJC_OS_LOCK_H

#include <objc/objc.h>

typedef struct os_unfair_lock_s {
  uint32_t _os_unfair_lock_opaque;
} os_unfair_lock, *os_unfair_lock_t;
#define OS_UNFAIR_LOCK_INIT ((os_unfair_lock){0})

OBJC_EXTERN void os_unfair_lock_lock(os_unfair_lock_t lock);
OBJC_EXTERN bool os_unfair_lock_trylock(os_unfair_lock_t lock);
OBJC_EXTERN void os_unfair_lock_unlock(os_unfair_lock_t lock);

#endif
