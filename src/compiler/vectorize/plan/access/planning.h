// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// planning.h: what decisions about loads and stores read: facts of the thread
// function and of the function that is to be emitted, all known before.
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
  bool is_at_once;        // the function is for several simdgroups
  bool has_waits;         // somewhere in the thread function
  bool single_simdgroup;  // threadgroups have at most 32 threads

  lanes_pattern_finder patterns;
  bool *for_whole;   // [node_count] only whole simdgroups come there
  bool *kept;        // [values->count] other blocks read it
  bool *ahead;       // [values->count] loads that one in front does as well
  bool *everywhere;  // [values->count] the entry block computes it

  LLVMValueRef user;  // whose access is being decided
  uint32_t node;      // where it stands
} lanes_planning;

void lanes_planning_begin(lanes_planning *p);

// True if the mask where an access stands is all lanes, known as a constant.
bool lanes_has_constant_mask(const lanes_planning *p);
// True if not all lanes that entered the function may run it.
bool lanes_has_own_mask(const lanes_planning *p);
// True if some lane does.
bool lanes_has_some_lane(const lanes_planning *p);
// True if its code may read an operand's first component: another block keeps
// that, or its own has computed it in front.
bool lanes_will_be_at_hand(const lanes_planning *p, LLVMValueRef operand);
// What each bit of a lane's number adds to a value.
lanes_pattern lanes_pattern_here(lanes_planning *p, LLVMValueRef value);

#endif
