// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// clone_region.h: copies of parts of the thread function.
#ifndef MTLC_CLONE_REGION_H
#define MTLC_CLONE_REGION_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>

#include "compiler/ir/kernel/kernel.h"
#include "compiler/vectorize/analysis/graph.h"
#include "compiler/vectorize/analysis/uniformity.h"
#include "compiler/vectorize/base/tables.h"

// Part of the thread function, to be copied.
typedef struct lanes_clone {
  mtlc_kernel *kernel;
  const lanes_values *values;
  const lanes_graph *graph;
  LLVMBuilderRef builder;
  lanes_set nodes;          // [node_count] its blocks and latches
  LLVMBasicBlockRef entry;  // of them
  uint32_t first, last;     // no node of it is outside
  uint32_t instructions;
  bool fits;          // can be copied
  lanes_map numbers;  // a block or an instruction of it, to its copy
  LLVMValueRef *copies;
} lanes_clone;

// Begins with no nodes.
lanes_clone lanes_clone_begin(mtlc_kernel *kernel, const lanes_values *values);
void lanes_clone_end(lanes_clone *p);

// True if it can be copied, once it has its nodes: sets what is behind
// them.
void lanes_clone_survey(lanes_clone *p);
// Takes, and surveys, all that lies between two nodes. Returns false if that is
// no part.
bool lanes_clone_take(lanes_clone *p, uint32_t first, uint32_t meeting);
// The same, from a way out of a branch to where its threads meet.
bool lanes_clone_take_side(lanes_clone *p, uint32_t branch, uint32_t first);

// The block of a node, NULL for a latch.
LLVMBasicBlockRef lanes_clone_block(const lanes_clone *p, uint32_t node);
bool lanes_clone_has(const lanes_clone *p, LLVMBasicBlockRef block);

// Puts a block in front of another: all that this has but its end, and what
// leads to it.
LLVMBasicBlockRef lanes_clone_put_head(const lanes_clone *p,
                                      LLVMBasicBlockRef block);
LLVMBasicBlockRef lanes_clone_new_block(const lanes_clone *p,
                                       LLVMBasicBlockRef before);
// Copies the part; from is where control comes to it, as where to its copy.
void lanes_clone_copy(lanes_clone *p, LLVMBasicBlockRef from,
                     LLVMBasicBlockRef as);
// Copies a branch's side to where a new head leads, at whose end the builder is
// then: it is to go there, or to the branch.
void lanes_clone_copy_side(lanes_clone *p, uint32_t branch);
// What stands for a value or a block in the copy.
LLVMValueRef lanes_clone_copy_of(const lanes_clone *p, LLVMValueRef value);
LLVMBasicBlockRef lanes_clone_block_copy(const lanes_clone *p,
                                        LLVMBasicBlockRef block);
// Gives the phis of a block outside, to which a block of the part leads, a way
// from a block that hands on what the copy computed.
void lanes_clone_add_path(const lanes_clone *p, LLVMBasicBlockRef to,
                        LLVMBasicBlockRef from, LLVMBasicBlockRef as);
// Asks whether there are all threads, and for all a condition, or its opposite,
// holds.
LLVMValueRef lanes_clone_check(const lanes_clone *p, LLVMValueRef condition,
                            bool holds);

#endif
