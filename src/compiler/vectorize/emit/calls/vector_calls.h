// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// vector_calls.h: vector forms of functions that a long kernel calls.
#ifndef MTLC_VECTOR_CALLS_H
#define MTLC_VECTOR_CALLS_H

#include <llvm-c/Core.h>

#include "compiler/ir/kernel/kernel.h"
#include "compiler/vectorize/emit/values/emitter.h"

// Declares the vector form of each function of keep_calls.h in the module.
void lanes_vector_function_declare(mtlc_kernel *kernel, uint32_t lanes);

// Returns the vector form of a function, for emitted calls; or NULL.
LLVMValueRef lanes_vector_function_of(mtlc_kernel *kernel, LLVMValueRef function);

// The first replaces a function's parameters by calls, so that the analyses see
// instructions; the second does the reverse.
void lanes_vector_function_open(mtlc_kernel *kernel, LLVMValueRef function);
void lanes_vector_function_close(LLVMValueRef function);

// Removes all of it, once nothing else calls the vector forms.
void lanes_vector_function_forget(mtlc_kernel *kernel);

// For the body of e->called: emit a parameter; emit a return of some threads;
// and emit the final return of the vectors.
void lanes_emit_vector_parameter(lanes_emitter *e, LLVMValueRef call);
void lanes_leave_result(lanes_emitter *e, LLVMValueRef result);
void lanes_emit_return(lanes_emitter *e);

// Emits a call of a vector form.
void lanes_emit_wide_call(lanes_emitter *e, LLVMValueRef call);

#endif
