// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// unroll_loops.c: two or four turns at once of short loops that load and that
// LLVM has left as they are, as it does from a few instructions on: the loads
// of the turns wait for memory together, which a GPU with few threads needs
// most. They begin the loop's block: neither LLVM nor NVIDIA's assembler moves
// them above a shuffle, or loads of device memory above stores to threadgroup
// memory. Copies of up to 64 bytes are loads and stores of up to 16.
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
#include "compiler/ir/transform/expand_memcpy.h"
#include "compiler/ptx/flow.h"
#include "compiler/ptx/hoist.h"
#include "compiler/ptx/ptx.h"

enum {
  MOST_TURNS = 4,
  FEW_INSTRUCTIONS = 28,  // four iterations' values stay within 32 registers,
                          // or the assembler moves loads down again
  MOST_INSTRUCTIONS = 96,
  MOST_EARLY_LOADS = 16,   // each takes registers until it is used
  MOST_COPIED_BYTES = 64,  // LLVM copies 8 bytes at once
  WIDEST_ACCESS = 16,
  MOST_STORES = 16,  // that loads go above
};

bool mtlc_ptx_is_counted_loop(LLVMBasicBlockRef block) {
  LLVMValueRef end = LLVMGetBasicBlockTerminator(block);
  return LLVMIsABranchInst(end) && LLVMIsConditional(end) &&
         (LLVMGetSuccessor(end, 0) == block ||
          LLVMGetSuccessor(end, 1) == block) &&
         LLVMIsAICmpInst(LLVMGetCondition(end));
}

// Returns how many iterations to run at once: 1 for loops that load nothing or
// are long.
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

// Returns the space of memory that an address is known to be of: 0 if it may be
// any.
static unsigned space_of(LLVMValueRef address) {
  for (;;) {
    const bool is_constant = LLVMIsAConstantExpr(address) != NULL;
    const LLVMOpcode opcode = is_constant ? LLVMGetConstOpcode(address)
                              : LLVMIsAInstruction(address)
                                  ? LLVMGetInstructionOpcode(address)
                                  : LLVMRet;
    if (opcode != LLVMGetElementPtr && opcode != LLVMAddrSpaceCast) {
      return LLVMGetPointerAddressSpace(LLVMTypeOf(address));
    }
    address = LLVMGetOperand(address, 0);
  }
}

static bool are_apart(LLVMValueRef load, LLVMValueRef store) {
  const unsigned from = space_of(LLVMGetOperand(load, 0));
  const unsigned to = space_of(LLVMGetOperand(store, 1));
  return from != 0 && to != 0 && from != to;
}

// True if a load may move above an instruction that it does not depend on.
static bool may_hoist_above(LLVMValueRef i) {
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

// True if a load may go above all of some stores.
static bool passes_all(LLVMValueRef load, LLVMValueRef *stores,
                       unsigned count) {
  bool passes = true;
  for (unsigned i = 0; i < count && passes; i++) {
    passes = are_apart(load, stores[i]);
  }
  return passes;
}

static LLVMValueRef first_store(LLVMBasicBlockRef block) {
  LLVMValueRef i = LLVMGetFirstInstruction(block);
  while (i && !LLVMIsAStoreInst(i)) {
    i = LLVMGetNextInstruction(i);
  }
  return i;
}

// Moves the loads of a loop to its top, and those of another block above its
// first store. A mark stands there until all are above it.
static void load_first(mtlc_kernel *kernel, LLVMBuilderRef builder,
                       LLVMBasicBlockRef block) {
  LLVMTypeRef i32 = LLVMInt32TypeInContext(kernel->context);
  LLVMValueRef store = first_store(block);
  if (mtlc_ptx_is_counted_loop(block)) {
    mtlc_position_behind_phis(builder, LLVMGetFirstInstruction(block));
  } else if (store) {
    LLVMPositionBuilderBefore(builder, store);
  } else {
    return;
  }
  LLVMSetCurrentDebugLocation2(builder, NULL);
  LLVMValueRef top = LLVMBuildFreeze(builder, LLVMGetPoison(i32), "");
  LLVMValueRef next = NULL, stores[MOST_STORES];
  unsigned count = 0, store_count = 0;
  for (LLVMValueRef i = LLVMGetNextInstruction(top);
       i && count < MOST_EARLY_LOADS; i = next) {
    next = LLVMGetNextInstruction(i);
    if (LLVMIsAStoreInst(i) && store_count < MOST_STORES) {
      stores[store_count++] = i;
    } else if (!may_hoist_above(i)) {
      break;
    }
    if (LLVMIsALoadInst(i) && passes_all(i, stores, store_count) &&
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
    load_first(kernel, builder, block);
  }
  LLVMDisposeBuilder(builder);
}

mtl_status mtlc_ptx_unroll_loops(mtlc_kernel *kernel) {
  mtlc_expand_memcpy(kernel->context, kernel->thread, MOST_COPIED_BYTES,
                     WIDEST_ACCESS);
  bool any = false;
  for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(kernel->thread); block;
       block = LLVMGetNextBasicBlock(block)) {
    const uint32_t turns =
        mtlc_ptx_is_counted_loop(block) ? choose_turns(block) : 1;
    if (turns > 1) {
      LLVMValueRef latch = LLVMGetBasicBlockTerminator(block);
      if (!mtlc_has_unroll_hint(latch)) {
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
