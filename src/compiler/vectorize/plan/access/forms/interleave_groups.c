// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// interleave_groups.c: finds adjacent loads, such as x[4 * i] to x[4 * i + 3],
// to load as one.
#include "compiler/vectorize/plan/access/forms/interleave_groups.h"

#include <stddef.h>

#include "compiler/vectorize/analysis/addresses/affine.h"
#include "compiler/vectorize/analysis/effects.h"
#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/analysis/uniformity.h"
#include "compiler/vectorize/plan/access/access.h"
#include "compiler/vectorize/plan/access/planning.h"

// True if a load is one of the elements around another's; returns how many
// elements after it.
static bool is_near(const lanes_values *values, const lanes_access *a,
                    const lanes_affine *from, uint32_t stride,
                    LLVMValueRef instruction, int64_t *out_distance) {
  if (LLVMGetInstructionOpcode(instruction) != LLVMLoad ||
      LLVMTypeOf(instruction) != LLVMTypeOf(a->instruction)) {
    return false;
  }
  lanes_affine other;
  lanes_affine_find(values, LLVMGetOperand(instruction, 0), &other);
  const int64_t size = (int64_t)a->size_bytes;
  const int64_t bytes = lanes_affine_distance(from, &other);
  if (!lanes_affine_like(from, &other) || bytes % size ||
      lanes_affine_may_wrap(values, from, &other)) {
    return false;
  }
  const lanes_shape shape =
      lanes_shape_of(values, LLVMGetOperand(instruction, 0));
  *out_distance = bytes / size;
  return *out_distance > -(int64_t)stride && *out_distance < (int64_t)stride &&
         !shape.conditional && shape.row == a->shape.row &&
         shape.stride == a->shape.stride;
}

// Returns the lowest element that one of the loads before the next write reads.
static int64_t lowest_near(const lanes_values *values, const lanes_access *a,
                           const lanes_affine *from, uint32_t stride) {
  int64_t lowest = 0;
  for (LLVMValueRef i = a->instruction; i && !lanes_may_write(i);
       i = LLVMGetNextInstruction(i)) {
    int64_t at = 0;
    if (is_near(values, a, from, stride, i, &at) && at < lowest) {
      lowest = at;
    }
  }
  return lowest;
}

static lanes_interleave_group find_neighbours(const lanes_values *values,
                                              const lanes_access *a,
                                              const lanes_affine *from,
                                              uint32_t stride) {
  lanes_interleave_group found = {
      .lowest = lowest_near(values, a, from, stride),
      .alignment = a->alignment};
  for (LLVMValueRef i = a->instruction; i && !lanes_may_write(i);
       i = LLVMGetNextInstruction(i)) {
    int64_t at = 0;
    if (!is_near(values, a, from, stride, i, &at) ||
        at - found.lowest >= (int64_t)stride ||
        found.loads[at - found.lowest]) {
      continue;
    }
    const uint32_t element = (uint32_t)(at - found.lowest);
    found.loads[element] = i;
    found.wanted |= UINT32_C(1) << element;
    found.count = element + 1 > found.count ? element + 1 : found.count;
    const uint32_t alignment = LLVMGetAlignment(i);
    found.alignment = alignment < found.alignment ? alignment : found.alignment;
  }
  return found;
}

// Returns the set of words of which a lane reads all elements. 0 if it reads
// part of a word: the rest may not be mapped.
static uint32_t whole_words(const lanes_interleave_group *found,
                            uint64_t size_bytes) {
  const uint32_t in_word = LANES_WORD_BYTES / (uint32_t)size_bytes;
  uint32_t words = 0;
  for (uint32_t at = 0; at < found->count; at += in_word) {
    const uint32_t elements =
        found->wanted >> at & lanes_first_elements(in_word);
    if (elements && elements != lanes_first_elements(in_word)) {
      return 0;
    }
    words |= elements ? UINT32_C(1) << at / in_word : 0;
  }
  return words;
}

// True if bytes and halves fill whole words, and are loaded as words: later
// arithmetic mostly uses words, and shifts split those. On machines without
// masks, gaps are left to loads that read around them.
static bool find_words(const lanes_planning *p, const lanes_access *a,
                       lanes_interleave_group *found) {
  const uint32_t in_word = LANES_WORD_BYTES / (uint32_t)a->size_bytes;
  found->words = whole_words(found, a->size_bytes);
  return found->words && found->stride % in_word == 0 && !p->is_at_once &&
         (p->machine.has_gathers ||
          found->words == lanes_first_elements(found->stride / in_word));
}

bool lanes_find_interleave_group(const lanes_planning *p, const lanes_access *a,
                                 lanes_interleave_group *out_group) {
  const uint32_t in_rows = lanes_stride_in_rows(a);
  const uint32_t stride = in_rows ? in_rows : lanes_stride_elements(a);
  const bool is_power = lanes_is_power_of_two(stride);
  if (stride < 2 || a->count != 1 || a->element != a->type ||
      (!is_power && a->size_bytes < LANES_WORD_BYTES)) {
    return false;
  }
  lanes_affine from;
  lanes_affine_find(p->values, a->pointer, &from);
  *out_group = find_neighbours(p->values, a, &from, stride);
  out_group->stride = stride;
  out_group->is_in_rows = in_rows;
  if (lanes_is_power_of_two(out_group->wanted) ||  // no other load
      (!is_power && out_group->wanted != lanes_first_elements(stride))) {
    return false;
  }
  out_group->is_one = !is_power || a->size_bytes >= LANES_WORD_BYTES ||
                      find_words(p, a, out_group);
  return true;
}
