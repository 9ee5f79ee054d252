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

// Gives the outermost places where threads part, and whose code has accesses to
// memory that cost less without a mask, a second form that is taken when they
// all go the same way (i1 mettle.all(i1)), of at most `room` instructions in
// all; what is used is taken off. waits says whether there are barriers. Returns
// whether there are any: loops are then to be brought into their form and the
// graph is to be built again, and there may be more, inside.
bool lanes_version_uniform(mtlc_kernel *kernel, const lanes_values *values,
                        bool waits, uint32_t *room);

// Marks a block whose branch needs no such version.
void lanes_needs_no_uniform_version(LLVMValueRef end);

// True if control reaches a node only through such a check.
bool lanes_is_uniform_entry(const lanes_graph *graph, uint32_t node);

// Removes these versions from a thread function that single threads run.
void lanes_forget_uniform_versions(LLVMModuleRef module);

// Puts the answer in the place of each i1 mettle.is_whole(i32 mask), which says
// whether a simdgroup has all its threads, once loops over simdgroups hold the
// code of one.
void lanes_answer_is_whole(LLVMModuleRef module);

#endif
