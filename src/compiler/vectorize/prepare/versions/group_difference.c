// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// group_difference.c: computes how a value differs between merged threadgroups
// (merge_groups.c), through arithmetic.
#include "compiler/vectorize/prepare/versions/group_difference.h"

#include "compiler/vectorize/base/constants.h"

lanes_difference lanes_difference_none(void) {
  return (lanes_difference){.kind = LANES_ALIKE};
}

lanes_difference lanes_difference_own(void) {
  return (lanes_difference){.kind = LANES_OWN};
}

lanes_difference lanes_difference_evenly(lanes_difference_kind kind,
                                         uint64_t step, bool wraps) {
  return step == 0
             ? lanes_difference_none()
             : (lanes_difference){.kind = kind,
                                  .step = step,
                                  .wraps = wraps && kind == LANES_ALIGNED};
}

lanes_difference lanes_difference_times(lanes_difference a, uint64_t factor,
                                        bool wraps) {
  return a.kind == LANES_ALIKE || a.kind == LANES_OWN
             ? a
             : lanes_difference_evenly(a.kind, a.step * factor,
                                       a.wraps || wraps);
}

lanes_difference lanes_difference_divided(lanes_difference a, uint32_t count,
                                          uint64_t by) {
  if (a.kind == LANES_ALIKE) {
    return a;
  }
  if (a.kind != LANES_ALIGNED || a.wraps || by == 0) {
    return lanes_difference_own();
  }
  return a.step % by == 0
             ? lanes_difference_evenly(LANES_ALIGNED, a.step / by, false)
         : by % (count * a.step) == 0 ? lanes_difference_none()
                                      : lanes_difference_own();
}

lanes_difference lanes_difference_rest_of(lanes_difference a, uint32_t count,
                                          uint64_t by) {
  if (a.kind == LANES_ALIKE) {
    return a;
  }
  if (a.kind != LANES_ALIGNED || by == 0 ||
      (a.wraps && !lanes_is_power_of_two(by))) {
    return lanes_difference_own();
  }
  return a.step % by == 0 ? lanes_difference_none()
         : by % (count * a.step) == 0
             ? lanes_difference_evenly(LANES_ALIGNED, a.step, false)
             : lanes_difference_own();
}

// Returns the difference of a number that a mask reduces to adjacent bits.
lanes_difference lanes_difference_masked(lanes_difference a, uint32_t count,
                                         uint64_t mask) {
  const uint64_t unit = mask & -mask;
  if (a.kind == LANES_ALIKE) {
    return a;
  }
  if (a.kind != LANES_ALIGNED || mask == 0 ||
      !lanes_is_power_of_two(mask / unit + 1)) {
    return lanes_difference_own();
  }
  // The number is unit * (a / unit % rest): the bits above do not matter.
  const lanes_difference whole = {.kind = a.kind, .step = a.step};
  const lanes_difference high = lanes_difference_divided(whole, count, unit);
  return lanes_difference_times(
      lanes_difference_rest_of(high, count, mask / unit + 1), unit, false);
}

lanes_difference lanes_difference_sum_of(lanes_difference a, lanes_difference b,
                                         bool is_difference) {
  if (a.kind == LANES_OWN || b.kind == LANES_OWN) {
    return lanes_difference_own();
  }
  return lanes_difference_evenly(
      LANES_EVEN, is_difference ? a.step - b.step : a.step + b.step, false);
}
