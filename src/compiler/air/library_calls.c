// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// library_calls.c: translates calls to calls of the support library
// (metal/mettle/air_library), which has a function for most of AIR's, with
// "lib." in place of "air.".
//
// The library's functions take scalars, a vector as its components, and return
// vectors through a leading pointer: so nothing depends on how C++ passes
// vectors. A function without a vector form is called for each component.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/air/air.h"
#include "compiler/air/families.h"

// The types of a name, without the numbers of components: "max.s.v4i32" to
// "max.s.i32". False if it has none.
static bool make_scalar_name(const char *name, char *out, size_t capacity) {
  bool is_vector = false;
  size_t length = 0;
  for (const char *at = name; *at && length + 1 < capacity;) {
    if (at[0] == '.' && at[1] == 'v' && at[2] >= '0' && at[2] <= '9') {
      out[length++] = '.';
      at += 2 + strspn(at + 2, "0123456789");
      is_vector = true;
    } else {
      out[length++] = *at++;
    }
  }
  out[length] = '\0';
  return is_vector;
}

void air_add_library_names(const char *name, mtli_arena *arena,
                           const char **names, size_t *count) {
  char text[256] = "lib.";
  if (air_texture_library_name(name, text + 4)) {
    names[(*count)++] = mtli_arena_copy_text(arena, text, strlen(text));
    return;
  }
  snprintf(text + 4, sizeof text - 4, "%s", name);
  names[(*count)++] = mtli_arena_copy_text(arena, text, strlen(text));
  if (make_scalar_name(name, text + 4, sizeof text - 4)) {
    names[(*count)++] = mtli_arena_copy_text(arena, text, strlen(text));
  }
}

// --- arguments ---------------------------------------------------------------

static bool is_vector(LLVMTypeRef type) {
  return LLVMGetTypeKind(type) == LLVMVectorTypeKind;
}
static bool is_kind(LLVMTypeRef type, LLVMTypeKind kind) {
  return LLVMGetTypeKind(type) == kind;
}

// Converts a value to a parameter's or a result's type of the same bits.
static LLVMValueRef fit(air_translation *t, LLVMValueRef value,
                        LLVMTypeRef type) {
  LLVMTypeRef from = LLVMTypeOf(value);
  if (from == type) {
    return value;
  }
  if (is_kind(from, LLVMIntegerTypeKind) && is_kind(type, LLVMIntegerTypeKind)) {
    return LLVMBuildIntCast2(t->builder, value, type, false, "");
  }
  if (is_kind(from, LLVMPointerTypeKind)) {
    return LLVMBuildPtrToInt(t->builder, value, type, "");
  }
  if (is_kind(type, LLVMPointerTypeKind)) {
    return LLVMBuildIntToPtr(t->builder, value, type, "");
  }
  return LLVMBuildBitCast(t->builder, value, type, "");
}

static LLVMValueRef component(air_translation *t, LLVMValueRef vector,
                              unsigned index) {
  LLVMValueRef at =
      LLVMConstInt(LLVMInt32TypeInContext(t->context), index, false);
  return LLVMBuildExtractElement(t->builder, vector, at, "");
}

// Appends an argument, a vector as its components.
static void spread(air_translation *t, LLVMValueRef value, LLVMValueRef *out,
                   unsigned *count) {
  if (!is_vector(LLVMTypeOf(value))) {
    out[(*count)++] = value;
    return;
  }
  const unsigned size = LLVMGetVectorSize(LLVMTypeOf(value));
  for (unsigned i = 0; i < size; ++i) {
    out[(*count)++] = component(t, value, i);
  }
}

LLVMValueRef air_make_room(air_translation *t, LLVMTypeRef type) {
  LLVMBasicBlockRef here = LLVMGetInsertBlock(t->builder);
  LLVMBasicBlockRef entry =
      LLVMGetEntryBasicBlock(LLVMGetBasicBlockParent(here));
  LLVMValueRef first = LLVMGetFirstInstruction(entry);
  LLVMBuilderRef builder = LLVMCreateBuilderInContext(t->context);
  if (first) {
    LLVMPositionBuilderBefore(builder, first);
  } else {
    LLVMPositionBuilderAtEnd(builder, entry);
  }
  LLVMValueRef room = LLVMBuildAlloca(builder, type, "");
  LLVMSetAlignment(room, 16);
  LLVMDisposeBuilder(builder);
  return room;
}

