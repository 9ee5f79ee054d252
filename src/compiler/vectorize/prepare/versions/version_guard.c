// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// version_guard.c: versions a kernel's bounds guard, the usual first lines that
// return from threads out of bounds. In most simdgroups no thread returns.
// Several simdgroups run at once without the branch: if a thread would return,
// nothing has been done yet, and they run one by one instead.
#include "compiler/vectorize/prepare/versions/version_guard.h"

#include <stddef.h>

#include "compiler/ir/kernel/kernel.h"
#include "compiler/ir/llvm/calls.h"
#include "compiler/vectorize/analysis/callees.h"
#include "compiler/vectorize/analysis/effects.h"

static bool does_nothing(LLVMBasicBlockRef block) {
  for (LLVMValueRef i = LLVMGetFirstInstruction(block); i;
       i = LLVMGetNextInstruction(i)) {
    if (!LLVMIsAAllocaInst(i) && lanes_may_write(i)) {
      return false;
    }
  }
  return true;
}

static LLVMBasicBlockRef only_successor(LLVMBasicBlockRef block) {
  LLVMValueRef end = LLVMGetBasicBlockTerminator(block);
  return LLVMGetNumSuccessors(end) == 1 ? LLVMGetSuccessor(end, 0) : NULL;
}

// True if threads that reach a block do nothing any more.
static bool leaves(LLVMBasicBlockRef block) {
  enum { STEPS = 4 };
  for (uint32_t step = 0; step < STEPS && block; step++) {
    LLVMValueRef first = LLVMGetFirstInstruction(block);
    if (first != LLVMGetBasicBlockTerminator(block)) {
      return false;
    }
    if (LLVMIsAReturnInst(first)) {
      return true;
    }
    block = only_successor(block);
  }
  return false;
}

static bool has_one_way_in(LLVMBasicBlockRef block) {
  uint32_t ways = 0;
  for (LLVMUseRef use = LLVMGetFirstUse(LLVMBasicBlockAsValue(block)); use;
       use = LLVMGetNextUse(use)) {
    ways += LLVMIsATerminatorInst(LLVMGetUser(use)) != NULL;
  }
  return ways == 1;
}

// Returns the successor of a conditional branch that threads continue at, if
// the other one ends them; -1 for other branches.
static int continuing_successor(LLVMValueRef branch) {
  const bool leave[] = {leaves(LLVMGetSuccessor(branch, 0)),
                        leaves(LLVMGetSuccessor(branch, 1))};
  return leave[0] == leave[1] ? -1 : leave[0] ? 1 : 0;
}

static bool is_for_all(LLVMValueRef condition) {
  return LLVMIsACallInst(condition) &&
         lanes_callee_of(condition) == LANES_CALLEE_ALL;
}

static void demand(mtlc_kernel *kernel, LLVMBuilderRef builder,
                   LLVMValueRef branch, int way) {
  LLVMValueRef asked = LLVMGetCondition(branch);
  LLVMValueRef condition = is_for_all(asked) ? LLVMGetOperand(asked, 0) : asked;
  LLVMTypeRef type = LLVMTypeOf(condition);
  LLVMPositionBuilderBefore(builder, branch);
  if (way) {
    condition = LLVMBuildNot(builder, condition, "");
  }
  LLVMValueRef function =
      mtlc_declare(kernel->module, "mettle.demand",
                   LLVMFunctionType(LLVMVoidTypeInContext(kernel->context),
                                    &type, 1, false));
  mtlc_call(builder, function, &condition, 1);
  LLVMSetCondition(branch, LLVMConstInt(type, way == 0, false));
  if (is_for_all(asked) && !LLVMGetFirstUse(asked)) {
    LLVMInstructionEraseFromParent(asked);
  }
}

bool lanes_version_guard(mtlc_kernel *kernel) {
  LLVMBuilderRef builder = LLVMCreateBuilderInContext(kernel->context);
  LLVMBasicBlockRef block = LLVMGetEntryBasicBlock(kernel->thread);
  bool any = false;
  while (block && does_nothing(block)) {
    LLVMValueRef end = LLVMGetBasicBlockTerminator(block);
    LLVMBasicBlockRef next = only_successor(block);
    if (LLVMIsABranchInst(end) && LLVMIsConditional(end)) {
      const int way = is_for_all(LLVMGetCondition(end)) ? 0 : continuing_successor(end);
      if (way < 0) {
        break;
      }
      next = LLVMGetSuccessor(end, (unsigned)way);
      demand(kernel, builder, end, way);
      any = true;
    }
    block = next && has_one_way_in(next) ? next : NULL;
  }
  LLVMDisposeBuilder(builder);
  return any;
}
