// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// attributes.c: attributes of functions and parameters.
#include "compiler/ir/llvm/attributes.h"

#include <stddef.h>
#include <string.h>

static LLVMContextRef function_context(LLVMValueRef function) {
  return LLVMGetModuleContext(LLVMGetGlobalParent(function));
}

void mtlc_set_attribute(LLVMValueRef function, const char *name,
                        uint64_t value) {
  const unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
  LLVMAddAttributeAtIndex(
      function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
      LLVMCreateEnumAttribute(function_context(function), kind, value));
}

void mtlc_set_parameter_attribute(LLVMValueRef function, unsigned parameter,
                                  const char *name, uint64_t value) {
  const unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
  LLVMAddAttributeAtIndex(
      function, parameter + 1,
      LLVMCreateEnumAttribute(function_context(function), kind, value));
}

void mtlc_set_text_attribute(LLVMValueRef function, const char *name,
                             const char *value) {
  LLVMAddAttributeAtIndex(
      function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
      LLVMCreateStringAttribute(function_context(function), name,
                                (unsigned)strlen(name), value,
                                (unsigned)strlen(value)));
}

void mtlc_remove_attribute(LLVMValueRef function, const char *name) {
  LLVMRemoveEnumAttributeAtIndex(
      function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
      LLVMGetEnumAttributeKindForName(name, strlen(name)));
}

bool mtlc_has_attribute(LLVMValueRef function, const char *name) {
  const unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
  return LLVMGetEnumAttributeAtIndex(
             function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, kind) !=
         NULL;
}
