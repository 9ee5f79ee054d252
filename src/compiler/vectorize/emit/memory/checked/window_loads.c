// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// window_loads.c: finds the windows of memory that lanes lie in, and loads from
// them.
#include "compiler/vectorize/emit/memory/checked/window_loads.h"

#include <stddef.h>
#include <string.h>

#include "compiler/ir/llvm/instructions.h"
#include "compiler/ir/llvm/types.h"
#include "compiler/vectorize/analysis/components.h"
#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/analysis/uniformity.h"
#include "compiler/vectorize/base/alignment.h"
#include "compiler/vectorize/emit/lanes/collectives.h"
#include "compiler/vectorize/emit/memory/gathers.h"
#include "compiler/vectorize/emit/memory/masked_emulation.h"
#include "compiler/vectorize/emit/values/builder.h"
#include "compiler/vectorize/emit/values/emitter.h"
#include "compiler/vectorize/emit/values/values.h"
#include "compiler/vectorize/plan/access/access.h"

// --- Where the windows are ---------------------------------------------------

static bool may_part(lanes_emitter *e, LLVMValueRef value, unsigned uniform) {
  LLVMValueRef added = LLVMGetOperand(value, uniform);
  LLVMValueRef rest = LLVMGetOperand(value, 1 - uniform);
  return lanes_is_uniform(lanes_shape_of(e->values, added)) &&
         !lanes_is_uniform(lanes_shape_of(e->values, rest)) &&
         lanes_is_at_hand(e, added) && lanes_is_at_hand(e, rest);
}

lanes_window_indices lanes_window_indices_of(const lanes_access *a) {
  LLVMValueRef index = lanes_index_of(a->pointer);
  return (lanes_window_indices){.index = LLVMGetOperand(index, 0),
                                .is_signed = LLVMIsASExtInst(index) != NULL};
}

void lanes_window_add_to_all(lanes_emitter *e, lanes_window_indices *indices,
                             LLVMValueRef number) {
  indices->added = indices->added
                       ? LLVMBuildAdd(e->builder, indices->added, number, "")
                       : number;
}

void lanes_window_part_indices(lanes_emitter *e,
                               lanes_window_indices *indices) {
  LLVMValueRef index = indices->index;
  while (mtlc_is_opcode(index, LLVMAdd)) {
    const unsigned uniform = may_part(e, index, 1) ? 1 : 0;
    if (!may_part(e, index, uniform)) {
      break;
    }
    lanes_window_add_to_all(e, indices,
                            lanes_scalar(e, LLVMGetOperand(index, uniform), 0));
    index = LLVMGetOperand(index, 1 - uniform);
  }
  indices->index = index;
}

// Returns where each register's window begins: at its first lane's element,
// rounded down to a multiple of its lanes.
static LLVMValueRef begins_of(lanes_emitter *e, LLVMValueRef all) {
  const uint32_t each = lanes_register_words(e);
  const uint32_t count = e->lanes / each;
  int lanes[MOST_LANES];
  for (uint32_t i = 0; i < count; i++) {
    lanes[i] = (int)(i * each);
  }
  return LLVMBuildAnd(
      e->builder, lanes_shuffle(e, all, NULL, lanes, count),
      lanes_splat_to(e, e->builder, mtlc_i32(e->context, ~(each - 1)), count),
      "");
}

// Returns the same for one register, in all its elements.
static LLVMValueRef begin_of(lanes_emitter *e, LLVMValueRef own) {
  static const int firsts[MOST_LANES];
  const uint32_t each = lanes_register_words(e);
  return LLVMBuildAnd(
      e->builder, lanes_shuffle(e, own, NULL, firsts, each),
      lanes_splat_to(e, e->builder, mtlc_i32(e->context, ~(each - 1)), each),
      "");
}

// AVX-512: the registers are few, so all windows are found in one vector.
static LLVMValueRef places_in_few(lanes_emitter *e, LLVMValueRef all,
                                  LLVMValueRef *out_begins) {
  const uint32_t each = lanes_register_words(e);
  LLVMValueRef begins = begins_of(e, all);
  int lanes[MOST_LANES];
  for (uint32_t i = 0; i < e->lanes; i++) {
    lanes[i] = (int)(i / each);
  }
  for (uint32_t i = 0; i < e->lanes / each; i++) {
    out_begins[i] = LLVMBuildExtractElement(e->builder, begins,
                                            mtlc_i32(e->context, i), "");
  }
  return LLVMBuildSub(e->builder, all,
                      lanes_shuffle(e, begins, NULL, lanes, e->lanes), "");
}

LLVMValueRef lanes_window_places_in(lanes_emitter *e, LLVMValueRef all,
                                    LLVMValueRef *out_begins) {
  if (e->machine.has_masks) {
    return places_in_few(e, all, out_begins);
  }
  const uint32_t each = lanes_register_words(e);
  LLVMValueRef places[MOST_LANES];
  for (uint32_t i = 0; i < e->lanes / each; i++) {
    LLVMValueRef own = lanes_subvector(e, all, i * each, each);
    LLVMValueRef begins = begin_of(e, own);
    places[i] = LLVMBuildSub(e->builder, own, begins, "");
    out_begins[i] = LLVMBuildExtractElement(e->builder, begins,
                                            mtlc_i32(e->context, 0), "");
  }
  return lanes_concatenated(e, places, e->lanes / each);
}

