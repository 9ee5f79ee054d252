// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// counter_ranges.c: computes the ranges of loop counters.
#include "compiler/vectorize/prepare/versions/counter_ranges.h"

#include <stddef.h>

#include "compiler/ir/llvm/instructions.h"
#include "compiler/vectorize/analysis/predicates.h"
#include "compiler/vectorize/base/tables.h"

static bool has_block(const lanes_graph *graph, uint32_t loop,
                      LLVMBasicBlockRef block) {
  const uint32_t node = lanes_map_get(&graph->blocks, block);
  return node != LANES_NONE && lanes_in_loop(graph, node, loop);
}

// Stores a phi's start and step; returns its value in the next iteration.
static LLVMValueRef take_step(const lanes_graph *graph, uint32_t loop,
                              LLVMValueRef phi, lanes_counted *counted) {
  LLVMValueRef next = NULL;
  for (unsigned k = 0; k < LLVMCountIncoming(phi); k++) {
    LLVMValueRef value = LLVMGetIncomingValue(phi, k);
    if (has_block(graph, loop, LLVMGetIncomingBlock(phi, k))) {
      next = value;
    } else {
      counted->start = value;
    }
  }
  if (!next || !counted->start || LLVMCountIncoming(phi) != 2 ||
      !mtlc_is_opcode(next, LLVMAdd) || LLVMGetOperand(next, 0) != phi ||
      !LLVMIsAConstantInt(LLVMGetOperand(next, 1))) {
    return NULL;
  }
  counted->step = LLVMConstIntGetSExtValue(LLVMGetOperand(next, 1));
  return counted->step ? next : NULL;
}

// True if every thread passes a node in each iteration.
static bool is_in_each_turn(const lanes_graph *graph, uint32_t loop,
                            uint32_t node) {
  return graph->nodes[node].loop == loop &&
         lanes_dominates(graph, node, graph->loops[loop].latch);
}

// Records the test, if it is one of a counter at the end of each iteration or
// before an iteration's other work.
static bool take_test(const lanes_graph *graph, uint32_t loop, uint32_t node,
                      LLVMValueRef phi, LLVMValueRef next,
                      lanes_counted *counted) {
  LLVMValueRef end = LLVMGetBasicBlockTerminator(graph->nodes[node].block);
  if (!is_in_each_turn(graph, loop, node) || !LLVMIsABranchInst(end) ||
      !LLVMIsConditional(end) || !LLVMIsAICmpInst(LLVMGetCondition(end))) {
    return false;
  }
  const bool stays = has_block(graph, loop, LLVMGetSuccessor(end, 0));
  if (stays == has_block(graph, loop, LLVMGetSuccessor(end, 1))) {
    return false;
  }
  LLVMValueRef test = LLVMGetCondition(end);
  LLVMIntPredicate predicate = LLVMGetICmpPredicate(test);
  predicate = stays ? predicate : lanes_inverse_predicate(predicate);
  LLVMValueRef value = LLVMGetOperand(test, 0);
  counted->bound = LLVMGetOperand(test, 1);
  if (counted->bound == phi || counted->bound == next) {
    counted->bound = value;
    value = LLVMGetOperand(test, 1);
    predicate = lanes_swapped_predicate(predicate);
  }
  counted->predicate = predicate;
  counted->is_tested_first = value == phi;
  return value == next || (value == phi && graph->loops[loop].header == node);
}

static bool has_access(LLVMBasicBlockRef block) {
  for (LLVMValueRef i = LLVMGetFirstInstruction(block); i;
       i = LLVMGetNextInstruction(i)) {
    if (LLVMIsALoadInst(i) || LLVMIsAStoreInst(i)) {
      return true;
    }
  }
  return false;
}

bool lanes_counted_find(const lanes_graph *graph, LLVMValueRef phi,
                        lanes_counted *out_counted) {
  const uint32_t header =
      lanes_map_get(&graph->blocks, LLVMGetInstructionParent(phi));
  const uint32_t loop = graph->nodes[header].loop;
  *out_counted = (lanes_counted){.width = LLVMGetIntTypeWidth(LLVMTypeOf(phi))};
  LLVMValueRef next = take_step(graph, loop, phi, out_counted);
  for (uint32_t n = header; next && n < graph->loops[loop].latch; n++) {
    if (graph->nodes[n].kind == LANES_BLOCK &&
        take_test(graph, loop, n, phi, next, out_counted)) {
      // What a block does before it tests the counter is done once more.
      return !out_counted->is_tested_first ||
             !has_access(graph->nodes[n].block);
    }
  }
  return false;
}

bool lanes_phi_is_plain(const lanes_graph *graph, LLVMValueRef phi) {
  const uint32_t node =
      lanes_map_get(&graph->blocks, LLVMGetInstructionParent(phi));
  for (unsigned k = 0; k < LLVMCountIncoming(phi); k++) {
    LLVMValueRef value = LLVMGetIncomingValue(phi, k);
    const uint32_t from =
        LLVMIsAInstruction(value)
            ? lanes_map_get(&graph->blocks, LLVMGetInstructionParent(value))
            : LANES_NONE;
    if (from != LANES_NONE && graph->nodes[from].loop != LANES_NONE &&
        !lanes_in_loop(graph, node, graph->nodes[from].loop)) {
      return false;
    }
  }
  return true;
}

