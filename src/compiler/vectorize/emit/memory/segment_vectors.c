// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// segment_vectors.c: loads and stores of segments shorter than a simdgroup, one
// vector for each segment.
#include "compiler/vectorize/emit/memory/segment_vectors.h"

#include <stddef.h>

#include "compiler/ir/llvm/types.h"
#include "compiler/vectorize/analysis/addresses/affine.h"
#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/base/alignment.h"
#include "compiler/vectorize/emit/address/segment_addresses.h"
#include "compiler/vectorize/emit/memory/access_addresses.h"
#include "compiler/vectorize/emit/memory/interleaved.h"
#include "compiler/vectorize/emit/memory/masked.h"
#include "compiler/vectorize/emit/memory/prefetch.h"
#include "compiler/vectorize/emit/values/builder.h"
#include "compiler/vectorize/emit/values/emitter.h"
#include "compiler/vectorize/emit/values/masks.h"
#include "compiler/vectorize/plan/access/access.h"

static LLVMValueRef elements_mask(lanes_emitter *e, const lanes_access *a) {
  return a->count == 1 ? e->mask : lanes_repeated_mask(e, a->count);
}

// Returns how long a segment's vector is. LLVM 19 loses the clearing of a mask
// register's unused bits when it spills a mask of less than 16 bytes of
// elements, and the machine then stores past the segment. So such a segment is
// a vector of 16 bytes, under a mask made from an integer.
static uint32_t row_length(lanes_emitter *e, const lanes_access *a) {
  const uint32_t length = a->shape.row * a->count;
  const bool is_short = length * a->size_bytes < 16;
  return is_short && e->machine.has_masks ? 16 / (uint32_t)a->size_bytes
                                           : length;
}

static LLVMValueRef row_mask(lanes_emitter *e, const lanes_access *a,
                             LLVMValueRef mask, uint32_t r, uint32_t length) {
  const uint32_t row = a->shape.row * a->count;
  if (row == length) {
    return lanes_subvector(e, mask, r * row, row);
  }
  LLVMTypeRef all =
      LLVMIntTypeInContext(e->context, LLVMGetVectorSize(LLVMTypeOf(mask)));
  LLVMValueRef bits =
      LLVMBuildLShr(e->builder, LLVMBuildBitCast(e->builder, mask, all, ""),
                    LLVMConstInt(all, (uint64_t)r * row, false), "");
  bits = LLVMBuildAnd(e->builder, bits,
                      LLVMConstInt(all, (UINT64_C(1) << row) - 1, false), "");
  bits = LLVMBuildTrunc(e->builder, bits,
                        LLVMIntTypeInContext(e->context, length), "");
  return LLVMBuildBitCast(e->builder, bits, LLVMVectorType(e->types.i1, length),
                          "");
}

LLVMValueRef lanes_load_packed_segments(lanes_emitter *e, const lanes_access *a) {
  const uint32_t row = a->shape.row;
  const uint32_t length = row_length(e, a);
  LLVMValueRef mask = elements_mask(e, a);
  LLVMValueRef parts[MOST_LANES];
  LLVMValueRef next = lanes_next_lines(e, a, true);
  for (uint32_t r = 0; r < e->lanes / row; r++) {
    LLVMValueRef address = lanes_access_segment_address(e, a, r);
    lanes_prefetch_at(e, address, next, row * a->count * a->size_bytes);
    parts[r] = lanes_masked_load(e, LLVMVectorType(a->element, length), address,
                                 a->alignment, row_mask(e, a, mask, r, length));
    if (length != row * a->count) {
      parts[r] = lanes_subvector(e, parts[r], 0, row * a->count);
    }
  }
  return lanes_concatenated(e, parts, e->lanes / row);
}

void lanes_load_segments(lanes_emitter *e, const lanes_access *a,
                     LLVMValueRef *out_components) {
  lanes_deinterleave_components(e, lanes_load_packed_segments(e, a), a->count, a->count,
                   out_components);
}

