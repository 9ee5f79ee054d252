// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// lane_vectors.c: loads of lanes that may be anywhere in memory, where each
// lane reads several adjacent elements: a row of a matrix, a structure chosen
// by an index, a float4. Each lane's 16 bytes are one load, and shuffles make
// four vectors of 32 words of them. That costs a fifth of gathering the words.
#include "compiler/vectorize/emit/memory/lane_vectors/lane_vectors.h"

#include <stddef.h>

#include "compiler/vectorize/analysis/components.h"
#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/base/alignment.h"
#include "compiler/vectorize/emit/memory/bit_permuted.h"
#include "compiler/vectorize/emit/memory/gathers.h"
#include "compiler/vectorize/emit/memory/interleaved.h"
#include "compiler/vectorize/emit/memory/lane_vectors/addresses.h"
#include "compiler/vectorize/emit/memory/lane_vectors/transpose.h"
#include "compiler/vectorize/emit/memory/prefetch.h"
#include "compiler/vectorize/emit/values/builder.h"
#include "compiler/vectorize/emit/values/check_arms.h"
#include "compiler/vectorize/emit/values/emitter.h"
#include "compiler/vectorize/emit/values/values.h"
#include "compiler/vectorize/plan/access/access.h"
#include "compiler/vectorize/plan/access/forms/interleave_groups.h"
#include "compiler/vectorize/plan/access/forms/lane_vectors.h"

// --- Loads -------------------------------------------------------------------

enum {
  TOGETHER = 16,  // lanes that are transposed at once
  UNIT_HALVES = LANES_UNIT_BYTES / 2,
  MOST_HALVES = 2 * LANES_LANE_VECTOR_WORDS,
  LINE_BYTES = 64,
};

// The elements of all lanes' vectors. `words` has elements of any type. A unit
// of halves alone is transposed as halves and kept in `halves`: code that reads
// them as such would otherwise have to pack them from words again.
typedef struct lane_elements {
  LLVMValueRef words[LANES_LANE_VECTOR_WORDS];
  LLVMValueRef halves[MOST_HALVES];
} lane_elements;

static bool is_of_halves(const lanes_lane_vector *row, int64_t unit) {
  if (unit + LANES_UNIT_BYTES > row->bytes) {
    return false;
  }
  for (uint32_t i = 0; i < row->member_count; i++) {
    const lanes_lane_vector_member *m = &row->members[i];
    const int64_t end =
        m->start + (int64_t)(m->access.count * m->access.size_bytes);
    if (m->start < unit + LANES_UNIT_BYTES && end > unit &&
        LLVMGetTypeKind(m->access.type) != LLVMHalfTypeKind) {
      return false;
    }
  }
  return true;
}

static bool is_half_at(const lanes_lane_vector *row, uint64_t offset) {
  return is_of_halves(row, (int64_t)(offset - offset % LANES_UNIT_BYTES));
}

// Loads the 16-byte units of several lanes, of every `apart`th lane from the
// first on.
static LLVMValueRef load_units(lanes_emitter *e, const lanes_lane_vector *row,
                               const lanes_lane_vector_addresses *where,
                               uint32_t first, uint32_t apart, LLVMTypeRef type,
                               uint64_t offset) {
  LLVMValueRef units[TOGETHER];
  for (uint32_t i = 0; i < TOGETHER / apart; i++) {
    units[i] = LLVMBuildLoad2(
        e->builder, LLVMVectorType(type, apart),
        lanes_lane_vector_address(e, where, first + apart * i, offset), "");
    LLVMSetAlignment(units[i], lanes_common_alignment(row->alignment, offset));
  }
  return lanes_concatenated(e, units, TOGETHER / apart);
}

