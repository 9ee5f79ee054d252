// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// runtime_checks.h: what is asked of all threads of a simdgroup at once.
#ifndef MTLC_RUNTIME_CHECKS_H
#define MTLC_RUNTIME_CHECKS_H

#include <llvm-c/Core.h>
#include <stdbool.h>

#include "compiler/vectorize/emit/values/emitter.h"

// Marks a branch that asks whether something holds, where it does no harm to go
// on as if it did not; says whether one is marked so.
void lanes_mark_check(LLVMValueRef branch);
bool lanes_is_check(LLVMValueRef branch);
// Returns i1: a condition, or its opposite, holds for all lanes,
// whichever run; may be false though it does.
LLVMValueRef lanes_holds_for_all(lanes_emitter *e, LLVMValueRef condition,
                                 bool holds);
// The same where first and last lanes tell; NULL otherwise. And the whole
// condition, of which then nothing need have been computed.
LLVMValueRef lanes_check_by_ends(lanes_emitter *e, LLVMValueRef condition,
                             bool holds);
LLVMValueRef lanes_recompute_condition(lanes_emitter *e, LLVMValueRef condition);
// True if a value rises from lane to lane and does not wrap as the numbers
// that a comparison takes it for.
bool lanes_is_rising(const lanes_emitter *e, LLVMValueRef value,
                     LLVMIntPredicate predicate);

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

#endif
