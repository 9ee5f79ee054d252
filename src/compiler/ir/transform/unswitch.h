// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// unswitch.h: branches in loops that are unrolled.
#ifndef MTLC_UNSWITCH_H
#define MTLC_UNSWITCH_H

#include <llvm-c/Core.h>
#include <stdbool.h>

#include "base/status.h"
#include "compiler/ir/kernel/kernel.h"

// Unswitches loops that will be unrolled and that store: a branch whose
// condition is uniform and loop-invariant moves out of the loop, which is
// copied for either outcome.
mtl_status mtlc_unswitch(mtlc_kernel *kernel);

#endif
