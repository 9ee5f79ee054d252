// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// interior_limits.c: finds clamps and bounds tests of indices at edges, and
// conditions under which none of them has an effect.
#include "compiler/vectorize/prepare/versions/interior_limits.h"

#include <stddef.h>
#include <stdlib.h>

#include "compiler/ir/llvm/instructions.h"
#include "compiler/vectorize/analysis/addresses/trip_counts.h"
#include "compiler/vectorize/analysis/callees.h"
#include "compiler/vectorize/analysis/predicates.h"
#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/analysis/uniformity.h"
#include "compiler/vectorize/base/tables.h"
#include "compiler/vectorize/prepare/versions/clone_region.h"
#include "compiler/vectorize/prepare/versions/hoist_checks.h"
#include "compiler/vectorize/prepare/versions/version_row.h"

// --- What is cut off ---------------------------------------------------------

static void find_extreme(lanes_index_limit *l, lanes_limit kind,
                         bool index_is_first) {
  l->indices[0] = LLVMGetOperand(l->value, index_is_first ? 0 : 1);
  l->index_count = 1;
  l->bound = LLVMGetOperand(l->value, index_is_first ? 1 : 0);
  l->predicate = kind.is_max ? (kind.is_signed ? LLVMIntSGE : LLVMIntUGE)
                             : (kind.is_signed ? LLVMIntSLE : LLVMIntULE);
}

// True if a value rises along rows of threads, or varies.
static bool is_index(const lanes_values *values, LLVMValueRef value) {
  enum { LEAST_ROW = 8 };
  const lanes_shape shape = lanes_shape_of(values, value);
  return LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMIntegerTypeKind &&
         shape.row >= LEAST_ROW && shape.stride >= 0 && !shape.conditional &&
         !lanes_is_uniform(shape);
}

static bool is_small(LLVMValueRef bound) {
  return LLVMIsAConstantInt(bound) &&
         llabs(LLVMConstIntGetSExtValue(bound)) <= LEAST_BOUND;
}

// x | y is negative if x is or y.
static bool find_indices(const lanes_values *values, LLVMValueRef value,
                         lanes_index_limit *l) {
  if (mtlc_is_opcode(value, LLVMOr)) {
    return find_indices(values, LLVMGetOperand(value, 0), l) &&
           find_indices(values, LLVMGetOperand(value, 1), l);
  }
  if (l->index_count == MOST_INDICES || LLVMIsConstant(value) ||
      (!is_index(values, value) &&
       !lanes_is_uniform(lanes_shape_of(values, value)))) {
    return false;
  }
  l->indices[l->index_count++] = value;
  return true;
}

static bool tests_sign(LLVMIntPredicate predicate, LLVMValueRef bound) {
  return (predicate == LLVMIntSGT && LLVMIsConstant(bound) &&
          bound == LLVMConstAllOnes(LLVMTypeOf(bound))) ||
         (predicate == LLVMIntSLT && LLVMIsConstant(bound) &&
          LLVMIsNull(bound));
}

// A small constant is taken for an image's first index, any other for its end.
static bool find_comparison(const lanes_values *values, lanes_index_limit *l) {
  LLVMIntPredicate predicate = LLVMGetICmpPredicate(l->value);
  LLVMValueRef index = LLVMGetOperand(l->value, 0);
  l->bound = LLVMGetOperand(l->value, 1);
  if (is_index(values, l->bound)) {
    LLVMValueRef bound = index;
    index = l->bound;
    l->bound = bound;
    predicate = lanes_swapped_predicate(predicate);
  }
  if (tests_sign(predicate, l->bound) && mtlc_is_opcode(index, LLVMOr) &&
      !lanes_is_uniform(lanes_shape_of(values, index))) {
    if (!find_indices(values, index, l)) {
      return false;
    }
  } else if (predicate == LLVMIntEQ || predicate == LLVMIntNE ||
             !is_index(values, index) ||
             !lanes_is_uniform(lanes_shape_of(values, l->bound))) {
    return false;
  } else {
    l->indices[l->index_count++] = index;
  }
  const bool holds = lanes_is_less_predicate(predicate) != is_small(l->bound);
  l->predicate = holds ? predicate : lanes_inverse_predicate(predicate);
  l->within = LLVMConstInt(LLVMTypeOf(l->value), holds, false);
  return true;
}

