// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// births.c: tells whether an operation makes a value that is not finite, which
// its operands do not explain.
#include "compiler/check/check.h"

bool mtlc_is_floating(LLVMTypeRef type) {
  const LLVMTypeKind kind = LLVMGetTypeKind(
      LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LLVMGetElementType(type)
                                                  : type);
  return kind == LLVMFloatTypeKind || kind == LLVMHalfTypeKind;
}

static unsigned count_of(LLVMTypeRef type) {
  return LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LLVMGetVectorSize(type)
                                                     : 1;
}

// Returns an i1, or a vector of them.
static LLVMValueRef are_nan(LLVMBuilderRef builder, LLVMValueRef value) {
  return LLVMBuildFCmp(builder, LLVMRealUNO, value, value, "");
}

static LLVMValueRef are_wild(LLVMBuilderRef builder, LLVMValueRef value) {
  LLVMValueRef zero = LLVMBuildFSub(builder, value, value, "");
  return LLVMBuildFCmp(builder, LLVMRealUNO, zero, zero, "");
}

static LLVMValueRef any(LLVMBuilderRef builder, LLVMValueRef bits) {
  LLVMTypeRef type = LLVMTypeOf(bits);
  if (LLVMGetTypeKind(type) != LLVMVectorTypeKind) {
    return bits;
  }
  LLVMTypeRef number = LLVMIntTypeInContext(LLVMGetTypeContext(type),
                                            LLVMGetVectorSize(type));
  return LLVMBuildICmp(builder, LLVMIntNE,
                       LLVMBuildBitCast(builder, bits, number, ""),
                       LLVMConstNull(number), "");
}

LLVMValueRef mtlc_any_wild(LLVMBuilderRef builder, LLVMValueRef value) {
  return any(builder, are_wild(builder, value));
}

static LLVMValueRef without(LLVMBuilderRef builder, LLVMValueRef bits,
                            LLVMValueRef others) {
  return LLVMBuildAnd(builder, bits, LLVMBuildNot(builder, others, ""), "");
}

LLVMValueRef mtlc_is_born(LLVMBuilderRef builder, LLVMValueRef operation) {
  const unsigned count = LLVMIsACallInst(operation)
                             ? LLVMGetNumArgOperands(operation)
                             : (unsigned)LLVMGetNumOperands(operation);
  const unsigned width = count_of(LLVMTypeOf(operation));
  LLVMValueRef wild = are_wild(builder, operation);
  LLVMValueRef nan = are_nan(builder, operation);
  for (unsigned i = 0; i < count; ++i) {
    LLVMValueRef operand = LLVMGetOperand(operation, i);
    LLVMTypeRef type = LLVMTypeOf(operand);
    if (!mtlc_is_floating(type)) {
      continue;
    }
    if (count_of(type) != width) {  // one for all, or all for one
      wild = any(builder, wild);
      nan = any(builder, nan);
      wild = without(builder, wild, any(builder, are_wild(builder, operand)));
      nan = without(builder, nan, any(builder, are_nan(builder, operand)));
    } else {
      LLVMValueRef operand_wild = are_wild(builder, operand);
      LLVMValueRef operand_nan = are_nan(builder, operand);
      const bool is_one = LLVMTypeOf(wild) != LLVMTypeOf(operand_wild);
      wild = without(builder, wild,
                     is_one ? any(builder, operand_wild) : operand_wild);
      nan = without(builder, nan,
                    is_one ? any(builder, operand_nan) : operand_nan);
    }
  }
  return LLVMBuildOr(builder, any(builder, wild), any(builder, nan), "");
}
