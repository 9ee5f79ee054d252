// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// link_functions.c: brings a pipeline's linked functions into the kernel's
// module: those that it declares and calls by name, and, if it calls through
// pointers, those that may stand in its function tables.
//
// Functions reached through tables may call through tables themselves. Metal
// bounds how deep (maxCallStackDepth), so each level has copies of its own, and
// no recursion can arise.
//
// Requires  fix_constants
// Leaves    nothing undefined but the functions of docs/ir.md; linked functions
//           for tables by the names of module.h
#include "compiler/passes/link/link_functions.h"

#include <llvm-c/Linker.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "compiler/frontend/frontend.h"
#include "compiler/ir/kernel/kernel.h"
#include "compiler/ir/llvm/attributes.h"
#include "compiler/ir/llvm/calls.h"
#include "compiler/ir/llvm/instructions.h"
#include "compiler/ir/llvm/names.h"
#include "compiler/ir/llvm/value_list.h"
#include "compiler/passes/link/load_ir.h"
#include "compiler/passes/passes.h"

static const char level_attribute[] = "mettle.level";

LLVMValueRef mtlc_linked_function(LLVMModuleRef module, uint32_t level,
                                  size_t number) {
  char name[64];
  snprintf(name, sizeof name, MTLC_LINKED_PREFIX "%u.%zu", level, number);
  return LLVMGetNamedFunction(module, name);
}

uint32_t mtlc_level_of(LLVMValueRef function) {
  unsigned length = 0;
  LLVMAttributeRef attribute = LLVMGetStringAttributeAtIndex(
      function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, level_attribute,
      sizeof level_attribute - 1);
  return attribute ? (uint32_t)strtoul(
                         LLVMGetStringAttributeValue(attribute, &length), NULL,
                         10)
                   : 0;
}

static void collect_pointer_call(LLVMValueRef instruction, void *context) {
  if (LLVMIsACallInst(instruction) && !mtlc_callee(instruction) &&
      !LLVMIsAInlineAsm(LLVMGetCalledValue(instruction))) {
    mtlc_values_add(context, instruction);
  }
}

void mtlc_collect_pointer_calls(LLVMModuleRef module, uint32_t level,
                                mtlc_values *calls) {
  for (LLVMValueRef function = LLVMGetFirstFunction(module); function;
       function = LLVMGetNextFunction(function)) {
    if (mtlc_level_of(function) == level) {
      mtlc_for_each_instruction(function, collect_pointer_call, calls);
    }
  }
}

static bool has_pointer_calls(LLVMModuleRef module, uint32_t level) {
  mtlc_values calls = {0};
  mtlc_collect_pointer_calls(module, level, &calls);
  free(calls.items);
  return calls.count > 0;
}

// --- one linked function -----------------------------------------------------

// A linked function's library, decoded while it is read.
typedef struct origin {
  mtli_arena arena;
  mtli_code *library;
  const mtli_kernel *function;
} origin;

static mtl_status open_origin(const mtli_linked_function *linked,
                              origin *out_origin) {
  *out_origin = (origin){0};
  MTL_TRY(mtli_code_read(linked->library_bytes, linked->library_size_bytes,
                         &out_origin->arena, &out_origin->library));
  out_origin->function =
      mtli_code_find_kernel(out_origin->library, linked->name);
  if (!out_origin->function || !out_origin->function->is_visible) {
    return mtli_fail(MTL_INVALID_ARGUMENT,
                     "linked function %s is no visible function of its library",
                     linked->name);
  }
  return MTL_OK;
}

// Loads the function and its callees, with its constants fixed.
static mtl_status load_part(const mtlc_kernel *kernel,
                            const mtli_linked_function *linked,
                            const origin *from, mtlc_kernel *part) {
  const size_t wanted = from->library->constant_count;
  const mtli_blob *blob = mtli_code_find_blob(from->library, MTLI_BLOB_IR);
  if (!blob || (linked->constant_values && linked->constant_count != wanted)) {
    return mtli_fail(MTL_BAD_DATA, "linked function %s: %s", linked->name,
                     blob ? "its constants are not its library's"
                          : "its library has no portable IR");
  }
  *part = (mtlc_kernel){.context = kernel->context,
                        .library = from->library,
                        .kernel = from->function,
                        .constant_values = linked->constant_values,
                        .tier = kernel->tier,
                        .target = kernel->target};
  if (!mtlc_load_ir(kernel->context, blob->bytes, blob->size_bytes,
                    from->function->symbol, &part->module)) {
    return mtli_fail(MTL_BAD_DATA, "linked function %s: its IR is damaged",
                     linked->name);
  }
  mtli_constant_value *none = calloc(wanted + 1, sizeof *none);
  if (!none) {
    abort();
  }
  if (!part->constant_values) {
    part->constant_values = none;
  }
  mtl_status status = mtlc_drop_initialisers(part);
  if (status == MTL_OK) {
    status = mtlc_select_kernel(part);
  }
  if (status == MTL_OK) {
    status = mtlc_fix_constants(part);
  }
  free(none);
  return status;
}

