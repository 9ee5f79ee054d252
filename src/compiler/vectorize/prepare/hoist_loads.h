// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hoist_loads.h: moves loads before earlier stores, where buffers do not
// overlap.
#ifndef MTLC_HOIST_LOADS_H
#define MTLC_HOIST_LOADS_H

#include <llvm-c/Core.h>
#include <stdbool.h>

#include "compiler/ir/kernel/kernel.h"
#include "compiler/vectorize/analysis/graph.h"
#include "compiler/vectorize/analysis/uniformity.h"

// True if one of two addresses is known to be in a buffer and the other in the
// kernel's own threadgroup or private memory.
bool lanes_lie_apart(LLVMValueRef a, LLVMValueRef b);
// True if an instruction may change memory at an address.
bool lanes_may_change(LLVMValueRef instruction, LLVMValueRef address);

// True if steps of a loop that is one block may be loaded before those in
// front of them are stored, if buffers lie apart: what they store is found
// where another step loads only if that is the same place in the same step.
bool lanes_steps_may_hoist_loads(const lanes_values *values,
                                LLVMBasicBlockRef block);

// True if any block loads after a store.
bool lanes_may_hoist_loads(const lanes_graph *graph);

// Makes a second form of blocks that load behind their first store: all stores
// last, taken where the buffers lie apart (i1 mettle.apart(i32 slot, i32 slot),
// src/compiler/ir/text/apart.ll). So it is for each block that loads or stores
// elements side by side for each thread, and, where loops along rows have been
// unrolled, for those in loops with several such loads. Returns whether there
// are any: the graph is then to be built again. A block that has two forms is
// left alone if it is asked for again.
bool lanes_hoist_loads(mtlc_kernel *kernel, const lanes_values *values,
                      bool is_unrolled);

// True if a block is the first of two such forms: all that it loads or stores
// in different buffers lies apart.
bool lanes_has_loads_first(LLVMBasicBlockRef block);

#endif
