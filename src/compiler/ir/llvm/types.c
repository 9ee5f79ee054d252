// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// types.c: the types and constants that passes name most.
#include "compiler/ir/llvm/types.h"

#include <stdbool.h>

mtlc_types mtlc_types_of(LLVMContextRef context) {
  return (mtlc_types){
      .nothing = LLVMVoidTypeInContext(context),
      .i1 = LLVMInt1TypeInContext(context),
      .i8 = LLVMInt8TypeInContext(context),
      .i16 = LLVMInt16TypeInContext(context),
      .i32 = LLVMInt32TypeInContext(context),
      .i64 = LLVMInt64TypeInContext(context),
      .f16 = LLVMHalfTypeInContext(context),
      .f32 = LLVMFloatTypeInContext(context),
      .pointer = LLVMPointerTypeInContext(context, 0),
      .token = LLVMTokenTypeInContext(context),
  };
}

LLVMTypeRef mtlc_element_of(LLVMTypeRef type) {
  return LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LLVMGetElementType(type)
                                                     : type;
}

LLVMValueRef mtlc_i32(LLVMContextRef context, uint32_t value) {
  return LLVMConstInt(LLVMInt32TypeInContext(context), value, false);
}

LLVMValueRef mtlc_i64(LLVMContextRef context, uint64_t value) {
  return LLVMConstInt(LLVMInt64TypeInContext(context), value, false);
}
