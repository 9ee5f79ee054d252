// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// atomic_updates.h: what an atomic operation leaves in memory.
#ifndef MTLC_ATOMIC_UPDATES_H
#define MTLC_ATOMIC_UPDATES_H

#include <llvm-c/Core.h>
#include <stdbool.h>

#include "compiler/vectorize/analysis/callees.h"
#include "compiler/vectorize/emit/values/emitter.h"

// Integer operations that may be combined in any order; none of another.
lanes_collective lanes_atomic_operation(LLVMAtomicRMWBinOp operation);

// What it makes of old values, if lanes_can_update says that it knows that.
bool lanes_can_update(LLVMAtomicRMWBinOp operation);

LLVMValueRef lanes_updated(lanes_emitter *e, LLVMAtomicRMWBinOp operation,
                           LLVMValueRef old, LLVMValueRef operand);

// Does one thread's read-modify-write on memory that no other worker sees,
// given the operands. Returns the old value, or NULL if it has to be atomic.
LLVMValueRef lanes_update_alone(lanes_emitter *e, LLVMValueRef atomic,
                                LLVMValueRef address, LLVMValueRef operand);

#endif
