// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// version_guard.h: kernels whose threads leave at once if they are out of bounds.
#ifndef MTLC_VERSION_GUARD_H
#define MTLC_VERSION_GUARD_H

#include <stdbool.h>

#include "compiler/ir/kernel/kernel.h"

// Makes the thread function demand that no thread leaves (void mettle.demand(
// i1)), where that is asked before anything else is done. Returns false if
// nothing of that kind is asked.
bool lanes_version_guard(mtlc_kernel *kernel);

#endif
