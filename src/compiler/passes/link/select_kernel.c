// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// select_kernel.c: keeps one kernel of a library and everything that it
// reaches.
//
// Requires  a library's module (docs/ir.md)
// Leaves    the kernel's wrapper, the only function seen from outside; the
//           functions of docs/ir.md with their attributes; of others without
//           a body those that linked functions may define
#include <llvm-c/Comdat.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "compiler/ir/kernel/kernel.h"
#include "compiler/ir/llvm/attributes.h"
#include "compiler/ir/llvm/calls.h"
#include "compiler/ir/llvm/module.h"
#include "compiler/ir/llvm/names.h"
#include "compiler/ir/llvm/types.h"
#include "compiler/ir/llvm/value_list.h"
#include "compiler/passes/passes.h"

// What the optimiser may assume of a function without a body.
typedef struct known_function {
  const char *prefix;
  bool is_convergent;
  bool is_pure;  // reads and writes no memory
  // The operand by whose address alone memory is read or written, and how;
  // else 0 and 0.
  uint8_t pointer_operand;  // counted from 1
  uint8_t access;           // READS, WRITES
} known_function;

// Bits of LLVM's MemoryEffects for argument memory (ModRef.h).
enum { READS = 1, WRITES = 2 };

static const known_function known_functions[] = {
    {"mettle.argument", false, true, 0, 0},
    {"mettle.position", false, true, 0, 0},
    {"mettle.math_mode", false, true, 0, 0},
    {"mettle.constant_defined", false, true, 0, 0},
    {"mettle.barrier.threadgroup", true, false, 0, 0},
    {"mettle.barrier.simdgroup", true, false, 0, 0},
    {"mettle.simd.shuffle.", true, true, 0, 0},
    {"mettle.simd.ballot", true, true, 0, 0},
    {"mettle.simd.reduce.", true, true, 0, 0},
    {"mettle.simd.scan.inclusive.", true, true, 0, 0},
    {"mettle.simd.scan.exclusive.", true, true, 0, 0},
    {"mettle.tile.multiply_add", true, true, 0, 0},
    {"mettle.tile.dot.", true, true, 0, 0},
    {"mettle.tile.widen.", false, true, 0, 0},
    {"mettle.tile.load.", false, false, 1, READS},
    {"mettle.tile.store.", false, false, 2, WRITES},
    {"mettle.trap", false, false, 0, 0},
    {"mettle.log_memory", false, true, 0, 0},
};

static const known_function *find_known(const char *name) {
  const size_t count = sizeof known_functions / sizeof known_functions[0];
  for (size_t i = 0; i < count; ++i) {
    if (mtlc_starts_with(name, known_functions[i].prefix)) {
      return &known_functions[i];
    }
  }
  return NULL;
}

static void remove_attributes(LLVMValueRef function) {
  // Attributes of the front end's target, which ours replace later. Also
  // mustprogress: an endless loop is the kernel's own affair, and never a
  // reason to compute something else.
  static const char *const texts[] = {"target-cpu", "target-features",
                                      "tune-cpu", "min-legal-vector-width",
                                      "stack-protector-buffer-size"};
  const LLVMAttributeIndex index = LLVMAttributeFunctionIndex;
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; ++i) {
    LLVMRemoveStringAttributeAtIndex(function, index, texts[i],
                                     (unsigned)strlen(texts[i]));
  }
  static const char *const names[] = {"mustprogress", "optnone", "noinline"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i) {
    mtlc_remove_attribute(function, names[i]);
  }
}

static void hide_all_but(LLVMModuleRef module, LLVMValueRef wrapper) {
  for (LLVMValueRef function = LLVMGetFirstFunction(module); function;
       function = LLVMGetNextFunction(function)) {
    if (LLVMIsDeclaration(function)) {
      continue;
    }
    remove_attributes(function);
    LLVMSetComdat(function, NULL);
    LLVMSetDLLStorageClass(function, LLVMDefaultStorageClass);
    LLVMSetVisibility(function, LLVMDefaultVisibility);
    LLVMSetLinkage(function, function == wrapper ? LLVMExternalLinkage
                                                 : LLVMInternalLinkage);
  }
}

