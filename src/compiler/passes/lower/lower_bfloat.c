// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// lower_bfloat.c: computes bfloat arithmetic in float and rounds to nearest
// even. Machines' own instructions differ (some flush subnormals), so none is
// used. What concerns the sign alone is done on the bits, as LLVM makes fabs,
// fneg and copysign of masks again: then this runs again.
//
// Leaves    bfloat only as what is loaded, stored, chosen and moved
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "compiler/ir/kernel/kernel.h"
#include "compiler/ir/llvm/calls.h"
#include "compiler/ir/llvm/instructions.h"
#include "compiler/ir/llvm/types.h"
#include "compiler/passes/passes.h"

typedef struct bfloat_lowering {
  mtlc_types types;
  LLVMTypeRef bfloat;
  LLVMBuilderRef builder;
} bfloat_lowering;

static bool is_bfloat(const bfloat_lowering *b, LLVMValueRef value) {
  return mtlc_element_of(LLVMTypeOf(value)) == b->bfloat;
}

// Returns the type with as many elements as like has.
static LLVMTypeRef shaped(LLVMTypeRef element, LLVMTypeRef like) {
  return LLVMGetTypeKind(like) == LLVMVectorTypeKind
             ? LLVMVectorType(element, LLVMGetVectorSize(like))
             : element;
}

static LLVMValueRef number(LLVMTypeRef type, uint32_t value) {
  LLVMValueRef one = LLVMConstInt(mtlc_element_of(type), value, false);
  if (LLVMGetTypeKind(type) != LLVMVectorTypeKind) {
    return one;
  }
  enum { MOST_ELEMENTS = 64 };
  LLVMValueRef all[MOST_ELEMENTS];
  for (unsigned i = 0; i < LLVMGetVectorSize(type); ++i) {
    all[i] = one;
  }
  return LLVMConstVector(all, LLVMGetVectorSize(type));
}

// Widens a bfloat, which is the upper half of a float.
static LLVMValueRef widen(bfloat_lowering *b, LLVMValueRef value) {
  LLVMTypeRef like = LLVMTypeOf(value);
  LLVMTypeRef wide = shaped(b->types.i32, like);
  LLVMValueRef bits =
      LLVMBuildBitCast(b->builder, value, shaped(b->types.i16, like), "");
  bits = LLVMBuildShl(b->builder, LLVMBuildZExt(b->builder, bits, wide, ""),
                      number(wide, 16), "");
  return LLVMBuildBitCast(b->builder, bits, shaped(b->types.f32, like), "");
}

// Rounds to nearest even; a NaN keeps its upper bits and becomes quiet.
static LLVMValueRef narrow(bfloat_lowering *b, LLVMValueRef value) {
  LLVMBuilderRef builder = b->builder;
  LLVMTypeRef like = LLVMTypeOf(value);
  LLVMTypeRef wide = shaped(b->types.i32, like);
  LLVMValueRef sixteen = number(wide, 16);
  LLVMValueRef bits = LLVMBuildBitCast(builder, value, wide, "");
  LLVMValueRef upper = LLVMBuildLShr(builder, bits, sixteen, "");
  LLVMValueRef odd = LLVMBuildAnd(builder, upper, number(wide, 1), "");
  LLVMValueRef half = LLVMBuildAdd(builder, odd, number(wide, 0x7fff), "");
  LLVMValueRef rounded = LLVMBuildLShr(
      builder, LLVMBuildAdd(builder, bits, half, ""), sixteen, "");
  LLVMValueRef quiet = LLVMBuildOr(builder, upper, number(wide, 0x40), "");
  LLVMValueRef is_nan = LLVMBuildFCmp(builder, LLVMRealUNO, value, value, "");
  LLVMValueRef chosen = LLVMBuildSelect(builder, is_nan, quiet, rounded, "");
  LLVMValueRef result =
      LLVMBuildTrunc(builder, chosen, shaped(b->types.i16, like), "");
  return LLVMBuildBitCast(builder, result, shaped(b->bfloat, like), "");
}

static LLVMValueRef widen_operand(bfloat_lowering *b, LLVMValueRef instruction,
                                  unsigned index) {
  return widen(b, LLVMGetOperand(instruction, index));
}

static LLVMValueRef bits_of(bfloat_lowering *b, LLVMValueRef value) {
  return LLVMBuildBitCast(b->builder, value,
                          shaped(b->types.i16, LLVMTypeOf(value)), "");
}

enum { SIGN = 0x8000, MAGNITUDE = 0x7fff };

// Combines a value's bits and a mask.
static LLVMValueRef masked(bfloat_lowering *b, LLVMOpcode opcode,
                           LLVMValueRef value, uint32_t mask) {
  LLVMValueRef bits = bits_of(b, value);
  return LLVMBuildBinOp(b->builder, opcode, bits,
                        number(LLVMTypeOf(bits), mask), "");
}

static LLVMValueRef from_bits(bfloat_lowering *b, LLVMValueRef bits) {
  return LLVMBuildBitCast(b->builder, bits, shaped(b->bfloat, LLVMTypeOf(bits)),
                          "");
}

static LLVMValueRef flags_of(LLVMValueRef from, LLVMValueRef to) {
  if (LLVMIsAInstruction(to) && LLVMCanValueUseFastMathFlags(to)) {
    LLVMSetFastMathFlags(to, LLVMGetFastMathFlags(from));
  }
  return to;
}

