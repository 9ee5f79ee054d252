// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// atomic_updates.h: computes the new value of an atomic operation as plain
// code.
#ifndef MTLC_ATOMIC_UPDATES_H
#define MTLC_ATOMIC_UPDATES_H

#include <llvm-c/Core.h>
#include <stdbool.h>

#include "compiler/vectorize/analysis/callees.h"
#include "compiler/vectorize/emit/values/emitter.h"

// Returns an integer operation that may be combined in any order;
// LANES_NO_OPERATION for any other.
lanes_collective lanes_atomic_operation(LLVMAtomicRMWBinOp operation);

// Returns the new values of old ones, for an operation of which
// lanes_can_update is true.
bool lanes_can_update(LLVMAtomicRMWBinOp operation);

LLVMValueRef lanes_updated(lanes_emitter *e, LLVMAtomicRMWBinOp operation,
                           LLVMValueRef old, LLVMValueRef operand);

// Emits one thread's read-modify-write on memory that no other worker sees.
// Returns the old value, or NULL if it has to be atomic.
LLVMValueRef lanes_update_alone(lanes_emitter *e, LLVMValueRef atomic,
                                LLVMValueRef address, LLVMValueRef operand);

#endif
