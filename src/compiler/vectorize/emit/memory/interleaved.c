// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// interleaved.c: loads and stores of lanes a small stride apart: whole vectors
// of memory, deinterleaved by shuffles. Adjacent loads, such as x[4 * i] to x[4
// * i + 3], become one.
#include "compiler/vectorize/emit/memory/interleaved.h"

#include <llvm-c/Target.h>
#include <stddef.h>

#include "compiler/ir/llvm/types.h"
#include "compiler/vectorize/analysis/components.h"
#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/base/alignment.h"
#include "compiler/vectorize/emit/lanes/lane_loop.h"
#include "compiler/vectorize/emit/memory/access_addresses.h"
#include "compiler/vectorize/emit/memory/masked.h"
#include "compiler/vectorize/emit/memory/masked_emulation.h"
#include "compiler/vectorize/emit/memory/part_vectors.h"
#include "compiler/vectorize/emit/memory/prefetch.h"
#include "compiler/vectorize/emit/values/builder.h"
#include "compiler/vectorize/emit/values/check_arms.h"
#include "compiler/vectorize/emit/values/emitter.h"
#include "compiler/vectorize/emit/values/values.h"
#include "compiler/vectorize/plan/access/access.h"
#include "compiler/vectorize/plan/access/forms/interleave_groups.h"

enum { WORD_BITS = 64 };

// Spreads a mask as spread_mask does, but in a general register: the machine
// deposits the mask's bits apart (pdep), and a product repeats them. A shuffle
// of masks would need a vector as long as what is loaded.
static LLVMValueRef deposited_mask(lanes_emitter *e, uint32_t stride,
                                   uint32_t wanted, uint32_t first,
                                   uint32_t length) {
  LLVMBuilderRef b = e->builder;
  const uint32_t word = first / WORD_BITS;
  LLVMValueRef lanes =
      LLVMBuildZExt(b, lanes_mask_bits(e, e->mask), e->types.i64, "");
  lanes = LLVMBuildLShr(
      b, lanes, mtlc_i64(e->context, word * (WORD_BITS / stride)), "");
  uint64_t places = 0;
  for (uint32_t bit = 0; bit < WORD_BITS; bit += stride) {
    places |= UINT64_C(1) << bit;
  }
  LLVMValueRef arguments[] = {lanes, mtlc_i64(e->context, places)};
  LLVMValueRef all =
      lanes_intrinsic(e, "llvm.x86.bmi.pdep.64", NULL, 0, arguments, 2);
  all = LLVMBuildMul(b, all, mtlc_i64(e->context, wanted), "");
  all = LLVMBuildLShr(b, all, mtlc_i64(e->context, first % WORD_BITS), "");
  all = LLVMBuildTrunc(b, all, LLVMIntTypeInContext(e->context, length), "");
  return LLVMBuildBitCast(b, all, LLVMVectorType(e->types.i1, length), "");
}

// Returns a mask of elements [first, first + length): element i * stride + k
// has lane i's bit if k is in a set of bits, else 0.
static LLVMValueRef spread_mask(lanes_emitter *e, uint32_t stride,
                                uint32_t wanted, uint32_t first,
                                uint32_t length) {
  if (e->machine.has_masks && stride > 1 && lanes_is_power_of_two(stride) &&
      length <= WORD_BITS && !LLVMIsConstant(e->mask)) {
    return deposited_mask(e, stride, wanted, first, length);
  }
  int lanes[MOST_LANES * LARGEST_STRIDE_BYTES];
  for (uint32_t i = 0; i < length; i++) {
    const bool is_wanted = wanted >> (first + i) % stride & 1;
    lanes[i] = is_wanted ? (int)((first + i) / stride) : (int)e->lanes;
  }
  return lanes_shuffle(e, e->mask, LLVMConstNull(LLVMTypeOf(e->mask)), lanes,
                       length);
}

