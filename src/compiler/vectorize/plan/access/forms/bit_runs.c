// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// bit_runs.c: finds lanes that are neighbours in a permuted order, by the bits
// of their numbers.
#include "compiler/vectorize/plan/access/forms/bit_runs.h"

#include <stddef.h>

#include "compiler/vectorize/analysis/addresses/lane_bits.h"
#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/plan/access/access.h"
#include "compiler/vectorize/plan/access/planning.h"

enum {
  // The most vectors that replace a gather. Measured on a Zen 3, 2026-11, in
  // ggml's products: 16 take 0.7 of the time of 8, 32 as long as 16.
  MOST_PIECES = 16,
  LEAST_RUN = 4,         // lanes
  LEAST_RUN_BYTES = 16,  // masks of shorter ones are unsafe (segment_vectors.c)
};

// Finds runs of lanes with adjacent elements. In a load, several lanes may
// share one element.
lanes_pattern_runs lanes_bit_runs_of(const lanes_pattern *pattern,
                                     uint64_t bytes, bool is_shared) {
  lanes_pattern_runs runs = {.pattern = *pattern};
  uint32_t used = 0, bits = 0;
  for (uint32_t b = 0; b < LANES_BITS; b++) {
    if (!(used >> b & 1) && pattern->by_bit[b] == (int64_t)bytes) {
      runs.order[bits++] = (uint8_t)b;
      used |= 1u << b;
      bytes *= 2;
      b = UINT32_MAX;  // start again at the lowest bit
    }
  }
  for (uint32_t b = 0; is_shared && b < LANES_BITS; b++) {
    used |= pattern->by_bit[b] ? 0 : 1u << b;
  }
  runs.lanes = 1u << bits;
  runs.others = (uint8_t)((pattern->lanes - 1u) & ~used);
  runs.bytes = bytes;
  return runs;
}

static bool find(lanes_planning *p, const lanes_access *a, bool is_shared,
                 lanes_pattern_runs *out_runs) {
  // Lane 0's address may be anything if some threads do not run.
  if (p->values->masked[p->node] || a->pitch_bytes != a->size_bytes ||
      a->count * p->values->lanes > MOST_ELEMENTS || a->shape.conditional) {
    return false;
  }
  const lanes_pattern pattern = lanes_pattern_here(p, a->pointer);
  *out_runs = lanes_bit_runs_of(&pattern, a->count * a->size_bytes, is_shared);
  return lanes_pattern_is_whole(&pattern);
}

bool lanes_find_bit_runs(lanes_planning *p, const lanes_access *a,
                         lanes_pattern_runs *out_runs) {
  return find(p, a, false, out_runs) && out_runs->lanes >= LEAST_RUN &&
         out_runs->bytes >= LEAST_RUN_BYTES;
}

bool lanes_are_few_runs(const lanes_pattern_runs *runs) {
  return 1u << __builtin_popcount(runs->others) <= MOST_PIECES;
}

bool lanes_find_shared_bit_runs(lanes_planning *p, const lanes_access *a,
                                lanes_pattern_runs *out_runs) {
  return lanes_has_constant_mask(p)
             ? find(p, a, true, out_runs) && lanes_are_few_runs(out_runs)
             : lanes_find_bit_runs(p, a, out_runs);
}
