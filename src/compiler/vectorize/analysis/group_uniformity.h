// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// group_uniformity.h: finds what all threads of a threadgroup share, not those
// of one simdgroup alone.
#ifndef MTLC_GROUP_UNIFORMITY_H
#define MTLC_GROUP_UNIFORMITY_H

#include <llvm-c/Core.h>
#include <stdbool.h>

#include "compiler/vectorize/analysis/uniformity.h"

// What all simdgroups of a threadgroup have in common.
typedef struct lanes_group_uniform {
  // Lanes are compared with the same lanes of other simdgroups; else all with
  // all.
  bool by_lane;
  bool *values;         // [values->count] equal in all threads of a threadgroup
  bool *masked;         // [node_count] not all threads of one may come here
  bool waits_together;  // all of them come to the same waits in the same order
  // All of them take the same way at each branch, or by_lane: each thread does
  // that its neighbours of other simdgroups do, and few things without others
  // of its own.
  bool goes_together;
  bool parts_lanes;  // threads of a simdgroup do not take the same way
} lanes_group_uniform;
void lanes_group_uniform_find(const lanes_values *values, bool by_lane,
                       lanes_group_uniform *out_common);
// True if an operand, a constant too, is equal in all of them.
bool lanes_is_group_uniform(const lanes_values *values, const lanes_group_uniform *common,
                     LLVMValueRef operand);

#endif
