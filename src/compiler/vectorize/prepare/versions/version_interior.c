// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// version_interior.c: images end, and a filter that reaches past an edge takes what lies
// there:
//
//   for (int d = -2; d <= 2; d++)
//     sum += in[y * width + clamp(x + d, 0, width - 1)];
//
// or takes nothing from there:
//
//     if (x + d >= 0 && x + d < width) sum += in[y * width + x + d];
//
// Lanes whose index is cut off are no neighbours, which each access has to ask
// (wrap_checks.c); those that go around an access are masked. Most simdgroups are
// nowhere near an edge, and one question tells for all accesses: whether all
// threads' indices are what they were before they were cut off, and within
// bounds. For those there is a form of the code that does not ask.
#include "compiler/vectorize/prepare/versions/version_interior.h"

#include <stddef.h>
#include <stdlib.h>

#include "compiler/ir/kernel/kernel.h"
#include "compiler/ir/llvm/instructions.h"
#include "compiler/ir/llvm/marks.h"
#include "compiler/vectorize/analysis/addresses/trip_counts.h"
#include "compiler/vectorize/analysis/callees.h"
#include "compiler/vectorize/analysis/graph.h"
#include "compiler/vectorize/analysis/predicates.h"
#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/analysis/uniformity.h"
#include "compiler/vectorize/base/tables.h"
#include "compiler/vectorize/prepare/versions/clone_region.h"
#include "compiler/vectorize/prepare/versions/hoist_checks.h"
#include "compiler/vectorize/prepare/versions/version_row.h"
#include "compiler/vectorize/prepare/versions/version_uniform.h"
#include "compiler/vectorize/target/machine.h"

enum {
  LEAST_ACCESSES = 3,  // at indices that may be cut off
  LEAST_BRANCHES = 2,  // around what is out of bounds
  LEAST_BOUND = 16,    // greater ones may be an image's end
  MOST_LIMITS = 64,
  MOST_INDICES = 4,  // of which one comparison tells whether any is negative
  MOST_CONDITIONS = 24,
  MOST_DEPTH = 8,  // of what conditions are computed from
};

// A minimum or a maximum that may cut off lanes' index, or a comparison that
// tells whether it is within bounds.
typedef struct limit {
  LLVMValueRef value;
  LLVMValueRef indices[MOST_INDICES];  // [index_count] compared with the bound
  uint32_t index_count;
  LLVMValueRef bound;
  LLVMIntPredicate predicate;  // what holds of each away from edges
  LLVMValueRef within;         // a comparison's result then; NULL: the index
} limit;

// What must hold of an index that a constant is added to, of those that are
// like it but for the constant: that it is no less, or no more, than a bound.
typedef struct condition {
  LLVMValueRef root;
  LLVMValueRef index;  // the root and the constant
  LLVMValueRef bound;
  int64_t constant;
  LLVMIntPredicate predicate;
  // Of those that it stands for: the index that the smallest constant is added
  // to, and the largest.
  LLVMValueRef first;
  int64_t smallest, largest;
  lanes_counter counter;  // that the root is a sum with; phi: NULL for none
} condition;

typedef struct insider {
  lanes_clone part;
  limit limits[MOST_LIMITS];  // [limit_count]
  uint32_t limit_count;
  condition conditions[MOST_CONDITIONS];  // [condition_count]
  uint32_t condition_count;
  lanes_quotients quotients;
  lanes_hoisted front;
} insider;

// --- What is cut off ---------------------------------------------------------

static void find_extreme(limit *l, lanes_limit kind, bool index_is_first) {
  l->indices[0] = LLVMGetOperand(l->value, index_is_first ? 0 : 1);
  l->index_count = 1;
  l->bound = LLVMGetOperand(l->value, index_is_first ? 1 : 0);
  l->predicate = kind.is_max ? (kind.is_signed ? LLVMIntSGE : LLVMIntUGE)
                             : (kind.is_signed ? LLVMIntSLE : LLVMIntULE);
}

