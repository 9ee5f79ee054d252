// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// check_strides.c: tests at run time whether a stride that the program computes
// is one or zero, as in tensors with strides:
//
//   x[position.x * strides.x + position.y * strides.y]
//
// Mostly it is one, and lanes are contiguous; for a broadcast tensor it is
// zero, and all lanes read the same element. Two tests cost a small part of a
// gather.
#include "compiler/vectorize/emit/memory/checked/check_strides.h"

#include <llvm-c/Target.h>
#include <stddef.h>

#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/emit/address/segment_addresses.h"
#include "compiler/vectorize/emit/memory/gathers.h"
#include "compiler/vectorize/emit/values/builder.h"
#include "compiler/vectorize/emit/values/emitter.h"
#include "compiler/vectorize/emit/values/values.h"
#include "compiler/vectorize/plan/access/access.h"
#include "compiler/vectorize/plan/access/forms/stride_factors.h"

// --- What they are -----------------------------------------------------------

// --- Sums that a loop goes on with -------------------------------------------

// --- Whether they are at hand ------------------------------------------------

static LLVMValueRef repeated(lanes_emitter *e, LLVMValueRef value) {
  if (lanes_is_at_hand(e, value)) {
    return lanes_scalar(e, value, 0);
  }
  LLVMValueRef copy = LLVMInstructionClone(value);
  for (int k = 0; k < LLVMGetNumOperands(value); k++) {
    LLVMSetOperand(copy, (unsigned)k,
                   repeated(e, LLVMGetOperand(value, (unsigned)k)));
  }
  LLVMInsertIntoBuilder(e->builder, copy);
  return copy;
}

static LLVMValueRef first_of(lanes_emitter *e, LLVMValueRef value,
                             uint32_t row) {
  if (lanes_is_same_in_segments(e->values, value) && !lanes_is_at_hand(e, value)) {
    return repeated(e, value);
  }
  if (lanes_is_same_in_segments(e->values, value) || lanes_is_plain_run(e->values, value)) {
    return lanes_segment_first(e, value, e->lanes / e->values->row, row);
  }
  if (LLVMIsAPHINode(value)) {
    return lanes_segment_first(e, value, e->lanes, row * e->values->row);
  }
  LLVMValueRef a = first_of(e, LLVMGetOperand(value, 0), row);
  switch (LLVMGetInstructionOpcode(value)) {
    case LLVMFreeze: return LLVMBuildFreeze(e->builder, a, "");
    case LLVMTrunc:
    case LLVMZExt:
    case LLVMSExt:
      return LLVMBuildCast(e->builder, LLVMGetInstructionOpcode(value), a,
                           LLVMTypeOf(value), "");
    default: break;
  }
  LLVMValueRef b = first_of(e, LLVMGetOperand(value, 1), row);
  const LLVMOpcode opcode = LLVMGetInstructionOpcode(value);
  // The `or` is an addition for threads that run; for lane 0, which may not, it
  // has to be a real one.
  return LLVMBuildBinOp(e->builder, opcode == LLVMOr ? LLVMAdd : opcode, a, b,
                        "");
}

// --- What they come to -------------------------------------------------------

void lanes_firsts_by_strides(lanes_emitter *e, const lanes_access *a,
                             const lanes_stride_factors *f, LLVMValueRef *out_firsts) {
  LLVMTypeRef type = lanes_type_indexed(e->values, a->pointer);
  LLVMValueRef base = lanes_base_indexed(e, a->pointer);
  for (uint32_t r = 0; r < (uint32_t)e->lanes / e->values->row; r++) {
    LLVMValueRef index = first_of(e, f->index, r);
    out_firsts[r] = LLVMBuildGEP2(e->builder, type, base, &index, 1, "");
  }
}

static LLVMValueRef both(lanes_emitter *e, LLVMValueRef a, LLVMValueRef b) {
  return a ? LLVMBuildAnd(e->builder, a, b, "") : b;
}

// Returns an i1: no segment of a narrow index wraps before its last lane.
static LLVMValueRef is_whole(lanes_emitter *e, const lanes_stride_factors *f,
                             uint32_t extension) {
  LLVMValueRef narrow = LLVMGetOperand(f->extensions[extension], 0);
  LLVMTypeRef type = LLVMTypeOf(narrow);
  const bool is_signed = LLVMIsASExtInst(f->extensions[extension]);
  const uint32_t row = e->values->row;
  const uint64_t ones = ~UINT64_C(0) >> (64 - LLVMGetIntTypeWidth(type));
  const uint64_t largest = is_signed ? ones >> 1 : ones;
  const uint64_t span = (uint64_t)f->strides[extension] * (row - 1);
  if (span > largest) {
    return LLVMConstInt(e->types.i1, 0, false);
  }
  LLVMValueRef all = NULL;
  for (uint32_t r = 0; r < e->lanes / row; r++) {
    all = both(e, all,
               LLVMBuildICmp(e->builder, is_signed ? LLVMIntSLE : LLVMIntULE,
                             first_of(e, narrow, r),
                             LLVMConstInt(type, largest - span, false), ""));
  }
  return all;
}

LLVMValueRef lanes_check_stride_one(lanes_emitter *e, const lanes_stride_factors *f) {
  LLVMValueRef all = f->is_masked ? lanes_all(e, e->mask) : NULL;
  for (uint32_t i = 0; i < f->count; i++) {
    LLVMValueRef factor = repeated(e, f->items[i]);
    LLVMValueRef one = LLVMConstInt(LLVMTypeOf(factor), 1, false);
    all = both(e, all, LLVMBuildICmp(e->builder, LLVMIntEQ, factor, one, ""));
  }
  for (uint32_t i = 0; i < f->extension_count; i++) {
    all = both(e, all, is_whole(e, f, i));
  }
  return all;
}

LLVMValueRef lanes_check_stride_zero(lanes_emitter *e, const lanes_stride_factors *f) {
  LLVMValueRef any = NULL;
  for (uint32_t i = 0; i < f->count; i++) {
    LLVMValueRef factor = repeated(e, f->items[i]);
    LLVMValueRef is_none = LLVMBuildICmp(e->builder, LLVMIntEQ, factor,
                                         LLVMConstNull(LLVMTypeOf(factor)), "");
    any = any ? LLVMBuildOr(e->builder, any, is_none, "") : is_none;
  }
  return f->is_masked ? both(e, lanes_all(e, e->mask), any) : any;
}
