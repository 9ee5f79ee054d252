// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// define_arithmetic.c: gives every integer operation and conversion a result
// for every operand, as docs/ir.md states them, and the fourth element of a
// vector of three, which is padding, the value 0.
//
// Requires  nothing has been optimised, so that nothing was concluded from
//           undefined behaviour yet
// Leaves    no division that can trap, no shift by the width or more, no
//           float to integer conversion out of range, no integer to half
//           that LLVM might take for exact
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "compiler/ir/analysis/forward.h"
#include "compiler/ir/kernel/kernel.h"
#include "compiler/ir/llvm/calls.h"
#include "compiler/ir/llvm/instructions.h"
#include "compiler/ir/llvm/types.h"
#include "compiler/passes/passes.h"

typedef struct arithmetic {
  LLVMModuleRef module;
  LLVMBuilderRef builder;
} arithmetic;

static LLVMValueRef splat(LLVMTypeRef type, int64_t value) {
  if (LLVMGetTypeKind(type) != LLVMVectorTypeKind) {
    return LLVMConstInt(type, (uint64_t)value, true);
  }
  enum { MOST_ELEMENTS = 64 };
  LLVMValueRef elements[MOST_ELEMENTS];
  const unsigned count = LLVMGetVectorSize(type);
  for (unsigned i = 0; i < count && i < MOST_ELEMENTS; ++i) {
    elements[i] = LLVMConstInt(LLVMGetElementType(type), (uint64_t)value, true);
  }
  return LLVMConstVector(elements, count);
}

static unsigned element_bits(LLVMTypeRef type) {
  return LLVMGetIntTypeWidth(mtlc_element_of(type));
}

// True if every element of a constant is within first to last, unsigned.
static bool constant_within(LLVMValueRef value, uint64_t first, uint64_t last) {
  if (LLVMIsAConstantInt(value)) {
    if (element_bits(LLVMTypeOf(value)) > 64) {
      return false;
    }
    const uint64_t bits = LLVMConstIntGetZExtValue(value);
    return bits >= first && bits <= last;
  }
  LLVMTypeRef type = LLVMTypeOf(value);
  if (!LLVMIsConstant(value) || LLVMGetTypeKind(type) != LLVMVectorTypeKind) {
    return false;
  }
  for (unsigned i = 0; i < LLVMGetVectorSize(type); ++i) {
    LLVMValueRef element = LLVMGetAggregateElement(value, i);
    if (!element || !LLVMIsAConstantInt(element) ||
        !constant_within(element, first, last)) {
      return false;
    }
  }
  return true;
}

// A divisor that neither is 0 nor, where signed, -1: 1 stands in for those.
// With 1, a remainder is already right for both; a quotient is put right after.
static void define_division(arithmetic *a, LLVMValueRef instruction,
                            bool is_signed, bool is_remainder) {
  LLVMValueRef left = LLVMGetOperand(instruction, 0);
  LLVMValueRef right = LLVMGetOperand(instruction, 1);
  LLVMTypeRef type = LLVMTypeOf(right);
  const unsigned bits = element_bits(type);
  const uint64_t all = bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
  if (constant_within(right, 1, is_signed ? all - 1 : all)) {
    return;
  }
  LLVMBuilderRef builder = a->builder;
  LLVMValueRef zero = splat(type, 0);
  LLVMValueRef one = splat(type, 1);
  LLVMValueRef is_zero = LLVMBuildICmp(builder, LLVMIntEQ, right, zero, "");
  LLVMValueRef divisor = LLVMBuildSelect(builder, is_zero, one, right, "");
  LLVMValueRef is_minus_one = NULL;
  if (is_signed) {
    is_minus_one =
        LLVMBuildICmp(builder, LLVMIntEQ, right, splat(type, -1), "");
    divisor = LLVMBuildSelect(builder, is_minus_one, one, divisor, "");
  }
  LLVMValueRef result = LLVMBuildBinOp(
      builder, LLVMGetInstructionOpcode(instruction), left, divisor, "");
  if (!is_remainder) {
    if (is_signed) {
      LLVMValueRef negative = LLVMBuildNeg(builder, left, "");
      result = LLVMBuildSelect(builder, is_minus_one, negative, result, "");
    }
    result = LLVMBuildSelect(builder, is_zero, zero, result, "");
  }
  mtlc_replace(instruction, result);
}

static void define_shift(arithmetic *a, LLVMValueRef instruction) {
  LLVMValueRef amount = LLVMGetOperand(instruction, 1);
  LLVMTypeRef type = LLVMTypeOf(amount);
  const unsigned bits = element_bits(type);
  if (constant_within(amount, 0, bits - 1)) {
    return;
  }
  LLVMValueRef masked =
      LLVMBuildAnd(a->builder, amount, splat(type, bits - 1), "");
  LLVMSetOperand(instruction, 1, masked);
}

static bool is_half(LLVMTypeRef type) {
  return LLVMGetTypeKind(mtlc_element_of(type)) == LLVMHalfTypeKind;
}

static LLVMTypeRef float_like(LLVMTypeRef type) {
  LLVMTypeRef element = LLVMFloatTypeInContext(LLVMGetTypeContext(type));
  return LLVMGetTypeKind(type) == LLVMVectorTypeKind
             ? LLVMVectorType(element, LLVMGetVectorSize(type))
             : element;
}

