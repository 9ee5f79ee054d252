// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// run_ends.c: of positions that were clamped to an image's edge, both ends of a
// row of lanes tell: bounds leave a step between two lanes as it is or take it
// away, so that all steps are there if their sum is. And what only the clamped
// way needs of all lanes is computed there.
#include "compiler/module.h"
#include "compiler/vectorize/accesses.h"

enum { DEPTH = 8 };

// --- The ends ----------------------------------------------------------------

// What a row's lanes may do.
typedef struct row_kind {
  uint32_t row;
  int64_t stride;
} row_kind;

static bool is_even(const lanes_emitter *e, LLVMValueRef value,
                    const row_kind *kind) {
  const lanes_shape shape = lanes_shape_of(e->values, value);
  return shape.row >= kind->row && shape.stride == 0 && !shape.conditional;
}

static bool is_step(const lanes_emitter *e, LLVMValueRef value,
                    const row_kind *kind) {
  const lanes_shape shape = lanes_shape_of(e->values, value);
  return shape.row >= kind->row && shape.stride == kind->stride &&
         !shape.conditional;
}

static bool is_signed_bound(LLVMValueRef call) {
  return mtlc_name(LLVMGetCalledValue(call))[5] == 's';
}

// Which operand a minimum or maximum bounds, by another that is the same in a
// row: what rises from lane to lane, or has been bounded so.
static bool read_bound(const lanes_emitter *e, LLVMValueRef call,
                       const row_kind *kind, unsigned *out_bounded) {
  if (!LLVMIsACallInst(call)) {
    return false;
  }
  const char *name = mtlc_name(LLVMGetCalledValue(call));
  if (!mtlc_starts_with(name, "llvm.smin.i32") &&
      !mtlc_starts_with(name, "llvm.smax.i32") &&
      !mtlc_starts_with(name, "llvm.umin.i32") &&
      !mtlc_starts_with(name, "llvm.umax.i32")) {
    return false;
  }
  for (unsigned k = 0; k < 2; k++) {
    LLVMValueRef inner = LLVMGetOperand(call, k);
    unsigned deeper = 0;
    if (is_even(e, LLVMGetOperand(call, 1 - k), kind) &&
        (is_step(e, inner, kind) ||
         (read_bound(e, inner, kind, &deeper) &&
          is_signed_bound(inner) == is_signed_bound(call)))) {
      *out_bounded = k;
      return true;
    }
  }
  return false;
}

// Says whether lanes' steps are the stride or, behind a bound, nothing.
static bool has_ends(lanes_emitter *e, LLVMValueRef value, const row_kind *kind,
                     uint32_t depth) {
  unsigned bounded = 0;
  if (is_step(e, value, kind)) {
    return lanes_is_at_hand(e, value);
  }
  if (depth == 0 || !LLVMIsAInstruction(value)) {
    return false;
  }
  if (read_bound(e, value, kind, &bounded)) {
    return lanes_is_at_hand(e, LLVMGetOperand(value, 1 - bounded)) &&
           has_ends(e, LLVMGetOperand(value, bounded), kind, depth - 1);
  }
  const bool is_sum = mtlc_is_opcode(value, LLVMAdd);
  if (!is_sum && !mtlc_is_opcode(value, LLVMSub)) {
    return false;
  }
  for (unsigned k = 0; k < (is_sum ? 2 : 1); k++) {
    LLVMValueRef other = LLVMGetOperand(value, 1 - k);
    if (is_even(e, other, kind) && lanes_is_at_hand(e, other)) {
      return has_ends(e, LLVMGetOperand(value, k), kind, depth - 1);
    }
  }
  return false;
}

// The value of each row's first or last lane.
static LLVMValueRef end_of(lanes_emitter *e, LLVMValueRef value,
                           const row_kind *kind, bool is_last) {
  const uint32_t rows = LANES / kind->row;
  if (is_even(e, value, kind)) {
    return lanes_form(e, value, 0, rows);
  }
  if (is_step(e, value, kind)) {
    const uint64_t span = (kind->row - 1) * (uint64_t)kind->stride;
    LLVMValueRef first = lanes_form(e, value, 0, rows);
    LLVMValueRef by = LLVMConstInt(LLVMTypeOf(value), span, false);
    return is_last ? LLVMBuildAdd(e->builder, first,
                                  lanes_splat_to(e, e->builder, by, rows), "")
                   : first;
  }
  LLVMValueRef operands[] = {
      end_of(e, LLVMGetOperand(value, 0), kind, is_last),
      end_of(e, LLVMGetOperand(value, 1), kind, is_last)};
  return LLVMIsACallInst(value)
             ? mtlc_call_alike(e->builder, value, LLVMTypeOf(operands[0]),
                               operands)
             : LLVMBuildBinOp(e->builder, LLVMGetInstructionOpcode(value),
                              operands[0], operands[1], "");
}

