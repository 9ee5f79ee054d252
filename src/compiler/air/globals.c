// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// globals.c: declares AIR's variables and functions in portable IR.
#include <string.h>

#include "compiler/air/air.h"

enum { SPACE_THREADGROUP = 3 };

static const char threadgroup_section[] = ".mettle.threadgroup";

// True for lists of symbols that only the linker must keep.
static bool is_list(const char *name) {
  return strcmp(name, "llvm.compiler.used") == 0 ||
         strcmp(name, "llvm.used") == 0;
}

static bool is_threadgroup(LLVMValueRef variable) {
  return LLVMGetPointerAddressSpace(LLVMTypeOf(variable)) == SPACE_THREADGROUP;
}

static void declare_variable(air_translation *t, LLVMValueRef from) {
  size_t length;
  const char *name = LLVMGetValueName2(from, &length);
  if (is_list(name) || air_map_get(&t->values, from)) {
    return;  // a sampler has its value already
  }
  LLVMValueRef to = LLVMAddGlobal(
      t->target, air_type(t, LLVMGlobalGetValueType(from)), name);
  LLVMSetAlignment(to, LLVMGetAlignment(from));
  air_map_set(&t->values, from, to);
  if (air_is_constant(t, from)) {
    LLVMSetGlobalConstant(to, true);  // external: the pipeline provides its
                                      // value
    return;
  }
  const bool is_initialisers = strcmp(name, "llvm.global_ctors") == 0;
  LLVMSetLinkage(to, is_initialisers ? LLVMAppendingLinkage
                                     : LLVMInternalLinkage);
  LLVMSetGlobalConstant(to, LLVMIsGlobalConstant(from));
  if (is_threadgroup(from)) {
    LLVMSetSection(to, threadgroup_section);
  }
}

// Threadgroup memory is undefined at first, as in a source without an
// initialiser; AIR has zeros for variables of classes.
static void set_initial_value(air_translation *t, LLVMValueRef from) {
  LLVMValueRef to = air_map_get(&t->values, from);
  LLVMValueRef value = LLVMGetInitializer(from);
  if (!to || !LLVMIsAGlobalVariable(to) || air_is_constant(t, from)) {
    return;
  }
  LLVMTypeRef type = LLVMGlobalGetValueType(to);
  if (is_threadgroup(from)) {
    if (value && !LLVMIsUndef(value) && !LLVMIsNull(value)) {
      air_fail(t, MTL_UNSUPPORTED,
               "a threadgroup variable with an initial value");
    }
    LLVMSetInitializer(to, LLVMGetUndef(type));
  } else if (value) {
    LLVMSetInitializer(to, air_value(t, value));
  } else {
    size_t length;
    air_miss(t, LLVMGetValueName2(from, &length));
  }
}

static void copy_attribute(LLVMValueRef from, LLVMValueRef to,
                           const char *name) {
  const unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
  LLVMAttributeRef attribute = LLVMGetEnumAttributeAtIndex(
      from, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, kind);
  if (attribute) {
    LLVMAddAttributeAtIndex(to, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                            attribute);
  }
}

static bool is_built_in(const char *name) {
  return strncmp(name, "llvm.", 5) == 0 || strncmp(name, "air.", 4) == 0;
}

// True for names that are internal to Metal's compiler: no other library can
// define such a function.
static bool is_internal_name(const char *name) {
  return name[0] == '_' && name[1] == '_';
}

static void declare_function(air_translation *t, LLVMValueRef from) {
  size_t length;
  const char *name = LLVMGetValueName2(from, &length);
  if (is_built_in(name)) {
    return;  // each call is translated on its own
  }
  if (LLVMIsDeclaration(from) && is_internal_name(name) &&
      LLVMGetFirstUse(from)) {
    air_miss(t, name);
  }
  LLVMTypeRef type = air_type(t, LLVMGlobalGetValueType(from));
  if (LLVMIsFunctionVarArg(type) && !LLVMIsDeclaration(from)) {
    type = air_packed_type(t, type);
  }
  LLVMValueRef to = LLVMAddFunction(t->target, name, type);
  static const char *const kept[] = {"convergent", "nounwind", "noinline",
                                     "alwaysinline"};
  for (size_t i = 0; i < sizeof kept / sizeof *kept; ++i) {
    copy_attribute(from, to, kept[i]);
  }
  if (!LLVMIsDeclaration(from)) {
    LLVMSetLinkage(to, LLVMInternalLinkage);
  }
  air_map_set(&t->values, from, to);
}

void air_declare_globals(air_translation *t) {
  for (LLVMValueRef function = LLVMGetFirstFunction(t->source); function;
       function = LLVMGetNextFunction(function)) {
    declare_function(t, function);
  }
  air_declare_samplers(t);
  for (LLVMValueRef global = LLVMGetFirstGlobal(t->source); global;
       global = LLVMGetNextGlobal(global)) {
    declare_variable(t, global);
  }
  for (LLVMValueRef global = LLVMGetFirstGlobal(t->source); global;
       global = LLVMGetNextGlobal(global)) {
    set_initial_value(t, global);
  }
}
