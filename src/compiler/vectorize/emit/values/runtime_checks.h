// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// runtime_checks.h: emits scalar tests whether a condition holds for all
// threads of a simdgroup.
#ifndef MTLC_RUNTIME_CHECKS_H
#define MTLC_RUNTIME_CHECKS_H

#include <llvm-c/Core.h>
#include <stdbool.h>

#include "compiler/vectorize/emit/values/check_arms.h"
#include "compiler/vectorize/emit/values/emitter.h"

// Returns an i1: a condition, or its opposite, holds for all lanes, also those
// that do not run. It may be false though the condition holds.
LLVMValueRef lanes_holds_for_all(lanes_emitter *e, LLVMValueRef condition,
                                 bool holds);
// Returns the same from the ends of segments alone, or NULL. The condition
// itself need not have been computed then.
LLVMValueRef lanes_check_by_ends(lanes_emitter *e, LLVMValueRef condition,
                             bool holds);
LLVMValueRef lanes_recompute_condition(lanes_emitter *e, LLVMValueRef condition);
// True if a value rises from lane to lane and does not wrap, as signed or
// unsigned as a comparison takes it.
bool lanes_is_rising(const lanes_emitter *e, LLVMValueRef value,
                     LLVMIntPredicate predicate);

#endif
