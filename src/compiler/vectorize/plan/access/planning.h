// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// planning.h: the facts that access decisions read, all known before emission.
#ifndef MTLC_PLANNING_H
#define MTLC_PLANNING_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/memory/arena.h"
#include "compiler/ir/kernel/kernel.h"
#include "compiler/vectorize/analysis/addresses/lane_bits.h"
#include "compiler/vectorize/analysis/graph.h"
#include "compiler/vectorize/analysis/uniformity.h"
#include "compiler/vectorize/plan/linearize.h"
#include "compiler/vectorize/target/machine.h"

// The caller sets the first part; lanes_planning_begin the second.
typedef struct lanes_planning {
  const mtlc_kernel *kernel;
  lanes_machine machine;
  mtli_arena *arena;
  const lanes_graph *graph;
  const lanes_values *values;
  const lanes_plan *plan;
  bool is_at_once;        // the function will run several simdgroups
  bool has_waits;         // the thread function has barriers
  bool single_simdgroup;  // threadgroups have at most 32 threads

  lanes_pattern_finder patterns;
  bool *for_whole;   // [node_count] only whole simdgroups reach it
  bool *kept;        // [values->count] another block reads it
  bool *ahead;       // [values->count] an earlier load loads it as well
  bool *everywhere;  // [values->count] computed in the entry block

  LLVMValueRef user;  // the access being decided
  uint32_t node;      // its node
} lanes_planning;

void lanes_planning_begin(lanes_planning *p);

// True if the mask at an access is a constant of all lanes.
bool lanes_has_constant_mask(const lanes_planning *p);
// True if some lane that entered the function may not run an access.
bool lanes_has_own_mask(const lanes_planning *p);
// True if at least one lane runs it.
bool lanes_has_some_lane(const lanes_planning *p);
// True if an operand's first component will be available: it is kept, or its
// own block computes it earlier.
bool lanes_will_be_at_hand(const lanes_planning *p, LLVMValueRef operand);
// Returns how much each bit of a lane's number adds to a value.
lanes_pattern lanes_pattern_here(lanes_planning *p, LLVMValueRef value);

#endif
