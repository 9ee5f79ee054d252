// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// version_uniform.h: versions branches and loops for simdgroups whose threads
// all take the same path.
#ifndef MTLC_VERSION_UNIFORM_H
#define MTLC_VERSION_UNIFORM_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>

#include "compiler/ir/kernel/kernel.h"
#include "compiler/vectorize/analysis/graph.h"
#include "compiler/vectorize/analysis/uniformity.h"

// Adds a version without masks, for simdgroups whose threads all take the same
// path (i1 mettle.all(i1)), to the outermost divergent branches and loops with
// accesses that cost less without a mask. `room` is the most instructions that
// all versions may add; what is used is subtracted. `waits` is true if there
// are barriers.
//
// True if there are any: loops must be brought into LCSSA form and the graph
// rebuilt, and there may be more inside.
bool lanes_version_uniform(mtlc_kernel *kernel, const lanes_values *values,
                        bool waits, uint32_t *room);

// Marks a block whose branch needs no such version.
void lanes_needs_no_uniform_version(LLVMValueRef end);

// True if control reaches a node only through such a check.
bool lanes_is_uniform_entry(const lanes_graph *graph, uint32_t node);

// Removes these versions from a thread function that single threads run.
void lanes_forget_uniform_versions(LLVMModuleRef module);

// Replaces each i1 mettle.is_whole(i32 mask) by its answer: whether all threads
// of the simdgroup exist. Run it once the loops over simdgroups contain the
// code of one.
void lanes_answer_is_whole(LLVMModuleRef module);

#endif