static uint64_t bytes_of(const lanes_access *a, uint32_t stride) {
  return (uint64_t)a->shape.lanes * stride * a->size_bytes;
}

// One of the 32-element vectors in which lanes' elements lie, or a part of it.
typedef struct lanes_clone {
  LLVMValueRef address;
  LLVMValueRef mask;
  uint32_t alignment;
} lanes_clone;

// Returns the vector of a lane's elements from first on.
static lanes_clone part_at(lanes_emitter *e, const lanes_access *a,
                          uint32_t stride, uint32_t wanted, uint32_t first,
                          uint32_t length) {
  const uint32_t in_row = a->shape.row * stride;
  const uint64_t offset = first % in_row * a->size_bytes;
  LLVMValueRef start = a->shape.row == e->lanes
                           ? lanes_access_begin(e, a)
                           : lanes_access_segment_address(e, a, first / in_row);
  return (lanes_clone){
      .address = lanes_address_at(e, start, offset),
      .mask = spread_mask(e, stride, wanted, first, length),
      .alignment = lanes_common_alignment(a->alignment, offset)};
}

static void load_parts(lanes_emitter *e, const lanes_access *a, uint32_t stride,
                       uint32_t wanted, LLVMValueRef *out_components) {
  LLVMValueRef parts[LARGEST_STRIDE_BYTES];
  const uint32_t in_row = a->shape.row * stride;
  const uint32_t length = in_row < e->lanes ? in_row : e->lanes;
  for (uint32_t k = 0; k < stride; k++) {
    LLVMValueRef pieces[MOST_LANES];
    for (uint32_t i = 0; i < e->lanes / length; i++) {
      const lanes_clone part =
          part_at(e, a, stride, wanted, k * e->lanes + i * length, length);
      pieces[i] = lanes_masked_load(e, LLVMVectorType(a->element, length),
                                    part.address, part.alignment, part.mask);
    }
    parts[k] = lanes_concatenated(e, pieces, e->lanes / length);
  }
  lanes_part_vectors(e, parts, stride, a->size_bytes, a->count, out_components);
}

void lanes_deinterleave_packed(lanes_emitter *e, LLVMValueRef whole, uint32_t count,
                      LLVMValueRef *out_components) {
  LLVMTypeRef element = LLVMGetElementType(LLVMTypeOf(whole));
  const uint64_t size_bytes = LLVMStoreSizeOfType(e->values->data, element);
  if (size_bytes < 4) {
    lanes_deinterleave_components(e, whole, count, count, out_components);
    return;
  }
  LLVMValueRef parts[LARGEST_STRIDE_BYTES];
  for (uint32_t k = 0; k < count; k++) {
    parts[k] = lanes_subvector(e, whole, k * e->lanes, e->lanes);
  }
  lanes_part_vectors(e, parts, count, size_bytes, count, out_components);
}

static void store_parts(lanes_emitter *e, const lanes_access *a,
                        uint32_t stride, LLVMValueRef *components) {
  LLVMValueRef parts[LARGEST_STRIDE_BYTES];
  lanes_join_vectors(e, components, a->count, a->size_bytes, stride, parts);
  for (uint32_t k = 0; k < stride; k++) {
    const lanes_clone part =
        part_at(e, a, stride, lanes_first_elements(a->count), k * e->lanes, e->lanes);
    lanes_masked_store(e, a, parts[k], part.address, part.alignment, part.mask);
  }
}

// True if lanes' elements are best loaded as words of four bytes, one for each
// lane. Also with AVX-512, which could gather bytes from anywhere, since later
// arithmetic mostly uses words.
static bool are_words(const lanes_emitter *e, LLVMTypeRef element,
                      uint32_t stride) {
  return stride == 4 && element == e->types.i8;
}

