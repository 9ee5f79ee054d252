// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// calls.c: finds calls and callees, declares functions and calls them.
#include "compiler/ir/llvm/calls.h"

#include <stdlib.h>
#include <string.h>

#include "compiler/ir/llvm/names.h"
#include "compiler/ir/llvm/value_list.h"

LLVMValueRef mtlc_callee(LLVMValueRef instruction) {
  if (!LLVMIsACallInst(instruction)) {
    return NULL;
  }
  LLVMValueRef called = LLVMGetCalledValue(instruction);
  return LLVMIsAFunction(called) ? called : NULL;
}

const char *mtlc_callee_name(LLVMValueRef instruction) {
  LLVMValueRef callee = mtlc_callee(instruction);
  return callee ? mtlc_name(callee) : "";
}

bool mtlc_is_call_of(LLVMValueRef instruction, const char *prefix) {
  return mtlc_starts_with(mtlc_callee_name(instruction), prefix);
}

void mtlc_collect_calls(LLVMModuleRef module, const char *prefix,
                        mtlc_values *calls) {
  for (LLVMValueRef function = LLVMGetFirstFunction(module); function;
       function = LLVMGetNextFunction(function)) {
    if (!mtlc_starts_with(mtlc_name(function), prefix)) {
      continue;
    }
    for (LLVMUseRef use = LLVMGetFirstUse(function); use;
         use = LLVMGetNextUse(use)) {
      LLVMValueRef user = LLVMGetUser(use);
      if (mtlc_callee(user) == function) {
        mtlc_values_add(calls, user);
      }
    }
  }
}

LLVMValueRef mtlc_declare(LLVMModuleRef module, const char *name,
                          LLVMTypeRef type) {
  LLVMValueRef function = LLVMGetNamedFunction(module, name);
  return function ? function : LLVMAddFunction(module, name, type);
}

LLVMValueRef mtlc_call_intrinsic(LLVMBuilderRef builder, const char *name,
                                 LLVMTypeRef *overloads, size_t overload_count,
                                 LLVMValueRef *arguments, size_t count) {
  LLVMBasicBlockRef block = LLVMGetInsertBlock(builder);
  LLVMModuleRef module = LLVMGetGlobalParent(LLVMGetBasicBlockParent(block));
  const unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
  LLVMValueRef function =
      LLVMGetIntrinsicDeclaration(module, id, overloads, overload_count);
  return mtlc_call(builder, function, arguments, count);
}

LLVMValueRef mtlc_call_overload(LLVMBuilderRef builder, LLVMValueRef call,
                                LLVMTypeRef type, LLVMValueRef *arguments) {
  LLVMValueRef callee = mtlc_callee(call);
  LLVMValueRef function = LLVMGetIntrinsicDeclaration(
      LLVMGetGlobalParent(callee), LLVMGetIntrinsicID(callee), &type, 1);
  return mtlc_call(builder, function, arguments, LLVMGetNumArgOperands(call));
}

LLVMValueRef mtlc_call(LLVMBuilderRef builder, LLVMValueRef function,
                       LLVMValueRef *arguments, size_t count) {
  return LLVMBuildCall2(builder, LLVMGlobalGetValueType(function), function,
                        arguments, (unsigned)count, "");
}

bool mtlc_is_convergent(LLVMModuleRef module) {
  mtlc_values calls = {0};
  mtlc_collect_calls(module, "mettle.barrier.", &calls);
  mtlc_collect_calls(module, "mettle.simd.", &calls);
  free(calls.items);
  return calls.count > 0;
}
