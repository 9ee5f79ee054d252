// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// operations.h: arithmetic, comparisons, casts, selection, addresses and the
// taking apart of aggregates, on scalars or on vectors of 32 alike.
#ifndef MTLC_OPERATIONS_H
#define MTLC_OPERATIONS_H

#include <llvm-c/Core.h>
#include <stdint.h>

#include "compiler/vectorize/emit/values/emitter.h"

// The place of a sum of which a cast's component is one of each
// thread's two elements, if that can be had so, and which; else NULL.
LLVMValueRef lanes_home_of_element(lanes_emitter *e, LLVMValueRef cast,
                                   uint32_t component, uint32_t *out_element);
// Everything that computes and touches nothing.
void lanes_emit_operation(lanes_emitter *e, LLVMValueRef instruction);
// Emits an operation again on vectors, for an address whose stride failed.
LLVMValueRef lanes_operation_as_vector(lanes_emitter *e,
                                       LLVMValueRef instruction,
                                       uint32_t component);

#endif
