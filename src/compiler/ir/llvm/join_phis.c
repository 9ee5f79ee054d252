// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// join_phis.c: joins phis that differ only where one has no value. SPIRV-Cross
// declares what a loop hands on without a value and sets it in the loop beside
// the loop's own variable:
//
//   own     = phi [0, before], [sum, loop]
//   result  = phi [undef, before], [sum, loop]
//
// Each accumulator of a matrix product then takes registers twice, and no
// accumulator depends on itself alone. LLVM joins equal phis only.
#include "compiler/ir/llvm/join_phis.h"

#include <stdbool.h>
#include <stddef.h>

#include "compiler/ir/llvm/instructions.h"

enum { MOST_PHIS = 256 };  // of a block: each is compared with all

// True if `value` may stand for `wanted`. An undefined value is not poison, so
// that only what cannot be poison stands for it.
static bool stands_for(LLVMValueRef value, LLVMValueRef wanted) {
  return value == wanted || LLVMIsPoison(wanted) ||
         (LLVMIsUndef(wanted) &&
          (LLVMIsNull(value) || LLVMIsAConstantInt(value) ||
           LLVMIsAConstantFP(value) || LLVMIsAConstantDataVector(value)));
}

static LLVMValueRef value_from(LLVMValueRef phi, LLVMBasicBlockRef block) {
  const unsigned count = LLVMCountIncoming(phi);
  for (unsigned k = 0; k < count; k++) {
    if (LLVMGetIncomingBlock(phi, k) == block) {
      return LLVMGetIncomingValue(phi, k);
    }
  }
  return NULL;
}

static bool phi_stands_for(LLVMValueRef phi, LLVMValueRef wanted) {
  if (phi == wanted || LLVMTypeOf(phi) != LLVMTypeOf(wanted)) {
    return false;
  }
  const unsigned count = LLVMCountIncoming(wanted);
  for (unsigned k = 0; k < count; k++) {
    LLVMValueRef value = value_from(phi, LLVMGetIncomingBlock(wanted, k));
    if (!value || !stands_for(value, LLVMGetIncomingValue(wanted, k))) {
      return false;
    }
  }
  return true;
}

static bool has_undefined(LLVMValueRef phi) {
  const unsigned count = LLVMCountIncoming(phi);
  for (unsigned k = 0; k < count; k++) {
    if (LLVMIsUndef(LLVMGetIncomingValue(phi, k))) {
      return true;
    }
  }
  return false;
}

// Returns a phi of the block that stands for `wanted`, or NULL.
static LLVMValueRef substitute_of(LLVMBasicBlockRef block,
                                  LLVMValueRef wanted) {
  uint32_t count = 0;
  for (LLVMValueRef i = LLVMGetFirstInstruction(block);
       LLVMIsAPHINode(i) && count < MOST_PHIS;
       i = LLVMGetNextInstruction(i), count++) {
    if (phi_stands_for(i, wanted)) {
      return i;
    }
  }
  return NULL;
}

void mtlc_join_phis(LLVMValueRef function) {
  for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block;
       block = LLVMGetNextBasicBlock(block)) {
    LLVMValueRef next = NULL;
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); LLVMIsAPHINode(i);
         i = next) {
      next = LLVMGetNextInstruction(i);
      LLVMValueRef other = has_undefined(i) ? substitute_of(block, i) : NULL;
      if (other) {
        mtlc_replace(i, other);
      }
    }
  }
}
