// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// demanded_lanes.h: where a step of a tree loads and stores its first lanes
// alone, what it computes between is a vector of all, most of whose lanes
// nobody asks for.
#ifndef MTLC_DEMANDED_LANES_H
#define MTLC_DEMANDED_LANES_H

#include <llvm-c/Core.h>
#include <stdbool.h>

// Computes no more lanes than are taken of what is computed.
// Returns whether there was any.
bool lanes_demand_lanes(LLVMValueRef function);

#endif
