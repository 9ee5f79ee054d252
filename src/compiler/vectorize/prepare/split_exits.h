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

// Makes two branches of each that leaves a loop on a condition of the kind
// `uniform && varying` or `uniform || varying`. Returns whether there are any;
// the graph is to be built again.
bool lanes_split_exits(const lanes_values *values);

#endif