static void hide_globals(LLVMModuleRef module) {
  static const char *const dropped[] = {"llvm.used", "llvm.compiler.used",
                                        "llvm.global.annotations"};
  for (size_t i = 0; i < sizeof dropped / sizeof dropped[0]; ++i) {
    LLVMValueRef global = LLVMGetNamedGlobal(module, dropped[i]);
    if (global) {
      LLVMDeleteGlobal(global);
    }
  }
  for (LLVMValueRef global = LLVMGetFirstGlobal(module); global;
       global = LLVMGetNextGlobal(global)) {
    if (LLVMGetInitializer(global) &&
        !mtlc_starts_with(mtlc_name(global), "llvm.")) {
      LLVMSetComdat(global, NULL);
      LLVMSetVisibility(global, LLVMDefaultVisibility);
      LLVMSetLinkage(global, LLVMInternalLinkage);
    }
  }
}

// __builtin_trap says neither why nor which thread; mettle.trap does.
static void replace_traps(mtlc_kernel *kernel) {
  mtlc_types types = mtlc_types_of(kernel->context);
  mtlc_values calls = {0};
  mtlc_collect_calls(kernel->module, "llvm.trap", &calls);
  mtlc_collect_calls(kernel->module, "llvm.ubsantrap", &calls);
  LLVMBuilderRef builder = LLVMCreateBuilderInContext(kernel->context);
  for (size_t i = 0; i < calls.count; ++i) {
    LLVMPositionBuilderBefore(builder, calls.items[i]);
    LLVMTypeRef parameters[] = {types.i32, types.pointer};
    LLVMValueRef trap =
        mtlc_declare(kernel->module, "mettle.trap",
                     LLVMFunctionType(types.nothing, parameters, 2, false));
    LLVMValueRef arguments[] = {mtlc_i32(kernel->context, 0),
                                LLVMConstNull(types.pointer)};
    mtlc_call(builder, trap, arguments, 2);
    LLVMInstructionEraseFromParent(calls.items[i]);
  }
  LLVMDisposeBuilder(builder);
  free(calls.items);
}

static mtl_status check_declaration(LLVMValueRef function) {
  const char *name = mtlc_name(function);
  if (mtlc_starts_with(name, "llvm.")) {
    return MTL_OK;
  }
  const known_function *known = find_known(name);
  if (!known && mtlc_starts_with(name, "mettle.")) {
    return mtli_fail(MTL_UNSUPPORTED,
                     "the kernel calls %s, which has no definition", name);
  }
  if (!known) {
    return MTL_OK;  // link_functions defines it, or reports that nobody does
  }
  mtlc_set_attribute(function, "nounwind", 0);
  if (known->is_convergent) {
    // Nor may calls on two sides of a branch become one.
    mtlc_set_attribute(function, "convergent", 0);
    mtlc_set_attribute(function, "nomerge", 0);
  }
  if (known->is_pure) {
    mtlc_set_attribute(function, "memory", 0);  // none
    mtlc_set_attribute(function, "willreturn", 0);
  }
  if (known->is_pure && !known->is_convergent) {
    mtlc_set_attribute(function, "speculatable", 0);
  }
  if (known->access) {
    mtlc_set_attribute(function, "memory", known->access);
    mtlc_set_attribute(function, "willreturn", 0);
    mtlc_set_parameter_attribute(function, known->pointer_operand - 1,
                                 "nocapture", 0);
  }
  if (!known->is_convergent && (known->is_pure || known->access)) {
    // The frontend marks every function whose body it does not see as
    // convergent.
    mtlc_remove_attribute(function, "convergent");
  }
  return MTL_OK;
}

mtl_status mtlc_select_kernel(mtlc_kernel *kernel) {
  LLVMValueRef wrapper =
      LLVMGetNamedFunction(kernel->module, kernel->kernel->symbol);
  if (!wrapper || LLVMIsDeclaration(wrapper)) {
    return mtli_fail(MTL_BAD_DATA, "the library's IR has no function %s for %s",
                     kernel->kernel->symbol, kernel->kernel->name);
  }
  hide_all_but(kernel->module, wrapper);
  hide_globals(kernel->module);
  MTL_TRY(mtlc_run_llvm_passes(kernel, "globaldce"));
  replace_traps(kernel);
  for (LLVMValueRef function = LLVMGetFirstFunction(kernel->module); function;
       function = LLVMGetNextFunction(function)) {
    if (LLVMIsDeclaration(function)) {
      MTL_TRY(check_declaration(function));
    }
  }
  return MTL_OK;
}
