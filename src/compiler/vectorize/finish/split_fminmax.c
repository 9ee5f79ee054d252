// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// split_fminmax.c: splits fmin and fmax into a minimum or maximum, one machine
// instruction, and a select for NaN. LLVM's optimiser merges the two
// conditions: a comparison and an or replace the minimum or maximum, each
// waiting for the one before.
//
// Requires  a module that nothing optimises any more
// Leaves    x is a NaN or x < y ? y : x, as x is a NaN ? y : x < y ? y : x, and
//           where x or y is known for a number, without asking
#include "compiler/vectorize/finish/split_fminmax.h"

#include <stdbool.h>
#include <stddef.h>

#include "compiler/ir/kernel/kernel.h"
#include "compiler/ir/llvm/instructions.h"

// --- The pattern -------------------------------------------------------------

static bool is_comparison(LLVMValueRef value) {
  return LLVMIsAFCmpInst(value) != NULL;
}

// Matches `a or b`, in either of its forms.
static bool take_either(LLVMValueRef value, LLVMValueRef out_parts[2]) {
  if (LLVMIsAInstruction(value) &&
      LLVMGetInstructionOpcode(value) == LLVMOr) {
    out_parts[0] = LLVMGetOperand(value, 0);
    out_parts[1] = LLVMGetOperand(value, 1);
  } else if (LLVMIsASelectInst(value) &&
             LLVMGetOperand(value, 1) == LLVMConstAllOnes(LLVMTypeOf(value))) {
    out_parts[0] = LLVMGetOperand(value, 0);
    out_parts[1] = LLVMGetOperand(value, 2);
  } else {
    return false;
  }
  return is_comparison(out_parts[0]) && is_comparison(out_parts[1]);
}

static bool is_nan_test(LLVMValueRef comparison, LLVMValueRef x) {
  return LLVMGetFCmpPredicate(comparison) == LLVMRealUNO &&
         LLVMGetOperand(comparison, 0) == x &&
         LLVMGetOperand(comparison, 1) == LLVMConstNull(LLVMTypeOf(x));
}

static bool is_less_or_greater(LLVMValueRef comparison, LLVMValueRef x,
                               LLVMValueRef y) {
  LLVMValueRef a = LLVMGetOperand(comparison, 0);
  LLVMValueRef b = LLVMGetOperand(comparison, 1);
  if (!(a == x && b == y) && !(a == y && b == x)) {
    return false;
  }
  switch (LLVMGetFCmpPredicate(comparison)) {
    case LLVMRealOLT:
    case LLVMRealOGT: return true;
    default: return false;
  }
}

// --- Which values are numbers, not NaN --------------------------------------

// A search through values. Phis on the way are assumed to be numbers: a
// loop-carried value is one if it starts as one and each iteration makes one of
// it.
typedef struct search {
  LLVMValueRef phis[8];
  uint32_t phi_count;
  uint32_t steps_left;
} search;

enum { MOST_STEPS = 64 };

static bool is_number(search *s, LLVMValueRef value);

static bool is_constant_number(LLVMValueRef constant) {
  if (LLVMIsAConstantFP(constant)) {
    LLVMBool is_inexact;
    const double value = LLVMConstRealGetDouble(constant, &is_inexact);
    return value == value;
  }
  if (LLVMIsAConstantDataVector(constant)) {
    const unsigned count = LLVMGetVectorSize(LLVMTypeOf(constant));
    bool are_numbers = true;
    for (unsigned k = 0; k < count && are_numbers; k++) {
      are_numbers = is_constant_number(LLVMGetAggregateElement(constant, k));
    }
    return are_numbers;
  }
  return LLVMIsAConstantAggregateZero(constant) != NULL;
}

static bool is_number_phi(search *s, LLVMValueRef phi) {
  for (uint32_t k = 0; k < s->phi_count; k++) {
    if (s->phis[k] == phi) {
      return true;
    }
  }
  if (s->phi_count == sizeof s->phis / sizeof *s->phis) {
    return false;
  }
  s->phis[s->phi_count++] = phi;
  for (unsigned k = 0; k < LLVMCountIncoming(phi); k++) {
    if (!is_number(s, LLVMGetIncomingValue(phi, k))) {
      return false;
    }
  }
  return true;
}

