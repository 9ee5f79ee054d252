// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// version_guard.h: versions kernels whose threads end at once if they are out
// of bounds.
#ifndef MTLC_VERSION_GUARD_H
#define MTLC_VERSION_GUARD_H

#include <stdbool.h>

#include "compiler/ir/kernel/kernel.h"

// Makes the thread function demand (void mettle.demand(i1)) that no thread
// returns early, if it tests that before doing anything else. False if there is
// no such test.
bool lanes_version_guard(mtlc_kernel *kernel);

#endif
