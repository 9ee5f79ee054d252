// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// group_uniformity.c: finds values and control flow that are uniform in a whole
// threadgroup, not only in a simdgroup. If all simdgroups reach each barrier
// together, the loop over simdgroups runs between two barriers, and uniform
// values are computed and kept once (simdgroups_together.ll).
#include "compiler/vectorize/analysis/group_uniformity.h"

#include <stddef.h>

#include "code/code.h"
#include "compiler/vectorize/analysis/callees.h"
#include "compiler/vectorize/analysis/graph.h"
#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/analysis/uniformity.h"
#include "compiler/vectorize/base/tables.h"

static bool is_common_position(LLVMValueRef call) {
  switch (LLVMConstIntGetZExtValue(LLVMGetOperand(call, 0))) {
    case MTLI_THREADGROUP_POSITION_IN_GRID:
    case MTLI_THREADS_PER_THREADGROUP:
    case MTLI_DISPATCH_THREADS_PER_THREADGROUP:
    case MTLI_THREADS_PER_GRID:
    case MTLI_GRID_SIZE:
    case MTLI_THREADGROUPS_PER_GRID:
    case MTLI_GRID_ORIGIN:
    case MTLI_SIMDGROUPS_PER_THREADGROUP:
    case MTLI_QUADGROUPS_PER_THREADGROUP:
    case MTLI_DISPATCH_SIMDGROUPS_PER_THREADGROUP:
    case MTLI_DISPATCH_QUADGROUPS_PER_THREADGROUP:
    case MTLI_THREADS_PER_SIMDGROUP:
    case MTLI_THREADGROUPS_AT_ONCE: return true;
    // Uniform only in operations that are performed lane by lane.
    case MTLI_THREAD_INDEX_IN_SIMDGROUP:
    case MTLI_THREAD_INDEX_IN_QUADGROUP: return true;
    default: return false;
  }
}

static bool is_common_call(LLVMValueRef call) {
  switch (lanes_callee_of(call)) {
    case LANES_CALLEE_ARGUMENT:
    case LANES_CALLEE_CHECK_MEMORY:
    case LANES_CALLEE_APART:
    case LANES_CALLEE_THREADGROUP_MEMORY:
    case LANES_CALLEE_ELEMENTWISE: return true;
    case LANES_CALLEE_POSITION: return is_common_position(call);
    default: return false;
  }
}

// True if equal operands give an instruction's result. Between two
// barriers memory that all threads read is written by none of them.
static bool has_common_result(LLVMValueRef i) {
  switch (LLVMGetInstructionOpcode(i)) {
    case LLVMCall: return is_common_call(i);
    case LLVMLoad:
      return lanes_is_plain(i);
    case LLVMAlloca:
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg:
    case LLVMVAArg:
    case LLVMFreeze: return false;
    default: return true;
  }
}

bool lanes_is_group_uniform(const lanes_values *values, const lanes_group_uniform *common,
                     LLVMValueRef operand) {
  if (!LLVMIsAInstruction(operand)) {
    return true;
  }
  const uint32_t number = lanes_map_get(&values->numbers, operand);
  return number != LANES_NONE && common->values[number];
}

static bool is_common_phi(const lanes_values *flow, LLVMValueRef phi,
                          uint32_t node) {
  LLVMValueRef only = NULL;
  for (unsigned i = 0; i < LLVMCountIncoming(phi); i++) {
    LLVMValueRef value = LLVMGetIncomingValue(phi, i);
    if (lanes_is_temporal(flow, value, node) ||
        (only && only != value && lanes_diverges_before(flow, node))) {
      return false;
    }
    only = value;
  }
  return true;
}

static bool stays_common(const lanes_values *flow, const lanes_group_uniform *common,
                         uint32_t number) {
  LLVMValueRef i = flow->items[number];
  if (!(common->by_lane || lanes_is_uniform(flow->shapes[number])) ||
      !has_common_result(i)) {
    return false;
  }
  for (int k = 0; k < LLVMGetNumOperands(i); k++) {
    LLVMValueRef operand = LLVMGetOperand(i, (unsigned)k);
    if (!LLVMValueIsBasicBlock(operand) && !lanes_is_group_uniform(flow, common, operand)) {
      return false;
    }
  }
  return LLVMGetInstructionOpcode(i) != LLVMPHI ||
         is_common_phi(flow, i, flow->nodes[number]);
}

