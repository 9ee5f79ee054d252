// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// contract_arithmetic.c: decides for all tiers which products and sums are
// fused, and removes LLVM's licence to fuse others.
//
// Requires  enter_kernel: both tiers have the same functions inlined
// Leaves    llvm.fma where a product and a sum are one operation; no
//           llvm.fmuladd; no fast-math flags, but arcp of PTX's fast divisions.
//           From here on, every pass must keep each other result to the bit
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/ir/analysis/forward.h"
#include "compiler/ir/kernel/kernel.h"
#include "compiler/ir/llvm/calls.h"
#include "compiler/ir/llvm/instructions.h"
#include "compiler/ir/llvm/names.h"
#include "compiler/ir/llvm/value_list.h"
#include "compiler/passes/passes.h"
#include "compiler/vectorize/target/machine.h"

typedef struct contraction {
  LLVMModuleRef module;
  LLVMBuilderRef builder;
  bool has_fma;
} contraction;

// Half is left out: without half arithmetic in the machine, a fused operation
// would be three conversions and rounded twice.
static bool can_fuse(const contraction *c, LLVMTypeRef type) {
  if (LLVMGetTypeKind(type) == LLVMVectorTypeKind) {
    type = LLVMGetElementType(type);
  }
  return c->has_fma && LLVMGetTypeKind(type) == LLVMFloatTypeKind;
}

static bool may_contract(LLVMValueRef instruction) {
  return (LLVMGetFastMathFlags(instruction) & LLVMFastMathAllowContract) != 0;
}

// Returns the product that a value is, or NULL. Unoptimised code keeps the
// results of a vector's operators in memory, hence the forwarding.
static LLVMValueRef find_product(const contraction *c, LLVMValueRef value) {
  LLVMValueRef source = mtlc_forward(c->module, value);
  const bool is_product = LLVMIsAInstruction(source) &&
                          LLVMGetInstructionOpcode(source) == LLVMFMul &&
                          may_contract(source) &&
                          LLVMTypeOf(source) == LLVMTypeOf(value);
  return is_product ? source : NULL;
}

static LLVMValueRef fused(const contraction *c, LLVMValueRef a, LLVMValueRef b,
                          LLVMValueRef addend) {
  LLVMTypeRef type = LLVMTypeOf(a);
  LLVMValueRef arguments[] = {a, b, addend};
  return mtlc_call_intrinsic(c->builder, "llvm.fma", &type, 1, arguments, 3);
}

// Fuses left + right or left - right if one is a product; the left one first.
static void fuse_sum(contraction *c, LLVMValueRef sum, bool is_difference) {
  LLVMValueRef left = LLVMGetOperand(sum, 0);
  LLVMValueRef right = LLVMGetOperand(sum, 1);
  LLVMValueRef product = find_product(c, left);
  LLVMPositionBuilderBefore(c->builder, sum);
  if (product) {
    LLVMValueRef addend =
        is_difference ? LLVMBuildFNeg(c->builder, right, "") : right;
    mtlc_replace(sum, fused(c, LLVMGetOperand(product, 0),
                            LLVMGetOperand(product, 1), addend));
    return;
  }
  product = find_product(c, right);
  if (product) {
    LLVMValueRef factor = LLVMGetOperand(product, 0);
    if (is_difference) {
      factor = LLVMBuildFNeg(c->builder, factor, "");
    }
    mtlc_replace(sum, fused(c, factor, LLVMGetOperand(product, 1), left));
  }
}

static void contract_instruction(LLVMValueRef instruction, void *context) {
  contraction *c = context;
  const LLVMOpcode opcode = LLVMGetInstructionOpcode(instruction);
  if ((opcode == LLVMFAdd || opcode == LLVMFSub) && may_contract(instruction) &&
      can_fuse(c, LLVMTypeOf(instruction))) {
    fuse_sum(c, instruction, opcode == LLVMFSub);
  }
}

