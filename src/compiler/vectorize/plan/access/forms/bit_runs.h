// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// bit_runs.h: finds lanes that are neighbours in a permuted order.
#ifndef MTLC_BIT_RUNS_H
#define MTLC_BIT_RUNS_H

#include <stdbool.h>
#include <stdint.h>

#include "compiler/vectorize/analysis/addresses/lane_bits.h"
#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/plan/access/access.h"
#include "compiler/vectorize/plan/access/planning.h"

enum { MOST_ELEMENTS = 8 * MOST_LANES };

// Runs of lanes with adjacent elements, by the bits of their numbers.
typedef struct lanes_pattern_runs {
  lanes_pattern pattern;      // of the address
  uint8_t order[LANES_BITS];  // the bits that number a run's lanes, nearest
                              // first
  uint8_t others;             // mask of the other bits, which number the runs
  uint32_t lanes;             // of a run
  uint64_t bytes;             // of a run
} lanes_pattern_runs;

// Finds runs of lanes with adjacent elements. In a load, several lanes may
// share one element.
lanes_pattern_runs lanes_bit_runs_of(const lanes_pattern *pattern,
                                     uint64_t bytes, bool is_shared);
// True if that many vectors are faster than a gather.
bool lanes_are_few_runs(const lanes_pattern_runs *runs);
// True if an access has long enough runs.
bool lanes_find_bit_runs(lanes_planning *p, const lanes_access *a,
                         lanes_pattern_runs *out_runs);
// True if a load has few runs, of any length, that lanes may share.
bool lanes_find_shared_bit_runs(lanes_planning *p, const lanes_access *a,
                                lanes_pattern_runs *out_runs);

#endif
