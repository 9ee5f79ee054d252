// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// unswitch.h: branches in loops that are unrolled.
#ifndef MTLC_UNSWITCH_H
#define MTLC_UNSWITCH_H

#include <llvm-c/Core.h>
#include <stdbool.h>

#include "base/status.h"
#include "compiler/ir/kernel/kernel.h"

// Makes a loop for either side of a branch that all threads take the same way
// in every iteration, if the loop is to be unrolled and stores.
mtl_status mtlc_unswitch(mtlc_kernel *kernel);

#endif
