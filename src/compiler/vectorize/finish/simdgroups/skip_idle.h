// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// skip_idle.h: ends loops over simdgroups early, when the rest have nothing to
// do.
#ifndef MTLC_SKIP_IDLE_H
#define MTLC_SKIP_IDLE_H

#include "compiler/ir/kernel/kernel.h"

// Ends a loop between two barriers once its simdgroups are past the bound of
// the code in it.
void lanes_skip_idle(mtlc_kernel *kernel);

#endif
