// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// mask_placement.h: finds where masks are cleared.
#ifndef MTLC_MASK_PLACEMENT_H
#define MTLC_MASK_PLACEMENT_H

#include "compiler/vectorize/analysis/graph.h"
#include "compiler/vectorize/plan/linearize.h"

// Sets cleared_in of each step of a plan.
void lanes_place_masks(const lanes_graph *graph, lanes_plan *plan);

#endif
