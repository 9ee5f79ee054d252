// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// atomics.c: emits atomic read-modify-writes of one uniform address: the
// simdgroup reduces its operands and performs one operation. Others are
// scalarised (scalarise.c).
#include "compiler/vectorize/emit/lanes/atomics.h"

#include <stddef.h>

#include "compiler/vectorize/analysis/callees.h"
#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/analysis/uniformity.h"
#include "compiler/vectorize/emit/lanes/adjacent_atomics.h"
#include "compiler/vectorize/emit/lanes/atomic_updates.h"
#include "compiler/vectorize/emit/lanes/collectives.h"
#include "compiler/vectorize/emit/lanes/deferred_atomics.h"
#include "compiler/vectorize/emit/lanes/scalarise.h"
#include "compiler/vectorize/emit/values/builder.h"
#include "compiler/vectorize/emit/values/emitter.h"
#include "compiler/vectorize/emit/values/values.h"

static bool is_sum(LLVMAtomicRMWBinOp operation) {
  return operation == LLVMAtomicRMWBinOpAdd ||
         operation == LLVMAtomicRMWBinOpSub;
}

static bool can_combine(const lanes_emitter *e, LLVMValueRef atomic) {
  const LLVMAtomicRMWBinOp operation = LLVMGetAtomicRMWBinOp(atomic);
  const bool result_shows = LLVMGetFirstUse(atomic) != NULL;
  return lanes_atomic_operation(operation).operation != LANES_NO_OPERATION &&
         LLVMGetOrdering(atomic) == LLVMAtomicOrderingMonotonic &&
         !LLVMGetVolatile(atomic) &&
         LLVMGetIntTypeWidth(LLVMTypeOf(atomic)) >= 32 &&
         lanes_is_uniform(
             lanes_shape_of(e->values, LLVMGetOperand(atomic, 0))) &&
         (!result_shows || is_sum(operation));
}

// Emits the simdgroup's one operation, if any thread is active. NULL if it is
// deferred, which needs that nobody reads the result.
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

void lanes_emit_atomic(lanes_emitter *e, LLVMValueRef atomic) {
  if (!can_combine(e, atomic)) {
    if (!lanes_emit_deferred(e, atomic) && !lanes_emit_adjacent_atomic(e, atomic)) {
      lanes_scalarise(e, atomic);
    }
    return;
  }
  const LLVMAtomicRMWBinOp operation = LLVMGetAtomicRMWBinOp(atomic);
  lanes_collective what = lanes_atomic_operation(operation);
  LLVMValueRef value = lanes_vector(e, LLVMGetOperand(atomic, 1), 0);
  LLVMValueRef old = do_once(e, atomic, lanes_reduce(e, value, what));
  if (!LLVMGetFirstUse(atomic)) {
    return;
  }
  // Each thread's result is the old value combined with all lower lanes'
  // operands.
  what.is_exclusive = true;
  LLVMValueRef below = lanes_scan(e, value, what);
  LLVMValueRef start = lanes_splat(e, e->builder, old);
  lanes_set_result(
      e, atomic, 0,
      LLVMBuildBinOp(e->builder,
                     operation == LLVMAtomicRMWBinOpAdd ? LLVMAdd : LLVMSub,
                     start, below, ""));
}