// --- Ranges ------------------------------------------------------------------

static LLVMValueRef number_of(const lanes_ranges *r, int64_t value) {
  return LLVMConstInt(LLVMInt64TypeInContext(r->context),
                      (unsigned long long)value, true);
}

static LLVMValueRef plus(const lanes_ranges *r, LLVMValueRef a, int64_t b) {
  return LLVMBuildAdd(r->builder, a, number_of(r, b), "");
}

static void demand(lanes_ranges *r, LLVMIntPredicate predicate, LLVMValueRef a,
                   LLVMValueRef b) {
  lanes_range_demand(r, LLVMBuildICmp(r->builder, predicate, a, b, ""));
}

// Returns the last number before the bound that steps from the start lead to.
static LLVMValueRef last_from(lanes_ranges *r, LLVMValueRef start,
                              LLVMValueRef last, int64_t step) {
  LLVMValueRef way = lanes_range_greater(
      r, LLVMBuildSub(r->builder, last, start, ""), number_of(r, 0));
  LLVMValueRef rest = LLVMBuildURem(r->builder, way, number_of(r, step), "");
  return LLVMBuildAdd(r->builder, start,
                      LLVMBuildSub(r->builder, way, rest, ""), "");
}

static bool count_up(lanes_ranges *r, const lanes_counted *c, lanes_range start,
                     lanes_range bound, lanes_range *out) {
  enum { MOST_BITS = 47 };
  const bool is_signed =
      c->predicate != LLVMIntULT && c->predicate != LLVMIntULE;
  const bool reaches = c->predicate == LLVMIntSLE || c->predicate == LLVMIntULE;
  LLVMValueRef last = reaches ? bound.greatest : plus(r, bound.greatest, -1);
  if (c->predicate == LLVMIntNE) {
    if (c->step != 1) {
      return false;
    }
    demand(r, LLVMIntSLT, start.greatest, bound.least);
  }
  if (c->step != 1 || reaches) {  // the next one is no less
    const uint32_t bits = is_signed ? c->width - 1 : c->width;
    const int64_t most = INT64_C(1) << (bits < MOST_BITS ? bits : MOST_BITS);
    demand(r, LLVMIntSLT, plus(r, last, c->step), number_of(r, most));
  }
  out->greatest = start.least == start.greatest && c->step != 1
                      ? last_from(r, start.least, last, c->step)
                      : lanes_range_greater(r, start.greatest, last);
  out->least = start.least;
  return true;
}

static bool count_down(lanes_ranges *r, const lanes_counted *c,
                       lanes_range start, lanes_range bound, lanes_range *out) {
  enum { MOST_BITS = 47 };
  const bool is_signed =
      c->predicate != LLVMIntUGT && c->predicate != LLVMIntUGE;
  const bool reaches = c->predicate == LLVMIntSGE || c->predicate == LLVMIntUGE;
  LLVMValueRef last = reaches ? bound.least : plus(r, bound.least, 1);
  if (c->predicate == LLVMIntNE) {
    if (c->step != -1) {
      return false;
    }
    demand(r, LLVMIntSGT, start.least, bound.greatest);
  }
  if (c->step != -1 || reaches) {  // the next one is no more
    const uint32_t bits = c->width - 1;
    const int64_t least =
        is_signed ? -(INT64_C(1) << (bits < MOST_BITS ? bits : MOST_BITS)) : 0;
    demand(r, LLVMIntSGE, plus(r, last, c->step), number_of(r, least));
  }
  out->least = lanes_range_smaller(r, start.least, last);
  out->greatest = start.greatest;
  return true;
}

bool lanes_counted_range(lanes_ranges *r, const lanes_counted *c,
                         lanes_range start, lanes_range bound,
                         lanes_range *out) {
  const bool is_less = lanes_is_less_predicate(c->predicate);
  const bool is_up = c->step > 0;
  if (c->step > INT32_MAX || c->step < -INT32_MAX ||
      c->predicate == LLVMIntEQ ||
      (c->predicate != LLVMIntNE && is_less != is_up)) {
    return false;
  }
  const bool is_signed =
      c->predicate == LLVMIntNE || lanes_is_signed_predicate(c->predicate);
  lanes_range_as_type(r, &start, c->width, is_signed);
  lanes_range_as_type(r, &bound, c->width, is_signed);
  out->bits = (start.bits > bound.bits ? start.bits : bound.bits) + 1;
  const bool found = is_up ? count_up(r, c, start, bound, out)
                           : count_down(r, c, start, bound, out);
  out->is_negative_never = found && is_up && start.is_negative_never;
  return found;
}
