// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// trip_counts.c: finds loop counters: where each starts and what bounds it.
#include "compiler/vectorize/analysis/addresses/trip_counts.h"

#include <stddef.h>

#include "compiler/ir/llvm/instructions.h"
#include "compiler/vectorize/analysis/graph.h"
#include "compiler/vectorize/analysis/predicates.h"
#include "compiler/vectorize/base/tables.h"

static bool is_one_more(LLVMValueRef value, LLVMValueRef than) {
  return mtlc_is_opcode(value, LLVMAdd) && LLVMGetOperand(value, 0) == than &&
         LLVMIsAConstantInt(LLVMGetOperand(value, 1)) &&
         LLVMConstIntGetZExtValue(LLVMGetOperand(value, 1)) == 1;
}

// Returns the loop whose header a node is, or LANES_NONE.
static uint32_t loop_of_header(const lanes_graph *graph, uint32_t node) {
  const uint32_t loop =
      node == LANES_NONE ? LANES_NONE : graph->nodes[node].loop;
  return loop != LANES_NONE && graph->loops[loop].header == node ? loop
                                                                 : LANES_NONE;
}

static bool has_block(const lanes_graph *graph, uint32_t loop,
                      LLVMBasicBlockRef block) {
  const uint32_t node = lanes_map_get(&graph->blocks, block);
  return node != LANES_NONE && lanes_in_loop(graph, node, loop);
}

// Stores a phi's start value; returns its value in the next iteration.
static LLVMValueRef take_start(const lanes_graph *graph, uint32_t loop,
                               lanes_counter *counter) {
  LLVMValueRef next = NULL;
  if (LLVMCountIncoming(counter->phi) != 2) {
    return NULL;
  }
  for (unsigned k = 0; k < 2; k++) {
    LLVMValueRef value = LLVMGetIncomingValue(counter->phi, k);
    if (has_block(graph, loop, LLVMGetIncomingBlock(counter->phi, k))) {
      next = value;
    } else {
      counter->start = value;
    }
  }
  return next && counter->start && is_one_more(next, counter->phi) ? next
                                                                   : NULL;
}

// Stores the bound, if a block leaves the loop once the counter reaches it.
static bool take_bound(const lanes_graph *graph, uint32_t loop,
                       LLVMBasicBlockRef block, LLVMValueRef next,
                       lanes_counter *counter) {
  LLVMValueRef end = LLVMGetBasicBlockTerminator(block);
  if (LLVMGetNumSuccessors(end) != 2) {
    return false;
  }
  const bool stays_if_true = has_block(graph, loop, LLVMGetSuccessor(end, 0));
  LLVMValueRef test = LLVMGetCondition(end);
  if (stays_if_true == has_block(graph, loop, LLVMGetSuccessor(end, 1)) ||
      !LLVMIsAICmpInst(test)) {
    return false;
  }
  LLVMIntPredicate predicate = LLVMGetICmpPredicate(test);
  predicate = stays_if_true ? predicate : lanes_inverse_predicate(predicate);
  LLVMValueRef counted = LLVMGetOperand(test, 0);
  counter->bound = LLVMGetOperand(test, 1);
  counter->reaches_bound = counted == counter->phi;
  return (counted == next || counted == counter->phi) &&
         (predicate == LLVMIntNE || predicate == LLVMIntSLT ||
          predicate == LLVMIntULT);
}

bool lanes_counter_find(const lanes_graph *graph, LLVMValueRef value,
                        lanes_counter *out_counter) {
  if (!LLVMIsAPHINode(value) ||
      LLVMGetTypeKind(LLVMTypeOf(value)) != LLVMIntegerTypeKind) {
    return false;
  }
  const uint32_t loop = loop_of_header(
      graph, lanes_map_get(&graph->blocks, LLVMGetInstructionParent(value)));
  *out_counter = (lanes_counter){.phi = value};
  LLVMValueRef next =
      loop == LANES_NONE ? NULL : take_start(graph, loop, out_counter);
  if (!next) {
    return false;
  }
  for (uint32_t n = graph->loops[loop].header; n < graph->loops[loop].latch;
       n++) {
    if (graph->nodes[n].kind == LANES_BLOCK && graph->nodes[n].loop == loop &&
        take_bound(graph, loop, graph->nodes[n].block, next, out_counter)) {
      return true;
    }
  }
  return false;
}
