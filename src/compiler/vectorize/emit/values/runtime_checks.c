// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// runtime_checks.c: emits scalar tests whether a condition holds for all
// threads of a simdgroup. The ends of a segment tell about the lanes between.
#include "compiler/vectorize/emit/values/runtime_checks.h"

#include <stddef.h>

#include "compiler/vectorize/analysis/predicates.h"
#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/analysis/uniformity.h"
#include "compiler/vectorize/emit/values/builder.h"
#include "compiler/vectorize/emit/values/emitter.h"
#include "compiler/vectorize/emit/values/operations.h"
#include "compiler/vectorize/emit/values/values.h"
#include "compiler/vectorize/plan/access/access.h"

enum {
  MOST_STRIDE = 1 << 20,  // its multiples are small numbers
  LEAST_ROW = 8,
};

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

// A comparison of segments with a number: scalars for one segment, vectors for
// several.
typedef struct run_comparison {
  LLVMIntPredicate predicate;
  uint32_t runs;
  LLVMTypeRef type;    // of a lane
  LLVMValueRef first;  // of each segment
  LLVMValueRef bound;
  LLVMValueRef span;  // from the first lane to the last
} run_comparison;

static LLVMValueRef number(lanes_emitter *e, const run_comparison *c,
                           uint64_t value) {
  return lanes_splat_to(e, e->builder, LLVMConstInt(c->type, value, false),
                        c->runs);
}

static LLVMValueRef smallest(lanes_emitter *e, const run_comparison *c) {
  const unsigned sign = LLVMGetIntTypeWidth(c->type) - 1;
  return number(e, c, lanes_is_signed_predicate(c->predicate) ? UINT64_C(1) << sign : 0);
}

// Returns whether no lane's value equals the bound.
static LLVMValueRef differs(lanes_emitter *e, const run_comparison *c) {
  LLVMValueRef distance = LLVMBuildSub(e->builder, c->bound, c->first, "");
  return LLVMBuildICmp(e->builder, LLVMIntUGT, distance, c->span, "");
}

// Returns whether the last lane is below the bound and the first below the
// last.
static LLVMValueRef stays_below(lanes_emitter *e, const run_comparison *c) {
  LLVMValueRef least = LLVMBuildAdd(e->builder, smallest(e, c), c->span, "");
  LLVMValueRef fits = LLVMBuildICmp(
      e->builder, lanes_is_signed_predicate(c->predicate) ? LLVMIntSGE : LLVMIntUGE,
      c->bound, least, "");
  LLVMValueRef limit = LLVMBuildSub(e->builder, c->bound, c->span, "");
  return LLVMBuildAnd(
      e->builder, fits,
      LLVMBuildICmp(e->builder, c->predicate, c->first, limit, ""), "");
}

// Returns whether the first lane is above the bound and the last above the
// first.
static LLVMValueRef stays_above(lanes_emitter *e, const run_comparison *c) {
  LLVMValueRef largest = LLVMBuildNot(e->builder, smallest(e, c), "");
  LLVMValueRef most = LLVMBuildSub(e->builder, largest, c->span, "");
  LLVMValueRef fits = LLVMBuildICmp(
      e->builder, lanes_is_signed_predicate(c->predicate) ? LLVMIntSLE : LLVMIntULE,
      c->first, most, "");
  return LLVMBuildAnd(
      e->builder, fits,
      LLVMBuildICmp(e->builder, c->predicate, c->first, c->bound, ""), "");
}

static bool is_run(lanes_emitter *e, LLVMValueRef value) {
  const lanes_shape shape = lanes_shape_of(e->values, value);
  LLVMTypeRef type = LLVMTypeOf(value);
  return shape.row >= LEAST_ROW && shape.stride > 0 &&
         shape.stride < MOST_STRIDE && !shape.conditional &&
         LLVMGetTypeKind(type) == LLVMIntegerTypeKind &&
         (LLVMGetIntTypeWidth(type) == 32 || LLVMGetIntTypeWidth(type) == 64) &&
         lanes_is_at_hand(e, value);
}

// True if a value is the same in all lanes of a segment.
static bool is_number(lanes_emitter *e, LLVMValueRef value, LLVMValueRef run) {
  return lanes_is_same_in(e->values, value, lanes_shape_of(e->values, run).row) &&
         lanes_is_at_hand(e, value);
}

// Returns the test of a comparison of a segment with a number; NULL for any
// other.
static LLVMValueRef comparison_holds(lanes_emitter *e, LLVMValueRef i,
                                     bool holds) {
  LLVMValueRef run = LLVMGetOperand(i, 0);
  LLVMValueRef bound = LLVMGetOperand(i, 1);
  LLVMIntPredicate predicate = LLVMGetICmpPredicate(i);
  predicate = holds ? predicate : lanes_inverse_predicate(predicate);
  if (is_run(e, bound)) {
    LLVMValueRef other = run;
    run = bound;
    bound = other;
    predicate = lanes_swapped_predicate(predicate);
  }
  if (!is_run(e, run) || !is_number(e, bound, run)) {
    return NULL;
  }
  if (predicate == LLVMIntEQ) {
    return LLVMConstNull(e->types.i1);
  }
  const lanes_shape shape = lanes_shape_of(e->values, run);
  run_comparison c = {.predicate = predicate,
                      .runs = lanes_width_of(shape),
                      .type = LLVMTypeOf(run)};
  c.first = lanes_at_width(e, run, 0, c.runs);
  c.bound = lanes_at_width(e, bound, 0, c.runs);
  c.span = number(e, &c, (uint64_t)shape.stride * (shape.row - 1));
  LLVMValueRef all = predicate == LLVMIntNE    ? differs(e, &c)
                     : lanes_is_less_predicate(predicate)      ? stays_below(e, &c)
                                               : stays_above(e, &c);
  return c.runs == 1 ? all : lanes_all(e, all);
}

