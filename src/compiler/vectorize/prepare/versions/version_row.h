// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// version_row.h: versions divisions whose quotient is mostly the same in a
// simdgroup.
#ifndef MTLC_VERSION_ROW_H
#define MTLC_VERSION_ROW_H

#include <llvm-c/Core.h>
#include <stdint.h>

#include "compiler/vectorize/prepare/versions/clone_region.h"
#include "compiler/vectorize/prepare/versions/hoist_checks.h"

enum { LANES_MOST_QUOTIENTS = 16 };

// A quotient or remainder in a region.
typedef struct lanes_quotient {
  LLVMValueRef value;
  LLVMValueRef common;  // the first thread's quotient, before the region
} lanes_quotient;

typedef struct lanes_quotients {
  lanes_quotient items[LANES_MOST_QUOTIENTS];  // [count]
  uint32_t count;
} lanes_quotients;

// Finds them; none if no access of the region would gain.
void lanes_quotients_find(const lanes_clone *part, lanes_quotients *out);
// Computes the quotients before the region. Returns an i1 for each thread: its
// own quotients are the same. NULL if there are none.
LLVMValueRef lanes_quotients_hold(lanes_quotients *quotients,
                                  lanes_hoisted *front);
// Uses the quotients in the region's clone.
void lanes_quotients_use(const lanes_quotients *quotients,
                         const lanes_clone *part);

#endif