static void take_bytes(lanes_emitter *e, LLVMValueRef words, uint32_t count,
                       LLVMValueRef *out_components) {
  for (uint32_t c = 0; c < count; c++) {
    LLVMValueRef by = lanes_steps(e->lanes, e->types.i32, c * 8, 0);
    out_components[c] =
        LLVMBuildTrunc(e->builder, LLVMBuildLShr(e->builder, words, by, ""),
                       lanes_vector_of(e->lanes, e->types.i8), "");
  }
}

void lanes_deinterleave_components(lanes_emitter *e, LLVMValueRef all, uint32_t stride,
                      uint32_t count, LLVMValueRef *out_components) {
  if (are_words(e, LLVMGetElementType(LLVMTypeOf(all)), stride)) {
    take_bytes(
        e, LLVMBuildBitCast(e->builder, all, lanes_vector_of(e->lanes, e->types.i32), ""),
        count, out_components);
    return;
  }
  for (uint32_t c = 0; c < count; c++) {
    int lanes[MOST_LANES];
    for (uint32_t i = 0; i < e->lanes; i++) {
      lanes[i] = (int)(i * stride + c);
    }
    out_components[c] =
        stride == 1 ? all : lanes_shuffle(e, all, NULL, lanes, e->lanes);
  }
}

LLVMValueRef lanes_repeated_mask(lanes_emitter *e, uint32_t count) {
  return spread_mask(e, count, lanes_first_elements(count), 0, e->lanes * count);
}

// Returns a power of two of lanes if the others never run. A store of just
// these leaves no gaps, so that the next step of a tree can forward it from the
// store buffer.
uint32_t lanes_narrow_count(const lanes_emitter *e) {
  uint32_t count = 1;
  while (count < e->coming) {
    count *= 2;
  }
  return count;
}

LLVMValueRef lanes_widened(lanes_emitter *e, LLVMValueRef first,
                           uint32_t count) {
  int lanes[MOST_LANES];
  for (uint32_t i = 0; i < e->lanes; i++) {
    lanes[i] = i < count ? (int)i : -1;
  }
  return count == e->lanes ? first : lanes_shuffle(e, first, NULL, lanes, e->lanes);
}

static LLVMValueRef load_first_lanes(lanes_emitter *e, const lanes_access *a,
                                     uint32_t count) {
  LLVMValueRef loaded = lanes_masked_load(e, LLVMVectorType(a->element, count),
                                          lanes_access_begin(e, a),
                                          a->alignment,
                                          lanes_subvector(e, e->mask, 0, count));
  return lanes_widened(e, loaded, count);
}

static void fetch(lanes_emitter *e, const lanes_access *a, uint32_t stride) {
  const uint64_t bytes = bytes_of(a, stride);
  lanes_prefetch_ahead(e, a, lanes_access_begin(e, a), bytes);
  LLVMValueRef next = lanes_next_lines(e, a, false);
  lanes_prefetch_at(e, lanes_access_begin(e, a), next, bytes);
}

// Returns the mask of all lanes' elements: each lane has its first few.
static LLVMValueRef mask_of(lanes_emitter *e, const lanes_access *a,
                            uint32_t stride) {
  return stride == 1
             ? e->mask
             : spread_mask(e, stride, lanes_first_elements(a->count), 0, e->lanes * stride);
}

