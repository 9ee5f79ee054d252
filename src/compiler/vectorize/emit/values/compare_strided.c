// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// compare_strided.c: emits `i < n` for a 64-bit counter that rises from lane to
// lane, as counters that index memory do. It computes how many lanes of each
// segment are below the bound, which is a small number, and compares lane
// numbers with it: half of the work of comparing 64-bit vectors.
#include "compiler/vectorize/emit/values/compare_strided.h"

#include <stdbool.h>
#include <stddef.h>

#include "compiler/ir/llvm/types.h"
#include "compiler/vectorize/analysis/components.h"
#include "compiler/vectorize/analysis/predicates.h"
#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/analysis/uniformity.h"
#include "compiler/vectorize/emit/values/builder.h"
#include "compiler/vectorize/emit/values/emitter.h"
#include "compiler/vectorize/plan/access/access.h"

static bool is_run(const lanes_emitter *e, LLVMValueRef value, bool is_signed) {
  const lanes_shape shape = lanes_shape_of(e->values, value);
  return LLVMTypeOf(value) == e->types.i64 && shape.row > 1 &&
         shape.stride > 0 && shape.stride < INT32_MAX / MOST_LANES &&
         !shape.conditional &&
         (is_signed ? shape.no_signed_wrap : shape.no_unsigned_wrap);
}

// Returns a constant plus one; NULL if the value is no constant or the sum
// wraps.
static LLVMValueRef one_more(LLVMValueRef bound, bool is_signed) {
  if (!LLVMIsAConstantInt(bound)) {
    return NULL;
  }
  const uint64_t value = LLVMConstIntGetZExtValue(bound);
  return value == (is_signed ? INT64_MAX : UINT64_MAX)
             ? NULL
             : LLVMConstInt(LLVMTypeOf(bound), value + 1, is_signed);
}

bool lanes_is_strided_comparison(const lanes_emitter *e, LLVMValueRef i,
                                 lanes_strided_comparison *out) {
  LLVMIntPredicate how = LLVMGetICmpPredicate(i);
  LLVMValueRef a = LLVMGetOperand(i, 0);
  LLVMValueRef b = LLVMGetOperand(i, 1);
  const bool holds = how == LLVMIntULT || how == LLVMIntSLT ||
                     how == LLVMIntUGT || how == LLVMIntSGT;
  if (how == LLVMIntEQ || how == LLVMIntNE) {
    return false;
  }
  how = holds ? how : lanes_inverse_predicate(how);
  const bool is_signed = how == LLVMIntSLT || how == LLVMIntSGT;
  *out = (lanes_strided_comparison){a, b, is_signed, holds};
  if (how == LLVMIntUGT || how == LLVMIntSGT) {
    if (LLVMIsAConstantInt(b)) {  // not below bound + 1
      out->bound = one_more(b, is_signed);
      out->holds = !holds;
    } else {  // the other operand is the lower one
      *out = (lanes_strided_comparison){b, a, is_signed, holds};
    }
  }
  return out->bound && is_run(e, out->run, is_signed) &&
         lanes_is_same_in(e->values, out->bound,
                          lanes_shape_of(e->values, out->run).row);
}

LLVMValueRef lanes_compare_strided(lanes_emitter *e,
                                   const lanes_strided_comparison *c,
                                   LLVMValueRef first, LLVMValueRef bound) {
  const lanes_shape shape = lanes_shape_of(e->values, c->run);
  const uint32_t runs = lanes_width_of(shape);
  LLVMTypeRef type = LLVMTypeOf(first);
  LLVMValueRef ends[] = {bound, first};
  LLVMValueRef end = lanes_intrinsic(e, c->is_signed ? "llvm.smax" : "llvm.umax",
                                     &type, 1, ends, 2);
  const uint64_t length = shape.row * (uint64_t)shape.stride;
  LLVMValueRef distances[] = {
      LLVMBuildSub(e->builder, end, first, ""),
      lanes_splat_to(e, e->builder, mtlc_i64(e->context, length), runs)};
  LLVMValueRef distance =
      lanes_intrinsic(e, "llvm.umin", &type, 1, distances, 2);
  distance =
      LLVMBuildTrunc(e->builder, distance, lanes_wide(e->types.i32, runs), "");
  LLVMValueRef steps[MOST_LANES];
  for (uint32_t lane = 0; lane < e->lanes; lane++) {
    steps[lane] =
        mtlc_i32(e->context, lane % shape.row * (uint32_t)shape.stride);
  }
  LLVMValueRef all = lanes_broadcast_segments(e, distance, runs, 0, e->lanes);
  return LLVMBuildICmp(e->builder, c->holds ? LLVMIntUGT : LLVMIntULE, all,
                       LLVMConstVector(steps, e->lanes), "");
}
