// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// questions.c: what is asked of all threads of a simdgroup at once. Of a run of
// lanes, the first tells about the others.
#include "compiler/vectorize/emitter.h"

enum { MOST_STRIDE = 1 << 20 };  // its multiples are small numbers

bool lanes_is_rising(const lanes_emitter *e, LLVMValueRef value,
                     LLVMIntPredicate predicate) {
  const lanes_shape shape = lanes_shape_of(e->values, value);
  if (!lanes_is_scalar(shape) || shape.stride <= 0 || shape.conditional) {
    return false;
  }
  switch (predicate) {
    case LLVMIntULT:
    case LLVMIntULE: return shape.no_unsigned_wrap;
    case LLVMIntSLT:
    case LLVMIntSLE: return shape.no_signed_wrap;
    default: return predicate == LLVMIntEQ;
  }
}

typedef LLVMIntPredicate predicate_pair[2];

// The other one of a pair; a predicate in none of them stays.
static LLVMIntPredicate other_of(const predicate_pair *pairs, uint32_t count,
                                 LLVMIntPredicate predicate) {
  for (uint32_t i = 0; i < count; i++) {
    if (predicate == pairs[i][0] || predicate == pairs[i][1]) {
      return pairs[i][predicate == pairs[i][0]];
    }
  }
  return predicate;
}

LLVMIntPredicate lanes_inverse_of(LLVMIntPredicate predicate) {
  static const predicate_pair inverses[] = {{LLVMIntUGE, LLVMIntULT},
                                            {LLVMIntUGT, LLVMIntULE},
                                            {LLVMIntSGE, LLVMIntSLT},
                                            {LLVMIntSGT, LLVMIntSLE},
                                            {LLVMIntNE, LLVMIntEQ}};
  return other_of(inverses, sizeof inverses / sizeof *inverses, predicate);
}

static bool is_signed(LLVMIntPredicate predicate) {
  return predicate == LLVMIntSLT || predicate == LLVMIntSLE ||
         predicate == LLVMIntSGT || predicate == LLVMIntSGE;
}

static LLVMIntPredicate swapped(LLVMIntPredicate predicate) {
  static const predicate_pair pairs[] = {{LLVMIntUGE, LLVMIntULE},
                                         {LLVMIntUGT, LLVMIntULT},
                                         {LLVMIntSGE, LLVMIntSLE},
                                         {LLVMIntSGT, LLVMIntSLT}};
  return other_of(pairs, sizeof pairs / sizeof *pairs, predicate);
}

// A comparison of a run with a number.
typedef struct run_comparison {
  LLVMIntPredicate predicate;
  LLVMTypeRef type;
  LLVMValueRef first;  // of the run
  LLVMValueRef bound;
  LLVMValueRef span;  // from the first lane to the last
} run_comparison;

static LLVMValueRef smallest(const run_comparison *c) {
  const unsigned sign = LLVMGetIntTypeWidth(c->type) - 1;
  return is_signed(c->predicate)
             ? LLVMConstInt(c->type, UINT64_C(1) << sign, false)
             : LLVMConstNull(c->type);
}

// No lane's value is the bound.
static LLVMValueRef differs(lanes_emitter *e, const run_comparison *c) {
  LLVMValueRef distance = LLVMBuildSub(e->builder, c->bound, c->first, "");
  return LLVMBuildICmp(e->builder, LLVMIntUGT, distance, c->span, "");
}

// The last lane is below the bound, and the first is below the last.
static LLVMValueRef stays_below(lanes_emitter *e, const run_comparison *c) {
  LLVMValueRef least = LLVMBuildAdd(e->builder, smallest(c), c->span, "");
  LLVMValueRef fits = LLVMBuildICmp(
      e->builder, is_signed(c->predicate) ? LLVMIntSGE : LLVMIntUGE, c->bound,
      least, "");
  LLVMValueRef limit = LLVMBuildSub(e->builder, c->bound, c->span, "");
  return LLVMBuildAnd(
      e->builder, fits,
      LLVMBuildICmp(e->builder, c->predicate, c->first, limit, ""), "");
}

// The first lane is above the bound, and the last above the first.
static LLVMValueRef stays_above(lanes_emitter *e, const run_comparison *c) {
  LLVMValueRef largest = LLVMBuildNot(e->builder, smallest(c), "");
  LLVMValueRef most = LLVMBuildSub(e->builder, largest, c->span, "");
  LLVMValueRef fits = LLVMBuildICmp(
      e->builder, is_signed(c->predicate) ? LLVMIntSLE : LLVMIntULE, c->first,
      most, "");
  return LLVMBuildAnd(
      e->builder, fits,
      LLVMBuildICmp(e->builder, c->predicate, c->first, c->bound, ""), "");
}