void lanes_make_units(lanes_emitter *e, LLVMValueRef *words, uint32_t half,
                      LLVMValueRef *out_units) {
  LLVMValueRef parts[LANES_UNIT_WORDS], units[LANES_UNIT_WORDS];
  for (uint32_t w = 0; w < LANES_UNIT_WORDS; w++) {
    parts[w] = lanes_subvector(e, words[w], e->lanes / 2 * half, e->lanes / 2);
  }
  lanes_transpose(e, parts, LANES_UNIT_WORDS, units);
  for (uint32_t lane = 0; lane < e->lanes / 2; lane++) {
    out_units[lane] =
        lanes_subvector(e, units[lane % 4], lane - lane % 4, LANES_UNIT_WORDS);
  }
}

// Loads a unit of all lanes as vectors of one element: count elements of a
// type, or half of what the lanes have together.
static void load_unit(lanes_emitter *e, const lanes_lane_vector *row,
                      const lanes_lane_vector_addresses *where, uint64_t offset,
                      LLVMTypeRef type, uint32_t count,
                      LLVMValueRef *out_elements) {
  LLVMValueRef done[LANES_MOST_TRANSPOSED][MOST_LANES / TOGETHER];
  for (uint32_t first = 0; first < e->lanes; first += TOGETHER) {
    LLVMValueRef parts[LANES_MOST_TRANSPOSED], elements[LANES_MOST_TRANSPOSED];
    for (uint32_t i = 0; i < count; i++) {
      parts[i] = load_units(e, row, where, first + i, count, type, offset);
    }
    lanes_transpose(e, parts, count, elements);
    for (uint32_t c = 0; c < count; c++) {
      done[c][first / TOGETHER] = elements[c];
    }
  }
  for (uint32_t c = 0; c < count; c++) {
    out_elements[c] = lanes_concatenated(e, done[c], e->lanes / TOGETHER);
  }
}

// Loads vectors that touch, one run of lanes at a time.
static LLVMValueRef load_runs(lanes_emitter *e, const lanes_lane_vector *row,
                              const lanes_lane_vector_addresses *where,
                              LLVMTypeRef type) {
  LLVMValueRef runs[MOST_LANES];
  const uint32_t lanes = where->strided->row;
  for (uint32_t r = 0; r < e->lanes / lanes; r++) {
    runs[r] = LLVMBuildLoad2(e->builder, LLVMVectorType(type, lanes),
                             where->firsts[r], "");
    LLVMSetAlignment(runs[r], row->alignment);
  }
  return lanes_concatenated(e, runs, e->lanes / lanes);
}

// Gathers one element of each lane's vector.
static LLVMValueRef gather(lanes_emitter *e, const lanes_lane_vector *row,
                           const lanes_lane_vector_addresses *where,
                           LLVMTypeRef type, uint64_t offset) {
  if (where->strided) {
    return load_runs(e, row, where, type);
  }
  if (where->has_pattern) {
    return lanes_load_bit_permuted(
        e, &where->pattern, type, LLVMGetIntTypeWidth(type) / 8,
        lanes_common_alignment(row->alignment, offset),
        lanes_address_at(e, where->firsts[0], offset));
  }
  LLVMValueRef pointers = LLVMBuildGEP2(
      e->builder, e->types.i8, lanes_address_at(e, where->lanes, offset),
      (LLVMValueRef *)&where->offset, 1, "");
  return lanes_gather_from(e, type, pointers,
                           lanes_common_alignment(row->alignment, offset),
                           e->mask);
}

static void load_elements(lanes_emitter *e, const lanes_lane_vector *row,
                          const lanes_lane_vector_addresses *where,
                          lane_elements *out) {
  LLVMTypeRef words = lanes_vector_of(e->lanes, e->types.i32);
  LLVMValueRef *const out_words = out->words;
  uint32_t at = 0;
  for (; row->bytes - at >= LANES_UNIT_BYTES; at += LANES_UNIT_BYTES) {
    if (is_of_halves(row, at)) {
      load_unit(e, row, where, at, e->types.i16, UNIT_HALVES,
                out->halves + at / 2);
    } else {
      load_unit(e, row, where, at, e->types.i32, LANES_UNIT_WORDS,
                out_words + at / LANES_WORD_BYTES);
    }
  }
  for (; row->bytes - at >= 8; at += 8) {
    LLVMValueRef both = gather(e, row, where, e->types.i64, at);
    out_words[at / LANES_WORD_BYTES] =
        LLVMBuildTrunc(e->builder, both, words, "");
    out_words[at / LANES_WORD_BYTES + 1] = LLVMBuildTrunc(
        e->builder,
        LLVMBuildLShr(e->builder, both,
                      lanes_steps(e->lanes, e->types.i64, 32, 0), ""),
        words, "");
  }
  if (at < row->bytes) {
    out_words[at / LANES_WORD_BYTES] = gather(e, row, where, e->types.i32, at);
  }
}

