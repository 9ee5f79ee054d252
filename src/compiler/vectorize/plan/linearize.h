// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// linearize.h: the control flow of the vector code: which nodes follow which,
// under which masks.
#ifndef MTLC_LINEARIZE_H
#define MTLC_LINEARIZE_H

#include <stdbool.h>
#include <stdint.h>

#include "compiler/vectorize/analysis/uniformity.h"
#include "compiler/vectorize/base/tables.h"

// A node in the order of vector code. Where threads diverge, one side runs
// first and the other is deferred: a set of deferred nodes travels with
// control, and the next node is the first of these and the node's own
// successors.
typedef struct lanes_step {
  // The node with this node's mask: itself, or another with the same threads;
  // LANES_NONE if every thread of the function runs it.
  uint32_t mask;
  bool keeps_branch;  // ends in a uniform branch
  uint32_t next[2];   // two if keeps_branch; LANES_NONE: none left
  // Where to go if no thread runs the node; LANES_NONE if it needs no guard.
  uint32_t skip;
  lanes_list deferred;  // sorted
  bool has_thread;  // at least one thread runs it, whenever control reaches it
  // Of a uniform loop's latch: control may come with no thread, for which there
  // is no next iteration.
  bool may_be_empty;
  // Between this node and the one whose mask it has lies a kept branch.
  bool behind_kept_branch;
  // The node that clears this node's own mask; LANES_NONE for the entry.
  uint32_t cleared_in;
} lanes_step;

typedef struct lanes_plan {
  lanes_step *steps;   // [node_count]
  lanes_set deferred;  // the union of the steps'
} lanes_plan;

void lanes_plan_make(const lanes_values *values, lanes_plan *out_plan);

#endif