static bool is_run(lanes_emitter *e, LLVMValueRef value) {
  const lanes_shape shape = lanes_shape_of(e->values, value);
  LLVMTypeRef type = LLVMTypeOf(value);
  return lanes_is_scalar(shape) && shape.stride > 0 &&
         shape.stride < MOST_STRIDE && !shape.conditional &&
         LLVMGetTypeKind(type) == LLVMIntegerTypeKind &&
         (LLVMGetIntTypeWidth(type) == 32 || LLVMGetIntTypeWidth(type) == 64) &&
         lanes_is_at_hand(e, value);
}

static bool is_number(lanes_emitter *e, LLVMValueRef value) {
  return lanes_is_uniform(lanes_shape_of(e->values, value)) &&
         lanes_is_at_hand(e, value);
}

// NULL if it is no comparison of a run with a number.
static LLVMValueRef comparison_holds(lanes_emitter *e, LLVMValueRef i,
                                     bool holds) {
  LLVMValueRef run = LLVMGetOperand(i, 0);
  LLVMValueRef bound = LLVMGetOperand(i, 1);
  LLVMIntPredicate predicate = LLVMGetICmpPredicate(i);
  predicate = holds ? predicate : lanes_inverse_of(predicate);
  if (is_run(e, bound)) {
    LLVMValueRef other = run;
    run = bound;
    bound = other;
    predicate = swapped(predicate);
  }
  if (!is_run(e, run) || !is_number(e, bound)) {
    return NULL;
  }
  const int64_t stride = lanes_shape_of(e->values, run).stride;
  const run_comparison c = {
      .predicate = predicate,
      .type = LLVMTypeOf(run),
      .first = lanes_scalar(e, run, 0),
      .bound = lanes_scalar(e, bound, 0),
      .span = LLVMConstInt(LLVMTypeOf(run), (uint64_t)stride * (LANES - 1),
                           false)};
  switch (predicate) {
    case LLVMIntEQ: return LLVMConstNull(e->types.i1);
    case LLVMIntNE: return differs(e, &c);
    case LLVMIntULT:
    case LLVMIntULE:
    case LLVMIntSLT:
    case LLVMIntSLE: return stays_below(e, &c);
    default: return stays_above(e, &c);
  }
}

// The second may be poison where the first does not hold.
static LLVMValueRef both_hold(lanes_emitter *e, LLVMValueRef a, LLVMValueRef b,
                              bool holds) {
  if (!lanes_is_at_hand(e, a) || !lanes_is_at_hand(e, b)) {
    return NULL;
  }
  LLVMValueRef first = lanes_holds_for_all(e, a, holds);
  LLVMValueRef second = lanes_holds_for_all(e, b, holds);
  return LLVMBuildSelect(e->builder, first, second,
                         LLVMConstNull(e->types.i1), "");
}

// By its parts; NULL if that is no easier.
static LLVMValueRef parts_hold(lanes_emitter *e, LLVMValueRef condition,
                               bool holds) {
  LLVMValueRef operands[3] = {NULL};
  for (int k = 0; k < LLVMGetNumOperands(condition) && k < 3; k++) {
    operands[k] = LLVMGetOperand(condition, (unsigned)k);
  }
  LLVMValueRef no = LLVMConstNull(e->types.i1);
  LLVMValueRef yes = LLVMConstAllOnes(e->types.i1);
  LLVMValueRef a = operands[0];
  switch (LLVMGetInstructionOpcode(condition)) {
    case LLVMAnd: return holds ? both_hold(e, a, operands[1], true) : NULL;
    case LLVMOr: return holds ? NULL : both_hold(e, a, operands[1], false);
    case LLVMSelect:
      if (holds && operands[2] == no) {  // a && b
        return both_hold(e, a, operands[1], true);
      }
      return !holds && operands[1] == yes  // a || b
                 ? both_hold(e, a, operands[2], false)
                 : NULL;
    case LLVMXor:
      return operands[1] == yes && lanes_is_at_hand(e, a)
                 ? lanes_holds_for_all(e, a, !holds)
                 : NULL;
    case LLVMICmp: return comparison_holds(e, condition, holds);
    default: return NULL;
  }
}

LLVMValueRef lanes_holds_for_all(lanes_emitter *e, LLVMValueRef condition,
                                 bool holds) {
  if (lanes_is_uniform(lanes_shape_of(e->values, condition))) {
    LLVMValueRef all = lanes_scalar(e, condition, 0);
    return holds ? all : LLVMBuildNot(e->builder, all, "");
  }
  LLVMValueRef asked = LLVMIsAInstruction(condition)
                           ? parts_hold(e, condition, holds)
                           : NULL;
  if (asked) {
    return asked;
  }
  LLVMValueRef mask = lanes_vector(e, condition, 0);
  return holds ? lanes_all(e, mask)
               : LLVMBuildNot(e->builder, lanes_any(e, mask), "");
}