static LLVMValueRef element_at(lanes_emitter *e, const lanes_lane_vector *row,
                               const lane_elements *elements, uint64_t offset,
                               const lanes_access *a) {
  LLVMValueRef value = elements->words[offset / LANES_WORD_BYTES];
  if (is_half_at(row, offset)) {
    value = elements->halves[offset / 2];
  } else if (a->size_bytes == 8) {
    value = lanes_interleave(e, value,
                             elements->words[offset / LANES_WORD_BYTES + 1]);
  } else if (a->size_bytes < LANES_WORD_BYTES) {
    return lanes_word_part(e, a, value, offset % LANES_WORD_BYTES);
  }
  return LLVMBuildBitCast(e->builder, value, lanes_vector_of(e->lanes, a->type),
                          "");
}

// Gathers each element by itself and makes the words of them.
static void load_apart(lanes_emitter *e, const lanes_lane_vector *row,
                       lane_elements *out) {
  LLVMTypeRef words = lanes_vector_of(e->lanes, e->types.i32);
  for (uint32_t w = 0; w < LANES_LANE_VECTOR_WORDS; w++) {
    out->words[w] = LLVMConstNull(words);
  }
  for (uint32_t h = 0; h < MOST_HALVES; h++) {
    out->halves[h] = LLVMConstNull(lanes_vector_of(e->lanes, e->types.i16));
  }
  for (uint32_t i = 0; i < row->member_count; i++) {
    lanes_access a = row->members[i].access;
    LLVMValueRef pointers =
        lanes_lane_vector_member_addresses(e, row, &row->members[i]);
    a.pointer = NULL;  // only the vector of pointers is used
    for (uint32_t c = 0; c < a.count; c++) {
      const uint64_t by = c * a.size_bytes;
      const uint64_t at = (uint64_t)row->members[i].start + by;
      LLVMValueRef element = lanes_gather(e, &a, pointers, by);
      if (is_half_at(row, at)) {
        out->halves[at / 2] = LLVMBuildBitCast(
            e->builder, element, lanes_vector_of(e->lanes, e->types.i16), "");
      } else {
        lanes_lane_vector_put(e, out->words, at, &a, element);
      }
    }
  }
}

static void set_results(lanes_emitter *e, const lanes_lane_vector *row,
                        const lane_elements *elements) {
  for (uint32_t i = 0; i < row->member_count; i++) {
    const lanes_access *a = &row->members[i].access;
    for (uint32_t c = 0; c < a->count; c++) {
      const uint64_t at = (uint64_t)row->members[i].start + c * a->size_bytes;
      lanes_set_result(e, a->instruction, c,
                       element_at(e, row, elements, at, a));
    }
  }
}

// Returns one phi for a value of both branches.
static LLVMValueRef either(lanes_emitter *e, LLVMValueRef first,
                           LLVMValueRef second, LLVMBasicBlockRef from[2]) {
  LLVMValueRef ways[] = {first, second};
  LLVMValueRef phi = LLVMBuildPhi(e->builder, LLVMTypeOf(first), "");
  LLVMAddIncoming(phi, ways, from, 2);
  return phi;
}

