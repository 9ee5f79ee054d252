// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// flow.h: where control flow and the class of threadgroups say that all 32
// threads of a simdgroup are.
#ifndef MTLC_PTX_FLOW_H
#define MTLC_PTX_FLOW_H

#include "compiler/ir/kernel/kernel.h"
#include "compiler/vectorize/analysis/graph.h"
#include "compiler/vectorize/analysis/uniformity.h"

// Facts about the thread's control flow; none unless is_known. Clear the arena
// when done.
typedef struct mtlc_ptx_flow {
  mtli_arena arena;
  lanes_graph graph;
  lanes_values values;
  bool is_known;
} mtlc_ptx_flow;

void mtlc_ptx_find_flow(mtlc_kernel *kernel, mtlc_ptx_flow *out_flow);
// True if all threads of a simdgroup reach the instruction together.
bool mtlc_ptx_is_for_all(const mtlc_ptx_flow *flow, LLVMValueRef instruction);
// True if a block is a loop of its own that ends when a counter reaches a
// number: other loops have an unknown number of iterations.
bool mtlc_ptx_is_counted_loop(LLVMBasicBlockRef block);

#endif
