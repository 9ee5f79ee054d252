// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// pool.h: autorelease pools.
//
// Each thread has a stack of objects to release; a pool is a place in it. An
// object that is autoreleased while no pool is open is never released: clients
// that call through ctypes open no pools and take that very reference as
// theirs. METTLE_OBJC_DEBUG=pools tells at exit how many there were, by class.
#ifndef METTLE_OBJC_POOL_H
#define METTLE_OBJC_POOL_H

#include "objc/runtime/abi.h"

// Opens a pool, and releases what was autoreleased since.
OBJC_EXPORT void *objc_autoreleasePoolPush(void);
OBJC_EXPORT void objc_autoreleasePoolPop(void *pool);

// Puts object into the thread's innermost pool.
void pool_add(id object);

#endif
