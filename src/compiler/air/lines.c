// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// lines.c: copies debug information. Each function gets a name, which faults
// and debuggers show; instructions get lines if the library has them. Code that
// Apple's compiler has inlined keeps its own file and line.
#include <string.h>

#include "compiler/air/air.h"

// Numbers of DWARF, version 5.
enum { DWARF_C99 = 12, DEBUG_VERSION = 3, DWARF_VERSION = 4 };

static void add_flag(air_translation *t, const char *name, unsigned value) {
  if (LLVMGetModuleFlag(t->target, name, strlen(name))) {
    return;
  }
  LLVMValueRef number =
      LLVMConstInt(LLVMInt32TypeInContext(t->context), value, false);
  LLVMAddModuleFlag(t->target, LLVMModuleFlagBehaviorWarning, name,
                    strlen(name), LLVMValueAsMetadata(number));
}

static LLVMMetadataRef make_file(air_translation *t, const char *name,
                                 size_t name_length, const char *folder,
                                 size_t folder_length) {
  return LLVMDIBuilderCreateFile(t->debug, name, name_length, folder,
                                 folder_length);
}

void air_begin_lines(air_translation *t) {
  size_t length;
  const char *name = LLVMGetSourceFileName(t->source, &length);
  add_flag(t, "Debug Info Version", DEBUG_VERSION);
  add_flag(t, "Dwarf Version", DWARF_VERSION);
  t->debug = LLVMCreateDIBuilder(t->target);
  t->debug_unit = LLVMDIBuilderCreateCompileUnit(
      t->debug, LLVMDWARFSourceLanguageC99, make_file(t, name, length, "", 0),
      "mettle", 6, true, "", 0, 0, "", 0, LLVMDWARFEmissionLineTablesOnly, 0,
      false, false, "", 0, "", 0);
}

// Returns the file of a scope of source, as one of target.
static LLVMMetadataRef copy_file(air_translation *t, LLVMMetadataRef scope) {
  LLVMMetadataRef file = scope ? LLVMDIScopeGetFile(scope) : NULL;
  if (!file) {
    return NULL;
  }
  unsigned name_length, folder_length;
  const char *name = LLVMDIFileGetFilename(file, &name_length);
  const char *folder = LLVMDIFileGetDirectory(file, &folder_length);
  return make_file(t, name, name_length, folder, folder_length);
}

void air_begin_function_lines(air_translation *t, LLVMValueRef from,
                              LLVMValueRef to) {
  LLVMMetadataRef known = LLVMGetSubprogram(from);
  LLVMMetadataRef file = copy_file(t, known);
  const unsigned line = known ? LLVMDISubprogramGetLine(known) : 0;
  size_t length;
  const char *name = LLVMGetValueName2(from, &length);
  if (!file) {
    const char *source = LLVMGetSourceFileName(t->source, &length);
    file = make_file(t, source, length, "", 0);
    (void)LLVMGetValueName2(from, &length);
  }
  LLVMMetadataRef type = LLVMDIBuilderCreateSubroutineType(
      t->debug, file, NULL, 0, LLVMDIFlagZero);
  t->subprogram = LLVMDIBuilderCreateFunction(
      t->debug, file, name, length, name, length, file, line, type, false, true,
      line, LLVMDIFlagZero, true);
  LLVMSetSubprogram(to, t->subprogram);
  air_map_clear(&t->scopes);
}

static LLVMMetadataRef scope_of(air_translation *t, LLVMMetadataRef from) {
  LLVMMetadataRef file = from ? LLVMDIScopeGetFile(from) : NULL;
  if (!file) {
    return t->subprogram;
  }
  LLVMMetadataRef known = air_map_get(&t->scopes, file);
  if (!known) {
    known = LLVMDIBuilderCreateLexicalBlockFile(t->debug, t->subprogram,
                                                copy_file(t, from), 0);
    air_map_set(&t->scopes, file, known);
  }
  return known;
}

void air_set_line(air_translation *t, LLVMValueRef from) {
  LLVMMetadataRef at = LLVMInstructionGetDebugLoc(from);
  const unsigned line = at ? LLVMDILocationGetLine(at) : 0;
  LLVMMetadataRef scope =
      at ? scope_of(t, LLVMDILocationGetScope(at)) : t->subprogram;
  LLVMSetCurrentDebugLocation2(
      t->builder, LLVMDIBuilderCreateDebugLocation(
                      t->context, line, at ? LLVMDILocationGetColumn(at) : 0,
                      scope, NULL));
}

void air_end_lines(air_translation *t) {
  if (t->debug) {
    LLVMDIBuilderFinalize(t->debug);
    LLVMDisposeDIBuilder(t->debug);
    t->debug = NULL;
  }
  air_map_clear(&t->scopes);
}
