// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// group_difference.h: how a number differs between threadgroups that are
// merged.
#ifndef MTLC_GROUP_DIFFERENCE_H
#define MTLC_GROUP_DIFFERENCE_H

#include <stdbool.h>
#include <stdint.h>

// In these, count is how many threadgroups are merged.
typedef enum lanes_difference_kind {
  LANES_ALIKE,    // the same in all
  LANES_ALIGNED,  // `step` more in each; the first is in the first count-th of
                  // an aligned window of count * step
  LANES_EVEN,     // `step` more in each
  LANES_OWN,      // unrelated
} lanes_difference_kind;

typedef struct lanes_difference {
  lanes_difference_kind kind;
  uint64_t step;
  bool wraps;  // an aligned number is only known modulo a power of two
} lanes_difference;

lanes_difference lanes_difference_none(void);
lanes_difference lanes_difference_own(void);
// Returns a difference of that kind; alike for a step of 0.
lanes_difference lanes_difference_evenly(lanes_difference_kind kind,
                                         uint64_t step, bool wraps);

// Return the difference after unsigned arithmetic with a constant.
lanes_difference lanes_difference_times(lanes_difference a, uint64_t factor,
                                        bool wraps);
lanes_difference lanes_difference_divided(lanes_difference a, uint32_t count,
                                          uint64_t by);
lanes_difference lanes_difference_rest_of(lanes_difference a, uint32_t count,
                                          uint64_t by);
lanes_difference lanes_difference_masked(lanes_difference a, uint32_t count,
                                         uint64_t mask);
// Returns the difference of a + b, or of a - b.
lanes_difference lanes_difference_sum_of(lanes_difference a, lanes_difference b,
                                         bool is_difference);

#endif
