// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// check_arms.h: the two arms of a run-time check, and where they meet.
#ifndef MTLC_CHECK_ARMS_H
#define MTLC_CHECK_ARMS_H

#include <llvm-c/Core.h>
#include <stdbool.h>

#include "compiler/vectorize/emit/values/emitter.h"

// Where the whole vector is wanted, as it mostly is, a plain access will do.
// The builder goes on in all; lanes_end_check_arm ends what has been emitted and
// goes on in another of the blocks.
typedef struct lanes_check {
  LLVMBasicBlockRef all, some, done;
} lanes_check;

lanes_check lanes_begin_check(lanes_emitter *e, LLVMValueRef holds);

lanes_check lanes_begin_full_check(lanes_emitter *e, LLVMValueRef mask);

void lanes_end_check_arm(lanes_emitter *e, const lanes_check *question,
                    LLVMBasicBlockRef next);

// Marks a branch that asks whether something holds, where it does no harm to go
// on as if it did not; says whether one is marked so.
void lanes_mark_check(LLVMValueRef branch);

bool lanes_is_check(LLVMValueRef branch);

#endif
