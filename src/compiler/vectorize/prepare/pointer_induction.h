// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// pointer_induction.h: rewrites loop-carried pointers as a base and a
// loop-carried offset.
#ifndef MTLC_POINTER_INDUCTION_H
#define MTLC_POINTER_INDUCTION_H

#include <stdbool.h>

#include "compiler/vectorize/analysis/graph.h"
#include "compiler/vectorize/analysis/uniformity.h"

// True if a graph has a loop-carried pointer whose shape may depend on a
// run-time check (shape.h, conditional).
bool lanes_may_have_pointer_inductions(const lanes_graph *graph);

// Rewrites such pointers as `base + offset`, where the loop carries the offset.
// True if there are any: the graph must be rebuilt.
bool lanes_rewrite_pointer_inductions(const lanes_values *values);

#endif
