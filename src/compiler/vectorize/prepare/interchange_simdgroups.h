// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// interchange_simdgroups.h: has all simdgroups of a threadgroup run an
// iteration of a loop before one runs the next.
#ifndef MTLC_INTERCHANGE_SIMDGROUPS_H
#define MTLC_INTERCHANGE_SIMDGROUPS_H

#include <stdbool.h>
#include <stdint.h>

#include "compiler/ir/kernel/kernel.h"
#include "compiler/vectorize/analysis/graph.h"
#include "compiler/vectorize/analysis/uniformity.h"

// Finds a loop over memory by the threads of a threadgroup, in a kernel with
// barriers, and makes simdgroups wait for each other in each iteration. True if
// there is one: the graph must be rebuilt, and there may be more.
bool lanes_interchange_simdgroups(mtlc_kernel *kernel, const lanes_values *values);

// True if a loop has been interchanged.
bool lanes_is_interchanged(const lanes_graph *graph, uint32_t loop);

#endif