// A half becomes a short by way of float: LLVM 19 makes -32768 of a scalar NaN
// where the machine has half arithmetic.
static void define_conversion(arithmetic *a, LLVMValueRef instruction,
                              const char *saturating) {
  LLVMValueRef value = LLVMGetOperand(instruction, 0);
  LLVMTypeRef from = LLVMTypeOf(value);
  if (is_half(from) && element_bits(LLVMTypeOf(instruction)) == 16) {
    value = LLVMBuildFPExt(a->builder, value, float_like(from), "");
  }
  LLVMTypeRef overloads[] = {LLVMTypeOf(instruction), LLVMTypeOf(value)};
  mtlc_replace(instruction, mtlc_call_intrinsic(a->builder, saturating,
                                                overloads, 2, &value, 1));
}

// True if a value was an integer that may be too large for half.
static bool was_wide(const arithmetic *a, LLVMValueRef value) {
  LLVMValueRef source = mtlc_forward(a->module, value);
  return (LLVMIsAUIToFPInst(source) || LLVMIsASIToFPInst(source)) &&
         element_bits(LLVMTypeOf(LLVMGetOperand(source, 0))) > 16;
}

static LLVMValueRef fenced(arithmetic *a, LLVMValueRef value) {
  LLVMTypeRef type = LLVMTypeOf(value);
  return mtlc_call_intrinsic(a->builder, "llvm.arithmetic.fence", &type, 1,
                             &value, 1);
}

// Rounds an integer to half behind an optimisation barrier. LLVM 19 assumes
// that half holds any integer of few bits exactly, even 2^20, which is infinity
// in half: widened again, it would stay finite.
static void define_rounding(arithmetic *a, LLVMValueRef instruction) {
  LLVMValueRef value = LLVMGetOperand(instruction, 0);
  if (is_half(LLVMTypeOf(instruction)) && was_wide(a, value)) {
    LLVMSetOperand(instruction, 0, fenced(a, value));
  }
}

// Converts through float, since only numbers that are infinite as half are
// rounded differently.
static void define_widest(arithmetic *a, LLVMValueRef instruction) {
  LLVMTypeRef type = LLVMTypeOf(instruction);
  LLVMValueRef value = LLVMGetOperand(instruction, 0);
  if (!is_half(type) || element_bits(LLVMTypeOf(value)) <= 16) {
    return;
  }
  LLVMTypeRef wide = float_like(type);
  LLVMValueRef number =
      LLVMIsASIToFPInst(instruction)
          ? LLVMBuildSIToFP(a->builder, value, wide, "")
          : LLVMBuildUIToFP(a->builder, value, wide, "");
  mtlc_replace(instruction,
               LLVMBuildFPTrunc(a->builder, fenced(a, number), type, ""));
}

// clang widens three elements to four before it stores them, with poison for
// the fourth. What reads all bytes at once, as an argument passed as an integer
// does, would be poison as a whole.
static void define_padding(arithmetic *a, LLVMValueRef shuffle) {
  LLVMValueRef three = LLVMGetOperand(shuffle, 0);
  if (LLVMGetNumMaskElements(shuffle) != 4 ||
      LLVMGetVectorSize(LLVMTypeOf(three)) != 3 ||
      LLVMGetMaskValue(shuffle, 3) != LLVMGetUndefMaskElem()) {
    return;
  }
  LLVMTypeRef index = LLVMInt32TypeInContext(
      LLVMGetTypeContext(LLVMTypeOf(three)));
  LLVMValueRef mask[4];
  for (unsigned i = 0; i < 4; ++i) {
    const int from = LLVMGetMaskValue(shuffle, i);
    mask[i] = LLVMConstInt(index, i < 3 ? (unsigned)from : 3, false);
    if (i < 3 && (from < 0 || from > 2)) {
      return;
    }
  }
  mtlc_replace(shuffle, LLVMBuildShuffleVector(
                            a->builder, three,
                            LLVMConstNull(LLVMTypeOf(three)),
                            LLVMConstVector(mask, 4), ""));
}

static void define_instruction(LLVMValueRef instruction, void *context) {
  arithmetic *a = context;
  const LLVMOpcode opcode = LLVMGetInstructionOpcode(instruction);
  LLVMPositionBuilderBefore(a->builder, instruction);
  switch (opcode) {
    case LLVMUDiv: define_division(a, instruction, false, false); break;
    case LLVMSDiv: define_division(a, instruction, true, false); break;
    case LLVMURem: define_division(a, instruction, false, true); break;
    case LLVMSRem: define_division(a, instruction, true, true); break;
    case LLVMShl:
    case LLVMLShr:
    case LLVMAShr: define_shift(a, instruction); break;
    case LLVMShuffleVector: define_padding(a, instruction); break;
    case LLVMFPToSI:
      define_conversion(a, instruction, "llvm.fptosi.sat");
      break;
    case LLVMFPToUI:
      define_conversion(a, instruction, "llvm.fptoui.sat");
      break;
    case LLVMFPTrunc: define_rounding(a, instruction); break;
    case LLVMSIToFP:
    case LLVMUIToFP: define_widest(a, instruction); break;
    default: break;
  }
}

mtl_status mtlc_define_arithmetic(mtlc_kernel *kernel) {
  arithmetic a = {.module = kernel->module,
                  .builder = LLVMCreateBuilderInContext(kernel->context)};
  mtlc_for_each_in_module(kernel->module, define_instruction, &a);
  LLVMDisposeBuilder(a.builder);
  return MTL_OK;
}