// Whether what is bounded rises as a number of the kind that is compared; NULL
// if that is known, or nothing is bounded.
static LLVMValueRef bounded_rises(lanes_emitter *e, LLVMValueRef value,
                                  const row_kind *kind) {
  LLVMValueRef bound = NULL;
  unsigned k = 0;
  while (!is_step(e, value, kind)) {
    if (read_bound(e, value, kind, &k)) {
      bound = value;
    } else {
      k = is_even(e, LLVMGetOperand(value, 1), kind) ? 0 : 1;
    }
    value = LLVMGetOperand(value, k);
  }
  const lanes_shape shape = lanes_shape_of(e->values, value);
  const bool is_signed = bound && is_signed_bound(bound);
  return !bound || (is_signed ? shape.no_signed_wrap : shape.no_unsigned_wrap)
             ? NULL
             : LLVMBuildICmp(e->builder, is_signed ? LLVMIntSGE : LLVMIntUGE,
                             end_of(e, value, kind, true),
                             end_of(e, value, kind, false), "");
}

bool lanes_find_ends(lanes_emitter *e, LLVMValueRef index, uint32_t row,
                     int64_t stride, bool is_unsigned, lanes_ends *out) {
  const row_kind kind = {row, stride};
  if (LLVMTypeOf(index) != e->types.i32 || !has_ends(e, index, &kind, DEPTH)) {
    return false;
  }
  const uint32_t rows = LANES / row;
  LLVMBuilderRef b = e->builder;
  out->first = end_of(e, index, &kind, false);
  LLVMValueRef last = end_of(e, index, &kind, true);
  LLVMValueRef span = mtlc_i32(e->context, (row - 1) * (uint32_t)stride);
  LLVMValueRef holds =
      LLVMBuildICmp(b, LLVMIntEQ, LLVMBuildSub(b, last, out->first, ""),
                    lanes_splat_to(e, b, span, rows), "");
  holds = LLVMBuildAnd(b, holds,
                       LLVMBuildICmp(b, is_unsigned ? LLVMIntUGE : LLVMIntSGE,
                                     last, out->first, ""),
                       "");
  LLVMValueRef rises = bounded_rises(e, index, &kind);
  holds = rises ? LLVMBuildAnd(b, holds, rises, "") : holds;
  out->hold = rows == 1 ? holds : lanes_all(e, holds);
  return true;
}

// --- Computed again ----------------------------------------------------------

static bool is_redone(const lanes_emitter *e, LLVMValueRef value) {
  if (!LLVMIsAInstruction(value) || lanes_width(e, value) != LANES) {
    return false;
  }
  switch (LLVMGetInstructionOpcode(value)) {
    case LLVMAdd:
    case LLVMSub:
    case LLVMZExt:
    case LLVMSExt:
    case LLVMGetElementPtr: return true;
    case LLVMCall: {
      const char *name = mtlc_name(LLVMGetCalledValue(value));
      return mtlc_starts_with(name, "llvm.smin.i32") ||
             mtlc_starts_with(name, "llvm.smax.i32") ||
             mtlc_starts_with(name, "llvm.umin.i32") ||
             mtlc_starts_with(name, "llvm.umax.i32");
    }
    default: return false;
  }
}

// Says whether a value is there: computed again, or as it was.
static bool redo(lanes_emitter *e, LLVMValueRef value, lanes_redone *done) {
  for (uint32_t i = 0; i < done->count; i++) {
    if (done->values[i] == value) {
      return true;
    }
  }
  if (!is_redone(e, value)) {
    return lanes_is_at_hand(e, value);
  }
  const int count = LLVMIsACallInst(value) ? 2 : LLVMGetNumOperands(value);
  bool all = true;
  for (int k = 0; k < count && all; k++) {
    all = redo(e, LLVMGetOperand(value, (unsigned)k), done);
  }
  if (!all || done->count == LANES_MOST_REDONE) {
    return lanes_is_at_hand(e, value);
  }
  LLVMValueRef anew = lanes_operation_as_vector(e, value, 0);
  done->values[done->count] = value;
  done->before[done->count++] = lanes_put(e, value, anew);
  return true;
}

void lanes_redo(lanes_emitter *e, LLVMValueRef value, lanes_redone *out) {
  out->count = 0;
  redo(e, value, out);
}

void lanes_undo(lanes_emitter *e, const lanes_redone *done) {
  for (uint32_t i = done->count; i > 0; i--) {
    lanes_put(e, done->values[i - 1], done->before[i - 1]);
  }
}
