// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// types.c: translates AIR's types and constants.
//
// Address spaces are dropped: one space holds all memory here. A vector of 64
// elements, which is always a simdgroup matrix, becomes the thread's own two.
// All other layouts agree.
#include <stdlib.h>

#include "compiler/air/air.h"

bool air_is_matrix(LLVMTypeRef type) {
  return LLVMGetTypeKind(type) == LLVMVectorTypeKind &&
         LLVMGetVectorSize(type) == AIR_MATRIX_ELEMENTS;
}

static LLVMTypeRef map_struct(air_translation *t, LLVMTypeRef type) {
  if (LLVMIsOpaqueStruct(type)) {
    return type;
  }
  const unsigned count = LLVMCountStructElementTypes(type);
  LLVMTypeRef *members = air_allocate(t, (count + 1) * sizeof *members);
  bool is_changed = false;
  for (unsigned i = 0; i < count; ++i) {
    LLVMTypeRef member = LLVMStructGetTypeAtIndex(type, i);
    members[i] = air_type(t, member);
    is_changed |= members[i] != member;
  }
  return is_changed ? LLVMStructTypeInContext(t->context, members, count,
                                              LLVMIsPackedStruct(type))
                    : type;
}

static LLVMTypeRef map_function(air_translation *t, LLVMTypeRef type) {
  const unsigned count = LLVMCountParamTypes(type);
  LLVMTypeRef *parameters = air_allocate(t, (count + 1) * sizeof *parameters);
  LLVMGetParamTypes(type, parameters);
  for (unsigned i = 0; i < count; ++i) {
    parameters[i] = air_type(t, parameters[i]);
  }
  return LLVMFunctionType(air_type(t, LLVMGetReturnType(type)), parameters,
                          count, LLVMIsFunctionVarArg(type));
}

static LLVMTypeRef map_type(air_translation *t, LLVMTypeRef type) {
  switch (LLVMGetTypeKind(type)) {
    case LLVMPointerTypeKind: return LLVMPointerTypeInContext(t->context, 0);
    case LLVMStructTypeKind: return map_struct(t, type);
    case LLVMFunctionTypeKind: return map_function(t, type);
    case LLVMArrayTypeKind:
      return LLVMArrayType2(air_type(t, LLVMGetElementType(type)),
                            LLVMGetArrayLength2(type));
    case LLVMVectorTypeKind:
      return LLVMVectorType(
          air_type(t, LLVMGetElementType(type)),
          air_is_matrix(type) ? AIR_OWN_ELEMENTS : LLVMGetVectorSize(type));
    default: return type;
  }
}

LLVMTypeRef air_type(air_translation *t, LLVMTypeRef type) {
  LLVMTypeRef known = air_map_get(&t->types, type);
  if (!known) {
    known = map_type(t, type);
    air_map_set(&t->types, type, known);
  }
  return known;
}

// --- constants ---------------------------------------------------------------

static LLVMValueRef map_vector(air_translation *t, LLVMValueRef value) {
  LLVMTypeRef type = LLVMTypeOf(value);
  const unsigned count =
      air_is_matrix(type) ? AIR_OWN_ELEMENTS : LLVMGetVectorSize(type);
  LLVMValueRef *parts = air_allocate(t, count * sizeof *parts);
  for (unsigned i = 0; i < count; ++i) {
    parts[i] = air_value(t, LLVMGetAggregateElement(value, i));
  }
  return LLVMConstVector(parts, count);
}

static LLVMValueRef map_aggregate(air_translation *t, LLVMValueRef value) {
  LLVMTypeRef type = air_type(t, LLVMTypeOf(value));
  const unsigned count = (unsigned)LLVMGetNumOperands(value);
  LLVMValueRef *parts = air_allocate(t, (count + 1) * sizeof *parts);
  for (unsigned i = 0; i < count; ++i) {
    parts[i] = air_operand(t, value, i);
  }
  if (LLVMGetTypeKind(type) == LLVMArrayTypeKind) {
    return LLVMConstArray2(LLVMGetElementType(type), parts, count);
  }
  return LLVMGetStructName(type)
             ? LLVMConstNamedStruct(type, parts, count)
             : LLVMConstStructInContext(t->context, parts, count,
                                        LLVMIsPackedStruct(type));
}

