// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// clone_region.h: clones regions of the thread function.
#ifndef MTLC_CLONE_REGION_H
#define MTLC_CLONE_REGION_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>

#include "compiler/ir/kernel/kernel.h"
#include "compiler/vectorize/analysis/graph.h"
#include "compiler/vectorize/analysis/uniformity.h"
#include "compiler/vectorize/base/tables.h"

// A region of the thread function, to be cloned.
typedef struct lanes_clone {
  mtlc_kernel *kernel;
  const lanes_values *values;
  const lanes_graph *graph;
  LLVMBuilderRef builder;
  lanes_set nodes;          // [node_count] its blocks and latches
  LLVMBasicBlockRef entry;  // the only block that is entered from outside
  uint32_t first, last;     // all nodes between them are in the region
  uint32_t instructions;
  bool fits;          // it can be cloned
  lanes_map numbers;  // a block or an instruction of it, to its clone
  LLVMValueRef *copies;
} lanes_clone;

// Begins a region without nodes.
lanes_clone lanes_clone_begin(mtlc_kernel *kernel, const lanes_values *values);
void lanes_clone_end(lanes_clone *p);

// Finds the code that follows the region, once the region has its nodes. True
// if it can be cloned.
void lanes_clone_survey(lanes_clone *p);
// Takes all nodes between two, and surveys them. False if they are no region.
bool lanes_clone_take(lanes_clone *p, uint32_t first, uint32_t meeting);
// Takes the nodes from one side of a branch to where its threads meet.
bool lanes_clone_take_side(lanes_clone *p, uint32_t branch, uint32_t first);

// Returns a node's block; NULL for a latch.
LLVMBasicBlockRef lanes_clone_block(const lanes_clone *p, uint32_t node);
bool lanes_clone_has(const lanes_clone *p, LLVMBasicBlockRef block);

// Splits a block off in front of another: it takes all its instructions but the
// last, and its predecessors.
LLVMBasicBlockRef lanes_clone_put_head(const lanes_clone *p,
                                      LLVMBasicBlockRef block);
LLVMBasicBlockRef lanes_clone_new_block(const lanes_clone *p,
                                       LLVMBasicBlockRef before);
// Clones the region. `from` leads to the region, and `to` to the clone.
void lanes_clone_copy(lanes_clone *p, LLVMBasicBlockRef from,
                     LLVMBasicBlockRef as);
// Clones a side of a branch, entered from a new head. The builder is then at
// the head's end, which has to branch to the clone or the original.
void lanes_clone_copy_side(lanes_clone *p, uint32_t branch);
// Returns the clone's value or block for an original.
LLVMValueRef lanes_clone_copy_of(const lanes_clone *p, LLVMValueRef value);
LLVMBasicBlockRef lanes_clone_block_copy(const lanes_clone *p,
                                        LLVMBasicBlockRef block);
// Adds to the phis of a block after the region an edge from a block that passes
// on the clone's results.
void lanes_clone_add_path(const lanes_clone *p, LLVMBasicBlockRef to,
                        LLVMBasicBlockRef from, LLVMBasicBlockRef as);
// Returns an i1: all threads exist, and a condition, or its opposite, holds for
// all.
LLVMValueRef lanes_clone_check(const lanes_clone *p, LLVMValueRef condition,
                            bool holds);

#endif
