// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// split_exits.h: splits a loop's exit condition into a uniform and a varying
// branch.
#ifndef MTLC_SPLIT_EXITS_H
#define MTLC_SPLIT_EXITS_H

#include <stdbool.h>

#include "compiler/vectorize/analysis/graph.h"
#include "compiler/vectorize/analysis/uniformity.h"

// True if a graph has a loop that is left on two joined conditions.
bool lanes_may_split_exits(const lanes_graph *graph);

// Splits each branch that leaves a loop on `uniform && varying` or `uniform ||
// varying` into two. True if there are any: the graph must be rebuilt.
bool lanes_split_exits(const lanes_values *values);

#endif
