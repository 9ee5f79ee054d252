// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// lines.c: source lines of what the vectoriser makes.
#include "compiler/vectorize/lines.h"

#include <llvm-c/DebugInfo.h>

// A DISubprogram's compile unit: llvm/IR/DebugInfoMetadata.h, getRawUnit. The
// C API's builder knows only units that it has made itself.
enum { UNIT_OPERAND = 5 };

static LLVMMetadataRef subprogram_like(mtlc_kernel *kernel,
                                       LLVMMetadataRef thread) {
  LLVMDIBuilderRef builder =
      LLVMCreateDIBuilderDisallowUnresolved(kernel->module);
  LLVMMetadataRef file = LLVMDIScopeGetFile(thread);
  LLVMMetadataRef nothing = NULL;
  LLVMMetadataRef type = LLVMDIBuilderCreateSubroutineType(
      builder, file, &nothing, 0, LLVMDIFlagZero);
  const unsigned line = LLVMDISubprogramGetLine(thread);
  const char *name = kernel->kernel->name;
  LLVMMetadataRef made = LLVMDIBuilderCreateFunction(
      builder, file, name, strlen(name), "", 0, file, line, type, true, true,
      line, LLVMDIFlagZero, true);
  LLVMDisposeDIBuilder(builder);
  LLVMValueRef operands[16] = {0};
  LLVMValueRef original = LLVMMetadataAsValue(kernel->context, thread);
  if (LLVMGetMDNodeNumOperands(original) > 16) {
    return NULL;  // another LLVM than the one that UNIT_OPERAND is from
  }
  LLVMGetMDNodeOperands(original, operands);
  LLVMReplaceMDNodeOperandWith(LLVMMetadataAsValue(kernel->context, made),
                               UNIT_OPERAND,
                               LLVMValueAsMetadata(operands[UNIT_OPERAND]));
  return made;
}

static void set_call_location(LLVMValueRef instruction, void *context) {
  if (LLVMGetInstructionOpcode(instruction) == LLVMCall) {
    mtlc_set_location(instruction, context);
  }
}

void lanes_describe_function(mtlc_kernel *kernel, LLVMMetadataRef thread,
                             LLVMValueRef function) {
  LLVMMetadataRef made = thread ? subprogram_like(kernel, thread) : NULL;
  if (made) {
    LLVMSetSubprogram(function, made);
    mtlc_for_each_instruction(function, set_call_location, function);
  }
}

// Another file's lines need a scope that says so.
static LLVMMetadataRef scope_in(mtlc_kernel *kernel, LLVMMetadataRef scope,
                                LLVMMetadataRef subprogram) {
  LLVMMetadataRef file = LLVMDIScopeGetFile(scope);
  if (!file || file == LLVMDIScopeGetFile(subprogram)) {
    return subprogram;
  }
  LLVMDIBuilderRef builder =
      LLVMCreateDIBuilderDisallowUnresolved(kernel->module);
  LLVMMetadataRef made =
      LLVMDIBuilderCreateLexicalBlockFile(builder, subprogram, file, 0);
  LLVMDisposeDIBuilder(builder);
  return made;
}

LLVMMetadataRef lanes_line_in(mtlc_kernel *kernel, LLVMValueRef instruction,
                              LLVMValueRef function) {
  LLVMMetadataRef location = LLVMInstructionGetDebugLoc(instruction);
  LLVMMetadataRef subprogram = LLVMGetSubprogram(function);
  if (!location || !subprogram) {
    return NULL;
  }
  LLVMMetadataRef scope = LLVMDILocationGetScope(location);
  return LLVMDIBuilderCreateDebugLocation(
      kernel->context, LLVMDILocationGetLine(location),
      LLVMDILocationGetColumn(location), scope_in(kernel, scope, subprogram),
      NULL);
}

static void flatten(LLVMValueRef instruction, void *context) {
  LLVMMetadataRef location = LLVMInstructionGetDebugLoc(instruction);
  if (location && LLVMDILocationGetInlinedAt(location)) {
    LLVMValueRef function =
        LLVMGetBasicBlockParent(LLVMGetInstructionParent(instruction));
    LLVMInstructionSetDebugLoc(instruction,
                               lanes_line_in(context, instruction, function));
  }
}

void lanes_flatten_lines(mtlc_kernel *kernel) {
  mtlc_for_each_in_module(kernel->module, flatten, kernel);
}
