// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// entry.c: builds mettle.kernel.0 (docs/ir.md), which loads a kernel's
// arguments from the array of their addresses.
#include <string.h>

#include "compiler/air/air.h"

// An argument in memory is its address; any other is loaded from there:
// built-in inputs, and the resource ids of textures, samplers and function
// tables.
static bool is_address(const mtli_parameter *parameter) {
  const mtl_argument_kind kind = parameter->argument.kind;
  return parameter->builtin == MTLI_BUILTIN_NONE &&
         (kind == MTL_ARGUMENT_BUFFER ||
          kind == MTL_ARGUMENT_THREADGROUP_MEMORY);
}

// An array of textures or samplers comes as the address of its elements.
static bool is_array(const mtli_parameter *parameter, LLVMTypeRef type) {
  const char *name = parameter->argument.type_name;
  return name && strncmp(name, "array<", 6) == 0 &&
         LLVMGetTypeKind(type) == LLVMPointerTypeKind;
}

static LLVMValueRef load_argument(air_translation *t, LLVMValueRef array,
                                  unsigned index, LLVMTypeRef type,
                                  const mtli_parameter *parameter) {
  LLVMTypeRef pointer = LLVMPointerTypeInContext(t->context, 0);
  LLVMValueRef at =
      LLVMConstInt(LLVMInt64TypeInContext(t->context), index, false);
  LLVMValueRef place =
      LLVMBuildGEP2(t->builder, pointer, array, &at, 1, "");
  LLVMValueRef address = LLVMBuildLoad2(t->builder, pointer, place, "");
  return is_address(parameter) || is_array(parameter, type)
             ? address
             : LLVMBuildLoad2(t->builder, type, address, "");
}

void air_make_entry(air_translation *t, LLVMValueRef kernel,
                    const mtli_kernel *description) {
  LLVMTypeRef pointer = LLVMPointerTypeInContext(t->context, 0);
  LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(t->context),
                                      &pointer, 1, false);
  LLVMTypeRef kernel_type = LLVMGlobalGetValueType(kernel);
  const unsigned count = LLVMCountParamTypes(kernel_type);
  if (count != description->parameter_count) {
    air_fail(t, MTL_BAD_DATA, "%u parameters, %zu of them described", count,
             description->parameter_count);
    return;
  }
  LLVMTypeRef *types = air_allocate(t, (count + 1) * sizeof *types);
  LLVMValueRef *arguments = air_allocate(t, (count + 1) * sizeof *arguments);
  LLVMGetParamTypes(kernel_type, types);
  LLVMValueRef entry = LLVMAddFunction(t->target, description->symbol, type);
  LLVMPositionBuilderAtEnd(
      t->builder, LLVMAppendBasicBlockInContext(t->context, entry, ""));
  LLVMSetCurrentDebugLocation2(t->builder, NULL);
  for (unsigned i = 0; i < count; ++i) {
    arguments[i] = load_argument(t, LLVMGetParam(entry, 0), i, types[i],
                                 &description->parameters[i]);
  }
  LLVMBuildCall2(t->builder, kernel_type, kernel, arguments, count, "");
  LLVMBuildRetVoid(t->builder);
}
