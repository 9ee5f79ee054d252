// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// interleave_groups.h: finds adjacent loads to load as one.
#ifndef MTLC_INTERLEAVE_GROUPS_H
#define MTLC_INTERLEAVE_GROUPS_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>

#include "compiler/vectorize/plan/access/access.h"
#include "compiler/vectorize/plan/access/planning.h"

enum { LANES_WORD_BYTES = 4 };

// A group of instructions that one access loads for.
typedef struct lanes_interleave_group {
  LLVMValueRef loads[LARGEST_STRIDE_BYTES];  // by element; NULL for none
  int64_t lowest;                            // first element, counted from the
                                             // first instruction's
  uint32_t wanted;                           // set of the elements that are
                                             // loaded
  uint32_t count;                            // one more than the last of them
  uint32_t alignment;
  uint32_t stride;  // elements from lane to lane
  uint32_t words;   // set of the words that bytes or halves fill
  bool is_in_rows;  // lanes are in segments shorter than a simdgroup
  bool is_one;      // loaded as one; else only prefetched together
} lanes_interleave_group;

// Finds later loads of the block that are adjacent to an element. False if
// there are none.
bool lanes_find_interleave_group(const lanes_planning *p, const lanes_access *a,
                                 lanes_interleave_group *out_group);

#endif
