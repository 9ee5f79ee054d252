// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hoist.c: hoists the operands of addresses.
#include "compiler/ptx/hoist.h"

#include "compiler/ir/llvm/instructions.h"

enum { MOST_DEPTH = 32 };

static bool is_before(LLVMValueRef a, LLVMValueRef b) {
  for (LLVMValueRef i = LLVMGetNextInstruction(a); i;
       i = LLVMGetNextInstruction(i)) {
    if (i == b) {
      return true;
    }
  }
  return false;
}

static bool is_address_arithmetic(LLVMValueRef i) {
  return LLVMIsAGetElementPtrInst(i) || LLVMIsACastInst(i) ||
         (LLVMIsABinaryOperator(i) &&
          mtlc_is_plain_arithmetic(LLVMGetInstructionOpcode(i)));
}

static bool hoist(LLVMBuilderRef builder, LLVMValueRef value, LLVMValueRef at,
                  bool move, int depth) {
  if (!LLVMIsAInstruction(value) ||
      LLVMGetInstructionParent(value) != LLVMGetInstructionParent(at) ||
      !(value == at || is_before(at, value))) {
    return true;
  }
  if (value == at || depth == MOST_DEPTH || !is_address_arithmetic(value)) {
    return false;
  }
  const unsigned count = (unsigned)LLVMGetNumOperands(value);
  for (unsigned i = 0; i < count; i++) {
    if (!hoist(builder, LLVMGetOperand(value, i), at, move, depth + 1)) {
      return false;
    }
  }
  if (move) {
    LLVMInstructionRemoveFromParent(value);
    LLVMPositionBuilderBefore(builder, at);
    LLVMInsertIntoBuilder(builder, value);
  }
  return true;
}

bool mtlc_ptx_hoist(LLVMBuilderRef builder, LLVMValueRef value, LLVMValueRef at,
                    bool move) {
  return hoist(builder, value, at, move, 0);
}
