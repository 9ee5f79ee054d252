// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// counters.c: atomic additions that may be done later. A worker sums up what a
// kernel adds to device memory and adds it there when it has run its share of
// the threadgroups (ir/counters.ll): relaxed additions of integers have no
// order, and nobody in the kernel sees the difference if
//
//   - no addition's result is used, and
//   - nothing that a thread does behind one of them touches device memory, but
//     for other such additions: no barrier can then lead from it to a reader.
#include "compiler/vectorize/emitter.h"

static bool is_addition(const lanes_values *values, LLVMValueRef i) {
  if (LLVMGetInstructionOpcode(i) != LLVMAtomicRMW || LLVMGetFirstUse(i) ||
      LLVMGetVolatile(i) || LLVMGetOrdering(i) != LLVMAtomicOrderingMonotonic ||
      LLVMGetAlignment(i) < 4) {
    return false;
  }
  const LLVMAtomicRMWBinOp operation = LLVMGetAtomicRMWBinOp(i);
  return (operation == LLVMAtomicRMWBinOpAdd ||
          operation == LLVMAtomicRMWBinOpSub) &&
         LLVMGetIntTypeWidth(LLVMTypeOf(i)) == 32 &&
         !lanes_is_uniform(lanes_shape_of(values, LLVMGetOperand(i, 0)));
}

static bool is_own(const lanes_emitter *e, LLVMValueRef address) {
  if (lanes_is_in_threadgroup(e, address)) {
    return true;
  }
  while (LLVMIsAGetElementPtrInst(address)) {
    address = LLVMGetOperand(address, 0);
  }
  return LLVMIsAAllocaInst(address);
}

static bool call_touches_device(LLVMValueRef call) {
  switch (lanes_callee_of(call)) {
    case LANES_CALLEE_NOTHING:
    case LANES_CALLEE_ARGUMENT:
    case LANES_CALLEE_POSITION:
    case LANES_CALLEE_THREADGROUP_MEMORY:
    case LANES_CALLEE_THREADGROUP_BARRIER:
    case LANES_CALLEE_SIMDGROUP_BARRIER:
    case LANES_CALLEE_SHUFFLE:
    case LANES_CALLEE_BALLOT:
    case LANES_CALLEE_REDUCE:
    case LANES_CALLEE_SCAN:
    case LANES_CALLEE_ELEMENTWISE: return false;
    default: return true;
  }
}

static bool touches_device(const lanes_emitter *e, LLVMValueRef i) {
  switch (LLVMGetInstructionOpcode(i)) {
    case LLVMLoad: return !is_own(e, LLVMGetOperand(i, 0));
    case LLVMStore: return !is_own(e, LLVMGetOperand(i, 1));
    case LLVMAtomicRMW:
      return !is_own(e, LLVMGetOperand(i, 0)) && !is_addition(e->values, i);
    case LLVMAtomicCmpXchg: return !is_own(e, LLVMGetOperand(i, 0));
    case LLVMFence: return true;
    case LLVMCall: return call_touches_device(i);
    default: return false;
  }
}

static bool any_touches(const lanes_emitter *e, LLVMValueRef from) {
  for (LLVMValueRef i = from; i; i = LLVMGetNextInstruction(i)) {
    if (touches_device(e, i)) {
      return true;
    }
  }
  return false;
}

// Says whether anything that control may come to behind a block touches device
// memory; the block itself, too, if it is in a loop.
static bool touches_behind(const lanes_emitter *e, LLVMBasicBlockRef block) {
  lanes_map seen = {0};
  LLVMBasicBlockRef *work =
      lanes_allocate(e->arena, e->graph->node_count + 1, sizeof *work);
  uint32_t count = 0;
  work[count++] = block;
  while (count) {
    LLVMValueRef end = LLVMGetBasicBlockTerminator(work[--count]);
    for (unsigned k = 0; k < LLVMGetNumSuccessors(end); k++) {
      LLVMBasicBlockRef to = LLVMGetSuccessor(end, k);
      if (lanes_map_get(&seen, to) != LANES_NONE) {
        continue;
      }
      lanes_map_set(e->arena, &seen, to, 1);
      if (any_touches(e, LLVMGetFirstInstruction(to))) {
        return true;
      }
      work[count++] = to;
    }
  }
  return false;
}

void lanes_counters_find(lanes_emitter *e) {
  bool any = false;
  for (uint32_t n = 0; n < e->values->count; n++) {
    LLVMValueRef i = e->values->items[n];
    if (!is_addition(e->values, i) || is_own(e, LLVMGetOperand(i, 0))) {
      continue;
    }
    if (any_touches(e, LLVMGetNextInstruction(i)) ||
        touches_behind(e, LLVMGetInstructionParent(i))) {
      return;
    }
    any = true;
  }
  e->has_counters = any;
}

static LLVMValueRef call(lanes_emitter *e, const char *name, LLVMTypeRef result,
                         LLVMValueRef *arguments, uint32_t count) {
  LLVMTypeRef types[3];
  for (uint32_t i = 0; i < count; i++) {
    types[i] = LLVMTypeOf(arguments[i]);
  }
  LLVMValueRef function = mtlc_declare(
      e->kernel->module, name, LLVMFunctionType(result, types, count, false));
  return mtlc_call(e->builder, function, arguments, count);
}

static LLVMValueRef table(lanes_emitter *e) {
  if (!e->counters) {
    e->counters = LLVMBuildLoad2(
        e->prologue, e->types.pointer,
        mtlc_offset(e->prologue, LLVMGetParam(e->function, LANES_SCRATCH), 32),
        "counters");
  }
  return e->counters;
}

LLVMValueRef lanes_count(lanes_emitter *e, LLVMValueRef atomic,
                         LLVMValueRef address, LLVMValueRef operand) {
  const bool adds = LLVMGetAtomicRMWBinOp(atomic) == LLVMAtomicRMWBinOpAdd;
  LLVMValueRef value = adds ? operand : LLVMBuildNeg(e->builder, operand, "");
  LLVMValueRef arguments[] = {table(e), address, value};
  return call(e, "mettle.counters.add", e->types.nothing, arguments, 3);
}

bool lanes_emit_counted(lanes_emitter *e, LLVMValueRef atomic) {
  if (!e->has_counters || !is_addition(e->values, atomic) ||
      is_own(e, LLVMGetOperand(atomic, 0))) {
    return false;
  }
  LLVMBasicBlockRef counted = lanes_block(e, "counted");
  LLVMBasicBlockRef direct = lanes_block(e, "direct");
  LLVMBasicBlockRef after = lanes_block(e, "after");
  LLVMValueRef counters = table(e);
  LLVMBuildCondBr(e->builder,
                  call(e, "mettle.counters.ready", e->types.i1, &counters, 1),
                  counted, direct);
  const lanes_list serials = e->serials;
  e->uncached = true;
  LLVMPositionBuilderAtEnd(e->builder, counted);
  call(e, "mettle.counters.note", e->types.nothing, &counters, 1);
  e->is_counting = true;
  lanes_emit_serially(e, atomic);
  e->is_counting = false;
  LLVMBuildBr(e->builder, after);
  e->serials = serials;
  LLVMPositionBuilderAtEnd(e->builder, direct);
  lanes_emit_serially(e, atomic);
  LLVMBuildBr(e->builder, after);
  e->uncached = false;
  LLVMPositionBuilderAtEnd(e->builder, after);
  return true;
}
