// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// split_blocks.c: splits long blocks, since several parts of code generation
// take quadratic time in a block's length (selection, both schedulers, copy
// propagation). It also splits blocks of many calls early, since inlining a
// call moves the rest of its block.
//
// Requires  a module that nothing optimises any more
// Leaves    no block of more than BLOCK_LIMIT instructions
#include <llvm-c/DebugInfo.h>
#include <stdbool.h>
#include <stddef.h>

#include "compiler/ir/kernel/kernel.h"
#include "compiler/ir/llvm/split_calls.h"
#include "compiler/passes/passes.h"

// Measured on straight-line kernels of 5000 lines: code generation 4.1 s whole,
// 1.4 s in pieces of 1000, 2.1 s in pieces of 300; the code is as large.
enum { BLOCK_LIMIT = 1000 };

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
        // The rest of the block comes next. Code generation would join the two
        // again, unless the block's address is taken.
        LLVMBlockAddress(function, mtlc_split_before(first, builder));
      }
    }
  }
  LLVMDisposeBuilder(builder);
  return MTL_OK;
}
