// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// row_copies.h: finds copies between buffers and threadgroup memory.
#ifndef MTLC_PLAN_ROW_COPIES_H
#define MTLC_PLAN_ROW_COPIES_H

#include <llvm-c/Core.h>
#include <stdbool.h>

#include "compiler/vectorize/plan/access/access.h"
#include "compiler/vectorize/plan/access/planning.h"

enum { LANES_COPIED_BYTES = 64 };  // the most of one thread

typedef struct lanes_row_copy {
  LLVMValueRef load;
  LLVMValueRef conversion;  // or NULL
  LLVMValueRef store;
  lanes_access from;
  lanes_access to;
} lanes_row_copy;

// True if a store ends such a copy, and all lanes run it.
bool lanes_find_row_copy(const lanes_planning *p, LLVMValueRef store,
                         lanes_row_copy *out_copy);

#endif
