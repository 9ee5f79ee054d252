// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// interleave_groups.h: loads beside each other that are done as one.
#ifndef MTLC_INTERLEAVE_GROUPS_H
#define MTLC_INTERLEAVE_GROUPS_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>

#include "compiler/vectorize/plan/access/access.h"
#include "compiler/vectorize/plan/access/planning.h"

enum { LANES_WORD_BYTES = 4 };

// What one access loads for several instructions.
typedef struct lanes_interleave_group {
  LLVMValueRef loads[LARGEST_STRIDE_BYTES];  // by element; NULL for none
  int64_t lowest;                            // behind the first instruction's
  uint32_t wanted;                           // the set of those that are there
  uint32_t count;                            // up to the last of them
  uint32_t alignment;
  uint32_t stride;  // elements from lane to lane
  uint32_t words;   // the set of the words that bytes or halves make
  bool is_in_rows;  // shorter than a simdgroup
  bool is_one;      // done as one; else only their lines are asked for together
} lanes_interleave_group;

// Finds what the same block loads beside an element later. False if there is
// nothing.
bool lanes_find_interleave_group(const lanes_planning *p, const lanes_access *a,
                                 lanes_interleave_group *out_group);

#endif