// Loads the components of the first or last half of the lanes, from one word
// each.
static void load_half(lanes_emitter *e, const lanes_access *a, uint32_t stride,
                      bool last, LLVMValueRef *out_components) {
  const uint32_t half = e->lanes / 2;
  const uint64_t word_bytes = stride * a->size_bytes;
  const uint64_t skipped = last ? word_bytes - a->count * a->size_bytes : 0;
  const uint64_t offset = last ? half * word_bytes - skipped : 0;
  LLVMTypeRef word = LLVMIntTypeInContext(e->context, (unsigned)word_bytes * 8);
  LLVMTypeRef narrow =
      LLVMIntTypeInContext(e->context, (unsigned)a->size_bytes * 8);
  LLVMValueRef words =
      LLVMBuildLoad2(e->builder, LLVMVectorType(word, half),
                     lanes_address_at(e, lanes_access_begin(e, a), offset), "");
  LLVMSetAlignment(words, lanes_common_alignment(a->alignment, offset));
  for (uint32_t c = 0; c < a->count; c++) {
    LLVMValueRef by[MOST_LANES / 2];
    for (uint32_t i = 0; i < half; i++) {
      by[i] = LLVMConstInt(word, (skipped + c * a->size_bytes) * 8, false);
    }
    LLVMValueRef shifted =
        LLVMBuildLShr(e->builder, words, LLVMConstVector(by, half), "");
    LLVMValueRef taken =
        LLVMBuildTrunc(e->builder, shifted, LLVMVectorType(narrow, half), "");
    out_components[c] = LLVMBuildBitCast(e->builder, taken,
                                         LLVMVectorType(a->element, half), "");
  }
}

void lanes_load_words(lanes_emitter *e, const lanes_access *a, uint32_t stride,
                      LLVMValueRef *out_components) {
  LLVMValueRef halves[2][LARGEST_STRIDE_BYTES];
  fetch(e, a, stride);
  load_half(e, a, stride, false, halves[0]);
  load_half(e, a, stride, true, halves[1]);
  for (uint32_t c = 0; c < a->count; c++) {
    LLVMValueRef both[] = {halves[0][c], halves[1][c]};
    out_components[c] = lanes_concatenated(e, both, 2);
  }
}

static LLVMValueRef load_all(lanes_emitter *e, const lanes_access *a,
                             uint32_t stride) {
  if (are_words(e, a->element, stride) && a->count == stride) {
    LLVMValueRef words =
        lanes_masked_load(e, lanes_vector_of(e->lanes, e->types.i32),
                          lanes_access_begin(e, a), a->alignment, e->mask);
    return LLVMBuildBitCast(e->builder, words,
                            LLVMVectorType(a->element, e->lanes * stride), "");
  }
  return lanes_masked_load(e, LLVMVectorType(a->element, e->lanes * stride),
                           lanes_access_begin(e, a), a->alignment,
                           mask_of(e, a, stride));
}

static void store_all(lanes_emitter *e, const lanes_access *a, uint32_t stride,
                      LLVMValueRef all) {
  if (are_words(e, a->element, stride) && a->count == stride) {
    LLVMTypeRef words = lanes_vector_of(e->lanes, e->types.i32);
    lanes_masked_store(e, a, LLVMBuildBitCast(e->builder, all, words, ""),
                       lanes_access_begin(e, a), a->alignment, e->mask);
    return;
  }
  lanes_masked_store(e, a, all, lanes_access_begin(e, a), a->alignment,
                     mask_of(e, a, stride));
}

LLVMValueRef lanes_load_packed(lanes_emitter *e, const lanes_access *a) {
  fetch(e, a, a->count);
  return load_all(e, a, a->count);
}

void lanes_store_packed(lanes_emitter *e, const lanes_access *a,
                       LLVMValueRef all) {
  lanes_prefetch_ahead(e, a, lanes_access_begin(e, a), bytes_of(a, a->count));
  store_all(e, a, a->count, all);
}

void lanes_load_interleaved(lanes_emitter *e, const lanes_access *a,
                        uint32_t stride, LLVMValueRef *out_components) {
  fetch(e, a, stride);
  if (stride == 1 && lanes_narrow_count(e) < e->lanes) {
    out_components[0] = load_first_lanes(e, a, lanes_narrow_count(e));
    return;
  }
  if (stride > 1 && lanes_is_power_of_two(stride) && a->size_bytes >= 4) {
    load_parts(e, a, stride, lanes_first_elements(a->count), out_components);
    return;
  }
  lanes_deinterleave_components(e, load_all(e, a, stride), stride, a->count, out_components);
}

