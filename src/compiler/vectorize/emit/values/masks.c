// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// masks.c: the mask of the node being emitted, and which lanes may reach it.
#include "compiler/vectorize/emit/values/masks.h"

#include <stddef.h>

#include "compiler/vectorize/analysis/components.h"
#include "compiler/vectorize/analysis/graph.h"
#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/analysis/uniformity.h"
#include "compiler/vectorize/base/tables.h"
#include "compiler/vectorize/emit/values/emitter.h"
#include "compiler/vectorize/plan/access/access.h"

enum { LEAST_ROW_OF_ONE = 8 };  // the smallest segment of which one active lane
                                // counts as few

void lanes_load_mask(lanes_emitter *e) {
  const uint32_t owner = e->plan->steps[e->node].mask;
  LLVMTypeRef type = lanes_vector_of(e->lanes, e->types.i1);
  if (owner != LANES_NONE) {
    e->mask =
        LLVMBuildLoad2(e->builder, type, e->mask_memory[owner], "mask");
  } else {
    e->mask =
        e->planning->for_whole[e->node] ? LLVMConstAllOnes(type) : e->all_lanes;
  }
  e->node_mask = e->mask;
}

bool lanes_has_thread(const lanes_emitter *e) {
  return e->plan->steps[e->node].has_thread && e->mask == e->node_mask &&
         !e->uncached;
}

LLVMValueRef lanes_only_branch(const lanes_emitter *e, uint32_t n) {
  const lanes_node *node = &e->graph->nodes[n];
  if (node->predecessors.count != 1) {
    return NULL;
  }
  const lanes_node *from = &e->graph->nodes[node->predecessors.items[0]];
  if (from->kind != LANES_BLOCK || from->loop != node->loop ||
      from->successors.count != 2 ||
      from->successors.items[0] == from->successors.items[1]) {
    return NULL;
  }
  return LLVMGetBasicBlockTerminator(from->block);
}

// Returns the lanes at which a segment's value may equal a number, if the lane
// alone decides that: one of each segment. All lanes otherwise.
static uint32_t lanes_of_number(lanes_shape run, LLVMValueRef number) {
  enum { LEAST_BITS = 8 };  // of an integer
  const uint64_t stride = (uint64_t)run.stride;
  const uint64_t step = UINT64_C(1)
                        << (run.align < LEAST_BITS ? run.align : LEAST_BITS);
  if (!LLVMIsAConstantInt(number) || run.stride < 0 ||
      run.row * stride > step) {
    return UINT32_MAX;
  }
  const uint64_t behind = LLVMConstIntGetZExtValue(number) & (step - 1);
  if (behind % stride || behind / stride >= run.row) {
    return UINT32_MAX;
  }
  uint32_t lanes = 0;
  for (uint32_t first = 0; first < run.lanes; first += run.row) {
    lanes |= UINT32_C(1) << (first + behind / stride);
  }
  return lanes;
}

// Returns the lanes for which a condition, or its opposite, can hold, if that
// is at most one of each segment: a comparison of a position with a number. 0
// if it can hold for more.
static uint32_t picked_lanes(const lanes_emitter *e, LLVMValueRef condition,
                             bool holds) {
  if (!LLVMIsAInstruction(condition)) {
    return 0;
  }
  LLVMValueRef a = LLVMGetOperand(condition, 0);
  uint32_t lanes = 0;
  switch (LLVMGetInstructionOpcode(condition)) {
    case LLVMICmp: {
      const lanes_shape run = lanes_shape_of(e->values, a);
      LLVMValueRef number = LLVMGetOperand(condition, 1);
      return LLVMGetICmpPredicate(condition) ==
                         (holds ? LLVMIntEQ : LLVMIntNE) &&
                     run.row >= LEAST_ROW_OF_ONE && run.stride != 0 &&
                     !run.conditional && lanes_is_same_in(e->values, number, run.row)
                 ? lanes_of_number(run, number)
                 : 0;
    }
    case LLVMAnd:
      lanes = holds ? picked_lanes(e, a, true) : 0;
      return lanes || !holds
                 ? lanes
                 : picked_lanes(e, LLVMGetOperand(condition, 1), true);
    case LLVMSelect: {
      LLVMValueRef no = LLVMConstNull(e->types.i1);
      LLVMValueRef yes = LLVMConstAllOnes(e->types.i1);
      LLVMValueRef b = LLVMGetOperand(condition, holds ? 1 : 2);
      if (LLVMGetOperand(condition, holds ? 2 : 1) != (holds ? no : yes)) {
        return 0;
      }
      lanes = picked_lanes(e, a, holds);
      return lanes ? lanes : picked_lanes(e, b, holds);
    }
    default: return 0;
  }
}

uint32_t lanes_few_active(const lanes_emitter *e) {
  enum { STEPS = 8 };
  uint32_t n = e->node;
  for (uint32_t step = 0; step < STEPS && n != LANES_NONE; step++) {
    LLVMValueRef branch = lanes_only_branch(e, n);
    const bool is_true =
        branch && lanes_map_get(&e->graph->blocks,
                                LLVMGetSuccessor(branch, 0)) == n;
    const uint32_t lanes =
        branch ? picked_lanes(e, LLVMGetCondition(branch), is_true) : 0;
    if (lanes) {
      return lanes;
    }
    n = e->graph->nodes[n].dominator;
  }
  return 0;
}
