// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// break_circles.c: breaks call cycles that no actual value closes. The
// logarithm of the gamma function calls the gamma function below 12, and that
// calls the logarithm from 12 on: with one inlined into the other, nothing is
// recursive.
//
// Requires  no function calls itself last of all: those are loops already
// Leaves    functions with the same results; circles that do close stay
#include "compiler/ir/transform/break_circles.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/status.h"
#include "compiler/ir/kernel/kernel.h"
#include "compiler/ir/llvm/attributes.h"
#include "compiler/ir/llvm/calls.h"
#include "compiler/ir/llvm/module.h"

// --- which functions ---------------------------------------------------------

static bool calls(LLVMValueRef function, LLVMValueRef callee) {
  for (LLVMUseRef use = LLVMGetFirstUse(callee); use;
       use = LLVMGetNextUse(use)) {
    LLVMValueRef user = LLVMGetUser(use);
    if (LLVMIsACallInst(user) && mtlc_callee(user) == callee &&
        LLVMGetBasicBlockParent(LLVMGetInstructionParent(user)) == function) {
      return true;
    }
  }
  return false;
}

// Marks for inlining the functions that are mutually recursive with a function.
// True if there is any.
static bool mark_partners(LLVMModuleRef module, LLVMValueRef function) {
  bool any = false;
  for (LLVMValueRef other = LLVMGetFirstFunction(module); other;
       other = LLVMGetNextFunction(other)) {
    if (other != function && !LLVMIsDeclaration(other) &&
        !mtlc_has_attribute(other, "noinline") && calls(function, other) &&
        calls(other, function)) {
      mtlc_set_attribute(other, "alwaysinline", 0);
      any = true;
    }
  }
  return any;
}

// --- comparisons whose answer is known ---------------------------------------

// Possible relations of a number to a constant; LLVM's predicates are sets of
// these.
enum { EQUAL = 1, GREATER = 2, LESS = 4, UNORDERED = 8, ANYHOW = 15 };

typedef struct comparison {
  LLVMValueRef value;
  double constant;
  unsigned outcomes;
} comparison;

static bool read_comparison(LLVMValueRef condition, comparison *out) {
  if (!LLVMIsAFCmpInst(condition) ||
      !LLVMIsAConstantFP(LLVMGetOperand(condition, 1))) {
    return false;
  }
  LLVMBool loses_digits;
  *out = (comparison){
      LLVMGetOperand(condition, 0),
      LLVMConstRealGetDouble(LLVMGetOperand(condition, 1), &loses_digits),
      (unsigned)LLVMGetFCmpPredicate(condition)};
  return !loses_digits && out->constant == out->constant;
}

// Returns the possible relations of a number to another constant.
static unsigned beside(const comparison *known, double constant) {
  const unsigned outcomes = known->outcomes;
  if (constant == known->constant) {
    return outcomes;
  }
  const bool is_above = constant > known->constant;
  const unsigned far = is_above ? GREATER : LESS;
  const unsigned near = is_above ? LESS : GREATER;
  return (outcomes & UNORDERED) |
         (outcomes & far ? EQUAL | GREATER | LESS : 0) |
         (outcomes & (near | EQUAL) ? near : 0);
}

// Returns the one block that leads to block, or NULL.
static LLVMBasicBlockRef only_predecessor(LLVMBasicBlockRef block) {
  LLVMUseRef use = LLVMGetFirstUse(LLVMBasicBlockAsValue(block));
  if (!use || LLVMGetNextUse(use) ||
      !LLVMIsABranchInst(LLVMGetUser(use))) {
    return NULL;
  }
  return LLVMGetInstructionParent(LLVMGetUser(use));
}

static bool is_choice(LLVMValueRef branch) {
  return LLVMIsABranchInst(branch) && LLVMIsConditional(branch);
}

// True if a fact about a number holds for the wanted one: it is the same, or
// its magnitude and not negative.
static bool concerns(const comparison *known, const comparison *asked) {
  if (known->value == asked->value) {
    return true;
  }
  return mtlc_is_call_of(asked->value, "llvm.fabs.") &&
         LLVMGetOperand(asked->value, 0) == known->value &&
         (known->outcomes & (LESS | UNORDERED)) == 0 && known->constant >= 0;
}

// Narrows the relations of a number by the branches on the only path to a
// block.
static unsigned known_outcomes(LLVMBasicBlockRef block,
                               const comparison *asked) {
  enum { MOST_BLOCKS = 64 };
  unsigned outcomes = ANYHOW;
  LLVMBasicBlockRef from = only_predecessor(block);
  for (int i = 0; from && i < MOST_BLOCKS; i++) {
    LLVMValueRef branch = LLVMGetBasicBlockTerminator(from);
    comparison known;
    if (is_choice(branch) &&
        read_comparison(LLVMGetCondition(branch), &known)) {
      if (LLVMGetSuccessor(branch, 0) != block) {
        known.outcomes ^= ANYHOW;
      }
      if (concerns(&known, asked)) {
        outcomes &= beside(&known, asked->constant);
      }
    }
    block = from;
    from = only_predecessor(block);
  }
  return outcomes;
}

static void answer(LLVMBasicBlockRef block) {
  LLVMValueRef branch = LLVMGetBasicBlockTerminator(block);
  comparison asked;
  if (!is_choice(branch) ||
      !read_comparison(LLVMGetCondition(branch), &asked)) {
    return;
  }
  const unsigned outcomes = known_outcomes(block, &asked);
  const bool is_false = (outcomes & asked.outcomes) == 0;
  if (is_false || (outcomes & ~asked.outcomes) == 0) {
    LLVMSetCondition(
        branch, LLVMConstInt(LLVMTypeOf(LLVMGetCondition(branch)), !is_false,
                             false));
  }
}

// --- all of it ---------------------------------------------------------------

mtl_status mtlc_break_circle(mtlc_kernel *kernel, LLVMValueRef function) {
  if (!mark_partners(kernel->module, function)) {
    return MTL_OK;
  }
  MTL_TRY(mtlc_run_llvm_passes(
      kernel, "always-inline,function(sroa<modify-cfg>,early-cse)"));
  for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block;
       block = LLVMGetNextBasicBlock(block)) {
    answer(block);
  }
  return mtlc_run_llvm_passes(kernel, "function(simplifycfg),globaldce");
}
