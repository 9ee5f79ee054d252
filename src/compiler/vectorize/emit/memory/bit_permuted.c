// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// bit_permuted.c: loads and stores of lanes that are neighbours in a permuted
// order, as where ggml's matrix products store tiles transposed in threadgroup
// memory. Lanes that lie side by side are one vector, which shuffles put in
// order.
#include "compiler/vectorize/emit/memory/bit_permuted.h"

#include <stddef.h>

#include "compiler/vectorize/analysis/addresses/lane_bits.h"
#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/emit/address/segment_addresses.h"
#include "compiler/vectorize/emit/memory/interleaved.h"
#include "compiler/vectorize/emit/memory/masked.h"
#include "compiler/vectorize/emit/values/builder.h"
#include "compiler/vectorize/emit/values/emitter.h"
#include "compiler/vectorize/plan/access/access.h"
#include "compiler/vectorize/plan/access/forms/bit_runs.h"

// Returns the lane at position i of the run that begins with lane first.
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

// Returns the components of a run's lanes, side by side.
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

void lanes_store_bit_runs(lanes_emitter *e, const lanes_access *a,
                      const lanes_pattern_runs *runs,
                      LLVMValueRef *components) {
  LLVMValueRef all = lanes_interleave_components(e, components, a->count, a->count);
  LLVMValueRef mask = mask_of(e, a->count);
  LLVMValueRef address = lanes_first_address(e, a->pointer);
  for (uint32_t lane = 0; lane < e->lanes; lane++) {
    if ((lane & runs->others) == lane) {
      lanes_masked_store(e, a, run_of(e, runs, all, a->count, lane),
                         address_of_lane(e, runs, address, lane), a->alignment,
                         run_of(e, runs, mask, a->count, lane));
    }
  }
}

// Returns the position of a lane's components within the runs.
static uint32_t place_of(const lanes_pattern_runs *runs, uint32_t lane) {
  uint32_t run = 0, place = 0, bit = 0;
  for (uint32_t b = 0; b < LANES_BITS; b++) {
    if (runs->others >> b & 1) {
      run |= (lane >> b & 1) << bit++;
    }
  }
  for (uint32_t b = 0; 1u << b < runs->lanes; b++) {
    place |= (lane >> runs->order[b] & 1) << b;
  }
  return run * runs->lanes + place;
}

// Loads the runs at their offsets from lane 0's address and returns all lanes'
// components side by side.
static LLVMValueRef load_all(lanes_emitter *e, const lanes_pattern_runs *runs,
                             LLVMTypeRef element, uint32_t count,
                             uint32_t alignment, LLVMValueRef address) {
  const uint32_t length = runs->lanes * count;
  LLVMValueRef mask = mask_of(e, count);
  LLVMValueRef parts[MOST_LANES];
  int items[MOST_ELEMENTS];
  uint32_t part_count = 0;
  for (uint32_t lane = 0; lane < e->lanes; lane++) {
    if ((lane & runs->others) == lane) {
      parts[part_count++] =
          lanes_masked_load(e, LLVMVectorType(element, length),
                            address_of_lane(e, runs, address, lane), alignment,
                            run_of(e, runs, mask, count, lane));
    }
    for (uint32_t c = 0; c < count; c++) {
      items[lane * count + c] = (int)(place_of(runs, lane) * count + c);
    }
  }
  return lanes_shuffle(e, lanes_concatenated(e, parts, part_count), NULL, items,
                       e->lanes * count);
}

void lanes_load_bit_runs(lanes_emitter *e, const lanes_access *a,
                     const lanes_pattern_runs *runs,
                     LLVMValueRef *out_components) {
  LLVMValueRef all = load_all(e, runs, a->element, a->count, a->alignment,
                              lanes_first_address(e, a->pointer));
  lanes_deinterleave_components(e, all, a->count, a->count, out_components);
}

LLVMValueRef lanes_load_bit_permuted(lanes_emitter *e, const lanes_pattern *pattern,
                                LLVMTypeRef type, uint32_t size_bytes,
                                uint32_t alignment, LLVMValueRef first) {
  const lanes_pattern_runs runs = lanes_bit_runs_of(pattern, size_bytes, true);
  if (lanes_are_few_runs(&runs)) {
    return load_all(e, &runs, type, 1, alignment, first);
  }
  LLVMValueRef steps[MOST_LANES];
  for (uint32_t lane = 0; lane < e->lanes; lane++) {
    steps[lane] =
        LLVMConstInt(e->types.i64, lanes_pattern_at(pattern, lane), false);
  }
  LLVMValueRef by = LLVMConstVector(steps, e->lanes);
  LLVMValueRef pointers =
      LLVMBuildGEP2(e->builder, e->types.i8, first, &by, 1, "");
  return lanes_gather_from(e, type, pointers, alignment, e->mask);
}
