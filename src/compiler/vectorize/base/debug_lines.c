// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// debug_lines.c: debug locations of the code that the vectoriser makes.
#include "compiler/vectorize/base/debug_lines.h"

#include <llvm-c/DebugInfo.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/ir/kernel/kernel.h"
#include "compiler/ir/llvm/instructions.h"
#include "compiler/ir/llvm/marks.h"
#include "compiler/ir/llvm/names.h"
#include "compiler/vectorize/base/tables.h"

// The operand of a DISubprogram that is its compile unit, as getRawUnit of
// llvm/IR/DebugInfoMetadata.h has it. The C API has no call for it.
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
    return NULL;  // an LLVM whose operands are in another order
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

// A location in another file needs a scope that names the file.
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

// --- Lines for reports -------------------------------------------------------

enum { MOST_LINES = 48 };  // of one kind, in a report

static bool is_source(LLVMModuleRef module, LLVMMetadataRef file) {
  size_t length;
  const char *source = LLVMGetSourceFileName(module, &length);
  unsigned name_length;
  const char *name = LLVMDIFileGetFilename(file, &name_length);
  return name_length <= length &&
         memcmp(source + length - name_length, name, name_length) == 0 &&
         (name_length == length || source[length - name_length - 1] == '/');
}

// Returns the name of an instruction's file if it is not the source's.
static const char *file_of(mtli_arena *arena, LLVMValueRef instruction) {
  LLVMMetadataRef location = LLVMInstructionGetDebugLoc(instruction);
  LLVMMetadataRef file =
      location ? LLVMDIScopeGetFile(LLVMDILocationGetScope(location)) : NULL;
  LLVMModuleRef module = LLVMGetGlobalParent(
      LLVMGetBasicBlockParent(LLVMGetInstructionParent(instruction)));
  if (!file || is_source(module, file)) {
    return NULL;
  }
  unsigned length;
  const char *name = LLVMDIFileGetFilename(file, &length);
  if (length > 2 && mtlc_starts_with(name, "./")) {
    name += 2;
    length -= 2;
  }
  char *copy = lanes_allocate(arena, length + 1, 1);
  memcpy(copy, name, length);
  return copy;
}

void lanes_lines_add(mtli_arena *arena, lanes_lines *lines,
                     LLVMValueRef instruction) {
  lines->items = lanes_make_room(arena, lines->items, lines->count,
                                 &lines->capacity, 8, sizeof *lines->items);
  lines->items[lines->count++] =
      (lanes_line){.file = file_of(arena, instruction),
                   .number = LLVMGetDebugLocLine(instruction)};
}

static int compare_files(const char *a, const char *b) {
  return a && b ? strcmp(a, b) : (a != NULL) - (b != NULL);
}

static int compare_lines(const void *left, const void *right) {
  const lanes_line *a = left, *b = right;
  const int order = compare_files(a->file, b->file);
  return order ? order : (a->number > b->number) - (a->number < b->number);
}

static void print_lines(FILE *out, const lanes_line *lines, uint32_t count) {
  const lanes_line none = {0};
  const lanes_line *last = &none;
  uint32_t told = 0;
  for (uint32_t i = 0; i < count; i++) {
    const lanes_line *line = &lines[i];
    if (!line->number || (told && compare_lines(line, last) == 0)) {
      continue;
    }
    if (told++ >= MOST_LINES) {
      last = line;
      continue;
    }
    const bool is_other = compare_files(line->file, last->file) != 0;
    fprintf(out, "%s%s%s%u",
            told == 1  ? (line->file ? " (" : " (lines ")
            : is_other ? "; "
                       : ", ",
            is_other ? line->file : "", is_other ? " " : "", line->number);
    last = line;
  }
  if (told > MOST_LINES) {
    fprintf(out, " and %u more", told - MOST_LINES);
  }
  fputs(told ? ")" : "", out);
}

char *lanes_lines_describe(const lanes_lines *lines, const char *what) {
  char *text = NULL;
  size_t length = 0;
  FILE *out = open_memstream(&text, &length);
  lanes_line *sorted = calloc(lines->count + 1, sizeof *sorted);
  if (!out || !sorted) {
    abort();  // as LLVM does; the client starts another compiler process
  }
  if (lines->count) {
    memcpy(sorted, lines->items, lines->count * sizeof *sorted);
  }
  qsort(sorted, lines->count, sizeof *sorted, compare_lines);
  fprintf(out, "%u %s", lines->count, what);
  print_lines(out, sorted, lines->count);
  free(sorted);
  fclose(out);
  return text;
}