// Reverses take_bytes, with bytes as the result.
static LLVMValueRef put_bytes(lanes_emitter *e, LLVMValueRef *components,
                              uint32_t count) {
  LLVMTypeRef type = lanes_vector_of(e->lanes, e->types.i32);
  LLVMValueRef words = LLVMBuildZExt(e->builder, components[0], type, "");
  for (uint32_t c = 1; c < count; c++) {
    LLVMValueRef one = LLVMBuildZExt(e->builder, components[c], type, "");
    LLVMValueRef by = lanes_steps(e->lanes, e->types.i32, c * 8, 0);
    words = LLVMBuildOr(e->builder, words,
                        LLVMBuildShl(e->builder, one, by, ""), "");
  }
  return LLVMBuildBitCast(e->builder, words,
                          LLVMVectorType(e->types.i8, e->lanes * 4), "");
}

LLVMValueRef lanes_interleave_components(lanes_emitter *e, LLVMValueRef *components,
                                uint32_t stride, uint32_t count) {
  if (stride == 1) {
    return components[0];
  }
  if (are_words(e, LLVMGetElementType(LLVMTypeOf(components[0])), stride)) {
    return put_bytes(e, components, count);
  }
  int lanes[MOST_LANES * LARGEST_STRIDE_BYTES];
  for (uint32_t i = 0; i < e->lanes * stride; i++) {
    lanes[i] = i % stride < count ? (int)(i % stride * e->lanes + i / stride) : -1;
  }
  return lanes_shuffle(e, lanes_concatenated(e, components, count), NULL, lanes,
                       e->lanes * stride);
}

void lanes_store_interleaved(lanes_emitter *e, const lanes_access *a,
                         uint32_t stride, LLVMValueRef *components) {
  lanes_prefetch_ahead(e, a, lanes_access_begin(e, a), bytes_of(a, stride));
  if (stride > 1 && lanes_is_power_of_two(stride) && a->size_bytes >= 4) {
    store_parts(e, a, stride, components);
    return;
  }
  if (stride == 1 && lanes_narrow_count(e) < e->lanes) {
    const uint32_t count = lanes_narrow_count(e);
    lanes_masked_store(e, a, lanes_subvector(e, components[0], 0, count),
                       lanes_access_begin(e, a), a->alignment,
                       lanes_subvector(e, e->mask, 0, count));
    return;
  }
  store_all(e, a, stride, lanes_interleave_components(e, components, stride, a->count));
}

// --- Neighbours --------------------------------------------------------------

LLVMValueRef lanes_word_part(lanes_emitter *e, const lanes_access *a,
                                LLVMValueRef word, uint64_t offset) {
  LLVMTypeRef narrow = lanes_vector_of(e->lanes, 
      LLVMIntTypeInContext(e->context, (unsigned)a->size_bytes * 8));
  LLVMValueRef by = lanes_steps(e->lanes, e->types.i32, offset * 8, 0);
  LLVMValueRef part = LLVMBuildTrunc(
      e->builder, LLVMBuildLShr(e->builder, word, by, ""), narrow, "");
  return LLVMBuildBitCast(e->builder, part, lanes_vector_of(e->lanes, a->type), "");
}

