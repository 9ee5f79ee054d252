// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// own_counters.c: keeps loop counters that differ between threads at 32 bits.
// LLVM widens a counter of an address to 64 bits. That helps uniform and
// strided counters, which stay scalars. But a counter that starts elsewhere in
// each thread is a vector: with 64 bits it takes twice the registers. A freeze
// before the extension hides it from LLVM's induction variables.
#include "compiler/ir/transform/own_counters.h"

#include <stddef.h>
#include <stdlib.h>

#include "code/code.h"
#include "compiler/ir/kernel/kernel.h"
#include "compiler/ir/llvm/instructions.h"
#include "compiler/ir/llvm/marks.h"
#include "compiler/ir/llvm/names.h"
#include "compiler/ir/llvm/value_list.h"

enum { PATIENCE = 200 };

// How a value differs between threads.
typedef enum difference { SAME, STRIDED, ANY } difference;

static difference difference_of(mtlc_values *seen, LLVMValueRef value);

static difference most_of_operands(mtlc_values *seen, LLVMValueRef i,
                                   int count) {
  difference most = SAME;
  for (int k = 0; k < count && most != ANY; k++) {
    const difference one = difference_of(seen, LLVMGetOperand(i, (unsigned)k));
    most = one > most ? one : most;
  }
  return most;
}

static difference of_call(mtlc_values *seen, LLVMValueRef call) {
  const char *name = mtlc_name(LLVMGetCalledValue(call));
  if (mtlc_starts_with(name, "mettle.position")) {
    LLVMValueRef which = LLVMGetOperand(call, 0);
    switch (LLVMIsAConstantInt(which) ? LLVMConstIntGetZExtValue(which)
                                      : MTLI_BUILTIN_NONE) {
      case MTLI_THREAD_POSITION_IN_GRID:
      case MTLI_THREAD_POSITION_IN_THREADGROUP:
      case MTLI_THREAD_INDEX_IN_THREADGROUP:
      case MTLI_THREAD_INDEX_IN_SIMDGROUP:
      case MTLI_THREAD_INDEX_IN_QUADGROUP:
      case MTLI_QUADGROUP_INDEX_IN_THREADGROUP: return STRIDED;
      default: return SAME;
    }
  }
  if (mtlc_starts_with(name, "mettle.argument")) {
    return SAME;
  }
  return most_of_operands(seen, call, (int)LLVMGetNumArgOperands(call)) == SAME
             ? SAME
             : ANY;
}

static difference difference_of(mtlc_values *seen, LLVMValueRef value) {
  if (!LLVMIsAInstruction(value) || mtlc_values_has(seen, value)) {
    return SAME;
  }
  if (seen->count == PATIENCE) {
    return STRIDED;  // keep its full width
  }
  mtlc_values_add(seen, value);
  switch (LLVMGetInstructionOpcode(value)) {
    case LLVMAdd:
    case LLVMSub:
    case LLVMMul:
    case LLVMShl:
    case LLVMOr:
    case LLVMZExt:
    case LLVMSExt:
    case LLVMTrunc:
    case LLVMFreeze:
    case LLVMGetElementPtr:
    case LLVMPHI:
      return most_of_operands(seen, value, LLVMGetNumOperands(value));
    case LLVMCall: return of_call(seen, value);
    default:
      return most_of_operands(seen, value, LLVMGetNumOperands(value)) == SAME
                 ? SAME
                 : ANY;
  }
}

// True if a phi's next value is itself plus or minus one, and its start value
// varies.
static bool is_own_counter(LLVMValueRef phi) {
  bool counts = false;
  LLVMValueRef begin = NULL;
  for (unsigned k = 0; k < LLVMCountIncoming(phi); k++) {
    LLVMValueRef from = LLVMGetIncomingValue(phi, k);
    const bool is_next =
        (mtlc_is_opcode(from, LLVMAdd) || mtlc_is_opcode(from, LLVMSub)) &&
        LLVMGetOperand(from, 0) == phi;
    counts |= is_next;
    begin = is_next ? begin : from;
  }
  if (!counts || !begin) {
    return false;
  }
  mtlc_values seen = {0};
  const bool is_own = difference_of(&seen, begin) == ANY;
  free(seen.items);
  return is_own;
}

// Collects the extensions of a counter, through sums and products.
static void collect_extensions(LLVMValueRef counter, mtlc_values *extensions) {
  mtlc_values way = {0};
  mtlc_values_add(&way, counter);
  for (size_t n = 0; n < way.count && n < PATIENCE; n++) {
    for (LLVMUseRef use = LLVMGetFirstUse(way.items[n]); use;
         use = LLVMGetNextUse(use)) {
      LLVMValueRef user = LLVMGetUser(use);
      const bool is_extension = LLVMIsAZExtInst(user) || LLVMIsASExtInst(user);
      const bool goes_on =
          mtlc_is_opcode(user, LLVMAdd) || mtlc_is_opcode(user, LLVMSub) ||
          mtlc_is_opcode(user, LLVMMul) || mtlc_is_opcode(user, LLVMShl);
      mtlc_values *to = is_extension ? extensions : goes_on ? &way : NULL;
      if (to && !mtlc_values_has(to, user)) {
        mtlc_values_add(to, user);
      }
    }
  }
  free(way.items);
}

bool mtlc_hold_own_counters(mtlc_kernel *kernel, LLVMValueRef function) {
  mtlc_values extensions = {0};
  for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block;
       block = LLVMGetNextBasicBlock(block)) {
    for (LLVMValueRef phi = LLVMGetFirstInstruction(block);
         phi && LLVMIsAPHINode(phi); phi = LLVMGetNextInstruction(phi)) {
      if (LLVMGetTypeKind(LLVMTypeOf(phi)) == LLVMIntegerTypeKind &&
          is_own_counter(phi)) {
        collect_extensions(phi, &extensions);
      }
    }
  }
  LLVMBuilderRef builder = LLVMCreateBuilderInContext(kernel->context);
  for (size_t n = 0; n < extensions.count; n++) {
    mtlc_hold_operand(builder, extensions.items[n], 0);
  }
  const bool any = extensions.count > 0;
  LLVMDisposeBuilder(builder);
  free(extensions.items);
  return any;
}
