// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// group_difference.h: how a number differs between threadgroups that are
// merged.
#ifndef MTLC_GROUP_DIFFERENCE_H
#define MTLC_GROUP_DIFFERENCE_H

#include <stdbool.h>
#include <stdint.h>

// count below is how many threadgroups there are.
typedef enum lanes_difference_kind {
  LANES_ALIKE,    // not at all
  LANES_ALIGNED,  // `step` from each to the next, from a number in the first
                  // count-th of a window of count * step
  LANES_EVEN,     // `step` from each to the next
  LANES_OWN,      // in any way
} lanes_difference_kind;

typedef struct lanes_difference {
  lanes_difference_kind kind;
  uint64_t step;
  bool wraps;  // an aligned number is known modulo 2 to the number of its bits
} lanes_difference;

lanes_difference lanes_difference_alike(void);
lanes_difference lanes_difference_own(void);
// Returns that of a kind, or alike for a step of 0.
lanes_difference lanes_difference_evenly(lanes_difference_kind kind,
                                         uint64_t step, bool wraps);

// Return that of a number after arithmetic with a constant, all unsigned.
lanes_difference lanes_difference_times(lanes_difference a, uint64_t factor,
                                        bool wraps);
lanes_difference lanes_difference_divided(lanes_difference a, uint32_t count,
                                          uint64_t by);
lanes_difference lanes_difference_rest_of(lanes_difference a, uint32_t count,
                                          uint64_t by);
lanes_difference lanes_difference_masked(lanes_difference a, uint32_t count,
                                         uint64_t mask);
// Returns that of a + b, or of a - b.
lanes_difference lanes_difference_sum_of(lanes_difference a, lanes_difference b,
                                         bool is_difference);

#endif
