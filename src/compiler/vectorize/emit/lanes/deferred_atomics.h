// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// deferred_atomics.h: atomic additions that a worker may do later.
#ifndef MTLC_DEFERRED_ATOMICS_H
#define MTLC_DEFERRED_ATOMICS_H

#include <llvm-c/Core.h>
#include <stdbool.h>

#include "compiler/ir/kernel/kernel.h"
#include "compiler/vectorize/emit/values/emitter.h"

// Finds which additions may be deferred.
void lanes_deferred_find(lanes_emitter *e);
// Makes the functions that counters.ll calls.
void lanes_deferred_define(mtlc_kernel *kernel, const lanes_deferral *counting);
// Emits a deferred addition. False if it may not be deferred.
bool lanes_emit_deferred(lanes_emitter *e, LLVMValueRef atomic);
// True if an addition may be deferred.
bool lanes_is_deferred(const lanes_emitter *e, LLVMValueRef atomic);
// Defers one thread's addition, or the sum of all threads'. Returns a
// placeholder for the result, which nothing reads; never NULL.
LLVMValueRef lanes_defer(lanes_emitter *e, LLVMValueRef atomic,
                         LLVMValueRef address, LLVMValueRef operand);

#endif
