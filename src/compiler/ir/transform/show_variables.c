// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// show_variables.c: makes threadgroup variables local in the debug information.
// Each running threadgroup has its own copy, but the front end emits them as
// C++ static variables, which have one fixed address.
#include "compiler/ir/transform/show_variables.h"

#include <llvm-c/DebugInfo.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "compiler/ir/kernel/kernel.h"
#include "compiler/ir/llvm/instructions.h"

enum { DW_OP_DEREF = 0x06 };

// Operand numbers in LLVM's DIGlobalVariable, DICompileUnit and local scopes.
enum {
  OPERAND_NAME = 1,
  OPERAND_TYPE = 3,
  OPERAND_GLOBALS = 6,
  OPERAND_SCOPE = 1,
};

static LLVMMetadataRef operand_of(LLVMContextRef context, LLVMMetadataRef node,
                                  unsigned index, LLVMValueRef *out_value) {
  LLVMValueRef value = LLVMMetadataAsValue(context, node);
  const unsigned count = LLVMGetMDNodeNumOperands(value);
  LLVMValueRef *operands = calloc(count + 1, sizeof *operands);
  LLVMMetadataRef found = NULL;
  if (operands && index < count) {
    LLVMGetMDNodeOperands(value, operands);
    found = operands[index] ? LLVMValueAsMetadata(operands[index]) : NULL;
    if (out_value) {
      *out_value = operands[index];
    }
  }
  free(operands);
  return found;
}

// Returns the debug information of a global: a DIGlobalVariableExpression, or
// NULL.
static LLVMMetadataRef description_of(LLVMValueRef global) {
  size_t count = 0;
  LLVMValueMetadataEntry *entries = LLVMGlobalCopyAllMetadata(global, &count);
  LLVMMetadataRef found = NULL;
  for (unsigned i = 0; i < count; ++i) {
    LLVMMetadataRef one = LLVMValueMetadataEntriesGetMetadata(entries, i);
    if (LLVMGetMetadataKind(one) ==
        LLVMDIGlobalVariableExpressionMetadataKind) {
      found = one;
    }
  }
  LLVMDisposeValueMetadataEntries(entries);
  return found;
}

static LLVMMetadataRef function_of(LLVMContextRef context,
                                   LLVMMetadataRef scope) {
  while (scope &&
         LLVMGetMetadataKind(scope) != LLVMDISubprogramMetadataKind) {
    const LLVMMetadataKind kind = LLVMGetMetadataKind(scope);
    const bool is_block = kind == LLVMDILexicalBlockMetadataKind ||
                          kind == LLVMDILexicalBlockFileMetadataKind;
    scope = is_block ? operand_of(context, scope, OPERAND_SCOPE, NULL) : NULL;
  }
  return scope;
}

enum { MOST_PLACES = 32 };  // at which one function is inlined, and shown

typedef struct showing {
  LLVMContextRef context;
  LLVMMetadataRef function;            // that the variable is in
  LLVMMetadataRef places[MOST_PLACES]; // [count] NULL for not inlined
  unsigned count;
} showing;

// Notes the places at which the function's code is in mettle.thread.
static void note_place(LLVMValueRef instruction, void *context) {
  showing *s = context;
  LLVMMetadataRef line = LLVMInstructionGetDebugLoc(instruction);
  if (!line || s->count == MOST_PLACES ||
      function_of(s->context, LLVMDILocationGetScope(line)) != s->function) {
    return;
  }
  LLVMMetadataRef place = LLVMDILocationGetInlinedAt(line);
  for (unsigned i = 0; i < s->count; ++i) {
    if (s->places[i] == place) {
      return;
    }
  }
  s->places[s->count++] = place;
}

// Removes the static variable from the compile unit: it has no address, and the
// debugger would find it first.
static void forget_static(mtlc_kernel *kernel, LLVMMetadataRef description) {
  const char *units = "llvm.dbg.cu";
  const unsigned count =
      LLVMGetNamedMetadataNumOperands(kernel->module, units);
  LLVMValueRef *unit = calloc(count + 1, sizeof *unit);
  if (!unit) {
    abort();  // as mtlc_values_add
  }
  LLVMGetNamedMetadataOperands(kernel->module, units, unit);
  for (unsigned i = 0; i < count; ++i) {
    LLVMValueRef list = NULL;
    operand_of(kernel->context, LLVMValueAsMetadata(unit[i]), OPERAND_GLOBALS,
               &list);
    if (!list) {
      continue;
    }
    const unsigned length = LLVMGetMDNodeNumOperands(list);
    LLVMValueRef *all = calloc(length + 1, sizeof *all);
    LLVMMetadataRef *kept = calloc(length + 1, sizeof *kept);
    unsigned kept_count = 0;
    LLVMGetMDNodeOperands(list, all);
    for (unsigned k = 0; k < length; ++k) {
      LLVMMetadataRef one = LLVMValueAsMetadata(all[k]);
      if (one != description) {
        kept[kept_count++] = one;
      }
    }
    LLVMReplaceMDNodeOperandWith(
        unit[i], OPERAND_GLOBALS,
        LLVMMDNodeInContext2(kernel->context, kept, kept_count));
    free(all);
    free(kept);
  }
  free(unit);
}

static void declare(mtlc_kernel *kernel, LLVMMetadataRef variable,
                    const showing *s, LLVMValueRef slot) {
  LLVMValueRef name = NULL;
  operand_of(kernel->context, variable, OPERAND_NAME, &name);
  unsigned name_length = 0;
  const char *text = name ? LLVMGetMDString(name, &name_length) : NULL;
  LLVMMetadataRef scope = LLVMDIVariableGetScope(variable);
  LLVMMetadataRef type =
      operand_of(kernel->context, variable, OPERAND_TYPE, NULL);
  if (!text || !type) {
    return;
  }
  LLVMDIBuilderRef builder =
      LLVMCreateDIBuilderDisallowUnresolved(kernel->module);
  const unsigned line = LLVMDIVariableGetLine(variable);
  LLVMMetadataRef local = LLVMDIBuilderCreateAutoVariable(
      builder, scope, text, name_length, LLVMDIVariableGetFile(variable), line,
      type, false, LLVMDIFlagZero, 0);
  uint64_t follow = DW_OP_DEREF;
  LLVMMetadataRef way = LLVMDIBuilderCreateExpression(builder, &follow, 1);
  LLVMValueRef last =
      LLVMGetBasicBlockTerminator(LLVMGetInstructionParent(slot));
  for (unsigned i = 0; i < s->count; ++i) {
    LLVMDIBuilderInsertDeclareRecordBefore(
        builder, slot, local, way,
        LLVMDIBuilderCreateDebugLocation(kernel->context, line, 0, scope,
                                         s->places[i]),
        last);
  }
  LLVMDIBuilderFinalize(builder);
  LLVMDisposeDIBuilder(builder);
}

void mtlc_show_variable(mtlc_kernel *kernel, LLVMValueRef global,
                        LLVMValueRef slot) {
  LLVMMetadataRef description = description_of(global);
  if (!description) {
    return;
  }
  LLVMMetadataRef variable =
      LLVMDIGlobalVariableExpressionGetVariable(description);
  showing s = {.context = kernel->context,
               .function = function_of(kernel->context,
                                       LLVMDIVariableGetScope(variable))};
  if (!s.function) {
    return;
  }
  mtlc_for_each_instruction(kernel->thread, note_place, &s);
  forget_static(kernel, description);
  declare(kernel, variable, &s, slot);
}
