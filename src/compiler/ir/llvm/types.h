// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// types.h: the types and constants that passes name most.
#ifndef MTLC_TYPES_H
#define MTLC_TYPES_H

#include <llvm-c/Core.h>
#include <stdint.h>

// The types that passes name most.
typedef struct mtlc_types {
  LLVMTypeRef nothing, i1, i8, i16, i32, i64, f16, f32, pointer, token;
} mtlc_types;
mtlc_types mtlc_types_of(LLVMContextRef context);
// Returns the type of a vector's elements, or the type itself.
LLVMTypeRef mtlc_element_of(LLVMTypeRef type);
LLVMValueRef mtlc_i32(LLVMContextRef context, uint32_t value);
LLVMValueRef mtlc_i64(LLVMContextRef context, uint64_t value);

#endif
