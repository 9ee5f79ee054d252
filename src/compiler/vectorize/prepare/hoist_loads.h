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

// True if a loop of one block may load the next steps' elements before it
// stores this one's, where buffers do not overlap: a step reads what another
// has stored only at the same place of the same step.
bool lanes_steps_may_hoist_loads(const lanes_values *values,
                                LLVMBasicBlockRef block);

// True if any block loads after a store.
bool lanes_may_hoist_loads(const lanes_graph *graph);

// Adds a second version of blocks that load after their first store: in it all
// stores come last. It runs where the buffers do not overlap (i1
// mettle.apart(i32 slot, i32 slot), src/compiler/ir/text/apart.ll). Blocks with
// adjacent loads or stores for each thread get one; if loops along rows have
// been unrolled, so do blocks in loops with several such loads. A block that
// has a second version already is left alone.
//
// True if there are any: the graph must be rebuilt.
bool lanes_hoist_loads(mtlc_kernel *kernel, const lanes_values *values,
                      bool is_unrolled);

// True if a block is the version with its loads first: all its accesses to
// different buffers are known not to overlap.
bool lanes_has_loads_first(LLVMBasicBlockRef block);

#endif
