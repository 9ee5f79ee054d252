// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// trip_counts.h: loop counters, with where each starts and what bounds it.
#ifndef MTLC_TRIP_COUNTS_H
#define MTLC_TRIP_COUNTS_H

#include <llvm-c/Core.h>
#include <stdbool.h>

#include "compiler/vectorize/analysis/graph.h"

// A phi that begins with start and rises by one in each iteration while it is
// below bound, or up to bound. If start is not below it, the loop runs once.
typedef struct lanes_counter {
  LLVMValueRef phi;
  LLVMValueRef start;
  LLVMValueRef bound;
  bool reaches_bound;
} lanes_counter;

// False if a value is no such phi.
bool lanes_counter_find(const lanes_graph *graph, LLVMValueRef value,
                        lanes_counter *out_counter);

#endif
