// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// linearize.h: the control flow of the vector code: which nodes follow which,
// and under which masks.
#ifndef MTLC_LINEARIZE_H
#define MTLC_LINEARIZE_H

#include <stdbool.h>
#include <stdint.h>

#include "compiler/vectorize/analysis/uniformity.h"
#include "compiler/vectorize/base/tables.h"

// Where threads part, the vector code goes one way and leaves the other for
// later: a set of deferred nodes travels with the flow of control, and of them
// and the node's own successors the first in order is next.
typedef struct lanes_step {
  // The node whose mask says which threads run this one: itself or one whose
  // threads are the same; LANES_NONE if all run it that entered the function.
  uint32_t mask;
  bool keeps_branch;  // ends in a branch that all its threads take together
  uint32_t next[2];   // second one for keeps_branch; LANES_NONE: nothing left
  // Where to go without running it if no thread is in it; LANES_NONE where
  // there always is one or it does no harm.
  uint32_t skip;
  lanes_list deferred;  // rising
  bool has_thread;  // at least one, whenever it is run
  // Between this node and the one whose mask it has lies a kept branch.
  bool behind_kept_branch;
  // The node in whose body its mask, if it has its own, is cleared; LANES_NONE
  // for the beginning.
  uint32_t cleared_in;
} lanes_step;

typedef struct lanes_plan {
  lanes_step *steps;   // [node_count]
  lanes_set deferred;  // the union of the steps'
} lanes_plan;

void lanes_plan_make(const lanes_values *values, lanes_plan *out_plan);

#endif