// Emits lanes_check_by_ends if by_ends, else lanes_holds_for_all.
static LLVMValueRef answer(lanes_emitter *e, LLVMValueRef condition, bool holds,
                           bool by_ends);

// Returns the conjunction; the second may be poison where the first is false.
static LLVMValueRef both_hold(lanes_emitter *e, LLVMValueRef a, LLVMValueRef b,
                              bool holds, bool by_ends) {
  if (!lanes_is_at_hand(e, a) || !lanes_is_at_hand(e, b)) {
    return NULL;
  }
  LLVMValueRef first = answer(e, a, holds, by_ends);
  LLVMValueRef second = first ? answer(e, b, holds, by_ends) : NULL;
  return second ? LLVMBuildSelect(e->builder, first, second,
                                  LLVMConstNull(e->types.i1), "")
                : NULL;
}

// Tests a conjunction or disjunction by its parts; NULL if that is no easier.
static LLVMValueRef parts_hold(lanes_emitter *e, LLVMValueRef condition,
                               bool holds, bool by_ends) {
  LLVMValueRef operands[3] = {NULL};
  for (int k = 0; k < LLVMGetNumOperands(condition) && k < 3; k++) {
    operands[k] = LLVMGetOperand(condition, (unsigned)k);
  }
  LLVMValueRef no = LLVMConstNull(e->types.i1);
  LLVMValueRef yes = LLVMConstAllOnes(e->types.i1);
  LLVMValueRef a = operands[0];
  switch (LLVMGetInstructionOpcode(condition)) {
    case LLVMAnd:
      return holds ? both_hold(e, a, operands[1], true, by_ends) : NULL;
    case LLVMOr:
      return holds ? NULL : both_hold(e, a, operands[1], false, by_ends);
    case LLVMSelect:
      if (holds && operands[2] == no) {  // a && b
        return both_hold(e, a, operands[1], true, by_ends);
      }
      return !holds && operands[1] == yes  // a || b
                 ? both_hold(e, a, operands[2], false, by_ends)
                 : NULL;
    case LLVMXor:
      return operands[1] == yes && lanes_is_at_hand(e, a)
                 ? answer(e, a, !holds, by_ends)
                 : NULL;
    case LLVMICmp: return comparison_holds(e, condition, holds);
    default: return NULL;
  }
}

static LLVMValueRef answer(lanes_emitter *e, LLVMValueRef condition, bool holds,
                           bool by_ends) {
  if (lanes_is_uniform(lanes_shape_of(e->values, condition))) {
    LLVMValueRef all = lanes_scalar(e, condition, 0);
    return holds ? all : LLVMBuildNot(e->builder, all, "");
  }
  LLVMValueRef asked = LLVMIsAInstruction(condition)
                           ? parts_hold(e, condition, holds, by_ends)
                           : NULL;
  if (asked || by_ends) {
    return asked;
  }
  LLVMValueRef mask = lanes_vector(e, condition, 0);
  return holds ? lanes_all(e, mask)
               : LLVMBuildNot(e->builder, lanes_any(e, mask), "");
}

LLVMValueRef lanes_holds_for_all(lanes_emitter *e, LLVMValueRef condition,
                                 bool holds) {
  return answer(e, condition, holds, false);
}

LLVMValueRef lanes_check_by_ends(lanes_emitter *e, LLVMValueRef condition,
                             bool holds) {
  LLVMValueRef told = answer(e, condition, holds, true);
  return told && !LLVMIsConstant(told) ? told : NULL;
}

LLVMValueRef lanes_recompute_condition(lanes_emitter *e, LLVMValueRef condition) {
  if (!LLVMIsAInstruction(condition) ||
      lanes_is_uniform(lanes_shape_of(e->values, condition))) {
    return lanes_vector(e, condition, 0);
  }
  LLVMValueRef parts[3] = {NULL};
  const int count = LLVMGetNumOperands(condition);
  const LLVMOpcode opcode = LLVMGetInstructionOpcode(condition);
  if (opcode == LLVMICmp) {
    return lanes_operation_as_vector(e, condition, 0);
  }
  for (int k = 0; k < count && k < 3; k++) {
    parts[k] = lanes_recompute_condition(e, LLVMGetOperand(condition, (unsigned)k));
  }
  return opcode == LLVMSelect
             ? LLVMBuildSelect(e->builder, parts[0], parts[1], parts[2], "")
             : LLVMBuildBinOp(e->builder, opcode, parts[0], parts[1], "");
}
