// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// fold_initialisers.c: simplifies the code that computes program-scope
// constants until little but stores of values is left. LLVM runs such code
// itself (globalopt), but knows no arithmetic on whole vectors.
//
// Requires  function constants with their values (fix_constants)
// Leaves    the same program, its arithmetic defined; in functions that the
//           initialisers do not call nothing but inlined library code is new
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/status.h"
#include "compiler/ir/kernel/kernel.h"
#include "compiler/ir/llvm/attributes.h"
#include "compiler/ir/llvm/calls.h"
#include "compiler/ir/llvm/instructions.h"
#include "compiler/ir/llvm/module.h"
#include "compiler/ir/llvm/value_list.h"
#include "compiler/passes/passes.h"

static const char list_name[] = "llvm.global_ctors";
static const char simplify[] =
    "always-inline,function(sroa<modify-cfg>,early-cse<memssa>,sccp,"
    "instcombine<no-verify-fixpoint>,simplifycfg,early-cse<memssa>,sccp,"
    "instcombine<no-verify-fixpoint>,simplifycfg),globalopt,globaldce";

static void set_flag(LLVMValueRef function, const char *name, bool is_set) {
  if (is_set) {
    mtlc_set_attribute(function, name, 0);
  } else {
    mtlc_remove_attribute(function, name);
  }
}

static void add_callee(LLVMValueRef instruction, void *context) {
  LLVMValueRef callee = mtlc_callee(instruction);
  if (callee && !LLVMIsDeclaration(callee) && !mtlc_values_has(context, callee)) {
    mtlc_values_add(context, callee);
  }
}

// Collects the initialisers, and after them their callees, at any depth.
static size_t collect(LLVMModuleRef module, mtlc_values *functions) {
  LLVMValueRef list = LLVMGetNamedGlobal(module, list_name);
  LLVMValueRef entries = list ? LLVMGetInitializer(list) : NULL;
  for (int i = 0; entries && i < LLVMGetNumOperands(entries); ++i) {
    LLVMValueRef function =
        LLVMGetOperand(LLVMGetOperand(entries, (unsigned)i), 1);
    if (LLVMIsAFunction(function)) {
      mtlc_values_add(functions, function);
    }
  }
  const size_t roots = functions->count;
  for (size_t i = 0; i < functions->count; ++i) {
    mtlc_for_each_instruction(functions->items[i], add_callee, functions);
  }
  return roots;
}

mtl_status mtlc_fold_initialisers(mtlc_kernel *kernel) {
  // First, so that no simplification relies on behaviour that C++ leaves
  // undefined.
  MTL_TRY(mtlc_lower_bfloat(kernel));
  MTL_TRY(mtlc_define_arithmetic(kernel));
  mtlc_values called = {0}, kept = {0};
  const size_t roots = collect(kernel->module, &called);
  for (LLVMValueRef function = LLVMGetFirstFunction(kernel->module); function;
       function = LLVMGetNextFunction(function)) {
    if (LLVMIsDeclaration(function) ||
        mtlc_has_attribute(function, "alwaysinline")) {
      continue;
    }
    if (!mtlc_values_has(&called, function)) {
      mtlc_values_add(&kept, function);
      set_flag(function, "noinline", true);
      set_flag(function, "optnone", true);
    }
  }
  for (size_t i = roots; i < called.count; ++i) {
    set_flag(called.items[i], "alwaysinline", true);
  }
  // This may drop functions but adds none.
  const mtl_status status = mtlc_run_llvm_passes(kernel, simplify);
  for (LLVMValueRef function = LLVMGetFirstFunction(kernel->module); function;
       function = LLVMGetNextFunction(function)) {
    if (mtlc_values_has(&kept, function)) {
      set_flag(function, "optnone", false);
      set_flag(function, "noinline", false);
    }
  }
  free(called.items);
  free(kept.items);
  return status;
}