static bool find_limit(const lanes_values *values, LLVMValueRef i,
                       lanes_index_limit *out_limit) {
  lanes_limit kind;
  *out_limit = (lanes_index_limit){.value = i};
  if (LLVMIsAICmpInst(i)) {
    return find_comparison(values, out_limit);
  }
  if (!LLVMIsACallInst(i) || !lanes_limit_find(i, &kind) ||
      !lanes_shape_of(values, i).conditional) {
    return false;
  }
  find_extreme(out_limit, kind,
               lanes_shape_of(values, LLVMGetOperand(i, 0)).stride != 0);
  return true;
}

static bool is_access(const lanes_values *values, LLVMValueRef i) {
  const bool is_store = mtlc_is_opcode(i, LLVMStore);
  return (is_store || mtlc_is_opcode(i, LLVMLoad)) &&
         lanes_shape_of(values, LLVMGetOperand(i, is_store ? 1 : 0))
             .conditional;
}

static const lanes_index_limit *limit_of(const lanes_interior *s,
                                         LLVMValueRef value) {
  for (uint32_t k = 0; k < s->limit_count; k++) {
    if (s->limits[k].value == value) {
      return &s->limits[k];
    }
  }
  return NULL;
}

LLVMValueRef lanes_uncut(const lanes_interior *s, LLVMValueRef value) {
  const lanes_index_limit *l = NULL;
  while ((l = limit_of(s, value))) {
    if (l->within) {
      return l->within;
    }
    value = l->indices[0];
  }
  return value;
}

// True if a branch's condition consists of bounds tests alone.
static bool is_of_bounds(const lanes_interior *s, LLVMValueRef test,
                         uint32_t depth) {
  if (limit_of(s, test)) {
    return true;
  }
  if (!depth || !LLVMIsAInstruction(test) ||
      (!LLVMIsABinaryOperator(test) && !LLVMIsASelectInst(test))) {
    return false;
  }
  bool any = false;
  for (int k = 0; k < LLVMGetNumOperands(test); k++) {
    LLVMValueRef operand = LLVMGetOperand(test, (unsigned)k);
    const bool is = is_of_bounds(s, operand, depth - 1);
    any |= is;
    if (!is && !LLVMIsConstant(operand) &&
        !lanes_is_uniform(lanes_shape_of(s->part.values, operand))) {
      return false;
    }
  }
  return any;
}

void lanes_find_limits(lanes_interior *s) {
  const lanes_clone *p = &s->part;
  for (uint32_t n = lanes_set_next(p->nodes, 0); n != LANES_NONE;
       n = lanes_set_next(p->nodes, n + 1)) {
    LLVMBasicBlockRef block = lanes_clone_block(p, n);
    for (LLVMValueRef i = block ? LLVMGetFirstInstruction(block) : NULL;
         i && s->limit_count < MOST_LIMITS; i = LLVMGetNextInstruction(i)) {
      s->limit_count += find_limit(p->values, i, &s->limits[s->limit_count]);
    }
  }
}

static bool is_bounded_branch(const lanes_interior *s, uint32_t node) {
  enum { DEPTH = 4 };
  LLVMBasicBlockRef block = lanes_clone_block(&s->part, node);
  return block && s->part.values->divergent_branch[node] &&
         is_of_bounds(s, LLVMGetCondition(LLVMGetBasicBlockTerminator(block)),
                      DEPTH);
}

