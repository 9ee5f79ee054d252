// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// mark_arithmetic.c: marks divisions by zero and shifts by too much, which
// define_arithmetic is about to give values, and functions of the library that
// make a value that is not finite, before they are inlined.
//
// Requires  lower_bfloat
// Leaves    calls of MTLC_ARITHMETIC_MARK, as MTLI_CHECK_INTEGER and _NAN ask
#include <llvm-c/DebugInfo.h>
#include <stdlib.h>

#include "base/status.h"
#include "compiler/check/check.h"

typedef struct marking {
  mtlc_kernel *kernel;
  LLVMBuilderRef builder;
  LLVMValueRef function;  // MTLC_ARITHMETIC_MARK
  mtlc_values operations;
} marking;

static bool wants(const marking *m, unsigned check) {
  return (m->kernel->checks & check) != 0;
}

static bool is_division(LLVMOpcode opcode) {
  return opcode == LLVMUDiv || opcode == LLVMSDiv || opcode == LLVMURem ||
         opcode == LLVMSRem;
}

static bool is_shift(LLVMOpcode opcode) {
  return opcode == LLVMShl || opcode == LLVMLShr || opcode == LLVMAShr;
}

static void collect(LLVMValueRef instruction, void *context) {
  marking *m = context;
  const LLVMOpcode opcode = LLVMGetInstructionOpcode(instruction);
  if ((is_division(opcode) || is_shift(opcode)) &&
      wants(m, MTLI_CHECK_INTEGER) &&
      !LLVMIsConstant(LLVMGetOperand(instruction, 1))) {
    mtlc_values_add(&m->operations, instruction);
  }
  LLVMValueRef callee = mtlc_callee(instruction);
  if (callee && wants(m, MTLI_CHECK_NAN) && !LLVMIsDeclaration(callee) &&
      !LLVMGetSubprogram(callee) && mtlc_is_floating(LLVMTypeOf(instruction))) {
    mtlc_values_add(&m->operations, instruction);
  }
}

// The operators of integer vectors are functions of the library:
// metal::operator/ and so on.
static bool is_operator(LLVMValueRef function) {
  static const char *const names[] = {"dv", "rm", "ls", "rs",
                                      "dV", "rM", "lS", "rS"};
  static const char prefix[] = "_ZN5metal";
  const char *name = mtlc_name(function);
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
    if (mtlc_starts_with(name, prefix) &&
        mtlc_starts_with(name + sizeof prefix - 1, names[i])) {
      return true;
    }
  }
  return false;
}

static LLVMValueRef any(LLVMBuilderRef builder, LLVMValueRef bits) {
  LLVMTypeRef type = LLVMTypeOf(bits);
  if (LLVMGetTypeKind(type) != LLVMVectorTypeKind) {
    return bits;
  }
  LLVMTypeRef number =
      LLVMIntTypeInContext(LLVMGetTypeContext(type), LLVMGetVectorSize(type));
  return LLVMBuildICmp(builder, LLVMIntNE,
                       LLVMBuildBitCast(builder, bits, number, ""),
                       LLVMConstNull(number), "");
}

// Returns a value in each element of an integer or vector type.
static LLVMValueRef splat(LLVMTypeRef type, unsigned long long value) {
  if (LLVMGetTypeKind(type) != LLVMVectorTypeKind) {
    return LLVMConstInt(type, value, false);
  }
  LLVMValueRef items[64];
  const unsigned count = LLVMGetVectorSize(type);
  for (unsigned i = 0; i < count && i < 64; ++i) {
    items[i] = LLVMConstInt(LLVMGetElementType(type), value, false);
  }
  return LLVMConstVector(items, count);
}

static unsigned width_of(LLVMTypeRef type) {
  return LLVMGetIntTypeWidth(LLVMGetTypeKind(type) == LLVMVectorTypeKind
                                 ? LLVMGetElementType(type)
                                 : type);
}

static void mark(const marking *m, uint32_t what, LLVMValueRef is_bad) {
  LLVMValueRef arguments[] = {mtlc_i32(m->kernel->context, what),
                              any(m->builder, is_bad)};
  mtlc_call(m->builder, m->function, arguments, 2);
}

