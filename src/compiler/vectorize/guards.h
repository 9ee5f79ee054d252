// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// guards.h: kernels whose threads leave at once if they are out of bounds.
#ifndef MTLC_VECTORIZE_GUARDS_H
#define MTLC_VECTORIZE_GUARDS_H

#include "compiler/module.h"

// Makes the thread function demand that no thread leaves (void mettle.demand(
// i1)), where that is asked before anything else is done. Returns false if
// nothing of that kind is asked.
bool lanes_demand_guards(mtlc_kernel *kernel);

#endif
