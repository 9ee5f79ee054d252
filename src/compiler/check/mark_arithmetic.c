// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// mark_arithmetic.c: marks divisions by zero and shifts by too much, which
// define_arithmetic is about to give values.
//
// Requires  lower_bfloat
// Leaves    calls of MTLC_INTEGER_MARK, if MTLI_CHECK_INTEGER is asked for
#include <llvm-c/DebugInfo.h>
#include <stdlib.h>

#include "base/status.h"
#include "compiler/check/check.h"

static void collect(LLVMValueRef instruction, void *context) {
  if (!LLVMIsABinaryOperator(instruction) ||
      LLVMIsConstant(LLVMGetOperand(instruction, 1))) {
    return;
  }
  switch (LLVMGetInstructionOpcode(instruction)) {
    case LLVMUDiv:
    case LLVMSDiv:
    case LLVMURem:
    case LLVMSRem:
    case LLVMShl:
    case LLVMLShr:
    case LLVMAShr: mtlc_values_add(context, instruction); return;
    default: return;
  }
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

static LLVMValueRef width_of(LLVMTypeRef type) {
  if (LLVMGetTypeKind(type) != LLVMVectorTypeKind) {
    return LLVMConstInt(type, LLVMGetIntTypeWidth(type), false);
  }
  LLVMTypeRef element = LLVMGetElementType(type);
  LLVMValueRef items[64];
  const unsigned count = LLVMGetVectorSize(type);
  for (unsigned i = 0; i < count && i < 64; ++i) {
    items[i] = LLVMConstInt(element, LLVMGetIntTypeWidth(element), false);
  }
  return LLVMConstVector(items, count);
}

static void mark(mtlc_kernel *kernel, LLVMBuilderRef builder,
                 LLVMValueRef function, LLVMValueRef operation) {
  const LLVMOpcode opcode = LLVMGetInstructionOpcode(operation);
  const bool is_shift =
      opcode == LLVMShl || opcode == LLVMLShr || opcode == LLVMAShr;
  LLVMValueRef right = LLVMGetOperand(operation, 1);
  LLVMTypeRef type = LLVMTypeOf(right);
  LLVMPositionBuilderBefore(builder, operation);
  LLVMSetCurrentDebugLocation2(builder, LLVMInstructionGetDebugLoc(operation));
  LLVMValueRef is_bad =
      is_shift
          ? LLVMBuildICmp(builder, LLVMIntUGE, right, width_of(type), "")
          : LLVMBuildICmp(builder, LLVMIntEQ, right, LLVMConstNull(type), "");
  LLVMValueRef arguments[] = {mtlc_i32(kernel->context, is_shift),
                              any(builder, is_bad)};
  mtlc_call(builder, function, arguments, 2);
}

mtl_status mtlc_mark_arithmetic(mtlc_kernel *kernel) {
  if (!(kernel->checks & MTLI_CHECK_INTEGER)) {
    return MTL_OK;
  }
  const mtlc_types types = mtlc_types_of(kernel->context);
  LLVMTypeRef parameters[] = {types.i32, types.i1};
  LLVMValueRef function =
      mtlc_declare(kernel->module, MTLC_INTEGER_MARK,
                   LLVMFunctionType(types.nothing, parameters, 2, false));
  mtlc_set_attribute(function, "nounwind", 0);
  LLVMBuilderRef builder = LLVMCreateBuilderInContext(kernel->context);
  mtlc_values operations = {0};
  // The program's own functions: those of the library know what they do.
  for (LLVMValueRef f = LLVMGetFirstFunction(kernel->module); f;
       f = LLVMGetNextFunction(f)) {
    if (LLVMGetSubprogram(f)) {
      mtlc_for_each_instruction(f, collect, &operations);
    }
  }
  for (size_t i = 0; i < operations.count; ++i) {
    mark(kernel, builder, function, operations.items[i]);
  }
  free(operations.items);
  LLVMDisposeBuilder(builder);
  return MTL_OK;
}
