// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// row_copies.c: copies of adjacent elements, a vector for each thread, between
// buffers and threadgroup memory, as where a threadgroup loads tiles. A thread
// loads some elements, may convert them, and stores them. Each lane's elements
// stay one vector from load to store; as components of 32 lanes they would be
// deinterleaved and interleaved again.
#include "compiler/vectorize/emit/memory/lane_vectors/row_copies.h"

#include <stdbool.h>
#include <stddef.h>

#include "compiler/vectorize/analysis/addresses/affine.h"
#include "compiler/vectorize/analysis/addresses/lane_bits.h"
#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/emit/address/segment_addresses.h"
#include "compiler/vectorize/emit/lanes/scalarise.h"
#include "compiler/vectorize/emit/memory/gathers.h"
#include "compiler/vectorize/emit/memory/prefetch.h"
#include "compiler/vectorize/emit/values/builder.h"
#include "compiler/vectorize/emit/values/check_arms.h"
#include "compiler/vectorize/emit/values/emitter.h"
#include "compiler/vectorize/emit/values/values.h"
#include "compiler/vectorize/plan/access/forms/row_copies.h"
#include "compiler/vectorize/plan/access/planning.h"

enum { LINE_BYTES = 64 };

static LLVMValueRef converted(lanes_emitter *e, const lanes_row_copy *copy,
                              LLVMValueRef value, uint32_t count) {
  if (!copy->conversion) {
    return value;
  }
  LLVMTypeRef type = LLVMVectorType(copy->to.element, count);
  return LLVMBuildCast(e->builder, LLVMGetInstructionOpcode(copy->conversion),
                       value, type, "");
}

// Returns how many lanes' vectors are adjacent on both sides.
static uint32_t lanes_together(lanes_emitter *e, const lanes_row_copy *copy) {
  const lanes_pattern from = lanes_pattern_here(e->planning, copy->from.pointer);
  const lanes_pattern to = lanes_pattern_here(e->planning, copy->to.pointer);
  int64_t from_bytes = (int64_t)(copy->from.count * copy->from.size_bytes);
  int64_t to_bytes = (int64_t)(copy->to.count * copy->to.size_bytes);
  uint32_t lanes = 1;
  for (uint32_t b = 0; b < LANES_BITS; b++) {
    if (!(from.known & to.known & 1u << b) || from.by_bit[b] != from_bytes ||
        to.by_bit[b] != to_bytes || 2 * from_bytes > LANES_COPIED_BYTES ||
        2 * to_bytes > LANES_COPIED_BYTES) {
      break;
    }
    from_bytes *= 2;
    to_bytes *= 2;
    lanes *= 2;
  }
  return lanes;
}

// Returns the step to the lines that the copy of the next iteration will load;
// NULL if another copy of the block prefetches them.
static LLVMValueRef step_to_fetch(lanes_emitter *e, const lanes_row_copy *copy) {
  LLVMValueRef step = lanes_next_iteration(e, &copy->from, true);
  LLVMValueRef before = e->copy_fetched;
  if (step && before &&
      LLVMGetInstructionParent(before) == LLVMGetInstructionParent(copy->load)) {
    lanes_affine at, at_before;
    lanes_affine_find(e->values, copy->from.pointer, &at);
    lanes_affine_find(e->values, LLVMGetOperand(before, 0), &at_before);
    const int64_t behind = lanes_affine_like(&at, &at_before)
                               ? lanes_affine_distance(&at_before, &at)
                               : LINE_BYTES;
    if (behind >= 0 && behind < LINE_BYTES) {
      return NULL;
    }
  }
  e->copy_fetched = step ? copy->load : before;
  return step;
}