bool lanes_has_reason(const lanes_interior *s) {
  const lanes_clone *p = &s->part;
  uint32_t accesses = 0, branches = 0;
  for (uint32_t n = lanes_set_next(p->nodes, 0); n != LANES_NONE;
       n = lanes_set_next(p->nodes, n + 1)) {
    LLVMBasicBlockRef block = lanes_clone_block(p, n);
    const bool goes_round = p->graph->nodes[n].loop != LANES_NONE;
    branches += is_bounded_branch(s, n) ? (goes_round ? LEAST_BRANCHES : 1) : 0;
    for (LLVMValueRef i = block ? LLVMGetFirstInstruction(block) : NULL; i;
         i = LLVMGetNextInstruction(i)) {
      accesses += is_access(p->values, i);
    }
  }
  return accesses >= LEAST_ACCESSES || branches >= LEAST_BRANCHES;
}

// --- What must hold ----------------------------------------------------------

// True if an index is a sum with a loop counter.
static bool find_counter(const lanes_interior *s, LLVMValueRef index,
                         uint32_t depth, lanes_counter *out_counter) {
  if (!depth || !LLVMIsAInstruction(index) ||
      !lanes_clone_has(&s->part, LLVMGetInstructionParent(index))) {
    return false;
  }
  switch (LLVMGetInstructionOpcode(index)) {
    case LLVMPHI: {
      lanes_counter counter;
      const bool is_one = lanes_counter_find(s->part.graph, index, &counter);
      *out_counter = is_one ? counter : *out_counter;
      return is_one;
    }
    case LLVMAdd:
      return find_counter(s, LLVMGetOperand(index, 0), depth - 1,
                          out_counter) ||
             find_counter(s, LLVMGetOperand(index, 1), depth - 1, out_counter);
    case LLVMSub:
    case LLVMTrunc:
      return find_counter(s, LLVMGetOperand(index, 0), depth - 1, out_counter);
    default: return false;
  }
}

static lanes_edge_condition condition_of(const lanes_interior *s,
                                         const lanes_index_limit *l,
                                         LLVMValueRef index) {
  lanes_edge_condition c = {.index = lanes_uncut(s, index),
                            .bound = l->bound,
                            .predicate = l->predicate};
  c.root = c.index;
  if (mtlc_is_opcode(c.index, LLVMAdd) &&
      LLVMIsAConstantInt(LLVMGetOperand(c.index, 1))) {
    c.root = LLVMGetOperand(c.index, 0);
    c.constant = LLVMConstIntGetSExtValue(LLVMGetOperand(c.index, 1));
  }
  c.first = c.index;
  c.smallest = c.largest = c.constant;
  find_counter(s, c.root, MOST_DEPTH, &c.counter);
  return c;
}

// Adds indices that another condition covers as well.
static void stand_for(lanes_edge_condition *c,
                      const lanes_edge_condition *other) {
  c->first = other->smallest < c->smallest ? other->first : c->first;
  c->smallest = other->smallest < c->smallest ? other->smallest : c->smallest;
  c->largest = other->largest > c->largest ? other->largest : c->largest;
}

// Adds a condition. Of indices that are constants apart, the first's maximum
// and the last's minimum suffice, if no index between wraps, which is a
// condition of its own. False if there are too many.
static bool add_condition(lanes_interior *s, lanes_edge_condition c) {
  for (uint32_t k = 0; k < s->condition_count; k++) {
    lanes_edge_condition *other = &s->conditions[k];
    if (c.root == other->root && c.bound == other->bound &&
        c.predicate == other->predicate) {
      stand_for(other, &c);
      if (lanes_is_less_predicate(c.predicate) ? c.constant > other->constant
                                               : c.constant < other->constant) {
        other->index = c.index;
        other->constant = c.constant;
      }
      return true;
    }
  }
  if (s->condition_count == MOST_CONDITIONS) {
    return false;
  }
  s->conditions[s->condition_count++] = c;
  return true;
}