static LLVMValueRef map_address(air_translation *t, LLVMValueRef value) {
  const unsigned count = (unsigned)LLVMGetNumOperands(value) - 1;
  LLVMValueRef base = air_operand(t, value, 0);
  LLVMValueRef *indices = air_allocate(t, (count + 1) * sizeof *indices);
  for (unsigned i = 0; i < count; ++i) {
    indices[i] = air_operand(t, value, i + 1);
  }
  return LLVMConstGEP2(air_type(t, LLVMGetGEPSourceElementType(value)), base,
                       indices, count);
}

static LLVMValueRef map_expression(air_translation *t, LLVMValueRef value) {
  LLVMTypeRef type = air_type(t, LLVMTypeOf(value));
  if (LLVMGetConstOpcode(value) == LLVMGetElementPtr) {
    return map_address(t, value);
  }
  LLVMValueRef sampler = LLVMGetConstOpcode(value) == LLVMIntToPtr
                             ? air_sampler_address(t, value)
                             : NULL;
  if (sampler) {
    return sampler;
  }
  LLVMValueRef a = air_operand(t, value, 0);
  LLVMValueRef b =
      LLVMGetNumOperands(value) > 1 ? air_operand(t, value, 1) : NULL;
  switch (LLVMGetConstOpcode(value)) {
    case LLVMAddrSpaceCast: return a;
    case LLVMBitCast: return LLVMConstBitCast(a, type);
    case LLVMPtrToInt: return LLVMConstPtrToInt(a, type);
    case LLVMIntToPtr: return LLVMConstIntToPtr(a, type);
    case LLVMTrunc: return LLVMConstTrunc(a, type);
    case LLVMAdd: return LLVMConstAdd(a, b);
    case LLVMSub: return LLVMConstSub(a, b);
    case LLVMXor: return LLVMConstXor(a, b);
    default:
      air_fail(t, MTL_UNSUPPORTED, "a constant expression of kind %d",
               (int)LLVMGetConstOpcode(value));
      return NULL;
  }
}

static LLVMValueRef map_constant(air_translation *t, LLVMValueRef value) {
  LLVMTypeRef type = LLVMTypeOf(value), mapped = air_type(t, type);
  if (LLVMIsPoison(value)) {
    return LLVMGetPoison(mapped);
  }
  if (LLVMIsUndef(value)) {
    return LLVMGetUndef(mapped);
  }
  if (LLVMIsNull(value)) {
    return LLVMConstNull(mapped);
  }
  if (LLVMIsAConstantExpr(value)) {
    return map_expression(t, value);
  }
  if (LLVMIsAConstantVector(value) || LLVMIsAConstantDataVector(value)) {
    return type == mapped && LLVMIsAConstantDataVector(value)
               ? value
               : map_vector(t, value);
  }
  if (LLVMIsAConstantStruct(value) || LLVMIsAConstantArray(value)) {
    return map_aggregate(t, value);
  }
  if (LLVMIsAConstantInt(value) || LLVMIsAConstantFP(value) ||
      LLVMIsAConstantDataArray(value)) {
    return value;
  }
  air_fail(t, MTL_UNSUPPORTED, "a constant that portable IR does not have");
  return NULL;
}

LLVMValueRef air_value(air_translation *t, LLVMValueRef value) {
  LLVMValueRef known = air_map_get(&t->values, value);
  if (known) {
    return known;
  }
  if (LLVMIsAConstant(value) && !LLVMIsAGlobalValue(value)) {
    known = map_constant(t, value);
  } else {
    air_fail(t, MTL_UNSUPPORTED, "a value that portable IR does not have");
  }
  if (!known) {  // the translation has failed, and continues to its end
    known = LLVMGetUndef(air_type(t, LLVMTypeOf(value)));
  }
  air_map_set(&t->values, value, known);
  return known;
}

LLVMValueRef air_operand(air_translation *t, LLVMValueRef user,
                         unsigned index) {
  return air_value(t, LLVMGetOperand(user, index));
}