LLVMValueRef air_call_fitting(air_translation *t, LLVMValueRef function,
                              LLVMTypeRef result, LLVMValueRef *arguments,
                              size_t count) {
  LLVMTypeRef type = LLVMGlobalGetValueType(function);
  const unsigned wanted = LLVMCountParamTypes(type);
  LLVMTypeRef *types = air_allocate(t, (wanted + 1) * sizeof *types);
  LLVMValueRef *given = air_allocate(t, (5 * count + 2) * sizeof *given);
  LLVMGetParamTypes(type, types);
  LLVMValueRef room = NULL;
  unsigned given_count = 0;
  if (is_kind(LLVMGetReturnType(type), LLVMVoidTypeKind) &&
      !is_kind(result, LLVMVoidTypeKind)) {
    room = given[given_count++] = air_make_room(t, result);
  }
  for (size_t i = 0; i < count; ++i) {
    spread(t, arguments[i], given, &given_count);
  }
  if (given_count != wanted) {
    return NULL;
  }
  for (unsigned i = 0; i < wanted; ++i) {
    given[i] = fit(t, given[i], types[i]);
  }
  LLVMValueRef made =
      LLVMBuildCall2(t->builder, type, function, given, wanted, "");
  if (room) {
    made = LLVMBuildLoad2(t->builder, result, room, "");
    LLVMSetAlignment(made, 16);
    return made;
  }
  return is_kind(result, LLVMVoidTypeKind) ? made : fit(t, made, result);
}

// --- calls -------------------------------------------------------------------

LLVMValueRef air_find_library(air_translation *t, const char *name) {
  char text[256];
  snprintf(text, sizeof text, "lib.%s", name);
  LLVMValueRef function = LLVMGetNamedFunction(t->target, text);
  return function && !LLVMIsDeclaration(function) ? function : NULL;
}

static LLVMValueRef call_each(air_translation *t, LLVMValueRef function,
                              LLVMTypeRef result, LLVMValueRef *arguments,
                              unsigned count) {
  const unsigned size = LLVMGetVectorSize(result);
  LLVMValueRef vector = LLVMGetPoison(result);
  LLVMValueRef *parts = air_allocate(t, (count + 1) * sizeof *parts);
  for (unsigned i = 0; i < size; ++i) {
    for (unsigned k = 0; k < count; ++k) {
      parts[k] = is_vector(LLVMTypeOf(arguments[k]))
                     ? component(t, arguments[k], i)
                     : arguments[k];
    }
    LLVMValueRef one = air_call_fitting(t, function, LLVMGetElementType(result),
                                        parts, count);
    if (!one) {
      return NULL;
    }
    vector = LLVMBuildInsertElement(
        t->builder, vector, one,
        LLVMConstInt(LLVMInt32TypeInContext(t->context), i, false), "");
  }
  return vector;
}

LLVMValueRef air_call_library(air_translation *t, LLVMValueRef call,
                              const char *name) {
  LLVMTypeRef result = air_type(t, LLVMTypeOf(call));
  const unsigned count = LLVMGetNumArgOperands(call);
  LLVMValueRef *arguments = air_allocate(t, (count + 1) * sizeof *arguments);
  for (unsigned i = 0; i < count; ++i) {
    arguments[i] = air_operand(t, call, i);
  }
  char scalar[256];
  LLVMValueRef made = NULL, function = air_find_library(t, name);
  if (function) {
    made = air_call_fitting(t, function, result, arguments, count);
  } else if (is_vector(result) &&
             make_scalar_name(name, scalar, sizeof scalar) &&
             (function = air_find_library(t, scalar))) {
    made = call_each(t, function, result, arguments, count);
  }
  if (!made) {
    char text[256];
    snprintf(text, sizeof text, "air.%s", name);
    air_miss(t, text);
  }
  return made;
}
