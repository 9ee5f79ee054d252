// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// segment_addresses.c: computes the address of each segment on its own, from
// the terms of its sum. What segments have in common stays scalar, and a
// loop-invariant part is extracted from its vector before the loop.
#include "compiler/vectorize/emit/address/segment_addresses.h"

#include <stddef.h>

#include "compiler/ir/llvm/types.h"
#include "compiler/vectorize/analysis/addresses/affine.h"
#include "compiler/vectorize/analysis/addresses/lane_bits.h"
#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/analysis/uniformity.h"
#include "compiler/vectorize/emit/address/base_index.h"
#include "compiler/vectorize/emit/values/builder.h"
#include "compiler/vectorize/emit/values/emitter.h"
#include "compiler/vectorize/emit/values/values.h"
#include "compiler/vectorize/plan/access/access.h"
#include "compiler/vectorize/plan/access/planning.h"

static LLVMValueRef cut(lanes_emitter *e, LLVMValueRef value,
                        LLVMTypeRef type) {
  return LLVMGetIntTypeWidth(LLVMTypeOf(value)) == LLVMGetIntTypeWidth(type)
             ? value
             : LLVMBuildTrunc(e->builder, value, type, "");
}

static LLVMValueRef element(lanes_emitter *e, LLVMValueRef operand,
                            uint32_t width, uint32_t run) {
  return LLVMBuildExtractElement(e->builder,
                                 lanes_at_width(e, operand, 0, width),
                                 mtlc_i32(e->context, run), "");
}

// Computes a later segment's value from the first one's, if they differ by a
// constant: only one element is extracted from the vector, and each access adds
// its constant in its addressing mode.
LLVMValueRef lanes_segment_first(lanes_emitter *e, LLVMValueRef operand,
                                uint32_t width, uint32_t run) {
  if (width == 1 || lanes_is_uniform(lanes_shape_of(e->values, operand))) {
    return lanes_scalar(e, operand, 0);
  }
  const lanes_pattern pattern = lanes_pattern_here(e->planning, operand);
  if (run == 0 || !lanes_pattern_is_whole(&pattern)) {
    return element(e, operand, width, run);
  }
  const uint64_t above =
      lanes_pattern_at(&pattern, run * (e->lanes / width));
  LLVMValueRef first = element(e, operand, width, 0);
  LLVMTypeRef type = LLVMTypeOf(first);
  return LLVMGetTypeKind(type) == LLVMPointerTypeKind
             ? lanes_address_at(e, first, above)
             : LLVMBuildAdd(e->builder, first, LLVMConstInt(type, above, true),
                            "");
}

static LLVMValueRef sum_of(lanes_emitter *e, const lanes_affine *at,
                           bool uniform, uint32_t width, uint32_t run) {
  LLVMValueRef sum = NULL;
  for (uint32_t i = 0; i < at->term_count; i++) {
    if (lanes_is_uniform(lanes_shape_of(e->values, at->terms[i])) != uniform) {
      continue;
    }
    LLVMValueRef term =
        cut(e, lanes_segment_first(e, at->terms[i], width, run), at->index_type);
    sum = sum ? LLVMBuildAdd(e->builder, sum, term, "") : term;
  }
  return sum ? sum : LLVMConstNull(at->index_type);
}

static LLVMValueRef with_uniform(lanes_emitter *e, const lanes_affine *at,
                                 LLVMValueRef own) {
  LLVMValueRef uniform = LLVMBuildAdd(
      e->builder, sum_of(e, at, true, 1, 0),
      LLVMConstInt(at->index_type, (uint64_t)at->constant, true), "");
  return LLVMBuildAdd(e->builder, own, uniform, "");
}

LLVMValueRef lanes_segment_index(lanes_emitter *e, const lanes_affine *at,
                                uint32_t width, uint32_t run) {
  return with_uniform(e, at, sum_of(e, at, false, width, run));
}

static LLVMValueRef address_of(lanes_emitter *e, const lanes_affine *at,
                               LLVMValueRef base, LLVMValueRef index) {
  LLVMValueRef wide =
      LLVMBuildIntCast2(e->builder, index, e->types.i64, at->is_signed, "");
  LLVMTypeRef step = LLVMArrayType2(e->types.i8, at->scale);
  return lanes_address_at(e,
                          LLVMBuildGEP2(e->builder, step, base, &wide, 1, ""),
                          (uint64_t)at->bytes);
}

LLVMValueRef lanes_segment_address(lanes_emitter *e, const lanes_affine *at,
                                  uint32_t width, uint32_t run) {
  return address_of(e, at, lanes_segment_first(e, at->base, width, run),
                    lanes_segment_index(e, at, width, run));
}

void lanes_live_segment_addresses(lanes_emitter *e, const lanes_affine *at,
                                  uint32_t width, LLVMValueRef *live,
                                  LLVMValueRef *out_addresses) {
  LLVMValueRef bases[MOST_LANES], own[MOST_LANES];
  LLVMValueRef first_base = NULL, first_own = NULL;
  for (uint32_t r = width; r-- > 0;) {
    bases[r] = lanes_segment_first(e, at->base, width, r);
    own[r] = sum_of(e, at, false, width, r);
    first_base = first_base ? LLVMBuildSelect(e->builder, live[r], bases[r],
                                              first_base, "")
                            : bases[r];
    first_own =
        first_own ? LLVMBuildSelect(e->builder, live[r], own[r], first_own, "")
                  : own[r];
  }
  for (uint32_t r = 0; r < width; r++) {
    LLVMValueRef base =
        LLVMBuildSelect(e->builder, live[r], bases[r], first_base, "");
    LLVMValueRef index =
        LLVMBuildSelect(e->builder, live[r], own[r], first_own, "");
    out_addresses[r] = address_of(e, at, base, with_uniform(e, at, index));
  }
}

LLVMValueRef lanes_first_address(lanes_emitter *e, LLVMValueRef pointer) {
  lanes_affine at;
  lanes_affine_find(e->values, pointer, &at);
  return lanes_is_sum_of_segments(e->values, &at, e->lanes)
             ? lanes_segment_address(e, &at, e->lanes, 0)
             : lanes_segment_first(e, pointer, e->lanes, 0);
}

void lanes_take_addresses(lanes_emitter *e, LLVMValueRef pointer,
                          LLVMValueRef out_addresses[MOST_LANES]) {
  const lanes_pattern pattern = lanes_pattern_here(e->planning, pointer);
  if (!lanes_pattern_is_whole(&pattern)) {
    lanes_take_operand(e, pointer, out_addresses);
    return;
  }
  LLVMValueRef first = lanes_first_address(e, pointer);
  for (uint32_t lane = 0; lane < e->lanes; lane++) {
    out_addresses[lane] =
        lanes_address_at(e, first, lanes_pattern_at(&pattern, lane));
  }
}