static void set_level(LLVMModuleRef module, uint32_t level) {
  char text[16];
  snprintf(text, sizeof text, "%u", level);
  for (LLVMValueRef function = LLVMGetFirstFunction(module); function;
       function = LLVMGetNextFunction(function)) {
    if (!LLVMIsDeclaration(function)) {
      mtlc_set_text_attribute(function, level_attribute, text);
    }
  }
}

// Links a copy of a function, called name.
static mtl_status link_copy(mtlc_kernel *kernel,
                            const mtli_linked_function *linked,
                            const origin *from, uint32_t level,
                            const char *name) {
  mtlc_kernel part = {0};
  const mtl_status status = load_part(kernel, linked, from, &part);
  if (status != MTL_OK) {
    if (part.module) {
      LLVMDisposeModule(part.module);
    }
    return status;
  }
  LLVMValueRef function =
      LLVMGetNamedFunction(part.module, from->function->symbol);
  LLVMSetValueName2(function, name, strlen(name));
  set_level(part.module, level);
  return LLVMLinkModules2(kernel->module, part.module)
             ? mtli_fail(MTL_UNSUPPORTED, "linked function %s does not link",
                         linked->name)
             : MTL_OK;
}

// --- calls by name -----------------------------------------------------------

static LLVMValueRef find_undefined(LLVMModuleRef module) {
  for (LLVMValueRef function = LLVMGetFirstFunction(module); function;
       function = LLVMGetNextFunction(function)) {
    const char *name = mtlc_name(function);
    if (LLVMIsDeclaration(function) && !mtlc_starts_with(name, "llvm.") &&
        !mtlc_starts_with(name, "mettle.")) {
      return function;
    }
  }
  return NULL;
}

// Replaces a declaration by the linked function of that symbol.
static mtl_status define(mtlc_kernel *kernel, LLVMValueRef declaration) {
  static const char name[] = "mettle.called_by_name";
  const char *symbol = mtlc_name(declaration);
  for (size_t i = 0; i < kernel->linked_count; ++i) {
    origin from;
    mtl_status status = open_origin(&kernel->linked[i], &from);
    const bool is_it =
        status == MTL_OK && strcmp(from.function->symbol, symbol) == 0;
    if (is_it) {
      status = link_copy(kernel, &kernel->linked[i], &from, 0, name);
    }
    mtli_arena_clear(&from.arena);
    MTL_TRY(status);
    if (is_it) {
      LLVMValueRef function = LLVMGetNamedFunction(kernel->module, name);
      LLVMReplaceAllUsesWith(declaration, function);
      LLVMDeleteFunction(declaration);
      LLVMSetLinkage(function, LLVMInternalLinkage);
      LLVMSetValueName2(function, "linked", strlen("linked"));
      return MTL_OK;
    }
  }
  char readable[256];
  mtlc_name_in_source(symbol, readable, sizeof readable);
  return mtli_fail(MTL_UNSUPPORTED,
                   "kernel %s calls %s, which has no definition, among its "
                   "%zu linked functions either",
                   kernel->kernel->name, readable, kernel->linked_count);
}

static mtl_status link_called(mtlc_kernel *kernel) {
  LLVMValueRef undefined;
  while ((undefined = find_undefined(kernel->module)) != NULL) {
    if (!LLVMGetFirstUse(undefined)) {
      LLVMDeleteFunction(undefined);
      continue;
    }
    MTL_TRY(define(kernel, undefined));
  }
  return MTL_OK;
}

// --- calls through tables ----------------------------------------------------

static mtl_status link_level(mtlc_kernel *kernel, uint32_t level) {
  for (size_t i = 0; i < kernel->linked_count; ++i) {
    if (kernel->linked[i].is_private) {
      continue;
    }
    char name[64];
    snprintf(name, sizeof name, MTLC_LINKED_PREFIX "%u.%zu", level, i + 1);
    origin from;
    mtl_status status = open_origin(&kernel->linked[i], &from);
    if (status == MTL_OK) {
      status = link_copy(kernel, &kernel->linked[i], &from, level, name);
    }
    mtli_arena_clear(&from.arena);
    MTL_TRY(status);
  }
  return link_called(kernel);
}

mtl_status mtlc_link_functions(mtlc_kernel *kernel) {
  MTL_TRY(link_called(kernel));
  for (uint32_t level = 0; level < kernel->call_depth &&
                           has_pointer_calls(kernel->module, level);
       ++level) {
    MTL_TRY(link_level(kernel, level + 1));
  }
  return MTL_OK;
}
