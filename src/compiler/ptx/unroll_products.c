// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// unroll_products.c: two or four turns at once of the innermost loops of
// products of 16 bits: two that add to each other are one for the machine, and
// the tiles of all turns are loaded together.
#include <stdlib.h>

#include "base/status.h"
#include "compiler/ir/kernel/kernel.h"
#include "compiler/ir/llvm/calls.h"
#include "compiler/ir/llvm/instructions.h"
#include "compiler/ir/llvm/marks.h"
#include "compiler/ir/llvm/module.h"
#include "compiler/ir/llvm/value_list.h"
#include "compiler/ptx/flow.h"
#include "compiler/ptx/tiles.h"

static bool only_reads(LLVMBasicBlockRef block) {
  for (LLVMValueRef i = LLVMGetFirstInstruction(block); i;
       i = LLVMGetNextInstruction(i)) {
    if (!mtlc_ptx_leaves_memory(i)) {
      return false;
    }
  }
  return true;
}

static bool is_multiple(LLVMValueRef value, uint64_t of) {
  return LLVMIsAConstantInt(value) && LLVMConstIntGetZExtValue(value) % of == 0;
}

// Marks a counter as never wrapping (nuw) if it starts at a multiple of its
// step, a power of two, and runs up to a bound. If it wrapped, it would pass
// its start again and never end, and a loop that writes nothing has to end.
static void bound_counter(LLVMBasicBlockRef block) {
  LLVMValueRef condition = LLVMGetCondition(LLVMGetBasicBlockTerminator(block));
  LLVMValueRef next = LLVMGetOperand(condition, 0);
  if (LLVMGetICmpPredicate(condition) != LLVMIntULT ||
      !mtlc_is_opcode(next, LLVMAdd) || !only_reads(block)) {
    return;
  }
  LLVMValueRef counter = LLVMGetOperand(next, 0),
               step = LLVMGetOperand(next, 1);
  const uint64_t by =
      LLVMIsAConstantInt(step) ? LLVMConstIntGetZExtValue(step) : 0;
  if (by == 0 || (by & (by - 1)) || !LLVMIsAPHINode(counter) ||
      LLVMGetInstructionParent(counter) != block ||
      LLVMCountIncoming(counter) != 2) {
    return;
  }
  const unsigned own = LLVMGetIncomingBlock(counter, 0) == block ? 0 : 1;
  if (LLVMGetIncomingValue(counter, own) == next &&
      is_multiple(LLVMGetIncomingValue(counter, 1 - own), by)) {
    LLVMSetNUW(next, true);
  }
}

// Tells LLVM that all threads reach all products, so that loops of them may be
// divided.
static void allow_division(const mtlc_kernel *kernel) {
  static const char name[] = "convergent";
  const unsigned kind = LLVMGetEnumAttributeKindForName(name, sizeof name - 1);
  const LLVMAttributeIndex at = (LLVMAttributeIndex)LLVMAttributeFunctionIndex;
  mtlc_values calls = {0};
  mtlc_collect_calls(kernel->module, "mettle.tile.multiply_add", &calls);
  for (size_t i = 0; i < calls.count; i++) {
    LLVMRemoveCallSiteEnumAttribute(calls.items[i], at, kind);
    LLVMRemoveEnumAttributeAtIndex(mtlc_callee(calls.items[i]), at, kind);
  }
  free(calls.items);
}

static bool is_load(LLVMValueRef i) {
  return mtlc_is_call_of(i, "mettle.tile.load.");
}

// True if a block's product adds to another of the block.
static bool is_added(LLVMBasicBlockRef block, LLVMValueRef product) {
  LLVMValueRef sum = LLVMGetOperand(product, MTLC_PTX_SUM);
  return mtlc_ptx_is_product(sum) && LLVMGetInstructionParent(sum) == block;
}

// Returns how many iterations to run at once, few enough that all their tiles
// can be loaded together. With tiles that threads fill by themselves: two, but
// one if an iteration has products that add to each other.
static uint32_t choose_turns(LLVMBasicBlockRef block) {
  unsigned loads = 0;
  bool do_add = false;
  for (LLVMValueRef i = LLVMGetFirstInstruction(block); i;
       i = LLVMGetNextInstruction(i)) {
    loads += is_load(i);
    do_add = do_add || (mtlc_ptx_is_product(i) && is_added(block, i));
  }
  return loads == 0 ? do_add ? 1 : 2 : loads <= MTLC_PTX_MOST_LOADS / 4 ? 4 : 2;
}

mtl_status mtlc_ptx_unroll_products(mtlc_kernel *kernel) {
  allow_division(kernel);
  MTL_TRY(mtlc_run_llvm_passes(
      kernel, "function(loop-simplify,lcssa,loop(loop-rotate))"));
  bool any = false;
  for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(kernel->thread); block;
       block = LLVMGetNextBasicBlock(block)) {
    LLVMValueRef first = mtlc_ptx_next_product(LLVMGetFirstInstruction(block));
    LLVMValueRef latch = LLVMGetBasicBlockTerminator(block);
    if (first && mtlc_ptx_is_narrow_product(first) &&
        mtlc_ptx_is_counted_loop(block) && !mtlc_has_unroll_hint(latch)) {
      bound_counter(block);
      mtlc_set_unrolling_count(latch, choose_turns(block));
      any = true;
    }
  }
  return any ? mtlc_run_llvm_passes(kernel,
                                    "function(loop-unroll<O3>,simplifycfg)")
             : MTL_OK;
}
