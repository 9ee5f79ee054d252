// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// trip_counts.h: what the counters of loops run through.
#ifndef MTLC_TRIP_COUNTS_H
#define MTLC_TRIP_COUNTS_H

#include <llvm-c/Core.h>
#include <stdbool.h>

#include "compiler/vectorize/analysis/graph.h"

// A phi that begins with start and is one more in each turn, up to what is
// below bound, or up to bound. It is more in no turn, if it does not begin so.
typedef struct lanes_counter {
  LLVMValueRef phi;
  LLVMValueRef start;
  LLVMValueRef bound;
  bool reaches_bound;
} lanes_counter;

// Returns false if a value is no such phi.
bool lanes_counter_find(const lanes_graph *graph, LLVMValueRef value,
                        lanes_counter *out_counter);

#endif
