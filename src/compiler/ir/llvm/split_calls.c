// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// split_calls.c: cuts blocks, between calls that are to be inlined above all.
#include "compiler/ir/llvm/split_calls.h"

#include <llvm-c/DebugInfo.h>
#include <stdbool.h>
#include <stddef.h>

#include "compiler/ir/kernel/kernel.h"
#include "compiler/ir/llvm/attributes.h"
#include "compiler/ir/llvm/calls.h"
#include "compiler/ir/llvm/instructions.h"

// Calls that are inlined, in one block.
enum { CALL_LIMIT = 64 };

// Renames an incoming block in the phis of the successors.
static void rename_source(LLVMValueRef phi, LLVMBasicBlockRef from,
                          LLVMBasicBlockRef to, LLVMBuilderRef builder) {
  LLVMPositionBuilderBefore(builder, phi);
  LLVMValueRef renamed = LLVMBuildPhi(builder, LLVMTypeOf(phi), "");
  for (unsigned i = 0; i < LLVMCountIncoming(phi); ++i) {
    LLVMValueRef value = LLVMGetIncomingValue(phi, i);
    LLVMBasicBlockRef block = LLVMGetIncomingBlock(phi, i);
    // In a loop of one block a value may be the phi that is being replaced.
    value = value == phi ? renamed : value;
    block = block == from ? to : block;
    LLVMAddIncoming(renamed, &value, &block, 1);
  }
  mtlc_replace(phi, renamed);
}

static void rename_sources(LLVMBasicBlockRef from, LLVMBasicBlockRef to,
                           LLVMBuilderRef builder) {
  LLVMValueRef end = LLVMGetBasicBlockTerminator(to);
  for (unsigned i = 0; i < LLVMGetNumSuccessors(end); ++i) {
    LLVMValueRef next = NULL;
    for (LLVMValueRef at = LLVMGetFirstInstruction(LLVMGetSuccessor(end, i));
         at && LLVMIsAPHINode(at); at = next) {
      next = LLVMGetNextInstruction(at);
      rename_source(at, from, to, builder);
    }
  }
}

// Moves a block's instructions, from `first` on, to a new block, and returns
// that.
LLVMBasicBlockRef mtlc_split_before(LLVMValueRef first,
                                      LLVMBuilderRef builder) {
  LLVMBasicBlockRef block = LLVMGetInstructionParent(first);
  LLVMValueRef function = LLVMGetBasicBlockParent(block);
  LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(function));
  LLVMBasicBlockRef rest = LLVMAppendBasicBlockInContext(context, function, "");
  LLVMMoveBasicBlockAfter(rest, block);
  LLVMPositionBuilderAtEnd(builder, rest);
  LLVMSetCurrentDebugLocation2(builder, NULL);
  LLVMValueRef next = NULL;
  for (LLVMValueRef at = first; at; at = next) {
    next = LLVMGetNextInstruction(at);
    LLVMMetadataRef location = LLVMInstructionGetDebugLoc(at);
    LLVMInstructionRemoveFromParent(at);
    LLVMInsertIntoBuilder(builder, at);
    LLVMInstructionSetDebugLoc(at, location);
  }
  LLVMPositionBuilderAtEnd(builder, block);
  LLVMBuildBr(builder, rest);
  rename_sources(block, rest, builder);
  return rest;
}

static bool is_inlined(LLVMValueRef instruction) {
  LLVMValueRef callee = mtlc_callee(instruction);
  return callee && mtlc_has_attribute(callee, "alwaysinline");
}

// Splits from the block's end, so that each instruction moves once.
static void split_between_calls(LLVMBasicBlockRef block,
                                LLVMBuilderRef builder) {
  int count = 0;
  LLVMValueRef before = NULL;
  for (LLVMValueRef at = LLVMGetLastInstruction(block); at; at = before) {
    before = LLVMGetPreviousInstruction(at);
    if (is_inlined(at) && ++count == CALL_LIMIT) {
      mtlc_split_before(at, builder);
      count = 0;
    }
  }
}

void mtlc_split_between_calls(mtlc_kernel *kernel) {
  LLVMBuilderRef builder = LLVMCreateBuilderInContext(kernel->context);
  for (LLVMValueRef function = LLVMGetFirstFunction(kernel->module); function;
       function = LLVMGetNextFunction(function)) {
    for (LLVMBasicBlockRef block = LLVMGetLastBasicBlock(function); block;
         block = LLVMGetPreviousBasicBlock(block)) {
      split_between_calls(block, builder);
    }
  }
  LLVMDisposeBuilder(builder);
}
