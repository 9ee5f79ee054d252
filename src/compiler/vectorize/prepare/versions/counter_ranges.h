// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// counter_ranges.h: computes the ranges of loop counters.
#ifndef MTLC_COUNTER_RANGES_H
#define MTLC_COUNTER_RANGES_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>

#include "compiler/vectorize/analysis/graph.h"
#include "compiler/vectorize/prepare/versions/value_ranges.h"

// A loop counter: a phi that starts at `start` and adds `step` in each
// iteration. Another iteration follows only if the test holds for the counter.
typedef struct lanes_counted {
  LLVMValueRef start;
  LLVMValueRef bound;
  int64_t step;
  LLVMIntPredicate predicate;
  uint32_t width;
  bool is_tested_first;
} lanes_counted;

// False if a phi in a loop's header is no such counter. If the loop tests at
// its beginning, the facts hold for the code after the test.
bool lanes_counted_find(const lanes_graph *graph, LLVMValueRef phi,
                        lanes_counted *out_counted);
// True if no incoming value of a phi comes from a loop that the phi is outside
// of: after its loop a counter's range differs from that inside.
bool lanes_phi_is_plain(const lanes_graph *graph, LLVMValueRef phi);
// Computes the counter's range from the ranges of its start and bound.
bool lanes_counted_range(lanes_ranges *ranges, const lanes_counted *counted,
                         lanes_range start, lanes_range bound,
                         lanes_range *out_range);

// --- For it, of value_ranges.c -----------------------------------------------

void lanes_range_demand(lanes_ranges *ranges, LLVMValueRef condition);
LLVMValueRef lanes_range_smaller(const lanes_ranges *ranges, LLVMValueRef a,
                                 LLVMValueRef b);
LLVMValueRef lanes_range_greater(const lanes_ranges *ranges, LLVMValueRef a,
                                 LLVMValueRef b);
// Requires a range to fit a type of this width, signed or unsigned.
void lanes_range_as_type(lanes_ranges *ranges, lanes_range *range,
                         uint32_t width, bool is_signed);
bool lanes_range_times(lanes_ranges *ranges, lanes_range a, int64_t factor,
                       lanes_range *out);

#endif