static void mark_integer(const marking *m, LLVMValueRef operation) {
  const LLVMOpcode opcode = LLVMGetInstructionOpcode(operation);
  LLVMValueRef left = LLVMGetOperand(operation, 0);
  LLVMValueRef right = LLVMGetOperand(operation, 1);
  LLVMTypeRef type = LLVMTypeOf(right);
  const unsigned width = width_of(type);
  LLVMPositionBuilderBefore(m->builder, operation);
  if (is_shift(opcode)) {
    mark(m, MTLI_CHECK_SHIFT,
         LLVMBuildICmp(m->builder, LLVMIntUGE, right, splat(type, width), ""));
    return;
  }
  mark(m, MTLI_CHECK_DIVISION,
       LLVMBuildICmp(m->builder, LLVMIntEQ, right, LLVMConstNull(type), ""));
  if (opcode == LLVMSDiv || opcode == LLVMSRem) {
    LLVMValueRef is_least = LLVMBuildICmp(m->builder, LLVMIntEQ, left,
                                          splat(type, 1ull << (width - 1)), "");
    LLVMValueRef is_minus_one =
        LLVMBuildICmp(m->builder, LLVMIntEQ, right, LLVMConstAllOnes(type), "");
    mark(m, MTLI_CHECK_OVERFLOW,
         LLVMBuildAnd(m->builder, is_least, is_minus_one, ""));
  }
}

static void mark_operation(const marking *m, LLVMValueRef operation) {
  if (!LLVMIsACallInst(operation)) {
    mark_integer(m, operation);
    return;
  }
  LLVMPositionBuilderBefore(m->builder, LLVMGetNextInstruction(operation));
  LLVMSetCurrentDebugLocation2(m->builder,
                               LLVMInstructionGetDebugLoc(operation));
  mark(m, MTLI_CHECK_BORN, mtlc_is_born(m->builder, operation));
}

mtl_status mtlc_mark_arithmetic(mtlc_kernel *kernel) {
  if (!(kernel->checks & (MTLI_CHECK_INTEGER | MTLI_CHECK_NAN))) {
    return MTL_OK;
  }
  const mtlc_types types = mtlc_types_of(kernel->context);
  LLVMTypeRef parameters[] = {types.i32, types.i1};
  marking m = {.kernel = kernel,
               .builder = LLVMCreateBuilderInContext(kernel->context)};
  m.function =
      mtlc_declare(kernel->module, MTLC_ARITHMETIC_MARK,
                   LLVMFunctionType(types.nothing, parameters, 2, false));
  mtlc_set_attribute(m.function, "nounwind", 0);
  // Only the program's own functions: those of the library are correct.
  for (LLVMValueRef f = LLVMGetFirstFunction(kernel->module); f;
       f = LLVMGetNextFunction(f)) {
    if (LLVMGetSubprogram(f) || is_operator(f)) {
      mtlc_for_each_instruction(f, collect, &m);
    }
  }
  for (size_t i = 0; i < m.operations.count; ++i) {
    mark_operation(&m, m.operations.items[i]);
  }
  free(m.operations.items);
  LLVMDisposeBuilder(m.builder);
  return MTL_OK;
}

// --- values that are not finite ----------------------------------------------

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

// Looks at the exponent's bits: an operation of floating point would be checked
// in its turn.
static LLVMValueRef are_wild(LLVMBuilderRef builder, LLVMValueRef value) {
  LLVMTypeRef type = LLVMTypeOf(value);
  LLVMContextRef context = LLVMGetTypeContext(type);
  const bool is_vector = LLVMGetTypeKind(type) == LLVMVectorTypeKind;
  LLVMTypeRef element = is_vector ? LLVMGetElementType(type) : type;
  const bool is_half = LLVMGetTypeKind(element) == LLVMHalfTypeKind;
  LLVMTypeRef bits = LLVMIntTypeInContext(context, is_half ? 16 : 32);
  bits = is_vector ? LLVMVectorType(bits, LLVMGetVectorSize(type)) : bits;
  LLVMValueRef exponent = splat(bits, is_half ? 0x7c00 : 0x7f800000);
  LLVMValueRef number = LLVMBuildBitCast(builder, value, bits, "");
  return LLVMBuildICmp(builder, LLVMIntEQ,
                       LLVMBuildAnd(builder, number, exponent, ""), exponent,
                       "");
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
