// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// components.c: the components of a type: a vector's elements, a structure's
// fields.
#include "compiler/vectorize/analysis/components.h"

#include "compiler/vectorize/analysis/shape.h"

uint32_t lanes_component_count(LLVMTypeRef type) {
  switch (LLVMGetTypeKind(type)) {
    case LLVMVoidTypeKind: return 0;
    case LLVMVectorTypeKind: return LLVMGetVectorSize(type);
    case LLVMArrayTypeKind:
      return (uint32_t)LLVMGetArrayLength2(type) *
             lanes_component_count(LLVMGetElementType(type));
    case LLVMStructTypeKind: {
      uint32_t count = 0;
      for (unsigned i = 0; i < LLVMCountStructElementTypes(type); i++) {
        count += lanes_component_count(LLVMStructGetTypeAtIndex(type, i));
      }
      return count;
    }
    default: return 1;
  }
}

LLVMTypeRef lanes_component_type(LLVMTypeRef type, uint32_t component) {
  switch (LLVMGetTypeKind(type)) {
    case LLVMVectorTypeKind: return LLVMGetElementType(type);
    case LLVMArrayTypeKind: {
      LLVMTypeRef element = LLVMGetElementType(type);
      return lanes_component_type(element,
                                  component % lanes_component_count(element));
    }
    case LLVMStructTypeKind:
      for (unsigned i = 0; i < LLVMCountStructElementTypes(type); i++) {
        LLVMTypeRef field = LLVMStructGetTypeAtIndex(type, i);
        const uint32_t count = lanes_component_count(field);
        if (component < count) {
          return lanes_component_type(field, component);
        }
        component -= count;
      }
      return type;
    default: return type;
  }
}

LLVMTypeRef lanes_wide(LLVMTypeRef type, uint32_t width) {
  return width == 1 ? type : LLVMVectorType(type, width);
}

LLVMTypeRef lanes_vector_of(uint32_t lanes, LLVMTypeRef type) {
  return LLVMVectorType(type, lanes);
}
