// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// check_arms.h: the two arms of a run-time check, and the block where they
// join.
#ifndef MTLC_CHECK_ARMS_H
#define MTLC_CHECK_ARMS_H

#include <llvm-c/Core.h>
#include <stdbool.h>

#include "compiler/vectorize/emit/values/emitter.h"

// A branch on a run-time check. The builder starts in the first arm;
// lanes_end_check_arm closes the current arm and moves to the next block.
typedef struct lanes_check {
  LLVMBasicBlockRef all, some, done;
} lanes_check;

lanes_check lanes_begin_check(lanes_emitter *e, LLVMValueRef holds);

lanes_check lanes_begin_full_check(lanes_emitter *e, LLVMValueRef mask);

void lanes_end_check_arm(lanes_emitter *e, const lanes_check *question,
                    LLVMBasicBlockRef next);

// The first marks the branch of a run-time check that may also take its `else`
// arm when the check holds, without harm. The second tells whether a branch is
// marked.
void lanes_mark_check(LLVMValueRef branch);

bool lanes_is_check(LLVMValueRef branch);

#endif
