// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// split_blocks.c: cuts long blocks into pieces, for code generation takes time
// that grows with the square of a block's length in several places (selection,
// both schedulers, copy propagation); and blocks of many calls, early, for
// inlining moves all that is behind a call in its block.
//
// Requires  a module that nothing optimises any more
// Leaves    no block of more than BLOCK_LIMIT instructions
#include <llvm-c/DebugInfo.h>

#include "compiler/ir/module.h"

// Measured on straight-line kernels of 5000 lines: code generation 4.1 s whole,
// 1.4 s in pieces of 1000, 2.1 s in pieces of 300; the code is as large.
enum { BLOCK_LIMIT = 1000 };

// Calls that are inlined, in one block.
enum { CALL_LIMIT = 64 };

// --- A cut -------------------------------------------------------------------

// Phis of the blocks behind from name the block that they come from.
static void rename_source(LLVMValueRef phi, LLVMBasicBlockRef from,
                          LLVMBasicBlockRef to, LLVMBuilderRef builder) {
  LLVMPositionBuilderBefore(builder, phi);
  LLVMValueRef renamed = LLVMBuildPhi(builder, LLVMTypeOf(phi), "");
  for (unsigned i = 0; i < LLVMCountIncoming(phi); ++i) {
    LLVMValueRef value = LLVMGetIncomingValue(phi, i);
    LLVMBasicBlockRef block = LLVMGetIncomingBlock(phi, i);
    // A loop of one block may hand itself the phi that is being replaced.
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

// Moves what is in a block from first on to a new one, and returns that.
static LLVMBasicBlockRef split_before(LLVMValueRef first,
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

// --- For code generation -----------------------------------------------------

// Returns the instruction to cut a block at, or NULL if it is short enough.
static LLVMValueRef instruction_at_limit(LLVMBasicBlockRef block) {
  int count = 0;
  LLVMValueRef first = NULL;
  for (LLVMValueRef at = LLVMGetFirstInstruction(block); at;
       at = LLVMGetNextInstruction(at)) {
    // Static allocas stay in the entry block.
    count = LLVMIsAAllocaInst(at) ? 0 : count + 1;
    if (count == 0) {
      first = NULL;
    } else if (count == BLOCK_LIMIT) {
      first = LLVMGetNextInstruction(at);
    }
  }
  const bool is_cut =
      first && LLVMGetNextInstruction(first) && !LLVMIsAPHINode(first);
  return is_cut ? first : NULL;
}

mtl_status mtlc_split_blocks(mtlc_kernel *kernel) {
  LLVMBuilderRef builder = LLVMCreateBuilderInContext(kernel->context);
  for (LLVMValueRef function = LLVMGetFirstFunction(kernel->module); function;
       function = LLVMGetNextFunction(function)) {
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block;
         block = LLVMGetNextBasicBlock(block)) {
      LLVMValueRef first = instruction_at_limit(block);
      if (first) {
        // What is left of it comes next. Code generation would join the two
        // again, but for a block whose address has been taken.
        LLVMBlockAddress(function, split_before(first, builder));
      }
    }
  }
  LLVMDisposeBuilder(builder);
  return MTL_OK;
}

// --- For inlining ------------------------------------------------------------

static bool is_inlined(LLVMValueRef instruction) {
  LLVMValueRef callee = mtlc_callee(instruction);
  return callee && mtlc_has_attribute(callee, "alwaysinline");
}

// From its end, so that each instruction moves once.
static void split_between_calls(LLVMBasicBlockRef block,
                                LLVMBuilderRef builder) {
  int count = 0;
  LLVMValueRef before = NULL;
  for (LLVMValueRef at = LLVMGetLastInstruction(block); at; at = before) {
    before = LLVMGetPreviousInstruction(at);
    if (is_inlined(at) && ++count == CALL_LIMIT) {
      split_before(at, builder);
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
