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

// Finds a loop that walks through memory by the threads of a threadgroup, in a
// kernel that waits, and has simdgroups wait for each other with each turn.
// Returns whether there is one; the graph is to be built again, and there may
// be more. Uses of the emitter no more than what is known before one emits.
bool lanes_interchange_simdgroups(mtlc_kernel *kernel, const lanes_values *values);

// True if a loop has been interchanged.
bool lanes_takes_turns(const lanes_graph *graph, uint32_t loop);

#endif
