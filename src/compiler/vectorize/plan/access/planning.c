// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// planning.c: finds the facts that access decisions read: constant masks, and
// which values are available where.
#include "compiler/vectorize/plan/access/planning.h"

#include <stddef.h>

#include "compiler/vectorize/analysis/addresses/lane_bits.h"
#include "compiler/vectorize/analysis/callees.h"
#include "compiler/vectorize/analysis/components.h"
#include "compiler/vectorize/analysis/graph.h"
#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/analysis/uniformity.h"
#include "compiler/vectorize/base/tables.h"
#include "compiler/vectorize/plan/kept_values.h"
#include "compiler/vectorize/prepare/versions/version_uniform.h"

static void find_for_whole(lanes_planning *p) {
  const lanes_graph *graph = p->graph;
  p->for_whole = lanes_allocate(p->arena, graph->node_count, 1);
  for (uint32_t n = 0; n < graph->node_count; n++) {
    const uint32_t above = graph->nodes[n].dominator;
    p->for_whole[n] = (above != LANES_NONE && p->for_whole[above]) ||
                      lanes_is_uniform_entry(graph, n);
  }
}

// True for calls whose result is computed in the entry block.
static bool is_input(LLVMValueRef call) {
  switch (lanes_callee_of(call)) {
    case LANES_CALLEE_POSITION:
    case LANES_CALLEE_ARGUMENT:
    case LANES_CALLEE_THREADGROUP_MEMORY:
    case LANES_CALLEE_LOG_MEMORY:
    case LANES_CALLEE_CHECK_MEMORY:
    case LANES_CALLEE_APART: return true;
    default: return false;
  }
}

// True for positions and addresses made of them: after a barrier they are
// computed anew (operations.c).
static bool is_remade(const lanes_planning *p, LLVMValueRef i) {
  const lanes_shape shape = lanes_shape_of(p->values, i);
  switch (LLVMGetInstructionOpcode(i)) {
    case LLVMUDiv:
    case LLVMSDiv:
    case LLVMURem:
    case LLVMSRem:
    case LLVMPHI:
    case LLVMLoad:
    case LLVMCall: return false;
    default: break;
  }
  bool is = p->has_waits && lanes_width_of(shape) < p->values->lanes &&
            lanes_component_count(LLVMTypeOf(i)) == 1;
  for (int k = 0; is && k < LLVMGetNumOperands(i); k++) {
    LLVMValueRef operand = LLVMGetOperand(i, (unsigned)k);
    is = !LLVMIsAInstruction(operand) ||
         p->everywhere[lanes_map_get(&p->values->numbers, operand)];
  }
  return is;
}

static void find_everywhere(lanes_planning *p) {
  const lanes_values *values = p->values;
  p->everywhere = lanes_allocate(p->arena, values->count, 1);
  for (uint32_t n = 0; n < values->count; n++) {
    LLVMValueRef i = values->items[n];
    p->everywhere[n] = LLVMIsAAllocaInst(i) ? true
                       : LLVMIsACallInst(i) ? is_input(i)
                                            : is_remade(p, i);
  }
}

void lanes_planning_begin(lanes_planning *p) {
  p->patterns = lanes_patterns_begin(p->values);
  find_for_whole(p);
  find_everywhere(p);
  p->ahead = lanes_allocate(p->arena, p->values->count, 1);
  p->kept = lanes_kept_values(p->values, p->single_simdgroup, p->arena);
}

bool lanes_has_constant_mask(const lanes_planning *p) {
  return p->plan->steps[p->node].mask == LANES_NONE && p->for_whole[p->node];
}

bool lanes_has_own_mask(const lanes_planning *p) {
  return p->plan->steps[p->node].mask != LANES_NONE;
}

bool lanes_has_some_lane(const lanes_planning *p) {
  return p->plan->steps[p->node].has_thread;
}

bool lanes_will_be_at_hand(const lanes_planning *p, LLVMValueRef operand) {
  if (!LLVMIsAInstruction(operand)) {
    return true;
  }
  const lanes_map *numbers = &p->values->numbers;
  const uint32_t number = lanes_map_get(numbers, operand);
  return p->kept[number] || p->everywhere[number] ||
         (p->values->nodes[number] == p->node &&
          number < lanes_map_get(numbers, p->user));
}

lanes_pattern lanes_pattern_here(lanes_planning *p, LLVMValueRef value) {
  return lanes_pattern_of(&p->patterns, value);
}
