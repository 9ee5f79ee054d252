// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// atomics.h: read-modify-write operations of all threads on one address.
#ifndef MTLC_ATOMICS_H
#define MTLC_ATOMICS_H

#include <llvm-c/Core.h>
#include <stdbool.h>

#include "compiler/vectorize/emit/values/emitter.h"

// Atomicrmw
void lanes_emit_atomic(lanes_emitter *e, LLVMValueRef atomic);
// What it makes of old values, if lanes_can_update says that it knows that.
bool lanes_can_update(LLVMAtomicRMWBinOp operation);
LLVMValueRef lanes_updated(lanes_emitter *e, LLVMAtomicRMWBinOp operation,
                           LLVMValueRef old, LLVMValueRef operand);
// Does one thread's read-modify-write on memory that no other worker sees,
// given the operands. Returns the old value, or NULL if it has to be atomic.
LLVMValueRef lanes_update_alone(lanes_emitter *e, LLVMValueRef atomic,
                                LLVMValueRef address, LLVMValueRef operand);

#endif
