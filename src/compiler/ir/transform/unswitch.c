// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// unswitch.c: unswitches loops that will be unrolled and that store: moves
// uniform, loop-invariant branches out of them. Such a loop writes
// neighbouring elements, `for (i = 0; i < 4; i++)`, and unrolled its stores are
// one access, unless `if (has_bias)` lies between them. LLVM takes any branch
// out whose condition stays the same, threads that diverge there included, and
// multiplies long loops for the sake of one scalar branch an iteration: all
// conditions but those wanted are hidden from it.
#include "compiler/ir/transform/unswitch.h"

#include <stdint.h>
#include <stdlib.h>

#include "compiler/ir/analysis/cycles.h"
#include "compiler/ir/analysis/loops.h"
#include "compiler/ir/llvm/calls.h"
#include "compiler/ir/llvm/instructions.h"
#include "compiler/ir/llvm/marks.h"
#include "compiler/ir/llvm/module.h"
#include "compiler/ir/llvm/value_list.h"

enum {
  MOST_BRANCHES = 3,  // of a loop: eight loops
  DEEPEST_CONDITION = 8,
};

static const char hoisting[] =
    "function(loop-simplify,lcssa,"
    "loop-mssa(loop-instsimplify,loop-simplifycfg,licm))";
static const char unswitching[] =
    "function(loop-mssa(simple-loop-unswitch<nontrivial>))";

typedef struct loop {
  bool has_known_turns;
  bool has_stores;
  uint32_t branches;  // that are wanted
} loop;

typedef struct loops {
  mtlc_flow flow;
  loop *items;  // [flow.cycle_count]
} loops;

static int cycle_of(const loops *l, LLVMBasicBlockRef block) {
  return mtlc_flow_find(&l->flow, block)->cycle;
}

// True if a value is uniform, the same for all threads: computed from constants
// and the kernel's arguments alone.
static bool is_uniform(LLVMValueRef value, uint32_t depth) {
  if (!LLVMIsAInstruction(value)) {
    return !LLVMIsAArgument(value);
  }
  if (depth == 0 || LLVMIsAPHINode(value) || LLVMIsAAllocaInst(value)) {
    return false;
  }
  if (LLVMIsACallInst(value)) {
    return mtlc_is_call_of(value, "mettle.argument");
  }
  for (int k = 0; k < LLVMGetNumOperands(value); k++) {
    if (!is_uniform(LLVMGetOperand(value, (unsigned)k), depth - 1)) {
      return false;
    }
  }
  return true;
}

// Returns the condition of a block's conditional branch to two different
// blocks, or NULL.
static LLVMValueRef condition_of(LLVMBasicBlockRef block) {
  LLVMValueRef end = LLVMGetBasicBlockTerminator(block);
  return LLVMIsABranchInst(end) && LLVMIsConditional(end) &&
                 LLVMGetSuccessor(end, 0) != LLVMGetSuccessor(end, 1)
             ? LLVMGetCondition(end)
             : NULL;
}

static bool is_wanted(const loops *l, LLVMBasicBlockRef block) {
  const int cycle = cycle_of(l, block);
  LLVMValueRef condition = condition_of(block);
  return cycle != MTLC_NO_CYCLE && condition &&
         l->items[cycle].has_known_turns && l->items[cycle].has_stores &&
         LLVMIsAInstruction(condition) &&
         is_uniform(condition, DEEPEST_CONDITION);
}

// Counts the wanted branches of each loop; true if there are any.
static bool find_branches(LLVMValueRef function, loops *l) {
  l->flow = mtlc_flow_of(function);
  l->items = calloc(l->flow.cycle_count + 1, sizeof *l->items);
  for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block;
       block = LLVMGetNextBasicBlock(block)) {
    const int cycle = cycle_of(l, block);
    LLVMValueRef condition = condition_of(block);
    for (LLVMValueRef i = LLVMGetFirstInstruction(block);
         i && cycle != MTLC_NO_CYCLE; i = LLVMGetNextInstruction(i)) {
      l->items[cycle].has_stores |= LLVMIsAStoreInst(i) != NULL;
    }
    if (condition && cycle != MTLC_NO_CYCLE) {
      l->items[cycle].has_known_turns |= mtlc_may_end_count(condition);
    }
  }
  bool any = false;
  for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block;
       block = LLVMGetNextBasicBlock(block)) {
    if (is_wanted(l, block)) {
      l->items[cycle_of(l, block)].branches++;
      any = true;
    }
  }
  return any;
}

static void clear(loops *l) {
  mtlc_flow_clear(&l->flow);
  free(l->items);
}

static bool stays(const loops *l, LLVMBasicBlockRef block) {
  return is_wanted(l, block) &&
         l->items[cycle_of(l, block)].branches <= MOST_BRANCHES;
}

// Hides all other conditions in loops from LLVM's pass.
static void hold_others(mtlc_kernel *kernel, LLVMValueRef function) {
  loops l = {0};
  find_branches(function, &l);
  mtlc_values users = {0};
  for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block;
       block = LLVMGetNextBasicBlock(block)) {
    for (LLVMValueRef i = LLVMGetFirstInstruction(block);
         i && cycle_of(&l, block) != MTLC_NO_CYCLE;
         i = LLVMGetNextInstruction(i)) {
      const bool decides =
          LLVMIsASelectInst(i) || LLVMIsASwitchInst(i) ||
          (LLVMIsABranchInst(i) && LLVMIsConditional(i) && !stays(&l, block));
      if (decides && !LLVMIsAConstant(LLVMGetOperand(i, 0))) {
        mtlc_values_add(&users, i);
      }
    }
  }
  LLVMBuilderRef builder = LLVMCreateBuilderInContext(kernel->context);
  for (size_t n = 0; n < users.count; n++) {
    mtlc_hold_operand(builder, users.items[n], 0);
  }
  LLVMDisposeBuilder(builder);
  free(users.items);
  clear(&l);
}

mtl_status mtlc_unswitch(mtlc_kernel *kernel) {
  loops l = {0};
  const bool any = find_branches(kernel->thread, &l);
  clear(&l);
  if (!any) {
    return MTL_OK;
  }
  MTL_TRY(mtlc_run_llvm_passes(kernel, hoisting));
  for (LLVMValueRef f = LLVMGetFirstFunction(kernel->module); f;
       f = LLVMGetNextFunction(f)) {
    if (!LLVMIsDeclaration(f)) {
      hold_others(kernel, f);
    }
  }
  MTL_TRY(mtlc_run_llvm_passes(kernel, unswitching));
  for (LLVMValueRef f = LLVMGetFirstFunction(kernel->module); f;
       f = LLVMGetNextFunction(f)) {
    mtlc_release_held(f);
  }
  return MTL_OK;
}
