// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// atomics.c: read-modify-write operations of all threads on one address: the
// simdgroup combines its operands and does a single one. Anything else goes
// lane by lane (scalarise.c).
#include "compiler/vectorize/emit/lanes/atomics.h"

#include <stddef.h>

#include "compiler/vectorize/analysis/callees.h"
#include "compiler/vectorize/analysis/effects.h"
#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/analysis/uniformity.h"
#include "compiler/vectorize/emit/lanes/adjacent_atomics.h"
#include "compiler/vectorize/emit/lanes/collectives.h"
#include "compiler/vectorize/emit/lanes/deferred_atomics.h"
#include "compiler/vectorize/emit/lanes/scalarise.h"
#include "compiler/vectorize/emit/values/builder.h"
#include "compiler/vectorize/emit/values/emitter.h"
#include "compiler/vectorize/emit/values/values.h"

// Integer operations that may be combined in any order.
static lanes_collective collective_of(LLVMAtomicRMWBinOp operation) {
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

static bool is_sum(LLVMAtomicRMWBinOp operation) {
  return operation == LLVMAtomicRMWBinOpAdd ||
         operation == LLVMAtomicRMWBinOpSub;
}

static bool can_combine(const lanes_emitter *e, LLVMValueRef atomic) {
  const LLVMAtomicRMWBinOp operation = LLVMGetAtomicRMWBinOp(atomic);
  const bool result_shows = LLVMGetFirstUse(atomic) != NULL;
  return collective_of(operation).operation != LANES_NO_OPERATION &&
         LLVMGetOrdering(atomic) == LLVMAtomicOrderingMonotonic &&
         !LLVMGetVolatile(atomic) &&
         LLVMGetIntTypeWidth(LLVMTypeOf(atomic)) >= 32 &&
         lanes_is_uniform(
             lanes_shape_of(e->values, LLVMGetOperand(atomic, 0))) &&
         (!result_shows || is_sum(operation));
}

// The simdgroup's own operation, done if any thread is active. NULL if it is
// done later, for nobody wants the result.
static LLVMValueRef do_once(lanes_emitter *e, LLVMValueRef atomic,
                            LLVMValueRef operand) {
  LLVMBasicBlockRef before = LLVMGetInsertBlock(e->builder);
  LLVMBasicBlockRef once = lanes_block(e, "once");
  LLVMBasicBlockRef after = lanes_block(e, "after");
  LLVMValueRef address = lanes_scalar(e, LLVMGetOperand(atomic, 0), 0);
  LLVMBuildCondBr(e->builder, lanes_any(e, e->mask), once, after);
  LLVMPositionBuilderAtEnd(e->builder, once);
  if (lanes_is_deferred(e, atomic)) {
    lanes_defer(e, atomic, address, operand);
    LLVMBuildBr(e->builder, after);
    LLVMPositionBuilderAtEnd(e->builder, after);
    return NULL;
  }
  LLVMValueRef old =
      LLVMBuildAtomicRMW(e->builder, LLVMGetAtomicRMWBinOp(atomic), address,
                         operand, LLVMAtomicOrderingMonotonic, false);
  LLVMSetAlignment(old, LLVMGetAlignment(atomic));
  LLVMBuildBr(e->builder, after);
  LLVMPositionBuilderAtEnd(e->builder, after);
  LLVMValueRef result = LLVMBuildPhi(e->builder, LLVMTypeOf(old), "");
  LLVMValueRef values[] = {old, LLVMGetPoison(LLVMTypeOf(old))};
  LLVMBasicBlockRef blocks[] = {once, before};
  LLVMAddIncoming(result, values, blocks, 2);
  return result;
}

bool lanes_can_update(LLVMAtomicRMWBinOp operation) {
  return operation == LLVMAtomicRMWBinOpXchg ||
         operation == LLVMAtomicRMWBinOpFAdd ||
         operation == LLVMAtomicRMWBinOpFSub ||
         collective_of(operation).operation != LANES_NO_OPERATION;
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
  // A threadgroup's threads all run on one worker.
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

void lanes_emit_atomic(lanes_emitter *e, LLVMValueRef atomic) {
  if (!can_combine(e, atomic)) {
    if (!lanes_emit_deferred(e, atomic) && !lanes_emit_adjacent_atomic(e, atomic)) {
      lanes_scalarise(e, atomic);
    }
    return;
  }
  const LLVMAtomicRMWBinOp operation = LLVMGetAtomicRMWBinOp(atomic);
  lanes_collective what = collective_of(operation);
  LLVMValueRef value = lanes_vector(e, LLVMGetOperand(atomic, 1), 0);
  LLVMValueRef old = do_once(e, atomic, lanes_reduce(e, value, what));
  if (!LLVMGetFirstUse(atomic)) {
    return;
  }
  // Each thread finds what those below it left, as one after the other would.
  what.is_exclusive = true;
  LLVMValueRef below = lanes_scan(e, value, what);
  LLVMValueRef start = lanes_splat(e, e->builder, old);
  lanes_set_result(
      e, atomic, 0,
      LLVMBuildBinOp(e->builder,
                     operation == LLVMAtomicRMWBinOpAdd ? LLVMAdd : LLVMSub,
                     start, below, ""));
}
