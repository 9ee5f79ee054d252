// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// lane_bits.h: values to which each bit of a lane's number adds something of
// its own, such as the row and column that a thread has in a tile.
#ifndef MTLC_LANE_BITS_H
#define MTLC_LANE_BITS_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>

#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/analysis/uniformity.h"

enum { LANES_BITS = 5 };  // of a lane's number, at most

// Lane l's value is lane 0's plus by_bit[i] for each bit i that l has. Where
// that is not known of all bits: a lane's value is by_bit[i] more than that of
// the lane without bit i, for those bits of which it is.
typedef struct lanes_pattern {
  uint8_t lanes;  // of a vector; 0 where no bit is known
  uint8_t known;  // bit i: by_bit[i] is
  uint8_t align;  // lane 0's is a multiple of 2^align
  uint64_t most;  // as an unsigned integer no lane's is above this, and none
                  // wraps; UINT64_MAX: the sums hold modulo the type's range
  int64_t by_bit[LANES_BITS];
} lanes_pattern;

static inline bool lanes_pattern_is_whole(const lanes_pattern *pattern) {
  return pattern->lanes && pattern->known == pattern->lanes - 1;
}

// What has been found so far.
typedef struct lanes_pattern_finder {
  const lanes_values *values;
  lanes_pattern *found;  // [values->count]
  uint8_t *states;       // [values->count]
} lanes_pattern_finder;

lanes_pattern_finder lanes_patterns_begin(const lanes_values *values);
lanes_pattern lanes_pattern_of(lanes_pattern_finder *finder,
                               LLVMValueRef value);
bool lanes_has_pattern(lanes_pattern_finder *finder, LLVMValueRef value);
// How much a lane's value is above lane 0's; of a pattern whose bits are known.
uint64_t lanes_pattern_at(const lanes_pattern *pattern, uint32_t lane);

#endif