static bool part_simdgroups(lanes_values *flow, const lanes_group_uniform *common,
                            uint32_t *way) {
  bool changed = false;
  for (uint32_t n = 0; n < flow->graph->node_count; n++) {
    const lanes_node *node = &flow->graph->nodes[n];
    if (node->kind != LANES_BLOCK || flow->divergent_branch[n] ||
        node->successors.count < 2) {
      continue;
    }
    LLVMValueRef end = LLVMGetBasicBlockTerminator(node->block);
    LLVMValueRef condition = LLVMGetCondition(end);
    // By lane, threads that part do so alike in all simdgroups.
    if (!lanes_is_group_uniform(flow, common, condition) ||
        !(common->by_lane ||
          lanes_is_uniform(lanes_shape_of(flow, condition)))) {
      flow->divergent_branch[n] = true;
      lanes_spread_divergence(flow, n, way);
      changed = true;
    }
  }
  return changed;
}

static bool all_wait_together(const lanes_values *flow) {
  for (uint32_t number = 0; number < flow->count; number++) {
    LLVMValueRef i = flow->items[number];
    if (LLVMGetInstructionOpcode(i) == LLVMCall &&
        lanes_callee_of(i) == LANES_CALLEE_THREADGROUP_BARRIER &&
        flow->masked[flow->nodes[number]]) {
      return false;
    }
  }
  return true;
}

static LLVMValueRef address_of(LLVMValueRef i) {
  return LLVMIsALoadInst(i)    ? LLVMGetOperand(i, 0)
         : LLVMIsAStoreInst(i) ? LLVMGetOperand(i, 1)
                               : NULL;
}

// True if what only some threads of a simdgroup do is little, such as to
// store the result of all by one: no loops, and memory at one place alone.
// Masks of several simdgroups at a time would be worth less than they cost.
static bool is_short_divergence(const lanes_values *values) {
  const lanes_graph *graph = values->graph;
  for (uint32_t n = 0; n < graph->node_count; n++) {
    if (values->masked[n] && graph->nodes[n].loop != LANES_NONE) {
      return false;
    }
  }
  for (uint32_t n = 0; n < values->count; n++) {
    LLVMValueRef address = address_of(values->items[n]);
    if (values->masked[values->nodes[n]] && address &&
        !lanes_is_uniform(lanes_shape_of(values, address))) {
      return false;
    }
  }
  return true;
}

void lanes_group_uniform_find(const lanes_values *values, bool by_lane,
                       lanes_group_uniform *out_common) {
  const lanes_graph *graph = values->graph;
  mtli_arena *arena = values->arena;
  *out_common = (lanes_group_uniform){.by_lane = by_lane};
  // The same control flow, as seen by the threadgroup.
  lanes_values flow = *values;
  flow.divergent_branch = lanes_allocate(arena, graph->node_count, 1);
  flow.joins = lanes_allocate(arena, graph->node_count, 1);
  flow.masked = lanes_allocate(arena, graph->node_count, 1);
  flow.divergent_loop = lanes_allocate(arena, graph->loop_count + 1, 1);
  out_common->values = lanes_allocate(arena, values->count + 1, 1);
  for (uint32_t i = 0; i < values->count; i++) {
    out_common->values[i] = true;
  }
  uint32_t *way = lanes_allocate_none(arena, graph->node_count);
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t i = 0; i < values->count; i++) {
      if (out_common->values[i] && !stays_common(&flow, out_common, i)) {
        out_common->values[i] = false;
        changed = true;
      }
    }
    changed |= part_simdgroups(&flow, out_common, way);
  }
  out_common->goes_together = !by_lane || is_short_divergence(values);
  for (uint32_t n = 0; n < graph->node_count; n++) {
    out_common->parts_lanes |= values->divergent_branch[n];
    out_common->goes_together &= !flow.divergent_branch[n];
  }
  lanes_mask_divergent_loops(&flow);
  out_common->masked = flow.masked;
  out_common->waits_together = all_wait_together(&flow);
}
