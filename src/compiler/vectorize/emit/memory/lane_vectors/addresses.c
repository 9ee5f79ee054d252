// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// addresses.c: the addresses of lanes' vectors that may be anywhere in memory,
// and the words that a vector is made of.
#include "compiler/vectorize/emit/memory/lane_vectors/addresses.h"

#include <stddef.h>

#include "compiler/ir/llvm/types.h"
#include "compiler/vectorize/analysis/addresses/affine.h"
#include "compiler/vectorize/analysis/addresses/lane_bits.h"
#include "compiler/vectorize/analysis/components.h"
#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/analysis/uniformity.h"
#include "compiler/vectorize/emit/address/segment_addresses.h"
#include "compiler/vectorize/emit/lanes/lane_loop.h"
#include "compiler/vectorize/emit/values/builder.h"
#include "compiler/vectorize/emit/values/emitter.h"
#include "compiler/vectorize/emit/values/values.h"
#include "compiler/vectorize/plan/access/access.h"
#include "compiler/vectorize/plan/access/forms/interleave_groups.h"
#include "compiler/vectorize/plan/access/forms/lane_vectors.h"

static LLVMValueRef sum_of(lanes_emitter *e, const lanes_affine *at,
                           bool uniform) {
  LLVMValueRef sum = NULL;
  for (uint32_t i = 0; i < at->term_count; i++) {
    if (lanes_is_uniform(lanes_shape_of(e->values, at->terms[i])) != uniform) {
      continue;
    }
    LLVMTypeRef type =
        uniform ? at->index_type : lanes_vector_of(e->lanes, at->index_type);
    LLVMValueRef term =
        LLVMBuildTruncOrBitCast(e->builder,
                                uniform ? lanes_scalar(e, at->terms[i], 0)
                                        : lanes_vector(e, at->terms[i], 0),
                                type, "");
    sum = sum ? LLVMBuildAdd(e->builder, sum, term, "") : term;
  }
  return sum;
}

static LLVMValueRef extended(lanes_emitter *e, const lanes_affine *at,
                             LLVMValueRef value) {
  const bool is_vector =
      LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMVectorTypeKind;
  return LLVMBuildIntCast2(
      e->builder, value,
      is_vector ? lanes_vector_of(e->lanes, e->types.i64) : e->types.i64, at->is_signed,
      "");
}

// Returns an i1: extending the index changes none of the values from lanes +
// uniform to lanes + uniform + span, as none is negative or exceeds the narrow
// type.
static LLVMValueRef sums_hold(lanes_emitter *e, const lanes_lane_vector *row,
                              LLVMValueRef lanes, LLVMValueRef uniform) {
  LLVMTypeRef type = row->at.index_type;
  LLVMBuilderRef b = e->builder;
  const uint64_t span = (uint64_t)(row->most_constant - row->at.constant);
  LLVMValueRef last = LLVMConstInt(type, lanes_last_index(&row->at) - span, false);
  LLVMValueRef room = LLVMBuildSub(b, last, uniform, "");
  LLVMValueRef holds = LLVMBuildICmp(b, LLVMIntULE, uniform, last, "");
  if (lanes == NULL) {
    return holds;
  }
  LLVMValueRef beyond =
      LLVMBuildICmp(b, row->at.is_signed ? LLVMIntSGT : LLVMIntUGT, lanes,
                    lanes_splat(e, b, room), "");
  // Lanes that do not run may hold poison, which must not spread.
  beyond = LLVMBuildSelect(b, e->mask, beyond,
                           LLVMConstNull(LLVMTypeOf(beyond)), "");
  return LLVMBuildAnd(b, holds, LLVMBuildNot(b, lanes_any(e, beyond), ""), "");
}

// Tests lanes that are a stride apart: no index between them may wrap.
static LLVMValueRef run_holds(lanes_emitter *e, const lanes_lane_vector *row,
                              const lanes_shape *shape, uint32_t run) {
  const lanes_affine *at = &row->at;
  return LLVMBuildICmp(
      e->builder, at->is_signed ? LLVMIntSLE : LLVMIntULE,
      lanes_segment_index(e, at, lanes_width_of(*shape), run),
      LLVMConstInt(at->index_type, lanes_last_index(at) - lanes_lane_vector_span(row, shape), false),
      "");
}

