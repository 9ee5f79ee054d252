// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// simplify_library.c: brings functions of metal_stdlib into their simplest form
// before they are inlined. A sine is 700 instructions as clang leaves it, half
// of them for another mode, and 40 in the end; inlined first, each call would
// cost its simplification anew.
//
// Requires  define_arithmetic: what may be concluded is settled
// Leaves    calls of library functions inlined; the program's own functions as
//           they are otherwise, for T0 shows what they say
#include <llvm-c/DebugInfo.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "compiler/ir/kernel/kernel.h"
#include "compiler/ir/kernel/target.h"
#include "compiler/ir/llvm/attributes.h"
#include "compiler/ir/llvm/calls.h"
#include "compiler/ir/llvm/instructions.h"
#include "compiler/ir/llvm/module.h"
#include "compiler/ir/transform/keep_calls.h"
#include "compiler/passes/passes.h"

// Function attributes that keep LLVM from a function of the program for a
// while, and those that it had.
static const char kept_inlined[] = "mettle-kept-inlined";
static const char kept_called[] = "mettle-kept-called";
static const char kept[] = "mettle-kept";

// True for a function of the library, whose headers ask for no debug
// information.
static bool is_library(LLVMValueRef function) {
  return !LLVMIsDeclaration(function) && !LLVMGetSubprogram(function);
}

static bool has_text(LLVMValueRef function, const char *name) {
  return LLVMGetStringAttributeAtIndex(
             function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, name,
             (unsigned)strlen(name)) != NULL;
}

static void keep(LLVMValueRef function) {
  const char *name = mtlc_has_attribute(function, "alwaysinline") ? kept_inlined
                     : mtlc_has_attribute(function, "noinline")   ? kept_called
                                                                  : kept;
  mtlc_set_text_attribute(function, name, "");
  mtlc_remove_attribute(function, "alwaysinline");
  mtlc_set_attribute(function, "noinline", 0);
  mtlc_set_attribute(function, "optnone", 0);
}

static void let_go(LLVMValueRef function) {
  static const char *const names[] = {kept_inlined, kept_called, kept};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    if (has_text(function, names[i])) {
      LLVMRemoveStringAttributeAtIndex(
          function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, names[i],
          (unsigned)strlen(names[i]));
      mtlc_remove_attribute(function, "optnone");
      if (i != 1) {
        mtlc_remove_attribute(function, "noinline");
      }
      if (i == 0) {
        mtlc_set_attribute(function, "alwaysinline", 0);
      }
    }
  }
}

// Returns the constant that a function returns, if it does nothing else; else
// NULL.
static LLVMValueRef constant_of(LLVMValueRef function) {
  LLVMValueRef first =
      LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(function));
  const bool returns =
      LLVMIsAReturnInst(first) && LLVMGetNumOperands(first) == 1;
  LLVMValueRef value = returns ? LLVMGetOperand(first, 0) : NULL;
  return value && LLVMIsAConstant(value) ? value : NULL;
}

// Replaces calls that ask for the math mode by constants, so that code for
// other modes is removed.
static mtl_status answer_questions(mtlc_kernel *kernel) {
  MTL_TRY(mtlc_run_llvm_passes(kernel, "function(instsimplify)"));
  for (LLVMValueRef f = LLVMGetFirstFunction(kernel->module); f;
       f = LLVMGetNextFunction(f)) {
    LLVMValueRef constant = is_library(f) ? constant_of(f) : NULL;
    LLVMUseRef next = NULL;
    for (LLVMUseRef use = constant ? LLVMGetFirstUse(f) : NULL; use;
         use = next) {
      LLVMValueRef user = LLVMGetUser(use);
      next = LLVMGetNextUse(use);
      if (mtlc_callee(user) == f && LLVMTypeOf(user) == LLVMTypeOf(constant)) {
        mtlc_replace(user, constant);
      }
    }
  }
  return mtlc_run_llvm_passes(kernel, "function(simplifycfg),globaldce");
}

mtl_status mtlc_simplify_library(mtlc_kernel *kernel) {
  bool has_library = false;
  for (LLVMValueRef f = LLVMGetFirstFunction(kernel->module); f;
       f = LLVMGetNextFunction(f)) {
    if (is_library(f)) {
      has_library = true;
    } else if (!LLVMIsDeclaration(f)) {
      keep(f);
    }
  }
  mtl_status status = MTL_OK;
  if (has_library) {
    // Before LLVM describes the target, which takes a millisecond for each set
    // of attributes.
    mtlc_set_target_attributes(kernel);
    status = answer_questions(kernel);
  }
  if (has_library && status == MTL_OK) {
    status = mtlc_run_llvm_passes(kernel, MTLC_PIECEWISE);
  }
  for (LLVMValueRef f = LLVMGetFirstFunction(kernel->module); f;
       f = LLVMGetNextFunction(f)) {
    let_go(f);
  }
  return status;
}
