// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// live_counts.h: METTLE_OBJC_DEBUG=leaks, which prints at exit how many objects
// of each class are still alive.
#ifndef METTLE_OBJC_LIVE_COUNTS_H
#define METTLE_OBJC_LIVE_COUNTS_H

#include "objc/runtime/abi.h"

// Adds change (1 or -1) to the class's count, if objects are counted.
void live_count(Class class, int change);

#endif
