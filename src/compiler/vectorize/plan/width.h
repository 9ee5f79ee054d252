// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// width.h: chooses whether vectors hold a simdgroup or half of it.
#ifndef MTLC_WIDTH_H
#define MTLC_WIDTH_H

#include <stdbool.h>
#include <stdint.h>

#include "compiler/ir/kernel/kernel.h"
#include "compiler/vectorize/analysis/graph.h"
#include "compiler/vectorize/analysis/uniformity.h"

// Returns how many threads the vectors of a kernel should hold: MOST_LANES or
// half of that, if at most that many simdgroups run at once. The values are
// those for vectors of MOST_LANES.
uint32_t lanes_best_width(const mtlc_kernel *kernel, const lanes_values *values,
                          uint32_t most_at_once, bool waits);

// True if half may be chosen.
bool lanes_may_halve_width(const mtlc_kernel *kernel, const lanes_graph *graph);

#endif