// Returns an i1: some thread of the segment runs.
static LLVMValueRef row_lives(lanes_emitter *e, const lanes_access *a,
                              uint32_t r) {
  const uint32_t row = a->shape.row;
  return lanes_any(e, lanes_subvector(e, e->mask, r * row, row));
}

static LLVMValueRef load_if(lanes_emitter *e, const lanes_access *a,
                            LLVMValueRef lives, LLVMValueRef address) {
  LLVMValueRef mask =
      LLVMBuildBitCast(e->builder, lives, LLVMVectorType(e->types.i1, 1), "");
  LLVMValueRef value = lanes_masked_load(e, LLVMVectorType(a->element, 1),
                                         address, a->alignment, mask);
  return LLVMBuildExtractElement(e->builder, value, mtlc_i32(e->context, 0),
                                 "");
}

// Loads one element for each segment with an active thread. Other segments load
// the element of an active one.
LLVMValueRef lanes_load_segment_firsts(lanes_emitter *e, const lanes_access *a) {
  const uint32_t width = e->lanes / a->shape.row;
  LLVMValueRef lives[MOST_LANES], addresses[MOST_LANES];
  for (uint32_t r = 0; r < width; r++) {
    lives[r] = row_lives(e, a, r);
  }
  lanes_affine at;
  lanes_affine_find(e->values, a->pointer, &at);
  const bool is_safe =
      lanes_has_thread(e) && lanes_is_sum_of_segments(e->values, &at, width);
  if (is_safe) {
    lanes_live_segment_addresses(e, &at, width, lives, addresses);
  }
  LLVMValueRef result = LLVMGetPoison(LLVMVectorType(a->element, width));
  for (uint32_t r = 0; r < width; r++) {
    LLVMValueRef value =
        is_safe ? LLVMBuildLoad2(e->builder, a->element, addresses[r], "")
                : load_if(e, a, lives[r], lanes_access_segment_address(e, a, r));
    if (is_safe) {
      LLVMSetAlignment(value, a->alignment);
    }
    result = LLVMBuildInsertElement(e->builder, result, value,
                                    mtlc_i32(e->context, r), "");
  }
  return result;
}

LLVMValueRef lanes_load_firsts(lanes_emitter *e, const lanes_access *a,
                               uint64_t offset) {
  const uint32_t width = e->lanes / a->shape.row;
  LLVMValueRef result = LLVMGetPoison(LLVMVectorType(a->element, width));
  for (uint32_t r = 0; r < width; r++) {
    LLVMValueRef address = lanes_address_at(e, a->firsts[r], offset);
    LLVMValueRef value = NULL;
    if (width == 1 && lanes_has_thread(e)) {
      value = LLVMBuildLoad2(e->builder, a->element, address, "");
      LLVMSetAlignment(value, lanes_common_alignment(a->alignment, offset));
    } else {
      value = load_if(e, a, row_lives(e, a, r), address);
    }
    result = LLVMBuildInsertElement(e->builder, result, value,
                                    mtlc_i32(e->context, r), "");
  }
  return result;
}

void lanes_store_packed_segments(lanes_emitter *e, const lanes_access *a,
                            LLVMValueRef all) {
  const uint32_t row = a->shape.row * a->count;
  const uint32_t length = row_length(e, a);
  LLVMValueRef mask = elements_mask(e, a);
  for (uint32_t r = 0; r < e->lanes * a->count / row; r++) {
    int lanes[4 * MOST_LANES];
    for (uint32_t i = 0; i < length; i++) {
      lanes[i] = i < row ? (int)(r * row + i) : -1;
    }
    lanes_masked_store(e, a, lanes_shuffle(e, all, NULL, lanes, length),
                       lanes_access_segment_address(e, a, r), a->alignment,
                       row_mask(e, a, mask, r, length));
  }
}

void lanes_store_segments(lanes_emitter *e, const lanes_access *a,
                      LLVMValueRef *components) {
  lanes_store_packed_segments(e, a,
                         lanes_interleave_components(e, components, a->count, a->count));
}