// True if a value rises along rows of threads, or is another in each.
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
                         limit *l) {
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

static bool asks_sign(LLVMIntPredicate predicate, LLVMValueRef bound) {
  return (predicate == LLVMIntSGT && LLVMIsConstant(bound) &&
          bound == LLVMConstAllOnes(LLVMTypeOf(bound))) ||
         (predicate == LLVMIntSLT && LLVMIsConstant(bound) &&
          LLVMIsNull(bound));
}

// Small numbers are taken for where an image begins, others for where it ends.
static bool find_comparison(const lanes_values *values, limit *l) {
  LLVMIntPredicate predicate = LLVMGetICmpPredicate(l->value);
  LLVMValueRef index = LLVMGetOperand(l->value, 0);
  l->bound = LLVMGetOperand(l->value, 1);
  if (is_index(values, l->bound)) {
    LLVMValueRef bound = index;
    index = l->bound;
    l->bound = bound;
    predicate = lanes_swapped_predicate(predicate);
  }
  if (asks_sign(predicate, l->bound) && mtlc_is_opcode(index, LLVMOr) &&
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
                       limit *out_limit) {
  lanes_limit kind;
  *out_limit = (limit){.value = i};
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

static const limit *limit_of(const insider *s, LLVMValueRef value) {
  for (uint32_t k = 0; k < s->limit_count; k++) {
    if (s->limits[k].value == value) {
      return &s->limits[k];
    }
  }
  return NULL;
}

// What an index is where none is cut off.
static LLVMValueRef uncut(const insider *s, LLVMValueRef value) {
  const limit *l = NULL;
  while ((l = limit_of(s, value))) {
    if (l->within) {
      return l->within;
    }
    value = l->indices[0];
  }
  return value;
}

// True if a branch's condition is made of comparisons with bounds alone.
static bool is_of_bounds(const insider *s, LLVMValueRef test, uint32_t depth) {
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

static void find_limits(insider *s) {
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

static bool is_bounded_branch(const insider *s, uint32_t node) {
  enum { DEPTH = 4 };
  LLVMBasicBlockRef block = lanes_clone_block(&s->part, node);
  return block && s->part.values->divergent_branch[node] &&
         is_of_bounds(s, LLVMGetCondition(LLVMGetBasicBlockTerminator(block)),
                      DEPTH);
}

// True if there is enough that costs less away from edges.
static bool has_reason(const insider *s) {
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

// True if an index is a sum with a loop's counter, by which it rises.
static bool find_counter(const insider *s, LLVMValueRef index, uint32_t depth,
                         lanes_counter *out_counter) {
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

static condition condition_of(const insider *s, const limit *l,
                              LLVMValueRef index) {
  condition c = {
      .index = uncut(s, index), .bound = l->bound, .predicate = l->predicate};
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

// Notes the indices that another condition stands for.
static void stand_for(condition *c, const condition *other) {
  c->first = other->smallest < c->smallest ? other->first : c->first;
  c->smallest = other->smallest < c->smallest ? other->smallest : c->smallest;
  c->largest = other->largest > c->largest ? other->largest : c->largest;
}

// Of indices constants apart the first one's maximum and the last one's minimum
// tell, if no index between them wraps, which is a condition of its own.
// Returns false if there are too many.
static bool add_condition(insider *s, condition c) {
  for (uint32_t k = 0; k < s->condition_count; k++) {
    condition *other = &s->conditions[k];
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

static bool is_of(const condition *c, const condition *other) {
  return c->root == other->root &&
         lanes_is_signed_predicate(c->predicate) == lanes_is_signed_predicate(other->predicate);
}

// True if none in front of a condition is of its kind.
static bool is_new(const insider *s, const condition *c) {
  for (const condition *other = s->conditions; other != c; other++) {
    if (is_of(other, c)) {
      return false;
    }
  }
  return true;
}

static bool can_be_made(const insider *s, LLVMValueRef value, uint32_t depth) {
  return lanes_hoist_can(&s->part, value, depth);
}

static LLVMValueRef made(insider *s, LLVMValueRef value) {
  return lanes_hoist_make(&s->front, value);
}

// The operand of a sum, or of what is made of it, that a counter is in.
static unsigned counted_operand(const insider *s, LLVMValueRef value) {
  lanes_counter counter;
  return mtlc_is_opcode(value, LLVMAdd) &&
                 !find_counter(s, LLVMGetOperand(value, 0), MOST_DEPTH,
                               &counter)
             ? 1
             : 0;
}

// As can_be_made, of an index at a counter's first or last value.
static bool can_be_counted(const insider *s, LLVMValueRef index,
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

// The counter's last value.
static LLVMValueRef last_of(insider *s, const lanes_counter *counter) {
  LLVMValueRef bound = made(s, counter->bound);
  LLVMValueRef one = LLVMConstInt(LLVMTypeOf(bound), 1, false);
  return counter->reaches_bound ? bound
                                : LLVMBuildSub(s->part.builder, bound, one, "");
}

// An index at one of a counter's values.
static LLVMValueRef made_at(insider *s, LLVMValueRef index,
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

static LLVMValueRef first_made(insider *s, LLVMValueRef index,
                               const lanes_counter *counter) {
  return made_at(s, index, counter,
                 counter->phi ? made(s, counter->start) : NULL);
}

static LLVMValueRef last_made(insider *s, LLVMValueRef index,
                              const lanes_counter *counter) {
  return made_at(s, index, counter, counter->phi ? last_of(s, counter) : NULL);
}

static bool can_be_asked(const insider *s, const limit *l) {
  bool can = can_be_made(s, l->bound, MOST_DEPTH);
  for (uint32_t k = 0; can && k < l->index_count; k++) {
    const condition c = condition_of(s, l, l->indices[k]);
    can = can_be_counted(s, c.index, &c.counter, MOST_DEPTH);
  }
  return can;
}

// Leaves out what cannot be asked in front of the part.
static bool find_conditions(insider *s) {
  const uint32_t count = s->limit_count;
  s->limit_count = 0;
  for (uint32_t i = 0; i < count; i++) {
    const limit l = s->limits[i];
    if (!can_be_asked(s, &l)) {
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

static LLVMValueRef holds(insider *s, const condition *c) {
  LLVMValueRef index = lanes_is_less_predicate(c->predicate)
                           ? last_made(s, c->index, &c->counter)
                           : first_made(s, c->index, &c->counter);
  return LLVMBuildICmp(s->part.builder, c->predicate, index, made(s, c->bound),
                       "");
}

static LLVMValueRef both(const insider *s, LLVMValueRef a, LLVMValueRef b) {
  return a && b ? LLVMBuildAnd(s->part.builder, a, b, "") : a ? a : b;
}

// True if no index wraps between those of a condition's kind; NULL if
// there is one alone.
static LLVMValueRef stays_in_order(insider *s, const condition *c) {
  LLVMBuilderRef b = s->part.builder;
  condition all = *c;
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
  const uint64_t largest = lanes_is_signed_predicate(c->predicate) ? ones >> 1 : ones;
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
  LLVMValueRef in_order =
      LLVMBuildICmp(b, lanes_is_signed_predicate(c->predicate) ? LLVMIntSLE : LLVMIntULE,
                    first_made(s, all.first, &c->counter), most, "");
  return both(s, is_short, in_order);
}

// Whether a condition holds, if there is one, and nothing is cut off.
static LLVMValueRef all_hold(insider *s, LLVMValueRef passes) {
  for (uint32_t k = 0; k < s->condition_count; k++) {
    const condition *c = &s->conditions[k];
    passes = both(s, passes, holds(s, c));
    if (is_new(s, c)) {
      passes = both(s, passes, stays_in_order(s, c));
    }
  }
  return both(s, passes, lanes_quotients_hold(&s->quotients, &s->front));
}

// --- The form ----------------------------------------------------------------

static bool is_worth_it(insider *s, uint32_t room) {
  if (!s->part.fits || s->part.instructions > room) {
    return false;
  }
  find_limits(s);
  if (!find_conditions(s) || !has_reason(s)) {
    s->limit_count = s->condition_count = 0;
  }
  lanes_quotients_find(&s->part, &s->quotients);
  return s->limit_count > 0 || s->quotients.count > 0;
}

// In the copy nothing is cut off.
static void take_limits_away(const insider *s) {
  for (uint32_t k = 0; k < s->limit_count; k++) {
    LLVMValueRef value = s->limits[k].value;
    LLVMReplaceAllUsesWith(lanes_clone_copy_of(&s->part, value),
                           lanes_clone_copy_of(&s->part, uncut(s, value)));
  }
  for (uint32_t k = 0; k < s->limit_count; k++) {
    LLVMInstructionEraseFromParent(
        lanes_clone_copy_of(&s->part, s->limits[k].value));
  }
}

// Lets threads take the copy if they all go to the side that a condition leads
// to, or if there is none, and none is at an edge.
static void add_form(insider *s, uint32_t branch, LLVMValueRef passes,
                     bool is_true) {
  lanes_clone *p = &s->part;
  LLVMBasicBlockRef block = p->graph->nodes[branch].block;
  lanes_clone_copy_side(p, branch);
  s->front = lanes_hoist_begin(p);
  if (passes && !is_true) {
    passes = LLVMBuildNot(p->builder, passes, "");
  }
  LLVMBuildCondBr(p->builder, lanes_clone_check(p, all_hold(s, passes), true),
                  lanes_clone_block_copy(p, p->entry), block);
  take_limits_away(s);
  lanes_quotients_use(&s->quotients, p);
  // At edges masks have to do, where there are any.
  if (s->limit_count > 0 &&
      lanes_machine_of(p->kernel->target).has_masks) {
    lanes_needs_no_uniform_version(LLVMGetBasicBlockTerminator(block));
  }
}

// --- Bodies ------------------------------------------------------------------

static insider new_insider(mtlc_kernel *kernel, const lanes_values *values) {
  return (insider){.part = lanes_clone_begin(kernel, values)};
}

static const char body_mark[] = "mettle.body";

// True if a form of all may be worth it: for what lies behind a branch, a
// form of that is.
static bool needs_body(mtlc_kernel *kernel, const lanes_values *values) {
  const lanes_graph *graph = values->graph;
  insider s = new_insider(kernel, values);
  for (uint32_t n = 0; n < graph->node_count; n++) {
    lanes_set_add(s.part.nodes, n);
  }
  find_limits(&s);
  for (uint32_t n = 0; n < graph->node_count; n++) {
    if (values->masked[n]) {
      lanes_set_remove(s.part.nodes, n);
    }
  }
  lanes_quotients_find(&s.part, &s.quotients);
  const bool needs =
      (s.limit_count > 0 && has_reason(&s)) || s.quotients.count > 0;
  lanes_clone_end(&s.part);
  return needs;
}

// Returns the only block that returns, NULL if there are several.
static LLVMBasicBlockRef returning_block(LLVMValueRef function) {
  LLVMBasicBlockRef found = NULL;
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b;
       b = LLVMGetNextBasicBlock(b)) {
    if (mtlc_is_opcode(LLVMGetBasicBlockTerminator(b), LLVMRet)) {
      if (found) {
        return NULL;
      }
      found = b;
    }
  }
  return found;
}

static void move_allocas(LLVMBuilderRef builder, LLVMBasicBlockRef from) {
  LLVMValueRef next = NULL;
  for (LLVMValueRef i = LLVMGetFirstInstruction(from); i; i = next) {
    next = LLVMGetNextInstruction(i);
    if (LLVMIsAAllocaInst(i)) {
      LLVMInstructionRemoveFromParent(i);
      LLVMInsertIntoBuilder(builder, i);
    }
  }
}

bool lanes_set_body_apart(mtlc_kernel *kernel, const lanes_values *values) {
  return needs_body(kernel, values) && lanes_put_body_apart(kernel, values);
}

bool lanes_put_body_apart(mtlc_kernel *kernel, const lanes_values *values) {
  LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(kernel->thread);
  LLVMBasicBlockRef end = returning_block(kernel->thread);
  if (!end) {
    return false;
  }
  lanes_clone p = lanes_clone_begin(kernel, values);
  LLVMPositionBuilderAtEnd(p.builder, lanes_clone_put_head(&p, end));
  LLVMBuildBr(p.builder, end);
  entry = entry == end ? LLVMGetEntryBasicBlock(kernel->thread) : entry;
  LLVMBasicBlockRef before = lanes_clone_new_block(&p, entry);
  LLVMPositionBuilderAtEnd(p.builder, before);
  move_allocas(p.builder, entry);
  mtlc_mark(LLVMBuildBr(p.builder, entry), body_mark);
  lanes_clone_end(&p);
  return true;
}

// --- All of them -------------------------------------------------------------

static bool try_body(mtlc_kernel *kernel, const lanes_values *values,
                     uint32_t *room) {
  const lanes_graph *graph = values->graph;
  const lanes_node *start = &graph->nodes[0];
  if (!mtlc_is_marked(LLVMGetBasicBlockTerminator(start->block), body_mark)) {
    return false;
  }
  insider s = new_insider(kernel, values);
  const bool worth = lanes_clone_take(&s.part, start->successors.items[0],
                                     graph->node_count - 1) &&
                     is_worth_it(&s, *room);
  if (worth) {
    add_form(&s, 0, NULL, true);
    *room -= s.part.instructions;
  }
  lanes_clone_end(&s.part);
  return worth;
}

static bool try_branch(mtlc_kernel *kernel, const lanes_values *values,
                       uint32_t branch, uint32_t *room) {
  const lanes_node *node = &values->graph->nodes[branch];
  bool any = false;
  for (uint32_t k = 0; k < node->successors.count && !any; k++) {
    insider s = new_insider(kernel, values);
    if (lanes_clone_take_side(&s.part, branch, node->successors.items[k]) &&
        is_worth_it(&s, *room)) {
      LLVMValueRef end = LLVMGetBasicBlockTerminator(node->block);
      add_form(&s, branch, LLVMGetCondition(end), k == 0);
      *room -= s.part.instructions;
      any = true;
    }
    lanes_clone_end(&s.part);
  }
  return any;
}

bool lanes_version_interior(mtlc_kernel *kernel, const lanes_values *values,
                      uint32_t *room) {
  const lanes_graph *graph = values->graph;
  bool any = try_body(kernel, values, room);
  uint32_t n = any ? graph->node_count : 0;
  while (n < graph->node_count) {
    const lanes_node *node = &graph->nodes[n];
    const bool parts = node->kind == LANES_BLOCK && !values->masked[n] &&
                       values->divergent_branch[n] &&
                       node->successors.count == 2;
    const bool found = parts && try_branch(kernel, values, n, room);
    any |= found;
    n = found ? node->postdominator : n + 1;
  }
  return any;
}
