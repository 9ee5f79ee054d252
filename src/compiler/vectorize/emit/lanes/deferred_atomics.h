// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// deferred_atomics.h: atomic additions that may be done later.
#ifndef MTLC_DEFERRED_ATOMICS_H
#define MTLC_DEFERRED_ATOMICS_H

#include <llvm-c/Core.h>
#include <stdbool.h>

#include "compiler/ir/kernel/kernel.h"
#include "compiler/vectorize/emit/values/emitter.h"

// Finds out whether additions may be done later.
void lanes_deferred_find(lanes_emitter *e);
// Makes the functions that counters.ll calls.
void lanes_deferred_define(mtlc_kernel *kernel, const lanes_deferral *counting);
// Emits an addition that may be. Returns false if it may not.
bool lanes_emit_deferred(lanes_emitter *e, LLVMValueRef atomic);
// True if one may be done later.
bool lanes_is_deferred(const lanes_emitter *e, LLVMValueRef atomic);
// One thread's, or one of all threads together; the result is nothing, but not
// NULL.
LLVMValueRef lanes_defer(lanes_emitter *e, LLVMValueRef atomic,
                         LLVMValueRef address, LLVMValueRef operand);

#endif
