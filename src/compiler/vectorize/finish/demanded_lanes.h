// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// demanded_lanes.h: narrows vector operations to the lanes that are used. See
// demanded_lanes.c.
#ifndef MTLC_DEMANDED_LANES_H
#define MTLC_DEMANDED_LANES_H

#include <llvm-c/Core.h>
#include <stdbool.h>

// Narrows vector operations to the lanes that later code uses. True if there
// were any.
bool lanes_demand_lanes(LLVMValueRef function);

#endif
