// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// pointer_induction.h: pointers that a loop moves on, as a place and an offset.
#ifndef MTLC_POINTER_INDUCTION_H
#define MTLC_POINTER_INDUCTION_H

#include <stdbool.h>

#include "compiler/vectorize/analysis/graph.h"
#include "compiler/vectorize/analysis/uniformity.h"

// Returns whether a graph has a loop's pointer whose shape may depend on a
// question at run time (shape.h, conditional).
bool lanes_may_have_pointer_inductions(const lanes_graph *graph);

// Makes those pointers that do `place + offset`, of which the loop carries the
// offset. Returns whether there are any; the graph is to be built again.
bool lanes_rewrite_pointer_inductions(const lanes_values *values);

#endif
