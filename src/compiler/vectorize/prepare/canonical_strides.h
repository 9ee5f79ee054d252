// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// canonical_strides.h: numbers that are even steps apart from thread to thread, though
// what they are made of is not.
#ifndef MTLC_CANONICAL_STRIDES_H
#define MTLC_CANONICAL_STRIDES_H

#include <llvm-c/Core.h>
#include <stdbool.h>

#include "compiler/vectorize/analysis/graph.h"
#include "compiler/vectorize/analysis/uniformity.h"

// Returns a call for the thread's index in its simdgroup, NULL if none asks.
LLVMValueRef lanes_find_lane(const lanes_graph *graph);

// Writes those that are found as `first thread's + step * thread index`.
// Returns whether there are any; values are to be found again. The values given
// assume nothing of threadgroups: what is written holds in any.
bool lanes_canonicalise_strides(const lanes_values *values, LLVMValueRef lane);

#endif
