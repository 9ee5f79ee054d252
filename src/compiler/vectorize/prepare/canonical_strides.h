// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// canonical_strides.h: rewrites numbers with a constant step from thread to
// thread, where shapes do not see the step.
#ifndef MTLC_CANONICAL_STRIDES_H
#define MTLC_CANONICAL_STRIDES_H

#include <llvm-c/Core.h>
#include <stdbool.h>

#include "compiler/vectorize/analysis/graph.h"
#include "compiler/vectorize/analysis/uniformity.h"

// Returns a call for the thread's index in its simdgroup; NULL if the kernel
// has none.
LLVMValueRef lanes_find_lane(const lanes_graph *graph);

// Rewrites such numbers as `first thread's + step * thread index`. True if
// there are any: the caller then finds values again. The given values assume
// nothing about threadgroups, so the result holds for any.
bool lanes_canonicalise_strides(const lanes_values *values, LLVMValueRef lane);

#endif
