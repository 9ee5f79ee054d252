// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// dominators.h: which blocks of a function are on every way to a block.
#ifndef MTLC_DOMINATORS_H
#define MTLC_DOMINATORS_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "compiler/ir/analysis/cycles.h"

typedef struct mtlc_dominators {
  const mtlc_flow *flow;
  LLVMBasicBlockRef *blocks;  // [count] in the order of flow
  uint32_t *above;            // [count] index of the immediate dominator
  size_t count;
} mtlc_dominators;

// Keeps a pointer to flow. mtlc_dominators_clear ends it.
mtlc_dominators mtlc_dominators_of(const mtlc_flow *flow);
void mtlc_dominators_clear(mtlc_dominators *dominators);

// Returns the nearest common dominator of two nodes of a tree in which each
// node's dominator is smaller than the node.
uint32_t mtlc_nearest_common(const uint32_t *dominator, uint32_t a, uint32_t b);

// Returns the immediate dominator; NULL for the entry and for a block that is
// not reached.
LLVMBasicBlockRef mtlc_dominator(const mtlc_dominators *dominators,
                                 LLVMBasicBlockRef block);
// True if above is on every way to below, or is below.
bool mtlc_dominates(const mtlc_dominators *dominators, LLVMBasicBlockRef above,
                    LLVMBasicBlockRef below);

#endif