// Requires that all lanes run: one that does not could lie past the end of
// memory.
static lanes_lane_vector_addresses strided_addresses(lanes_emitter *e,
                                          const lanes_lane_vector *row,
                                          const lanes_shape *shape) {
  const uint32_t width = lanes_width_of(*shape);
  lanes_lane_vector_addresses result = {.strided = shape, .holds = lanes_all(e, e->mask)};
  for (uint32_t r = 0; r < width; r++) {
    if (row->at.is_extended && !row->at.is_unwrapped) {
      result.holds =
          LLVMBuildSelect(e->builder, result.holds, run_holds(e, row, shape, r),
                          LLVMConstNull(e->types.i1), "");
    }
    result.firsts[r] =
        row->at.index_type
            ? lanes_segment_address(e, &row->at, width, r)
            : lanes_address_at(e, lanes_segment_first(e, row->at.base, width, r),
                               (uint64_t)row->at.bytes);
  }
  return result;
}

lanes_lane_vector_addresses lanes_lane_vector_dense_addresses(lanes_emitter *e,
                                        const lanes_lane_vector *row) {
  return strided_addresses(e, row, &row->members[0].access.shape);
}

static lanes_lane_vector_addresses addresses_of(lanes_emitter *e, const lanes_lane_vector *row) {
  LLVMBuilderRef b = e->builder;
  const lanes_affine *at = &row->at;
  lanes_lane_vector_addresses result = {
      .offset = mtlc_i64(e->context, (uint64_t)at->bytes),
      .holds = lanes_any(e, e->mask)};
  LLVMValueRef pointers = lanes_vector(e, at->base, 0);
  if (at->index_type) {
    LLVMTypeRef step = LLVMArrayType2(e->types.i8, at->scale);
    LLVMValueRef lanes = sum_of(e, at, false);
    LLVMValueRef constant =
        LLVMConstInt(at->index_type, (uint64_t)at->constant, true);
    LLVMValueRef terms = sum_of(e, at, true);
    LLVMValueRef uniform =
        terms ? LLVMBuildAdd(b, terms, constant, "") : constant;
    if (at->is_extended) {
      // A uniform value may be poison if no lane runs.
      result.holds =
          LLVMBuildSelect(b, result.holds, sums_hold(e, row, lanes, uniform),
                          LLVMConstNull(e->types.i1), "");
    }
    if (lanes) {
      LLVMValueRef wide = extended(e, at, lanes);
      pointers = LLVMBuildGEP2(b, step, pointers, &wide, 1, "");
    }
    LLVMValueRef by = LLVMBuildMul(b, extended(e, at, uniform),
                                   mtlc_i64(e->context, at->scale), "");
    result.offset = LLVMBuildAdd(b, by, result.offset, "");
  }
  result.lanes = lanes_filled(e, pointers);
  return result;
}

static lanes_lane_vector_addresses pattern_addresses(
    lanes_emitter *e, const lanes_lane_vector *row) {
  const lanes_lane_vector_member *own = &row->members[row->own];
  lanes_lane_vector_addresses result = {.has_pattern = true,
                                        .pattern = row->pattern,
                                        .holds = lanes_all(e, e->mask)};
  if (lanes_lane_vector_may_wrap(row)) {
    const uint64_t last = lanes_last_index(&row->at) - row->pattern_span;
    LLVMValueRef holds = LLVMBuildICmp(
        e->builder, row->at.is_signed ? LLVMIntSLE : LLVMIntULE,
        lanes_segment_index(e, &row->at, e->lanes, 0),
        LLVMConstInt(row->at.index_type, last, false), "");
    result.holds = LLVMBuildSelect(e->builder, result.holds, holds,
                                   LLVMConstNull(e->types.i1), "");
  }
  result.firsts[0] =
      lanes_address_at(e, lanes_first_address(e, own->access.pointer),
                       (uint64_t)-own->start);
  return result;
}