static bool is_of(const lanes_edge_condition *c,
                  const lanes_edge_condition *other) {
  return c->root == other->root &&
         lanes_is_signed_predicate(c->predicate) ==
             lanes_is_signed_predicate(other->predicate);
}

// True if no earlier condition is of the same kind.
static bool is_new(const lanes_interior *s, const lanes_edge_condition *c) {
  for (const lanes_edge_condition *other = s->conditions; other != c; other++) {
    if (is_of(other, c)) {
      return false;
    }
  }
  return true;
}

static bool can_be_made(const lanes_interior *s, LLVMValueRef value,
                        uint32_t depth) {
  return lanes_hoist_can(&s->part, value, depth);
}

static LLVMValueRef made(lanes_interior *s, LLVMValueRef value) {
  return lanes_hoist_make(&s->front, value);
}

// Returns which operand of an index depends on a counter.
static unsigned counted_operand(const lanes_interior *s, LLVMValueRef value) {
  lanes_counter counter;
  return mtlc_is_opcode(value, LLVMAdd) &&
                 !find_counter(s, LLVMGetOperand(value, 0), MOST_DEPTH,
                               &counter)
             ? 1
             : 0;
}

// The same as can_be_made, for an index at a counter's first or last value.
static bool can_be_counted(const lanes_interior *s, LLVMValueRef index,
                           const lanes_counter *counter, uint32_t depth) {
  if (!counter->phi) {
    return can_be_made(s, index, depth);
  }
  if (index == counter->phi) {
    return can_be_made(s, counter->start, depth) &&
           can_be_made(s, counter->bound, depth);
  }
  if (!depth || LLVMIsAPHINode(index)) {
    return false;
  }
  const unsigned counted = counted_operand(s, index);
  return can_be_counted(s, LLVMGetOperand(index, counted), counter,
                        depth - 1) &&
         (LLVMGetNumOperands(index) == 1 ||
          can_be_made(s, LLVMGetOperand(index, 1 - counted), depth - 1));
}

// Returns a counter's last value.
static LLVMValueRef last_of(lanes_interior *s, const lanes_counter *counter) {
  LLVMValueRef bound = made(s, counter->bound);
  LLVMValueRef one = LLVMConstInt(LLVMTypeOf(bound), 1, false);
  return counter->reaches_bound ? bound
                                : LLVMBuildSub(s->part.builder, bound, one, "");
}

// Emits an index at one of a counter's values.
static LLVMValueRef made_at(lanes_interior *s, LLVMValueRef index,
                            const lanes_counter *counter, LLVMValueRef value) {
  if (!counter->phi) {
    return made(s, index);
  }
  if (index == counter->phi) {
    return value;
  }
  const unsigned counted = counted_operand(s, index);
  LLVMValueRef operand =
      made_at(s, LLVMGetOperand(index, counted), counter, value);
  if (LLVMGetNumOperands(index) == 1) {
    return LLVMBuildTrunc(s->part.builder, operand, LLVMTypeOf(index), "");
  }
  LLVMValueRef other = made(s, LLVMGetOperand(index, 1 - counted));
  return mtlc_is_opcode(index, LLVMSub)
             ? LLVMBuildSub(s->part.builder, operand, other, "")
             : LLVMBuildAdd(s->part.builder, operand, other, "");
}

static LLVMValueRef first_made(lanes_interior *s, LLVMValueRef index,
                               const lanes_counter *counter) {
  return made_at(s, index, counter,
                 counter->phi ? made(s, counter->start) : NULL);
}

static LLVMValueRef last_made(lanes_interior *s, LLVMValueRef index,
                              const lanes_counter *counter) {
  return made_at(s, index, counter, counter->phi ? last_of(s, counter) : NULL);
}

