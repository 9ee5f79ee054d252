// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// store.c: stores of lanes that may be anywhere in memory, several adjacent
// components a lane: a vector at an index, a row of a matrix. The components
// become words. If all lanes run, each lane stores 16 bytes at once, else two
// words. Scattering would be 32 stores for each component, and a branch each
// for bytes.
#include "compiler/vectorize/emit/memory/lane_vectors/store.h"

#include "compiler/vectorize/analysis/components.h"
#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/base/alignment.h"
#include "compiler/vectorize/emit/address/segment_addresses.h"
#include "compiler/vectorize/emit/memory/gathers.h"
#include "compiler/vectorize/emit/memory/lane_vectors/lane_vectors.h"
#include "compiler/vectorize/emit/values/builder.h"
#include "compiler/vectorize/emit/values/check_arms.h"
#include "compiler/vectorize/emit/values/emitter.h"
#include "compiler/vectorize/emit/values/values.h"
#include "compiler/vectorize/plan/access/access.h"
#include "compiler/vectorize/plan/access/forms/lane_vectors.h"

enum { MOST_WORDS = 8 };

static uint64_t bytes_of(const lanes_access *a) {
  return a->count * a->size_bytes;
}

// Makes <32 x i32> words of components: several in a word, or one over two
// words.
static void make_words(lanes_emitter *e, const lanes_access *a,
                       LLVMValueRef *components, LLVMValueRef *out_words) {
  LLVMTypeRef words = lanes_vector_of(e->lanes, e->types.i32);
  const uint32_t per_word = a->size_bytes < 4 ? 4 / (uint32_t)a->size_bytes : 1;
  LLVMTypeRef bits =
      LLVMIntTypeInContext(e->context, (unsigned)a->size_bytes * 8);
  for (uint32_t c = 0; c < a->count; c++) {
    if (a->size_bytes == 8) {
      LLVMValueRef both =
          LLVMBuildBitCast(e->builder, components[c],
                           LLVMVectorType(e->types.i32, 2 * e->lanes), "");
      out_words[2 * c] = lanes_deinterleave(e, both, 0);
      out_words[2 * c + 1] = lanes_deinterleave(e, both, 1);
      continue;
    }
    LLVMValueRef word = LLVMBuildZExtOrBitCast(
        e->builder,
        LLVMBuildBitCast(e->builder, components[c],
                         lanes_vector_of(e->lanes, bits), ""),
        words, "");
    LLVMValueRef *whole = &out_words[c / per_word];
    const uint64_t by = c % per_word * a->size_bytes * 8;
    *whole =
        by == 0
            ? word
            : LLVMBuildOr(
                  e->builder, *whole,
                  LLVMBuildShl(e->builder, word,
                               lanes_steps(e->lanes, e->types.i32, by, 0), ""),
                  "");
  }
}

// Scatters one or two words of each lane, from a word on.
static void scatter(lanes_emitter *e, const lanes_access *a,
                    LLVMValueRef *words, uint32_t first, uint32_t count) {
  lanes_access part = *a;
  LLVMValueRef value = words[first];
  if (count == 2) {
    value = LLVMBuildBitCast(e->builder,
                             lanes_interleave(e, value, words[first + 1]),
                             lanes_vector_of(e->lanes, e->types.i64), "");
  }
  part.element = part.type = count == 2 ? e->types.i64 : e->types.i32;
  part.size_bytes = part.pitch_bytes = 4 * count;
  lanes_scatter(e, &part, lanes_vector(e, a->pointer, 0), 4 * first, value);
}

static void scatter_all(lanes_emitter *e, const lanes_access *a,
                        LLVMValueRef *words, uint32_t first, uint32_t end) {
  for (; first < end; first += 2) {
    scatter(e, a, words, first, end - first > 1 ? 2 : 1);
  }
}

static void take_addresses(lanes_emitter *e, const lanes_access *a,
                           LLVMValueRef out_addresses[MOST_LANES]) {
  if (a->shape.row != e->lanes || a->shape.conditional) {
    lanes_take_addresses(e, a->pointer, out_addresses);
    return;
  }
  LLVMValueRef first = lanes_scalar(e, a->pointer, 0);
  for (uint32_t lane = 0; lane < e->lanes; lane++) {
    out_addresses[lane] =
        lanes_address_at(e, first, lane * (uint64_t)a->shape.stride);
  }
}

static void store_half(lanes_emitter *e, const lanes_access *a,
                       LLVMValueRef *addresses, LLVMValueRef *words,
                       uint32_t first, uint32_t half) {
  LLVMValueRef units[MOST_LANES / 2];
  lanes_make_units(e, words + first, half, units);
  for (uint32_t i = 0; i < e->lanes / 2; i++) {
    LLVMValueRef store = LLVMBuildStore(
        e->builder, units[i],
        lanes_address_at(e, addresses[e->lanes / 2 * half + i], 4 * first));
    LLVMSetAlignment(store, lanes_common_alignment(a->alignment, 4 * first));
  }
}

static void store_units(lanes_emitter *e, const lanes_access *a,
                        LLVMValueRef *words, uint32_t count) {
  LLVMBasicBlockRef all = lanes_block(e, "rows");
  LLVMBasicBlockRef some = lanes_block(e, "apart");
  LLVMBasicBlockRef stored = lanes_block(e, "stored");
  lanes_mark_check(
      LLVMBuildCondBr(e->builder, lanes_all(e, e->mask), all, some));
  e->uncached = true;
  LLVMPositionBuilderAtEnd(e->builder, all);
  LLVMValueRef addresses[MOST_LANES];
  take_addresses(e, a, addresses);
  uint32_t first = 0;
  for (; count - first >= LANES_UNIT_WORDS; first += LANES_UNIT_WORDS) {
    store_half(e, a, addresses, words, first, 0);
    store_half(e, a, addresses, words, first, 1);
  }
  scatter_all(e, a, words, first, count);
  LLVMBuildBr(e->builder, stored);
  LLVMPositionBuilderAtEnd(e->builder, some);
  scatter_all(e, a, words, 0, count);
  LLVMBuildBr(e->builder, stored);
  e->uncached = false;
  LLVMPositionBuilderAtEnd(e->builder, stored);
}

void lanes_store_lane_vectors(lanes_emitter *e, const lanes_access *a,
                              bool by_units, LLVMValueRef *components) {
  LLVMValueRef words[MOST_WORDS];
  make_words(e, a, components, words);
  const uint32_t count = (uint32_t)bytes_of(a) / 4;
  if (count >= LANES_UNIT_WORDS && by_units) {
    store_units(e, a, words, count);
  } else {
    scatter_all(e, a, words, 0, count);
  }
}