static void copy_all(lanes_emitter *e, const lanes_row_copy *copy) {
  LLVMValueRef from[MOST_LANES], to[MOST_LANES];
  lanes_take_addresses(e, copy->from.pointer, from);
  lanes_take_addresses(e, copy->to.pointer, to);
  const uint32_t lanes = lanes_together(e, copy);
  const uint32_t count = lanes * copy->from.count;
  LLVMTypeRef type = LLVMVectorType(copy->from.element, count);
  LLVMValueRef step = step_to_fetch(e, copy);
  for (uint32_t lane = 0; lane < e->lanes; lane += lanes) {
    lanes_prefetch_at(e, from[lane], step, count * copy->from.size_bytes);
    LLVMValueRef row = LLVMBuildLoad2(e->builder, type, from[lane], "");
    LLVMSetAlignment(row, copy->from.alignment);
    LLVMValueRef store =
        LLVMBuildStore(e->builder, converted(e, copy, row, count), to[lane]);
    LLVMSetAlignment(store, copy->to.alignment);
  }
}

// Copies component by component.
static void copy_components(lanes_emitter *e, const lanes_row_copy *copy) {
  LLVMValueRef from = lanes_vector(e, copy->from.pointer, 0);
  LLVMValueRef to = lanes_vector(e, copy->to.pointer, 0);
  LLVMValueRef components[LANES_COPIED_BYTES];
  for (uint32_t c = 0; c < copy->from.count; c++) {
    components[c] =
        lanes_gather(e, &copy->from, from, c * copy->from.pitch_bytes);
  }
  for (uint32_t c = 0; c < copy->to.count; c++) {
    lanes_scatter(e, &copy->to, to, c * copy->to.pitch_bytes,
                  converted(e, copy, components[c], e->lanes));
  }
}

typedef struct some_copied {
  const lanes_row_copy *copy;
  LLVMValueRef from;  // arrays of addresses
  LLVMValueRef to;
} some_copied;

static void copy_one(lanes_emitter *e, void *context, LLVMValueRef lane) {
  const some_copied *some = context;
  const lanes_row_copy *copy = some->copy;
  const uint32_t count = copy->from.count;
  LLVMValueRef row = LLVMBuildLoad2(
      e->builder, LLVMVectorType(copy->from.element, count),
      lanes_element_of(e, e->types.pointer, some->from, lane), "");
  LLVMSetAlignment(row, copy->from.alignment);
  LLVMValueRef store =
      LLVMBuildStore(e->builder, converted(e, copy, row, count),
                     lanes_element_of(e, e->types.pointer, some->to, lane));
  LLVMSetAlignment(store, copy->to.alignment);
}

// Copies vector by vector, for the lanes that run.
static void copy_some(lanes_emitter *e, const lanes_row_copy *copy,
                      LLVMBasicBlockRef done) {
  some_copied some = {
      .copy = copy,
      .from = lanes_array_from(e, lanes_vector(e, copy->from.pointer, 0)),
      .to = lanes_array_from(e, lanes_vector(e, copy->to.pointer, 0))};
  lanes_loop_over_lanes(e, copy_one, &some, done);
}

void lanes_emit_row_copy(lanes_emitter *e, LLVMValueRef store) {
  lanes_row_copy copy;
  if (!lanes_find_row_copy(e->planning, store, &copy)) {
    lanes_refuse(e, "a copy that is none");
    return;
  }
  LLVMBasicBlockRef all = lanes_block(e, "all");
  LLVMBasicBlockRef some = lanes_block(e, "some");
  LLVMBasicBlockRef done = lanes_block(e, "copied");
  lanes_mark_check(
      LLVMBuildCondBr(e->builder, lanes_all(e, e->mask), all, some));
  const bool uncached = e->uncached;
  e->uncached = true;
  LLVMPositionBuilderAtEnd(e->builder, all);
  copy_all(e, &copy);
  LLVMBuildBr(e->builder, done);
  LLVMPositionBuilderAtEnd(e->builder, some);
  if (e->is_at_once) {
    copy_components(e, &copy);
    LLVMBuildBr(e->builder, done);
    LLVMPositionBuilderAtEnd(e->builder, done);
  } else {
    copy_some(e, &copy, done);
  }
  e->uncached = uncached;
}
