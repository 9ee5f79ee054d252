// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// unroll_loops.c: four turns at once of short loops that load and that LLVM has
// left as they are, as it does from a few instructions on: the loads of four
// turns wait for memory together, which a GPU with few threads needs most.
//
// Requires  optimise: loops are rotated, those of few turns gone
// Leaves    longer loops; each result as it was
#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "compiler/ir/kernel/kernel.h"
#include "compiler/ir/llvm/marks.h"
#include "compiler/ir/llvm/module.h"
#include "compiler/ptx/flow.h"
#include "compiler/ptx/ptx.h"

enum { TURNS = 4, MOST_INSTRUCTIONS = 96 };

bool mtlc_ptx_is_counted_loop(LLVMBasicBlockRef block) {
  LLVMValueRef end = LLVMGetBasicBlockTerminator(block);
  return LLVMIsABranchInst(end) && LLVMIsConditional(end) &&
         (LLVMGetSuccessor(end, 0) == block ||
          LLVMGetSuccessor(end, 1) == block) &&
         LLVMIsAICmpInst(LLVMGetCondition(end));
}

static bool is_short_and_loads(LLVMBasicBlockRef block) {
  unsigned count = 0, loads = 0;
  for (LLVMValueRef i = LLVMGetFirstInstruction(block); i;
       i = LLVMGetNextInstruction(i)) {
    count++;
    loads += LLVMIsALoadInst(i) != NULL;
  }
  return loads && count <= MOST_INSTRUCTIONS;
}

mtl_status mtlc_ptx_unroll_loops(mtlc_kernel *kernel) {
  bool any = false;
  for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(kernel->thread); block;
       block = LLVMGetNextBasicBlock(block)) {
    if (mtlc_ptx_is_counted_loop(block) && is_short_and_loads(block)) {
      LLVMValueRef latch = LLVMGetBasicBlockTerminator(block);
      if (!mtlc_has_unrolling_wish(latch)) {
        mtlc_set_unrolling_count(latch, TURNS);
        any = true;
      }
    }
  }
  return any ? mtlc_run_llvm_passes(
                   kernel, "function(loop-unroll<O3>,"
                           "instcombine<no-verify-fixpoint>,"
                           "early-cse<memssa>,simplifycfg)")
             : MTL_OK;
}
