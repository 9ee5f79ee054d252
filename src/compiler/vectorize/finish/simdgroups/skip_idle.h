// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// skip_idle.h: lets the loop over simdgroups between two barriers leave out
// those that have nothing to do.
#ifndef MTLC_SKIP_IDLE_H
#define MTLC_SKIP_IDLE_H

#include "compiler/ir/kernel/kernel.h"

// Simdgroups that are past what a loop between two barriers has for them are
// left out (skip_idle.c).
void lanes_skip_idle(mtlc_kernel *kernel);

#endif
