// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cycles.h: the cycles of a function's control flow graph, and an order of its
// blocks in which a cycle's blocks follow each other and come before what is
// behind the cycle's exits; where that leaves a choice, the order of the
// source, as unoptimised code has it.
#ifndef MTLC_CYCLES_H
#define MTLC_CYCLES_H

#include <llvm-c/Core.h>
#include <stddef.h>
#include <stdint.h>

enum { MTLC_NO_CYCLE = -1 };

// A strongly connected region, entered at its header; the regions inside are
// those that are left without the edges to the header (LLVM's definition).
typedef struct mtlc_cycle {
  LLVMBasicBlockRef header;
  int parent;  // index of the cycle around it, or MTLC_NO_CYCLE
} mtlc_cycle;

typedef struct mtlc_flow_block {
  LLVMBasicBlockRef block;
  uint32_t order;  // from 1 on, without gaps; the header's is its cycle's as
                   // well. 0 if it is not reached
  int cycle;       // index of the innermost cycle around it, or MTLC_NO_CYCLE
} mtlc_flow_block;

typedef struct mtlc_flow {
  mtlc_flow_block *blocks;  // [block_count], by address
  size_t block_count;
  mtlc_cycle *cycles;  // [cycle_count], a parent before the cycles inside it
  size_t cycle_count;
} mtlc_flow;

mtlc_flow mtlc_flow_of(LLVMValueRef function);
void mtlc_flow_clear(mtlc_flow *flow);
const mtlc_flow_block *mtlc_flow_find(const mtlc_flow *flow,
                                      LLVMBasicBlockRef block);

#endif