static void lower_fmuladd(contraction *c, LLVMModuleRef module) {
  mtlc_values calls = {0};
  mtlc_collect_calls(module, "llvm.fmuladd.", &calls);
  for (size_t i = 0; i < calls.count; ++i) {
    LLVMValueRef call = calls.items[i];
    LLVMPositionBuilderBefore(c->builder, call);
    LLVMValueRef a = LLVMGetOperand(call, 0);
    LLVMValueRef b = LLVMGetOperand(call, 1);
    LLVMValueRef addend = LLVMGetOperand(call, 2);
    if (can_fuse(c, LLVMTypeOf(call))) {
      mtlc_replace(call, fused(c, a, b, addend));
    } else {
      LLVMValueRef product = LLVMBuildFMul(c->builder, a, b, "");
      mtlc_replace(call, LLVMBuildFAdd(c->builder, product, addend, ""));
    }
  }
  free(calls.items);
}

// A division that may become a product with the reciprocal stays
// (ptx/divide.c).
static LLVMValueRef build_division(LLVMBuilderRef builder,
                                   LLVMValueRef division) {
  const LLVMFastMathFlags kept =
      LLVMGetFastMathFlags(division) & LLVMFastMathAllowReciprocal;
  LLVMValueRef made = LLVMBuildFDiv(builder, LLVMGetOperand(division, 0),
                                    LLVMGetOperand(division, 1), "");
  if (kept && LLVMIsAInstruction(made)) {
    LLVMSetFastMathFlags(made, kept);
  }
  return made;
}

// LLVM's C interface can add fast-math flags but not take them away, so an
// instruction that has some is built anew.
static LLVMValueRef build_without_flags(LLVMBuilderRef builder,
                                        LLVMValueRef instruction) {
  const LLVMOpcode opcode = LLVMGetInstructionOpcode(instruction);
  LLVMValueRef first = LLVMGetOperand(instruction, 0);
  switch (opcode) {
    case LLVMFNeg: return LLVMBuildFNeg(builder, first, "");
    case LLVMFCmp:
      return LLVMBuildFCmp(builder, LLVMGetFCmpPredicate(instruction), first,
                           LLVMGetOperand(instruction, 1), "");
    case LLVMSelect:
      return LLVMBuildSelect(builder, first, LLVMGetOperand(instruction, 1),
                             LLVMGetOperand(instruction, 2), "");
    case LLVMFDiv: return build_division(builder, instruction);
    case LLVMFAdd:
    case LLVMFSub:
    case LLVMFMul:
    case LLVMFRem:
      return LLVMBuildBinOp(builder, opcode, first,
                            LLVMGetOperand(instruction, 1), "");
    default: return NULL;
  }
}

// Only intrinsics: other calls are code of the module, whose instructions have
// their own flags.
static LLVMValueRef build_call_without_flags(LLVMBuilderRef builder,
                                             LLVMValueRef call) {
  enum { MOST_ARGUMENTS = 8 };
  LLVMValueRef callee = mtlc_callee(call);
  const unsigned count = LLVMGetNumArgOperands(call);
  if (!callee || !mtlc_starts_with(mtlc_name(callee), "llvm.") ||
      count > MOST_ARGUMENTS) {
    return NULL;
  }
  LLVMValueRef arguments[MOST_ARGUMENTS];
  for (unsigned i = 0; i < count; ++i) {
    arguments[i] = LLVMGetOperand(call, i);
  }
  return mtlc_call(builder, callee, arguments, count);
}

static void drop_flags(LLVMValueRef instruction, void *context) {
  contraction *c = context;
  if (!LLVMCanValueUseFastMathFlags(instruction) ||
      LLVMGetFastMathFlags(instruction) == LLVMFastMathNone) {
    return;
  }
  LLVMPositionBuilderBefore(c->builder, instruction);
  LLVMValueRef plain = LLVMIsACallInst(instruction)
                           ? build_call_without_flags(c->builder, instruction)
                           : build_without_flags(c->builder, instruction);
  if (plain) {
    mtlc_replace(instruction, plain);
  }
}

mtl_status mtlc_contract_arithmetic(mtlc_kernel *kernel) {
  contraction c = {.module = kernel->module,
                   .builder = LLVMCreateBuilderInContext(kernel->context),
                   .has_fma = lanes_machine_of(kernel->target).has_fma};
  mtlc_for_each_in_module(kernel->module, contract_instruction, &c);
  lower_fmuladd(&c, kernel->module);
  mtlc_for_each_in_module(kernel->module, drop_flags, &c);
  LLVMDisposeBuilder(c.builder);
  return MTL_OK;
}