static bool can_be_tested(const lanes_interior *s, const lanes_index_limit *l) {
  bool can = can_be_made(s, l->bound, MOST_DEPTH);
  for (uint32_t k = 0; can && k < l->index_count; k++) {
    const lanes_edge_condition c = condition_of(s, l, l->indices[k]);
    can = can_be_counted(s, c.index, &c.counter, MOST_DEPTH);
  }
  return can;
}

bool lanes_find_conditions(lanes_interior *s) {
  const uint32_t count = s->limit_count;
  s->limit_count = 0;
  for (uint32_t i = 0; i < count; i++) {
    const lanes_index_limit l = s->limits[i];
    if (!can_be_tested(s, &l)) {
      continue;
    }
    s->limits[s->limit_count++] = l;
    for (uint32_t k = 0; k < l.index_count; k++) {
      if (!add_condition(s, condition_of(s, &l, l.indices[k]))) {
        return false;
      }
    }
  }
  return s->condition_count > 0;
}

static LLVMValueRef holds(lanes_interior *s, const lanes_edge_condition *c) {
  LLVMValueRef index = lanes_is_less_predicate(c->predicate)
                           ? last_made(s, c->index, &c->counter)
                           : first_made(s, c->index, &c->counter);
  return LLVMBuildICmp(s->part.builder, c->predicate, index, made(s, c->bound),
                       "");
}

static LLVMValueRef both(const lanes_interior *s, LLVMValueRef a,
                         LLVMValueRef b) {
  return a && b ? LLVMBuildAnd(s->part.builder, a, b, "") : a ? a : b;
}

// Returns whether no index between those of a condition wraps; NULL if there is
// only one.
static LLVMValueRef build_no_wrap_test(lanes_interior *s,
                                       const lanes_edge_condition *c) {
  LLVMBuilderRef b = s->part.builder;
  lanes_edge_condition all = *c;
  for (uint32_t k = 0; k < s->condition_count; k++) {
    if (is_of(&s->conditions[k], c)) {
      stand_for(&all, &s->conditions[k]);
    }
  }
  const uint64_t span = (uint64_t)(all.largest - all.smallest);
  if (!span && !c->counter.phi) {
    return NULL;
  }
  LLVMTypeRef type = LLVMTypeOf(c->index);
  const uint64_t ones = ~UINT64_C(0) >> (64 - LLVMGetIntTypeWidth(type));
  if (span > ones >> 1) {
    return LLVMConstNull(LLVMInt1TypeInContext(s->part.kernel->context));
  }
  const uint64_t largest =
      lanes_is_signed_predicate(c->predicate) ? ones >> 1 : ones;
  LLVMValueRef most = LLVMConstInt(type, largest - span, false);
  LLVMValueRef is_short = NULL;
  if (c->counter.phi) {
    LLVMValueRef turns =
        LLVMBuildSub(b, last_of(s, &c->counter), made(s, c->counter.start), "");
    LLVMTypeRef wide = LLVMTypeOf(turns);
    is_short = LLVMBuildICmp(b, LLVMIntULE, turns,
                             LLVMConstInt(wide, (ones >> 1) - span, false), "");
    turns = wide == type ? turns : LLVMBuildTrunc(b, turns, type, "");
    most = LLVMBuildSub(b, most, turns, "");
  }
  LLVMValueRef in_order = LLVMBuildICmp(
      b, lanes_is_signed_predicate(c->predicate) ? LLVMIntSLE : LLVMIntULE,
      first_made(s, all.first, &c->counter), most, "");
  return both(s, is_short, in_order);
}

LLVMValueRef lanes_all_hold(lanes_interior *s, LLVMValueRef passes) {
  for (uint32_t k = 0; k < s->condition_count; k++) {
    const lanes_edge_condition *c = &s->conditions[k];
    passes = both(s, passes, holds(s, c));
    if (is_new(s, c)) {
      passes = both(s, passes, build_no_wrap_test(s, c));
    }
  }
  return both(s, passes, lanes_quotients_hold(&s->quotients, &s->front));
}
