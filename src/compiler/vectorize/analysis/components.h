// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// components.h: the components of a type: a vector's elements, a structure's
// fields.
#ifndef MTLC_COMPONENTS_H
#define MTLC_COMPONENTS_H

#include <llvm-c/Core.h>
#include <stdint.h>

uint32_t lanes_component_count(LLVMTypeRef type);
LLVMTypeRef lanes_component_type(LLVMTypeRef type, uint32_t component);
LLVMTypeRef lanes_vector_of(uint32_t lanes, LLVMTypeRef type);
// Returns the vector type of width elements of type; type itself for width 1.
LLVMTypeRef lanes_wide(LLVMTypeRef type, uint32_t width);

#endif
