// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// variadic.c: translates variadic functions, such as Metal's os_log. A caller
// stores the variadic values in memory of its own, each at a multiple of its
// size, and passes its address after the parameters: va_start returns that.
#include <string.h>

#include "compiler/air/air.h"

LLVMTypeRef air_packed_type(air_translation *t, LLVMTypeRef type) {
  const unsigned count = LLVMCountParamTypes(type);
  LLVMTypeRef *types = air_allocate(t, (count + 1) * sizeof *types);
  LLVMGetParamTypes(type, types);
  types[count] = LLVMPointerTypeInContext(t->context, 0);
  return LLVMFunctionType(LLVMGetReturnType(type), types, count + 1, false);
}

// Returns the size of a value that may be passed for "...", a power of two; 0
// for others.
static unsigned size_of(LLVMTypeRef type) {
  switch (LLVMGetTypeKind(type)) {
    case LLVMIntegerTypeKind: {
      const unsigned bits = LLVMGetIntTypeWidth(type);
      return bits < 8 ? 1 : bits <= 64 ? bits / 8 : 0;
    }
    case LLVMHalfTypeKind: case LLVMBFloatTypeKind: return 2;
    case LLVMFloatTypeKind: return 4;
    case LLVMPointerTypeKind: return 8;
    case LLVMVectorTypeKind: {
      const unsigned count = LLVMGetVectorSize(type);
      return (count == 3 ? 4 : count) * size_of(LLVMGetElementType(type));
    }
    default: return 0;
  }
}

static LLVMValueRef byte_at(air_translation *t, LLVMValueRef memory,
                            unsigned offset) {
  LLVMTypeRef i8 = LLVMInt8TypeInContext(t->context);
  LLVMValueRef at =
      LLVMConstInt(LLVMInt64TypeInContext(t->context), offset, false);
  return LLVMBuildGEP2(t->builder, i8, memory, &at, 1, "");
}

// Puts values [count] into memory; returns its address.
static LLVMValueRef pack(air_translation *t, LLVMValueRef *values,
                         unsigned count) {
  unsigned *places = air_allocate(t, (count + 1) * sizeof *places), end = 0;
  for (unsigned i = 0; i < count; ++i) {
    const unsigned size = size_of(LLVMTypeOf(values[i]));
    if (size == 0) {
      air_fail(t, MTL_UNSUPPORTED, "a value of its type for \"...\"");
      return LLVMGetUndef(LLVMPointerTypeInContext(t->context, 0));
    }
    places[i] = (end + size - 1) / size * size;
    end = places[i] + size;
  }
  LLVMTypeRef i8 = LLVMInt8TypeInContext(t->context);
  LLVMValueRef memory = air_make_room(t, LLVMArrayType2(i8, end ? end : 1));
  for (unsigned i = 0; i < count; ++i) {
    LLVMValueRef store = LLVMBuildStore(t->builder, values[i],
                                        byte_at(t, memory, places[i]));
    LLVMSetAlignment(store, 1);
  }
  return memory;
}

LLVMValueRef air_call_packed(air_translation *t, LLVMValueRef function,
                             LLVMValueRef *arguments, unsigned count) {
  LLVMTypeRef type = LLVMGlobalGetValueType(function);
  const unsigned fixed = LLVMCountParamTypes(type) - 1;
  LLVMValueRef *given = air_allocate(t, (fixed + 1) * sizeof *given);
  memcpy(given, arguments, fixed * sizeof *given);
  given[fixed] = pack(t, arguments + fixed, count - fixed);
  return LLVMBuildCall2(t->builder, type, function, given, fixed + 1, "");
}

bool air_call_va(air_translation *t, LLVMValueRef call, const char *name) {
  if (strncmp(name, "llvm.va_start", 13) == 0) {
    LLVMBasicBlockRef block = LLVMGetInsertBlock(t->builder);
    LLVMValueRef values = LLVMGetLastParam(LLVMGetBasicBlockParent(block));
    if (!values ||
        LLVMGetTypeKind(LLVMTypeOf(values)) != LLVMPointerTypeKind) {
      air_fail(t, MTL_BAD_DATA, "va_start in a function without \"...\"");
      return true;
    }
    LLVMBuildStore(t->builder, values, air_operand(t, call, 0));
    return true;
  }
  if (strncmp(name, "llvm.va_copy", 12) == 0) {
    LLVMValueRef list = LLVMBuildLoad2(
        t->builder, LLVMPointerTypeInContext(t->context, 0),
        air_operand(t, call, 1), "");
    LLVMBuildStore(t->builder, list, air_operand(t, call, 0));
    return true;
  }
  return strncmp(name, "llvm.va_end", 11) == 0;
}