// True if a comparison that holds implies that value is a number.
static bool implies_number(LLVMValueRef comparison, LLVMValueRef value) {
  const LLVMRealPredicate predicate = LLVMGetFCmpPredicate(comparison);
  return predicate >= LLVMRealOEQ && predicate <= LLVMRealORD &&
         (LLVMGetOperand(comparison, 0) == value ||
          LLVMGetOperand(comparison, 1) == value);
}

static bool is_number_choice(search *s, LLVMValueRef choice) {
  LLVMValueRef condition = LLVMGetOperand(choice, 0);
  LLVMValueRef yes = LLVMGetOperand(choice, 1);
  LLVMValueRef no = LLVMGetOperand(choice, 2);
  LLVMValueRef parts[2];
  bool is_yes = false, is_no = false;
  if (is_comparison(condition)) {
    is_yes = implies_number(condition, yes);
    is_no = is_nan_test(condition, no);
  } else if (take_either(condition, parts)) {
    const uint32_t nan = is_nan_test(parts[1], no);
    is_no = is_nan_test(parts[nan], no);
    is_yes = is_no && implies_number(parts[!nan], yes) && is_number(s, no);
  }
  return (is_yes || is_number(s, yes)) && (is_no || is_number(s, no));
}

static bool is_number(search *s, LLVMValueRef value) {
  if (!s->steps_left) {
    return false;
  }
  s->steps_left--;
  if (LLVMIsConstant(value)) {
    return is_constant_number(value);
  }
  if (LLVMIsAPHINode(value)) {
    return is_number_phi(s, value);
  }
  return LLVMIsASelectInst(value) && is_number_choice(s, value);
}

// --- The pass ----------------------------------------------------------------

// Returns the condition that selects x, given that y is a number: x is not
// less, or not greater, and no NaN.
static LLVMValueRef keeps_x(LLVMBuilderRef b, LLVMValueRef comparison) {
  return LLVMBuildFCmp(b,
                       LLVMGetFCmpPredicate(comparison) == LLVMRealOLT
                           ? LLVMRealOGE
                           : LLVMRealOLE,
                       LLVMGetOperand(comparison, 0),
                       LLVMGetOperand(comparison, 1), "");
}

static void erase_unused(LLVMValueRef instruction) {
  if (!LLVMGetFirstUse(instruction)) {
    LLVMInstructionEraseFromParent(instruction);
  }
}

// Visits an instruction with the builder.
static void restore(LLVMValueRef choice, void *context) {
  LLVMBuilderRef b = context;
  if (!LLVMIsASelectInst(choice)) {
    return;
  }
  LLVMValueRef either = LLVMGetOperand(choice, 0);
  LLVMValueRef y = LLVMGetOperand(choice, 1);
  LLVMValueRef x = LLVMGetOperand(choice, 2);
  LLVMValueRef parts[2];
  if (!take_either(either, parts)) {
    return;
  }
  const uint32_t nan = is_nan_test(parts[1], x);
  LLVMValueRef comparison = parts[!nan];
  if (!is_nan_test(parts[nan], x) || !is_less_or_greater(comparison, x, y)) {
    return;
  }
  LLVMPositionBuilderBefore(b, choice);
  if (is_number(&(search){.steps_left = MOST_STEPS}, x)) {
    LLVMSetOperand(choice, 0, comparison);
  } else if (is_number(&(search){.steps_left = MOST_STEPS}, y)) {
    LLVMSetOperand(choice, 0, keeps_x(b, comparison));
    LLVMSetOperand(choice, 1, x);
    LLVMSetOperand(choice, 2, y);
  } else {
    LLVMSetOperand(choice, 0, parts[nan]);
    LLVMSetOperand(choice, 2, LLVMBuildSelect(b, comparison, y, x, ""));
  }
  erase_unused(either);
  erase_unused(parts[nan]);
}

mtl_status mtlc_split_fminmax(mtlc_kernel *kernel) {
  LLVMBuilderRef builder = LLVMCreateBuilderInContext(kernel->context);
  mtlc_for_each_in_module(kernel->module, restore, builder);
  LLVMDisposeBuilder(builder);
  return MTL_OK;
}
