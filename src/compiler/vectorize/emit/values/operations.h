// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// operations.h: emits arithmetic, comparisons, casts, selects, addresses, and
// operations on aggregates.
#ifndef MTLC_OPERATIONS_H
#define MTLC_OPERATIONS_H

#include <llvm-c/Core.h>
#include <stdint.h>

#include "compiler/vectorize/emit/values/emitter.h"

// Returns the address of a matrix accumulator if a cast's component is one of
// each thread's two elements of it, and which one; else NULL.
LLVMValueRef lanes_home_of_element(lanes_emitter *e, LLVMValueRef cast,
                                   uint32_t component, uint32_t *out_element);
// Emits an operation without side effects.
void lanes_emit_operation(lanes_emitter *e, LLVMValueRef instruction);
// Emits an operation once more on whole vectors, for an address whose stride
// turned out not to hold at run time.
LLVMValueRef lanes_operation_as_vector(lanes_emitter *e,
                                       LLVMValueRef instruction,
                                       uint32_t component);

#endif