lanes_lane_vector_addresses lanes_lane_vector_addresses_of(
    lanes_emitter *e, const lanes_lane_vector *row) {
  const lanes_shape *shape = &row->members[row->own].access.shape;
  switch (row->lie) {
    case LANES_ROWS_STRIDED: return strided_addresses(e, row, shape);
    case LANES_ROWS_IN_PATTERN: return pattern_addresses(e, row);
    default: return addresses_of(e, row);
  }
}

LLVMValueRef lanes_lane_vector_address(lanes_emitter *e, const lanes_lane_vector_addresses *where,
                               uint32_t lane, uint64_t offset) {
  if (where->has_pattern) {
    return lanes_address_at(e, where->firsts[0],
                            lanes_pattern_at(&where->pattern, lane) + offset);
  }
  if (where->strided) {
    const uint32_t row = where->strided->row;
    const int64_t in_run = lane % row * where->strided->stride;
    return lanes_address_at(e, where->firsts[lane / row],
                            (uint64_t)in_run + offset);
  }
  LLVMValueRef base = LLVMBuildExtractElement(e->builder, where->lanes,
                                              mtlc_i32(e->context, lane), "");
  LLVMValueRef address = LLVMBuildGEP2(e->builder, e->types.i8, base,
                                       (LLVMValueRef *)&where->offset, 1, "");
  return lanes_address_at(e, address, offset);
}

LLVMValueRef lanes_lane_vector_member_addresses(lanes_emitter *e, const lanes_lane_vector *row,
                                     const lanes_lane_vector_member *m) {
  lanes_affine at = row->at;
  LLVMValueRef pointers = lanes_vector(e, at.base, 0);
  if (at.index_type) {
    LLVMValueRef index =
        lanes_splat(e, e->builder,
                    LLVMConstInt(at.index_type, (uint64_t)m->constant, true));
    LLVMValueRef lanes = sum_of(e, &at, false);
    LLVMValueRef uniform = sum_of(e, &at, true);
    if (lanes) {
      index = LLVMBuildAdd(e->builder, index, lanes, "");
    }
    if (uniform) {
      index = LLVMBuildAdd(e->builder, index,
                           lanes_splat(e, e->builder, uniform), "");
    }
    LLVMValueRef wide = extended(e, &at, index);
    pointers = LLVMBuildGEP2(e->builder, LLVMArrayType2(e->types.i8, at.scale),
                             pointers, &wide, 1, "");
  }
  return lanes_address_at(e, pointers, (uint64_t)m->bytes);
}

void lanes_lane_vector_put(lanes_emitter *e, LLVMValueRef *words, uint64_t offset,
                   const lanes_access *a, LLVMValueRef value) {
  LLVMTypeRef type = lanes_vector_of(e->lanes, e->types.i32);
  LLVMValueRef *word = &words[offset / LANES_WORD_BYTES];
  if (a->size_bytes == 8) {
    LLVMValueRef both = LLVMBuildBitCast(
        e->builder, value, LLVMVectorType(e->types.i32, 2 * e->lanes), "");
    word[0] = lanes_deinterleave(e, both, 0);
    word[1] = lanes_deinterleave(e, both, 1);
  } else if (a->size_bytes == LANES_WORD_BYTES) {
    *word = LLVMBuildBitCast(e->builder, value, type, "");
  } else {
    LLVMTypeRef bits =
        LLVMIntTypeInContext(e->context, (unsigned)a->size_bytes * 8);
    LLVMValueRef part = LLVMBuildZExt(
        e->builder,
        LLVMBuildBitCast(e->builder, value, lanes_vector_of(e->lanes, bits), ""), type,
        "");
    part = LLVMBuildShl(
        e->builder, part,
        lanes_steps(e->lanes, e->types.i32, offset % LANES_WORD_BYTES * 8, 0), "");
    *word = LLVMBuildOr(e->builder, *word, part, "");
  }
}
