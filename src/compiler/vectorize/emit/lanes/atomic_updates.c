// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// atomic_updates.c: computes the new value of an atomic operation as plain
// code.
#include "compiler/vectorize/emit/lanes/atomic_updates.h"

#include <stddef.h>

#include "compiler/vectorize/analysis/callees.h"
#include "compiler/vectorize/analysis/effects.h"
#include "compiler/vectorize/emit/lanes/deferred_atomics.h"
#include "compiler/vectorize/emit/values/emitter.h"

// Returns the integer operations that may be combined in any order.
lanes_collective lanes_atomic_operation(LLVMAtomicRMWBinOp operation) {
  lanes_collective what = {.operation = LANES_NO_OPERATION};
  switch (operation) {
    case LLVMAtomicRMWBinOpAdd:
    case LLVMAtomicRMWBinOpSub: what.operation = LANES_ADD; break;
    case LLVMAtomicRMWBinOpAnd: what.operation = LANES_AND; break;
    case LLVMAtomicRMWBinOpOr: what.operation = LANES_OR; break;
    case LLVMAtomicRMWBinOpXor: what.operation = LANES_XOR; break;
    case LLVMAtomicRMWBinOpUMax: what.is_unsigned = true;  // fall through
    case LLVMAtomicRMWBinOpMax: what.operation = LANES_MAXIMUM; break;
    case LLVMAtomicRMWBinOpUMin: what.is_unsigned = true;  // fall through
    case LLVMAtomicRMWBinOpMin: what.operation = LANES_MINIMUM; break;
    default: break;
  }
  return what;
}

bool lanes_can_update(LLVMAtomicRMWBinOp operation) {
  return operation == LLVMAtomicRMWBinOpXchg ||
         operation == LLVMAtomicRMWBinOpFAdd ||
         operation == LLVMAtomicRMWBinOpFSub ||
         lanes_atomic_operation(operation).operation != LANES_NO_OPERATION;
}

LLVMValueRef lanes_updated(lanes_emitter *e, LLVMAtomicRMWBinOp operation,
                           LLVMValueRef old, LLVMValueRef operand) {
  LLVMIntPredicate keeps_old = LLVMIntEQ;
  switch (operation) {
    case LLVMAtomicRMWBinOpXchg: return operand;
    case LLVMAtomicRMWBinOpAdd:
      return LLVMBuildAdd(e->builder, old, operand, "");
    case LLVMAtomicRMWBinOpSub:
      return LLVMBuildSub(e->builder, old, operand, "");
    case LLVMAtomicRMWBinOpAnd:
      return LLVMBuildAnd(e->builder, old, operand, "");
    case LLVMAtomicRMWBinOpOr: return LLVMBuildOr(e->builder, old, operand, "");
    case LLVMAtomicRMWBinOpXor:
      return LLVMBuildXor(e->builder, old, operand, "");
    case LLVMAtomicRMWBinOpFAdd:
      return LLVMBuildFAdd(e->builder, old, operand, "");
    case LLVMAtomicRMWBinOpFSub:
      return LLVMBuildFSub(e->builder, old, operand, "");
    case LLVMAtomicRMWBinOpMax: keeps_old = LLVMIntSGT; break;
    case LLVMAtomicRMWBinOpUMax: keeps_old = LLVMIntUGT; break;
    case LLVMAtomicRMWBinOpMin: keeps_old = LLVMIntSLE; break;
    case LLVMAtomicRMWBinOpUMin: keeps_old = LLVMIntULE; break;
    default: return NULL;
  }
  LLVMValueRef keep = LLVMBuildICmp(e->builder, keeps_old, old, operand, "");
  return LLVMBuildSelect(e->builder, keep, old, operand, "");
}

LLVMValueRef lanes_update_alone(lanes_emitter *e, LLVMValueRef atomic,
                                LLVMValueRef address, LLVMValueRef operand) {
  if (e->is_counting) {
    return lanes_defer(e, atomic, address, operand);
  }
  // All threads of a threadgroup run on one worker.
  if (!lanes_is_in_threadgroup(e->kernel, LLVMGetOperand(atomic, 0)) ||
      LLVMGetVolatile(atomic) ||
      !lanes_can_update(LLVMGetAtomicRMWBinOp(atomic))) {
    return NULL;
  }
  LLVMValueRef old =
      LLVMBuildLoad2(e->builder, LLVMTypeOf(operand), address, "");
  LLVMSetAlignment(old, LLVMGetAlignment(atomic));
  LLVMValueRef new =
      lanes_updated(e, LLVMGetAtomicRMWBinOp(atomic), old, operand);
  LLVMSetAlignment(LLVMBuildStore(e->builder, new, address),
                   LLVMGetAlignment(atomic));
  return old;
}
