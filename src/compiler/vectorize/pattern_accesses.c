// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// pattern_accesses.c: loads and stores of lanes that are neighbours in another
// order than their numbers', as where ggml's matrix products bring tiles into
// threadgroup memory with their columns for rows: vectors of those that lie
// side by side, which are put in order in registers.
#include "compiler/vectorize/accesses.h"

enum {
  LEAST_RUN_BITS = 2,
  LEAST_RUN_BYTES = 16,  // shorter ones are not safe under masks
  MOST_ELEMENTS = 8 * MOST_LANES,
};

lanes_pattern lanes_pattern_here(lanes_emitter *e, LLVMValueRef value) {
  if (!e->patterns.values) {
    e->patterns = lanes_patterns_begin(e->values);
  }
  return lanes_pattern_of(&e->patterns, value);
}

bool lanes_find_runs(lanes_emitter *e, const lanes_access *a,
                     lanes_pattern_runs *out_runs) {
  uint64_t bytes = a->count * a->size_bytes;
  // Where some threads do not run, lane 0's address may be anything.
  if (!a->pointer || a->first || a->firsts || e->values->masked[e->node] ||
      a->pitch_bytes != a->size_bytes || a->count * LANES > MOST_ELEMENTS ||
      a->shape.conditional) {
    return false;
  }
  lanes_pattern_runs runs = {.pattern = lanes_pattern_here(e, a->pointer)};
  uint32_t used = 0, bits = 0;
  for (uint32_t b = 0; b < LANES_BITS; b++) {
    if (!(used >> b & 1) && runs.pattern.by_bit[b] == (int64_t)bytes) {
      runs.order[bits++] = (uint8_t)b;
      used |= 1u << b;
      bytes *= 2;
      b = UINT32_MAX;  // from the first again
    }
  }
  runs.lanes = 1u << bits;
  runs.others = (uint8_t)(lanes_all_bits() & ~used);
  *out_runs = runs;
  return runs.pattern.known == lanes_all_bits() && bits >= LEAST_RUN_BITS &&
         bytes >= LEAST_RUN_BYTES;
}

// Lane i of a run, that begins with lane first.
static uint32_t lane_of_run(const lanes_pattern_runs *runs, uint32_t first,
                            uint32_t i) {
  for (uint32_t b = 0; 1u << b < runs->lanes; b++) {
    first |= (i >> b & 1) << runs->order[b];
  }
  return first;
}

static LLVMValueRef address_of_lane(lanes_emitter *e,
                                    const lanes_pattern_runs *runs,
                                    LLVMValueRef first, uint32_t lane) {
  return lanes_address_at(e, first, lanes_pattern_at(&runs->pattern, lane));
}

// Each lane's components side by side, of the lanes of a run.
static LLVMValueRef run_of(lanes_emitter *e, const lanes_pattern_runs *runs,
                           LLVMValueRef all, uint32_t count, uint32_t first) {
  int items[MOST_ELEMENTS];
  for (uint32_t i = 0; i < runs->lanes * count; i++) {
    items[i] = (int)(lane_of_run(runs, first, i / count) * count + i % count);
  }
  return lanes_shuffle(e, all, NULL, items, runs->lanes * count);
}

static LLVMValueRef mask_of(lanes_emitter *e, uint32_t count) {
  return count == 1 ? e->mask : lanes_repeated_mask(e, count);
}

void lanes_store_runs(lanes_emitter *e, const lanes_access *a,
                      const lanes_pattern_runs *runs,
                      LLVMValueRef *components) {
  LLVMValueRef all = lanes_put_together(e, components, a->count, a->count);
  LLVMValueRef mask = mask_of(e, a->count);
  LLVMValueRef address = lanes_first_address(e, a->pointer);
  for (uint32_t lane = 0; lane < LANES; lane++) {
    if ((lane & runs->others) == lane) {
      lanes_masked_store(e, a, run_of(e, runs, all, a->count, lane),
                         address_of_lane(e, runs, address, lane), a->alignment,
                         run_of(e, runs, mask, a->count, lane));
    }
  }
}

void lanes_load_runs(lanes_emitter *e, const lanes_access *a,
                     const lanes_pattern_runs *runs,
                     LLVMValueRef *out_components) {
  const uint32_t length = runs->lanes * a->count;
  LLVMValueRef mask = mask_of(e, a->count);
  LLVMValueRef address = lanes_first_address(e, a->pointer);
  LLVMValueRef parts[MOST_LANES];
  int items[MOST_ELEMENTS];
  uint32_t count = 0;
  for (uint32_t lane = 0; lane < LANES; lane++) {
    if ((lane & runs->others) != lane) {
      continue;
    }
    for (uint32_t i = 0; i < length; i++) {
      items[lane_of_run(runs, lane, i / a->count) * a->count + i % a->count] =
          (int)(count * length + i);
    }
    parts[count++] =
        lanes_masked_load(e, LLVMVectorType(a->element, length),
                          address_of_lane(e, runs, address, lane), a->alignment,
                          run_of(e, runs, mask, a->count, lane));
  }
  LLVMValueRef all = lanes_shuffle(e, lanes_concatenated(e, parts, count), NULL,
                                   items, LANES * a->count);
  lanes_take_apart(e, all, a->count, a->count, out_components);
}
