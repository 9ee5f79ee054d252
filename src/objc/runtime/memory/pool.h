// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// pool.h: autorelease pools.
//
// Each thread has a stack of objects to release; a pool is a position in it. An
// object that is autoreleased outside any pool is never released: clients that
// call through ctypes open no pools and use that very reference as their own.
// METTLE_OBJC_DEBUG=pools prints at exit how many there were, by class.
#ifndef METTLE_OBJC_POOL_H
#define METTLE_OBJC_POOL_H

#include "objc/runtime/abi.h"

// Opens a pool; closes one, and releases what was autoreleased in it.
OBJC_EXPORT void *objc_autoreleasePoolPush(void);
OBJC_EXPORT void objc_autoreleasePoolPop(void *pool);

// Adds object to the thread's innermost pool.
void pool_add(id object);

#endif
