// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// calls.h: finds calls and callees, declares functions and calls them.
#ifndef MTLC_CALLS_H
#define MTLC_CALLS_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stddef.h>

#include "compiler/ir/llvm/value_list.h"

// Returns the function that a call calls by name, or NULL: not a call, or by
// pointer.
LLVMValueRef mtlc_callee(LLVMValueRef instruction);
// Returns that function's name, or "".
const char *mtlc_callee_name(LLVMValueRef instruction);
// True for a call, by name, of a function whose name starts with prefix.
bool mtlc_is_call_of(LLVMValueRef instruction, const char *prefix);
// Appends every such call.
void mtlc_collect_calls(LLVMModuleRef module, const char *prefix,
                        mtlc_values *calls);
// Returns the declaration of a function of the module, made if it is not there.
LLVMValueRef mtlc_declare(LLVMModuleRef module, const char *name,
                          LLVMTypeRef type);
// Calls an intrinsic, overloaded on the types given.
LLVMValueRef mtlc_call_intrinsic(LLVMBuilderRef builder, const char *name,
                                 LLVMTypeRef *overloads, size_t overload_count,
                                 LLVMValueRef *arguments, size_t count);
// Calls an intrinsic as another call does, overloaded on another type.
LLVMValueRef mtlc_call_overload(LLVMBuilderRef builder, LLVMValueRef call,
                                LLVMTypeRef type, LLVMValueRef *arguments);
// Calls a function of the module.
LLVMValueRef mtlc_call(LLVMBuilderRef builder, LLVMValueRef function,
                       LLVMValueRef *arguments, size_t count);
// True if the module calls barriers or simdgroup functions.
bool mtlc_is_convergent(LLVMModuleRef module);

#endif
