// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// threads.c: translates barriers, a thread's position in its simdgroup, and
// queries with a constant answer.
#include <string.h>

#include "compiler/air/families.h"

static void set_flag(air_translation *t, LLVMValueRef function,
                     const char *name) {
  const unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
  LLVMAddAttributeAtIndex(function,
                          (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                          LLVMCreateEnumAttribute(t->context, kind, 0));
}

LLVMValueRef air_declare_known(air_translation *t, const char *name,
                               LLVMTypeRef type, bool is_convergent) {
  LLVMValueRef function = LLVMGetNamedFunction(t->target, name);
  if (!function) {
    function = LLVMAddFunction(t->target, name, type);
    set_flag(t, function, "nounwind");
    if (is_convergent) {
      set_flag(t, function, "convergent");
    }
  }
  return function;
}

LLVMValueRef air_miss_callee(air_translation *t, LLVMValueRef call) {
  size_t length;
  air_miss(t, LLVMGetValueName2(LLVMGetCalledValue(call), &length));
  return NULL;
}

// Calls a barrier of docs/ir.md. AIR's flags have the values of mem_flags. Its
// scope, the threads that see what was written, makes no difference: all
// threads do.
static LLVMValueRef call_barrier(air_translation *t, LLVMValueRef call,
                                 const char *name) {
  LLVMTypeRef i32 = LLVMInt32TypeInContext(t->context);
  LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(t->context), &i32,
                                      1, false);
  LLVMValueRef flags = air_operand(t, call, 0);
  LLVMValueRef function = air_declare_known(t, name, type, true);
  return LLVMBuildCall2(t->builder, type, function, &flags, 1, "");
}

LLVMValueRef air_call_threadgroup_barrier(air_translation *t, LLVMValueRef call,
                                          const char *rest) {
  return *rest ? air_miss_callee(t, call)
               : call_barrier(t, call, "mettle.barrier.threadgroup");
}

LLVMValueRef air_call_simdgroup_barrier(air_translation *t, LLVMValueRef call,
                                        const char *rest) {
  return *rest ? air_miss_callee(t, call)
               : call_barrier(t, call, "mettle.barrier.simdgroup");
}

LLVMValueRef air_call_simdgroup_size(air_translation *t, LLVMValueRef call,
                                     const char *rest) {
  (void)rest;
  return LLVMConstInt(air_type(t, LLVMTypeOf(call)), 32, false);
}

LLVMValueRef air_call_lane(air_translation *t, LLVMValueRef call,
                           const char *rest) {
  (void)rest;
  LLVMTypeRef i32 = LLVMInt32TypeInContext(t->context);
  LLVMTypeRef types[] = {i32, i32};
  LLVMTypeRef type = LLVMFunctionType(i32, types, 2, false);
  LLVMValueRef arguments[] = {
      LLVMConstInt(i32, MTLI_THREAD_INDEX_IN_SIMDGROUP, false),
      LLVMConstInt(i32, 0, false)};
  LLVMValueRef lane = LLVMBuildCall2(
      t->builder, type, air_declare_known(t, "mettle.position", type, false),
      arguments, 2, "");
  return LLVMBuildIntCast2(t->builder, lane, air_type(t, LLVMTypeOf(call)),
                           false, "");
}

// AIR calls this for values that a program declares uniform.
LLVMValueRef air_call_is_uniform(air_translation *t, LLVMValueRef call,
                                 const char *rest) {
  (void)rest;
  return LLVMConstInt(air_type(t, LLVMTypeOf(call)), 1, false);
}

// Returns 0 for 0 and 1 for any other value.
LLVMValueRef air_call_normalize(air_translation *t, LLVMValueRef call,
                                const char *rest) {
  (void)rest;
  LLVMValueRef value = air_operand(t, call, 0);
  LLVMTypeRef type = LLVMTypeOf(value);
  LLVMValueRef is_set = LLVMBuildICmp(t->builder, LLVMIntNE, value,
                                      LLVMConstNull(type), "");
  return LLVMBuildZExt(t->builder, is_set, type, "");
}
