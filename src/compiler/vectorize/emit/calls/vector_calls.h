// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// vector_calls.h: functions that a long kernel calls for all its threads at once.
#ifndef MTLC_VECTOR_CALLS_H
#define MTLC_VECTOR_CALLS_H

#include <llvm-c/Core.h>

#include "compiler/ir/kernel/kernel.h"
#include "compiler/vectorize/emit/values/emitter.h"

// Declares the vector form of each function of keep_calls.h in the module.
void lanes_vector_function_declare(mtlc_kernel *kernel, uint32_t lanes);

// The vector form of a function, which emitted calls call, or NULL.
LLVMValueRef lanes_vector_function_of(mtlc_kernel *kernel, LLVMValueRef function);

// Makes calls of the function's parameters, which are instructions as all else
// that the analyses know; or parameters again.
void lanes_vector_function_open(mtlc_kernel *kernel, LLVMValueRef function);
void lanes_vector_function_close(LLVMValueRef function);

// Takes back all of it, once nothing else calls the vector forms.
void lanes_vector_function_forget(mtlc_kernel *kernel);

// While the body of e->called is emitted: a parameter; what threads return, and
// the return of the vectors at the end.
void lanes_emit_vector_parameter(lanes_emitter *e, LLVMValueRef call);
void lanes_leave_result(lanes_emitter *e, LLVMValueRef result);
void lanes_emit_return(lanes_emitter *e);

// Anywhere: a call.
void lanes_emit_wide_call(lanes_emitter *e, LLVMValueRef call);

#endif