LLVMValueRef lanes_window_address_in(lanes_emitter *e, const lanes_access *a,
                                     const lanes_window_indices *indices,
                                     LLVMValueRef begin, bool is_signed,
                                     LLVMValueRef *out_begin) {
  if (indices->added) {
    begin = LLVMBuildAdd(e->builder, begin, indices->added, "");
  }
  *out_begin = begin;
  LLVMValueRef wide =
      LLVMBuildIntCast2(e->builder, begin, e->types.i64, is_signed, "");
  return LLVMBuildGEP2(e->builder, e->types.i32,
                       lanes_base_indexed(e, a->pointer), &wide, 1, "");
}

// --- Loads -------------------------------------------------------------------

LLVMValueRef lanes_window_is_there(lanes_emitter *e, LLVMValueRef begin,
                                   LLVMValueRef address, bool is_signed) {
  const uint32_t each = lanes_register_words(e);
  LLVMValueRef end = mtlc_i32(
      e->context, (is_signed ? INT32_MAX : UINT32_MAX) - (2 * each - 1));
  LLVMValueRef is_below = LLVMBuildICmp(
      e->builder, is_signed ? LLVMIntSLE : LLVMIntULE, begin, end, "");
  return LLVMBuildAnd(e->builder, is_below,
                      lanes_is_in_page(e, address, 8 * each), "");
}

LLVMValueRef lanes_window_have_no_bits(lanes_emitter *e, LLVMValueRef words,
                                       uint32_t pattern) {
  LLVMBuilderRef b = e->builder;
  const uint32_t each = lanes_register_words(e);
  LLVMValueRef all = lanes_subvector(e, words, 0, each);
  for (uint32_t i = each; i < LLVMGetVectorSize(LLVMTypeOf(words)); i += each) {
    all = LLVMBuildOr(b, all, lanes_subvector(e, words, i, each), "");
  }
  all = LLVMBuildAnd(
      b, all, lanes_splat_to(e, b, mtlc_i32(e->context, pattern), each), "");
  LLVMTypeRef whole = LLVMIntTypeInContext(e->context, 32 * each);
  return LLVMBuildICmp(b, LLVMIntEQ, LLVMBuildBitCast(b, all, whole, ""),
                       LLVMConstNull(whole), "");
}

LLVMValueRef lanes_window_are_inside(lanes_emitter *e, LLVMValueRef places) {
  LLVMBuilderRef b = e->builder;
  const uint32_t within = 2 * lanes_register_words(e);
  if (!e->machine.has_masks) {
    LLVMValueRef running = LLVMBuildSelect(
        b, e->mask, places, LLVMConstNull(LLVMTypeOf(places)), "");
    return lanes_window_have_no_bits(e, running, ~(within - 1));
  }
  LLVMValueRef outside =
      LLVMBuildICmp(b, LLVMIntUGE, places,
                    lanes_steps(e->lanes, e->types.i32, within, 0), "");
  outside = LLVMBuildSelect(b, e->mask, outside,
                            LLVMConstNull(LLVMTypeOf(outside)), "");
  return LLVMBuildNot(b, lanes_any(e, outside), "");
}

LLVMValueRef lanes_window_are_in_order(lanes_emitter *e, LLVMValueRef places) {
  LLVMBuilderRef b = e->builder;
  LLVMValueRef own[MOST_LANES];
  for (uint32_t i = 0; i < e->lanes; i++) {
    own[i] = mtlc_i32(e->context, i % lanes_register_words(e));
  }
  LLVMValueRef order = LLVMConstVector(own, e->lanes);
  if (!e->machine.has_masks) {
    return lanes_window_have_no_bits(e, LLVMBuildXor(b, places, order, ""),
                                     UINT32_MAX);
  }
  LLVMValueRef differ = LLVMBuildICmp(b, LLVMIntNE, places, order, "");
  return LLVMBuildNot(b, lanes_any(e, differ), "");
}

LLVMValueRef lanes_window_half_of(lanes_emitter *e, const lanes_access *a,
                                  uint32_t window, uint32_t half) {
  return lanes_address_at(e, a->firsts[window],
                          half * 4 * lanes_register_words(e));
}

LLVMValueRef lanes_window_load_half(lanes_emitter *e, const lanes_access *a,
                                    uint32_t window, uint32_t half) {
  LLVMTypeRef words = LLVMVectorType(e->types.i32, lanes_register_words(e));
  LLVMValueRef loaded = LLVMBuildLoad2(
      e->builder, words, lanes_window_half_of(e, a, window, half), "");
  LLVMSetAlignment(loaded, lanes_common_alignment(a->alignment, 4));
  return loaded;
}

LLVMValueRef lanes_window_load(lanes_emitter *e, const lanes_access *a,
                               bool in_order) {
  const uint32_t each = lanes_register_words(e);
  LLVMValueRef parts[MOST_LANES];
  for (uint32_t i = 0; i < e->lanes / each; i++) {
    parts[i] = lanes_window_load_half(e, a, i, 0);
    if (!in_order) {
      LLVMValueRef halves[] = {parts[i], lanes_window_load_half(e, a, i, 1)};
      parts[i] = lanes_pick_words(
          e, halves, 2, lanes_subvector(e, a->places, i * each, each));
    }
  }
  return LLVMBuildBitCast(e->builder,
                          lanes_concatenated(e, parts, e->lanes / each),
                          lanes_vector_of(e->lanes, a->element), "");
}