// Loads words of all lanes, a stride apart. On machines without cheap masks, if
// some lanes do not run and memory may end, it loads lane by lane.
static void load_whole_words(lanes_emitter *e, const lanes_access *words,
                             uint32_t stride, uint32_t wanted,
                             LLVMValueRef *out_words) {
  LLVMValueRef mask = e->mask;
  if (e->machine.has_masks || LLVMIsConstant(mask)) {
    load_parts(e, words, stride, wanted, out_words);
    return;
  }
  LLVMTypeRef all = LLVMVectorType(words->element, e->lanes * stride);
  const lanes_check question =
      lanes_begin_check(e, lanes_may_load_whole(e, all, words->first, mask));
  const bool uncached = e->uncached;
  LLVMValueRef ways[2][LARGEST_STRIDE_BYTES];
  LLVMBasicBlockRef from[2];
  e->uncached = true;
  e->mask = LLVMConstAllOnes(LLVMTypeOf(mask));
  load_parts(e, words, stride, wanted, ways[0]);
  e->mask = mask;
  from[0] = LLVMGetInsertBlock(e->builder);
  lanes_end_check_arm(e, &question, question.some);
  for (uint32_t w = 0; w < words->count; w++) {
    if (wanted >> w & 1) {
      ways[1][w] = lanes_load_lane_loop(e, words, words->first, w * LANES_WORD_BYTES);
    }
  }
  from[1] = LLVMGetInsertBlock(e->builder);
  lanes_end_check_arm(e, &question, question.done);
  e->uncached = uncached;
  for (uint32_t w = 0; w < words->count; w++) {
    if (wanted >> w & 1) {
      LLVMValueRef both[] = {ways[0][w], ways[1][w]};
      out_words[w] =
          LLVMBuildPhi(e->builder, lanes_vector_of(e->lanes, e->types.i32), "");
      LLVMAddIncoming(out_words[w], both, from, 2);
    }
  }
}

// Loads bytes and halves that fill whole words as words.
static void load_in_words(lanes_emitter *e, const lanes_access *all,
                          const lanes_interleave_group *group,
                          LLVMValueRef *out_components) {
  const uint32_t in_word = LANES_WORD_BYTES / (uint32_t)all->size_bytes;
  lanes_access words = *all;
  words.element = words.type = e->types.i32;
  words.size_bytes = words.pitch_bytes = LANES_WORD_BYTES;
  words.count = group->count / in_word;
  LLVMValueRef loaded[LARGEST_STRIDE_BYTES];
  load_whole_words(e, &words, group->stride / in_word, group->words, loaded);
  for (uint32_t at = 0; at < group->count; at++) {
    if (group->loads[at]) {
      out_components[at] = lanes_word_part(e, all, loaded[at / in_word],
                                           at % in_word * all->size_bytes);
    }
  }
}

static uint64_t group_offset(const lanes_access *a,
                             const lanes_interleave_group *group) {
  return (uint64_t)group->lowest * a->size_bytes;
}

void lanes_prefetch_group(lanes_emitter *e, const lanes_access *a,
                          const lanes_interleave_group *group) {
  LLVMValueRef first = lanes_address_at(e, lanes_scalar(e, a->pointer, 0),
                                        group_offset(a, group));
  lanes_prefetch_ahead(e, a, first, e->lanes * group->stride * a->size_bytes);
}

void lanes_load_interleave_group(lanes_emitter *e, const lanes_access *a,
                                 const lanes_interleave_group *group) {
  const uint32_t stride = group->stride;
  lanes_access all = *a;
  all.count = group->count;
  all.alignment = group->alignment;
  const uint64_t offset = group_offset(a, group);
  LLVMValueRef firsts[MOST_LANES];
  if (group->is_in_rows) {
    for (uint32_t r = 0; r < e->lanes / a->shape.row; r++) {
      firsts[r] = lanes_address_at(e, lanes_access_segment_address(e, a, r), offset);
    }
    all.firsts = firsts;
  } else {
    all.first = lanes_address_at(e, lanes_scalar(e, a->pointer, 0), offset);
    lanes_prefetch_ahead(e, a, all.first, e->lanes * stride * a->size_bytes);
  }
  LLVMValueRef components[LARGEST_STRIDE_BYTES];
  if (!lanes_is_power_of_two(stride)) {
    lanes_deinterleave_components(e, load_all(e, &all, stride), stride, stride,
                                  components);
  } else if (a->size_bytes >= LANES_WORD_BYTES) {
    load_parts(e, &all, stride, group->wanted, components);
  } else {
    load_in_words(e, &all, group, components);
  }
  for (uint32_t at = 0; at < group->count; at++) {
    if (group->loads[at]) {
      lanes_set_result(e, group->loads[at], 0, components[at]);
    }
  }
}