static LLVMValueRef lower_from_bfloat(bfloat_lowering *b,
                                      LLVMValueRef instruction) {
  const LLVMOpcode opcode = LLVMGetInstructionOpcode(instruction);
  LLVMTypeRef type = LLVMTypeOf(instruction);
  LLVMValueRef wide = widen_operand(b, instruction, 0);
  switch (opcode) {
    case LLVMFPExt:
      return mtlc_element_of(type) == b->types.f32
                 ? wide
                 : LLVMBuildFPExt(b->builder, wide, type, "");
    case LLVMFPTrunc: return LLVMBuildFPTrunc(b->builder, wide, type, "");
    case LLVMFPToSI: return LLVMBuildFPToSI(b->builder, wide, type, "");
    case LLVMFPToUI: return LLVMBuildFPToUI(b->builder, wide, type, "");
    case LLVMFCmp:
      return flags_of(
          instruction,
          LLVMBuildFCmp(b->builder, LLVMGetFCmpPredicate(instruction), wide,
                        widen_operand(b, instruction, 1), ""));
    default: return NULL;
  }
}

static LLVMValueRef lower_to_bfloat(bfloat_lowering *b,
                                    LLVMValueRef instruction) {
  const LLVMOpcode opcode = LLVMGetInstructionOpcode(instruction);
  LLVMValueRef value = LLVMGetOperand(instruction, 0);
  LLVMTypeRef wide = shaped(b->types.f32, LLVMTypeOf(instruction));
  switch (opcode) {
    case LLVMFPTrunc:
      return mtlc_element_of(LLVMTypeOf(value)) == b->types.f32
                 ? narrow(b, value)
                 : NULL;
    case LLVMFPExt:
      return narrow(b, LLVMBuildFPExt(b->builder, value, wide, ""));
    case LLVMSIToFP:
      return narrow(b, LLVMBuildSIToFP(b->builder, value, wide, ""));
    case LLVMUIToFP:
      return narrow(b, LLVMBuildUIToFP(b->builder, value, wide, ""));
    case LLVMFNeg: return from_bits(b, masked(b, LLVMXor, value, SIGN));
    case LLVMFAdd:
    case LLVMFSub:
    case LLVMFMul:
    case LLVMFDiv:
    case LLVMFRem:
      return narrow(b, LLVMBuildBinOp(b->builder, opcode,
                                      widen_operand(b, instruction, 0),
                                      widen_operand(b, instruction, 1), ""));
    default: return NULL;
  }
}

// Intrinsics that concern the sign alone.
static LLVMValueRef lower_sign(bfloat_lowering *b, LLVMValueRef call,
                               const char *name) {
  LLVMValueRef magnitude =
      masked(b, LLVMAnd, LLVMGetOperand(call, 0), MAGNITUDE);
  if (strcmp(name, "llvm.fabs") == 0) {
    return from_bits(b, magnitude);
  }
  LLVMValueRef sign = masked(b, LLVMAnd, LLVMGetOperand(call, 1), SIGN);
  return from_bits(b, LLVMBuildOr(b->builder, magnitude, sign, ""));
}

// Intrinsics from bfloat to bfloat, by those of float.
static LLVMValueRef lower_intrinsic(bfloat_lowering *b, LLVMValueRef call) {
  enum { MOST_ARGUMENTS = 4 };
  LLVMValueRef callee = mtlc_callee(call);
  const unsigned count = LLVMGetNumArgOperands(call);
  const unsigned id = callee ? LLVMGetIntrinsicID(callee) : 0;
  if (id == 0 || !is_bfloat(b, call) || count > MOST_ARGUMENTS) {
    return NULL;
  }
  size_t length;
  const char *name = LLVMIntrinsicGetName(id, &length);
  if (strcmp(name, "llvm.fabs") == 0 || strcmp(name, "llvm.copysign") == 0) {
    return lower_sign(b, call, name);
  }
  LLVMValueRef arguments[MOST_ARGUMENTS];
  for (unsigned i = 0; i < count; ++i) {
    if (!is_bfloat(b, LLVMGetOperand(call, i))) {
      return NULL;
    }
    arguments[i] = widen_operand(b, call, i);
  }
  LLVMTypeRef wide = shaped(b->types.f32, LLVMTypeOf(call));
  return narrow(
      b, mtlc_call_intrinsic(b->builder, name, &wide, 1, arguments, count));
}

static void lower_instruction(LLVMValueRef instruction, void *context) {
  bfloat_lowering *b = context;
  LLVMValueRef lowered = NULL;
  LLVMPositionBuilderBefore(b->builder, instruction);
  if (LLVMIsACallInst(instruction)) {
    lowered = lower_intrinsic(b, instruction);
  } else if (is_bfloat(b, instruction)) {
    lowered = lower_to_bfloat(b, instruction);
  } else if (LLVMGetNumOperands(instruction) > 0 &&
             !LLVMIsATerminatorInst(instruction) &&
             is_bfloat(b, LLVMGetOperand(instruction, 0))) {
    lowered = lower_from_bfloat(b, instruction);
  }
  if (lowered) {
    mtlc_replace(instruction, lowered);
  }
}

mtl_status mtlc_lower_bfloat(mtlc_kernel *kernel) {
  bfloat_lowering b = {.types = mtlc_types_of(kernel->context),
                       .bfloat = LLVMBFloatTypeInContext(kernel->context),
                       .builder = LLVMCreateBuilderInContext(kernel->context)};
  mtlc_for_each_in_module(kernel->module, lower_instruction, &b);
  LLVMDisposeBuilder(b.builder);
  return MTL_OK;
}
