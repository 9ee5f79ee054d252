// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// lane_bits.h: how much each bit of a lane's number adds to a value, such as to
// a thread's row and column in a tile.
#ifndef MTLC_LANE_BITS_H
#define MTLC_LANE_BITS_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>

#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/analysis/uniformity.h"

enum { LANES_BITS = 5 };  // the most bits of a lane's number

// Lane l's value is lane 0's plus by_bit[i] for each set bit i of l. If only
// some bits are known, a lane's value is by_bit[i] more than that of the lane
// without bit i, for each known bit i.
typedef struct lanes_pattern {
  uint8_t lanes;  // lanes of the vector; 0 if no bit is known
  uint8_t known;  // bit i: by_bit[i] is known
  uint8_t align;  // lane 0's value is a multiple of 2^align
  uint64_t most;  // no lane's value is above this as an unsigned integer, and
                  // no sum wraps; UINT64_MAX: sums hold modulo the type's range
  int64_t by_bit[LANES_BITS];
} lanes_pattern;

static inline bool lanes_pattern_is_whole(const lanes_pattern *pattern) {
  return pattern->lanes && pattern->known == pattern->lanes - 1;
}

// The state of a search, with all patterns found so far.
typedef struct lanes_pattern_finder {
  const lanes_values *values;
  lanes_pattern *found;  // [values->count]
  uint8_t *states;       // [values->count]
} lanes_pattern_finder;

lanes_pattern_finder lanes_patterns_begin(const lanes_values *values);
lanes_pattern lanes_pattern_of(lanes_pattern_finder *finder,
                               LLVMValueRef value);
bool lanes_has_pattern(lanes_pattern_finder *finder, LLVMValueRef value);
// Returns how much a lane's value is above lane 0's. All its bits are known.
uint64_t lanes_pattern_at(const lanes_pattern *pattern, uint32_t lane);

#endif
