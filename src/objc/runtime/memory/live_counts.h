// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// live_counts.h: METTLE_OBJC_DEBUG=leaks, which tells at exit how many objects
// of each class still live.
#ifndef METTLE_OBJC_LIVE_COUNTS_H
#define METTLE_OBJC_LIVE_COUNTS_H

#include "objc/runtime/abi.h"

// Counts one object more (1) or less (-1), if they are counted.
void live_count(Class class, int change);

#endif
