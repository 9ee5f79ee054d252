// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// runtime_checks.h: what is asked of all threads of a simdgroup at once.
#ifndef MTLC_RUNTIME_CHECKS_H
#define MTLC_RUNTIME_CHECKS_H

#include <llvm-c/Core.h>
#include <stdbool.h>

#include "compiler/vectorize/emit/values/check_arms.h"
#include "compiler/vectorize/emit/values/emitter.h"

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

#endif
