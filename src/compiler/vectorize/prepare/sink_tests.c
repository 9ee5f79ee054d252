// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// sink_tests.c: repeats tests of a thread's position where they are used. LLVM
// computes `if (thread_index < 8)` of several steps of a tree once, before all
// of them. Each simdgroup would keep the result across the barriers between,
// which costs more than testing again.
#include "compiler/vectorize/prepare/sink_tests.h"

#include <stdbool.h>
#include <stddef.h>

#include "compiler/vectorize/analysis/callees.h"

enum { DEPTH = 3 };  // operations between a position and a test

static bool is_position(LLVMValueRef value) {
  return LLVMIsACallInst(value) &&
         lanes_callee_of(value) == LANES_CALLEE_POSITION;
}

// True if a value is computed from a position and constants alone.
static bool is_made_of_position(LLVMValueRef value, uint32_t depth) {
  if (is_position(value)) {
    return true;
  }
  if (!LLVMIsAInstruction(value) || depth == 0) {
    return false;
  }
  switch (LLVMGetInstructionOpcode(value)) {
    case LLVMZExt:
    case LLVMSExt:
    case LLVMTrunc:
      return is_made_of_position(LLVMGetOperand(value, 0), depth - 1);
    case LLVMAdd:
    case LLVMAnd:
    case LLVMOr:
    case LLVMShl:
    case LLVMLShr:
      return LLVMIsAConstantInt(LLVMGetOperand(value, 1)) &&
             is_made_of_position(LLVMGetOperand(value, 0), depth - 1);
    default: return false;
  }
}

static bool is_test(LLVMValueRef i) {
  return LLVMIsAICmpInst(i) && LLVMIsAConstantInt(LLVMGetOperand(i, 1)) &&
         is_made_of_position(LLVMGetOperand(i, 0), DEPTH);
}

static LLVMValueRef repeat(LLVMBuilderRef builder, LLVMValueRef value) {
  if (is_position(value)) {
    return value;
  }
  LLVMValueRef operand = repeat(builder, LLVMGetOperand(value, 0));
  LLVMValueRef again = LLVMInstructionClone(value);
  LLVMSetOperand(again, 0, operand);
  LLVMInsertIntoBuilder(builder, again);
  return again;
}

// Returns a use of a test in another block, or NULL.
static LLVMValueRef user_elsewhere(LLVMValueRef test) {
  for (LLVMUseRef use = LLVMGetFirstUse(test); use; use = LLVMGetNextUse(use)) {
    LLVMValueRef user = LLVMGetUser(use);
    if (!LLVMIsAPHINode(user) &&
        LLVMGetInstructionParent(user) != LLVMGetInstructionParent(test)) {
      return user;
    }
  }
  return NULL;
}

static void repeat_for_users(LLVMBuilderRef builder, LLVMValueRef test) {
  for (LLVMValueRef user = user_elsewhere(test); user;
       user = user_elsewhere(test)) {
    LLVMPositionBuilderBefore(builder, user);
    LLVMValueRef again = repeat(builder, test);
    for (int k = 0; k < LLVMGetNumOperands(user); k++) {
      if (LLVMGetOperand(user, (unsigned)k) == test) {
        LLVMSetOperand(user, (unsigned)k, again);
      }
    }
  }
}

void lanes_sink_tests(LLVMContextRef context, LLVMValueRef function) {
  LLVMBuilderRef builder = LLVMCreateBuilderInContext(context);
  for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block;
       block = LLVMGetNextBasicBlock(block)) {
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i;
         i = LLVMGetNextInstruction(i)) {
      if (is_test(i)) {
        repeat_for_users(builder, i);
      }
    }
  }
  LLVMDisposeBuilder(builder);
}
