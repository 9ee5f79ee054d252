// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// unroll_loops.c: two or four turns at once of short loops that load and that
// LLVM has left as they are, as it does from a few instructions on: the loads
// of the turns wait for memory together, which a GPU with few threads needs
// most. They begin the loop's block: neither LLVM nor NVIDIA's assembler moves
// them above a shuffle.
//
// Requires  optimise: loops are rotated, those of few turns gone
// Leaves    longer loops; each result as it was
#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "compiler/ir/kernel/kernel.h"
#include "compiler/ir/llvm/calls.h"
#include "compiler/ir/llvm/instructions.h"
#include "compiler/ir/llvm/marks.h"
#include "compiler/ir/llvm/module.h"
#include "compiler/ir/llvm/names.h"
#include "compiler/ptx/flow.h"
#include "compiler/ptx/hoist.h"
#include "compiler/ptx/ptx.h"

enum {
  MOST_TURNS = 4,
  FEW_INSTRUCTIONS = 28,  // of which four turns' values stay within 32
                          // registers, or the assembler moves loads down again
  MOST_INSTRUCTIONS = 96,
  MOST_EARLY_LOADS = 16,  // each takes registers until it is used
};

bool mtlc_ptx_is_counted_loop(LLVMBasicBlockRef block) {
  LLVMValueRef end = LLVMGetBasicBlockTerminator(block);
  return LLVMIsABranchInst(end) && LLVMIsConditional(end) &&
         (LLVMGetSuccessor(end, 0) == block ||
          LLVMGetSuccessor(end, 1) == block) &&
         LLVMIsAICmpInst(LLVMGetCondition(end));
}

// How many turns at once: 1 if it loads nothing or is long.
static uint32_t choose_turns(LLVMBasicBlockRef block) {
  unsigned count = 0, loads = 0;
  for (LLVMValueRef i = LLVMGetFirstInstruction(block); i;
       i = LLVMGetNextInstruction(i)) {
    count++;
    loads += LLVMIsALoadInst(i) != NULL;
  }
  return !loads || count > MOST_INSTRUCTIONS ? 1
         : count > FEW_INSTRUCTIONS          ? MOST_TURNS / 2
                                             : MOST_TURNS;
}

// --- loads first -------------------------------------------------------------

// True if a load may go above an instruction that it does not need.
static bool lets_pass(LLVMValueRef i) {
  static const char *const free_of_memory[] = {
      "llvm.nvvm.shfl.", "llvm.nvvm.ex2.", "llvm.nvvm.rsqrt.", "llvm.fma.",
      "llvm.sqrt.",      "llvm.fabs.",     "llvm.minnum.",     "llvm.maxnum."};
  if (LLVMIsACallInst(i)) {
    LLVMValueRef callee = mtlc_callee(i);
    for (size_t n = 0;
         callee && n < sizeof free_of_memory / sizeof *free_of_memory; n++) {
      if (mtlc_starts_with(mtlc_name(callee), free_of_memory[n])) {
        return true;
      }
    }
    return false;
  }
  return !LLVMIsAStoreInst(i) && !LLVMIsAAtomicRMWInst(i) &&
         !LLVMIsAAtomicCmpXchgInst(i) && !LLVMIsAFenceInst(i) &&
         !(LLVMIsALoadInst(i) &&
           (LLVMGetVolatile(i) ||
            LLVMGetOrdering(i) != LLVMAtomicOrderingNotAtomic));
}

// A mark stands at the top until all loads are above it.
static void load_first(mtlc_kernel *kernel, LLVMBuilderRef builder,
                       LLVMBasicBlockRef block) {
  LLVMTypeRef i32 = LLVMInt32TypeInContext(kernel->context);
  mtlc_position_behind_phis(builder, LLVMGetFirstInstruction(block));
  LLVMSetCurrentDebugLocation2(builder, NULL);
  LLVMValueRef top = LLVMBuildFreeze(builder, LLVMGetPoison(i32), "");
  LLVMValueRef next = NULL;
  unsigned count = 0;
  for (LLVMValueRef i = LLVMGetNextInstruction(top);
       i && count < MOST_EARLY_LOADS && lets_pass(i); i = next) {
    next = LLVMGetNextInstruction(i);
    if (LLVMIsALoadInst(i) &&
        mtlc_ptx_hoist(builder, LLVMGetOperand(i, 0), top, false)) {
      mtlc_ptx_hoist(builder, LLVMGetOperand(i, 0), top, true);
      LLVMInstructionRemoveFromParent(i);
      LLVMPositionBuilderBefore(builder, top);
      LLVMInsertIntoBuilder(builder, i);
      count++;
    }
  }
  LLVMInstructionEraseFromParent(top);
}

static void load_all_first(mtlc_kernel *kernel) {
  LLVMBuilderRef builder = LLVMCreateBuilderInContext(kernel->context);
  for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(kernel->thread); block;
       block = LLVMGetNextBasicBlock(block)) {
    if (mtlc_ptx_is_counted_loop(block)) {
      load_first(kernel, builder, block);
    }
  }
  LLVMDisposeBuilder(builder);
}

mtl_status mtlc_ptx_unroll_loops(mtlc_kernel *kernel) {
  bool any = false;
  for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(kernel->thread); block;
       block = LLVMGetNextBasicBlock(block)) {
    const uint32_t turns =
        mtlc_ptx_is_counted_loop(block) ? choose_turns(block) : 1;
    if (turns > 1) {
      LLVMValueRef latch = LLVMGetBasicBlockTerminator(block);
      if (!mtlc_has_unrolling_wish(latch)) {
        mtlc_set_unrolling_count(latch, turns);
        any = true;
      }
    }
  }
  if (any) {
    MTL_TRY(mtlc_run_llvm_passes(kernel,
                                 "function(loop-unroll<O3>,"
                                 "instcombine<no-verify-fixpoint>,"
                                 "early-cse<memssa>,simplifycfg)"));
  }
  load_all_first(kernel);
  return MTL_OK;
}
