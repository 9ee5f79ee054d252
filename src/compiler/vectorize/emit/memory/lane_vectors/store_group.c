// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// store_group.c: combines stores of adjacent elements that a block makes one
// after the other for lanes anywhere in memory: a row written step by step, the
// members of a structure. They are delayed to the last of them, where each
// lane's 16 bytes are one store; a scatter would store each word alone.
#include "compiler/vectorize/emit/memory/lane_vectors/store_group.h"

#include <stddef.h>

#include "compiler/vectorize/analysis/components.h"
#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/base/alignment.h"
#include "compiler/vectorize/emit/lanes/lane_loop.h"
#include "compiler/vectorize/emit/memory/gathers.h"
#include "compiler/vectorize/emit/memory/interleaved.h"
#include "compiler/vectorize/emit/memory/lane_vectors/addresses.h"
#include "compiler/vectorize/emit/memory/lane_vectors/lane_vectors.h"
#include "compiler/vectorize/emit/memory/prefetch.h"
#include "compiler/vectorize/emit/values/builder.h"
#include "compiler/vectorize/emit/values/check_arms.h"
#include "compiler/vectorize/emit/values/emitter.h"
#include "compiler/vectorize/emit/values/values.h"
#include "compiler/vectorize/plan/access/access.h"
#include "compiler/vectorize/plan/access/forms/interleave_groups.h"
#include "compiler/vectorize/plan/access/forms/lane_vectors.h"

// --- Stores ------------------------------------------------------------------

static LLVMValueRef component_of(lanes_emitter *e, const lanes_access *a,
                                 uint32_t component) {
  return lanes_vector(e, LLVMGetOperand(a->instruction, 0), component);
}

static void make_words(lanes_emitter *e, const lanes_lane_vector *row,
                       LLVMValueRef out_words[LANES_LANE_VECTOR_WORDS]) {
  for (uint32_t w = 0; w < LANES_LANE_VECTOR_WORDS; w++) {
    out_words[w] = LLVMConstNull(lanes_vector_of(e->lanes, e->types.i32));
  }
  for (uint32_t i = 0; i < row->member_count; i++) {
    const lanes_lane_vector_member *m = &row->members[i];
    for (uint32_t c = 0; c < m->access.count; c++) {
      lanes_lane_vector_put(e, out_words, (uint64_t)m->start + c * m->access.size_bytes,
                    &m->access, component_of(e, &m->access, c));
    }
  }
}

static void store_half(lanes_emitter *e, const lanes_lane_vector *row,
                       const lanes_lane_vector_addresses *where, LLVMValueRef *words,
                       uint32_t half, uint64_t offset) {
  LLVMValueRef units[MOST_LANES / 2];
  lanes_make_units(e, words, half, units);
  for (uint32_t i = 0; i < e->lanes / 2; i++) {
    LLVMValueRef store = LLVMBuildStore(
        e->builder, units[i],
        lanes_lane_vector_address(e, where, e->lanes / 2 * half + i, offset));
    LLVMSetAlignment(store, lanes_common_alignment(row->alignment, offset));
  }
}

// Stores adjacent vectors of all lanes as one vector.
static void store_dense(lanes_emitter *e, const lanes_lane_vector *row,
                        const lanes_lane_vector_addresses *where, LLVMValueRef *words) {
  const uint32_t count = row->bytes / LANES_WORD_BYTES;
  LLVMValueRef first = lanes_lane_vector_address(e, where, 0, 0);
  lanes_prefetch_ahead(e, &row->members[0].access, first, row->bytes * e->lanes);
  LLVMValueRef store = LLVMBuildStore(
      e->builder, lanes_interleave_components(e, words, count, count), first);
  LLVMSetAlignment(store, row->alignment);
}

static void store_together(lanes_emitter *e, const lanes_lane_vector *row,
                           const lanes_lane_vector_addresses *where) {
  LLVMValueRef words[LANES_LANE_VECTOR_WORDS];
  make_words(e, row, words);
  if (row->is_dense) {
    store_dense(e, row, where, words);
    return;
  }
  for (uint32_t at = 0; at < row->bytes; at += LANES_UNIT_BYTES) {
    for (uint32_t half = 0; half < 2; half++) {
      store_half(e, row, where, words + at / LANES_WORD_BYTES, half, at);
    }
  }
}

static void scatter_member(lanes_emitter *e, const lanes_lane_vector *row,
                           const lanes_lane_vector_member *m) {
  lanes_access a = m->access;
  LLVMValueRef pointers = lanes_lane_vector_member_addresses(e, row, m);
  a.pointer = NULL;  // only the vector of pointers is used
  for (uint32_t c = 0; c < a.count; c++) {
    lanes_scatter(e, &a, pointers, c * a.size_bytes,
                  component_of(e, &m->access, c));
  }
}

static uint32_t add_values(lanes_emitter *e, const lanes_lane_vector *row,
                           const lanes_lane_vector_member *m,
                           lanes_own_value *out_values) {
  const lanes_access *a = &m->access;
  LLVMValueRef pointers = lanes_lane_vector_member_addresses(e, row, m);
  for (uint32_t c = 0; c < a->count; c++) {
    const uint64_t by = c * a->size_bytes;
    out_values[c] = (lanes_own_value){
        .value = component_of(e, a, c),
        .pointers = lanes_address_at(e, pointers, by),
        .alignment = lanes_common_alignment(a->alignment, by)};
  }
  return a->count;
}

// Scatters where the machine can, else loops over lanes: straight-line code for
// every lane would be most of a kernel that rarely comes here.
static void store_apart(lanes_emitter *e, const lanes_lane_vector *row) {
  lanes_own_value values[LANES_LANE_VECTOR_BYTES];
  uint32_t count = 0;
  for (uint32_t i = 0; i < row->member_count; i++) {
    const lanes_lane_vector_member *m = &row->members[i];
    if (lanes_has_scatter(e, &m->access)) {
      scatter_member(e, row, m);
    } else {
      count += add_values(e, row, m, values + count);
    }
  }
  if (count) {
    lanes_store_own_values(e, values, count);
  }
}

static void store_row(lanes_emitter *e, const lanes_lane_vector *row) {
  const lanes_lane_vector_addresses where =
      row->is_dense ? lanes_lane_vector_dense_addresses(e, row)
                    : lanes_lane_vector_addresses_of(e, row);
  LLVMValueRef all = lanes_all(e, e->mask);
  LLVMValueRef holds = LLVMBuildSelect(e->builder, all, where.holds,
                                       LLVMConstNull(e->types.i1), "");
  LLVMBasicBlockRef rows = lanes_block(e, "rows");
  LLVMBasicBlockRef apart = lanes_block(e, "apart");
  LLVMBasicBlockRef stored = lanes_block(e, "stored");
  lanes_mark_check(LLVMBuildCondBr(e->builder, holds, rows, apart));
  e->uncached = true;
  LLVMPositionBuilderAtEnd(e->builder, rows);
  store_together(e, row, &where);
  LLVMBuildBr(e->builder, stored);
  LLVMPositionBuilderAtEnd(e->builder, apart);
  store_apart(e, row);
  LLVMBuildBr(e->builder, stored);
  e->uncached = false;
  LLVMPositionBuilderAtEnd(e->builder, stored);
}

void lanes_store_group(lanes_emitter *e, LLVMValueRef store,
                       const lanes_lane_vector *row) {
  if (row->members[row->member_count - 1].access.instruction == store) {
    store_row(e, row);
  }
}
