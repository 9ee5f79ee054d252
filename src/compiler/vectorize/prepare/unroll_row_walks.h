// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// unroll_row_walks.h: unrolls loops in which each thread walks along a row of
// its own.
#ifndef MTLC_UNROLL_ROW_WALKS_H
#define MTLC_UNROLL_ROW_WALKS_H

#include <llvm-c/Core.h>
#include <llvm-c/Target.h>
#include <stdbool.h>
#include <stdint.h>

#include "code/group_class.h"
#include "compiler/vectorize/analysis/graph.h"

// Marks the loops of a graph to be unrolled, for rows of that many threads in
// threadgroups of that class. True if there are any: then lanes_unrolling must
// run, and the graph must be rebuilt.
bool lanes_mark_row_walks(const lanes_graph *graph, LLVMTargetDataRef data,
                          uint8_t lanes, uint8_t row,
                          const mtli_group_class *group_class);
extern const char lanes_unrolling[];

#endif
