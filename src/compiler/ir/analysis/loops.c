// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// loops.c: decides which of LLVM's loop passes are worth their time.
#include "compiler/ir/analysis/loops.h"

#include <stddef.h>

#include "compiler/ir/analysis/cycles.h"

// --- How many ----------------------------------------------------------------

uint32_t mtlc_most_loops(LLVMModuleRef module) {
  size_t most = 0;
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f;
       f = LLVMGetNextFunction(f)) {
    if (!LLVMIsDeclaration(f)) {
      mtlc_flow flow = mtlc_flow_of(f);
      most = flow.cycle_count > most ? flow.cycle_count : most;
      mtlc_flow_clear(&flow);
    }
  }
  return (uint32_t)most;
}

// --- Whose turns LLVM may know -----------------------------------------------

// True if a number may be a loop's counter: a phi after a few integer
// operations.
static bool may_count(LLVMValueRef value, uint32_t depth) {
  const LLVMTypeKind kind = LLVMGetTypeKind(LLVMTypeOf(value));
  if (!LLVMIsAInstruction(value) || depth == 0 ||
      (kind != LLVMIntegerTypeKind && kind != LLVMPointerTypeKind)) {
    return false;
  }
  if (LLVMIsAPHINode(value)) {
    return true;
  }
  const LLVMOpcode opcode = LLVMGetInstructionOpcode(value);
  if (opcode == LLVMLoad || opcode == LLVMExtractElement) {
    return false;
  }
  for (int k = 0; k < LLVMGetNumOperands(value); k++) {
    LLVMValueRef operand = LLVMGetOperand(value, (unsigned)k);
    if (!LLVMValueIsBasicBlock(operand) && may_count(operand, depth - 1)) {
      return true;
    }
  }
  return false;
}

// True if a bound is a constant, or small by its form: masked, a remainder, a
// minimum. LLVM unrolls up to eight iterations of a loop of which it knows no
// more.
static bool is_known_bound(LLVMValueRef value) {
  enum { FEW = 16 };
  if (LLVMIsConstant(value)) {
    return true;
  }
  if (!LLVMIsAInstruction(value)) {
    return false;
  }
  switch (LLVMGetInstructionOpcode(value)) {
    case LLVMZExt:
    case LLVMSExt:
    case LLVMTrunc: return is_known_bound(LLVMGetOperand(value, 0));
    case LLVMAnd:
    case LLVMURem:
    case LLVMSelect:
    case LLVMCall: break;
    default: return false;
  }
  for (int k = 0; k < LLVMGetNumOperands(value); k++) {
    LLVMValueRef operand = LLVMGetOperand(value, (unsigned)k);
    if (LLVMIsAConstantInt(operand) &&
        LLVMConstIntGetZExtValue(operand) <= FEW) {
      return true;
    }
  }
  return false;
}

// True if a condition may end a loop after a known number of iterations: it
// compares a counter with such a bound.
static bool may_end_count(LLVMValueRef condition, uint32_t depth) {
  enum { STEPS = 5 };
  if (!LLVMIsAInstruction(condition) || depth == 0) {
    return false;
  }
  if (LLVMIsAICmpInst(condition)) {
    LLVMValueRef left = LLVMGetOperand(condition, 0);
    LLVMValueRef right = LLVMGetOperand(condition, 1);
    return (is_known_bound(right) && may_count(left, STEPS)) ||
           (is_known_bound(left) && may_count(right, STEPS));
  }
  for (int k = 0; k < LLVMGetNumOperands(condition); k++) {
    LLVMValueRef operand = LLVMGetOperand(condition, (unsigned)k);
    if (!LLVMValueIsBasicBlock(operand) && may_end_count(operand, depth - 1)) {
      return true;
    }
  }
  return false;
}

bool mtlc_may_end_count(LLVMValueRef condition) {
  enum { CONDITIONS = 4 };
  return may_end_count(condition, CONDITIONS);
}

bool mtlc_has_known_turns(LLVMModuleRef module) {
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f;
       f = LLVMGetNextFunction(f)) {
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(f); block;
         block = LLVMGetNextBasicBlock(block)) {
      LLVMValueRef end = LLVMGetBasicBlockTerminator(block);
      if (LLVMIsABranchInst(end) && LLVMIsConditional(end) &&
          mtlc_may_end_count(LLVMGetCondition(end))) {
        return true;
      }
    }
  }
  return false;
}