// Joins what both branches have loaded. An element narrower than a word is
// extracted where it is used.
static void join(lanes_emitter *e, const lanes_lane_vector *row,
                 const lane_elements ways[2], LLVMBasicBlockRef from[2],
                 lane_elements *out) {
  for (uint32_t at = 0; at < row->bytes; at += 2) {
    const uint32_t h = at / 2, w = at / LANES_WORD_BYTES;
    if (is_half_at(row, at)) {
      out->halves[h] = either(e, ways[0].halves[h], ways[1].halves[h], from);
    } else if (at % LANES_WORD_BYTES == 0) {
      out->words[w] = either(e, ways[0].words[w], ways[1].words[w], from);
    }
  }
}

// Prefetches for a later threadgroup, where lanes' rows are constants apart and
// rise: together they are one piece of memory.
static void fetch_ahead(lanes_emitter *e, const lanes_lane_vector *row,
                        const lanes_lane_vector_addresses *where) {
  const lanes_access *own = &row->members[row->own].access;
  const lanes_pattern pattern = lanes_pattern_here(e->planning, own->pointer);
  bool rises = lanes_pattern_is_whole(&pattern) && !e->counting.is_on &&
               row->lie != LANES_ROWS_ANYWHERE;
  for (uint32_t i = 0; i < LANES_BITS; i++) {
    rises &= pattern.by_bit[i] >= 0;
  }
  if (rises) {
    lanes_prefetch_rows_ahead(
        e, own, where->firsts[0],
        lanes_pattern_at(&pattern, e->lanes - 1) + row->bytes);
  }
}

// True if a lane's row begins on the line of a lane before it.
static bool is_on_line_before(const lanes_pattern *pattern, uint32_t lane) {
  for (uint32_t b = 0; b < LANES_BITS; b++) {
    if (lane & pattern->known & 1u << b && pattern->by_bit[b] >= 0 &&
        2 * pattern->by_bit[b] <= LINE_BYTES) {
      return true;
    }
  }
  return false;
}

// Prefetches each lane's row of the next iteration in a loop with barriers:
// hardware prefetchers do not follow 32 rows through one instruction each.
static void fetch_next_rows(lanes_emitter *e, const lanes_lane_vector *row,
                            const lanes_lane_vector_addresses *where) {
  const lanes_access *own = &row->members[row->own].access;
  LLVMValueRef step = lanes_next_iteration(e, own, true);
  const lanes_pattern pattern = lanes_pattern_here(e->planning, own->pointer);
  for (uint32_t lane = 0; step && lane < e->lanes; lane++) {
    if (!is_on_line_before(&pattern, lane)) {
      lanes_prefetch_at(e, lanes_lane_vector_address(e, where, lane, 0), step,
                        (uint64_t)row->bytes);
    }
  }
}

void lanes_load_lane_vectors(lanes_emitter *e, const lanes_lane_vector *row) {
  const lanes_lane_vector_addresses where =
      lanes_lane_vector_addresses_of(e, row);
  LLVMBasicBlockRef blocks[] = {lanes_block(e, "rows"),
                                lanes_block(e, "apart")};
  LLVMBasicBlockRef loaded = lanes_block(e, "loaded");
  lanes_mark_check(
      LLVMBuildCondBr(e->builder, where.holds, blocks[0], blocks[1]));
  lane_elements ways[2] = {0}, both = {0};
  LLVMValueRef mask = e->mask;
  e->uncached = true;
  for (uint32_t way = 0; way < 2; way++) {
    LLVMPositionBuilderAtEnd(e->builder, blocks[way]);
    if (way == 0) {
      e->mask = LLVMConstAllOnes(LLVMTypeOf(mask));
      fetch_ahead(e, row, &where);
      fetch_next_rows(e, row, &where);
      load_elements(e, row, &where, &ways[way]);
      e->mask = mask;
    } else {
      load_apart(e, row, &ways[way]);
    }
    blocks[way] = LLVMGetInsertBlock(e->builder);
    LLVMBuildBr(e->builder, loaded);
  }
  e->uncached = false;
  LLVMPositionBuilderAtEnd(e->builder, loaded);
  join(e, row, ways, blocks, &both);
  set_results(e, row, &both);
}
