// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// finish_module.c: prepares the module for code generation.
//
// Requires  describe_code
// Leaves    a module that links by itself: the functions that code generation
//           calls are there, functions bear the kernel's name and the target
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "code/cpu_abi.h"
#include "compiler/ir/kernel/kernel.h"
#include "compiler/ir/kernel/target.h"
#include "compiler/ir/llvm/instructions.h"
#include "compiler/ir/llvm/module.h"
#include "compiler/ir/llvm/names.h"
#include "compiler/ir/transform/thread_state.h"
#include "compiler/passes/passes.h"
#include "compiler/vectorize/target/machine.h"

enum { NAME_LIMIT = 200 };  // bytes of a symbol that profilers show

// Makes a symbol of a kernel's name, which may hold any character.
static void make_symbol(const char *name, const char *suffix,
                        char out[NAME_LIMIT]) {
  size_t length = 0;
  for (; name[length] && length < NAME_LIMIT / 2; ++length) {
    const char c = name[length];
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          (c >= '0' && c <= '9') || c == '_';
    out[length] = is_plain ? c : '_';
  }
  snprintf(out + length, NAME_LIMIT - length, "%s", suffix);
}

static void rename_function(mtlc_kernel *kernel, LLVMValueRef function,
                            const char *suffix) {
  char symbol[NAME_LIMIT];
  make_symbol(kernel->kernel->name, suffix, symbol);
  LLVMSetValueName2(function, symbol, strlen(symbol));
}

// Renames our functions: the kernel's name replaces "mettle". The thread gets
// the plain name if it is a function, else the group does.
static void rename_functions(mtlc_kernel *kernel) {
  LLVMValueRef main_function =
      LLVMGetNamedFunction(kernel->module, MTLC_BODY_FUNCTION);
  if (!main_function) {
    main_function = LLVMGetNamedFunction(kernel->module, MTLC_GROUP_FUNCTION);
  }
  static const char ours[] = "mettle";
  for (LLVMValueRef function = LLVMGetFirstFunction(kernel->module); function;
       function = LLVMGetNextFunction(function)) {
    const char *name = mtlc_name(function);
    if (function == main_function) {
      rename_function(kernel, function, "");
    } else if (!LLVMIsDeclaration(function) &&
               mtlc_starts_with(name, "mettle.")) {
      rename_function(kernel, function, name + strlen(ours));
    }
  }
}

static bool has_function(LLVMModuleRef module, const char *prefix) {
  for (LLVMValueRef function = LLVMGetFirstFunction(module); function;
       function = LLVMGetNextFunction(function)) {
    if (mtlc_starts_with(mtlc_name(function), prefix)) {
      return true;
    }
  }
  return false;
}

static void note_half(LLVMValueRef instruction, void *context) {
  bool *has_half = context;
  if (LLVMGetTypeKind(LLVMTypeOf(instruction)) == LLVMHalfTypeKind) {
    *has_half = true;
  }
}

// Adds functions that code generation may call by itself for this module and
// target.
static mtl_status link_callees(mtlc_kernel *kernel) {
  const lanes_machine machine = lanes_machine_of(kernel->target);
  // Unoptimised code also passes large values by copies on the stack.
  if (kernel->tier == MTLI_TIER_0 || has_function(kernel->module, "llvm.mem")) {
    MTL_TRY(mtlc_link_text(kernel, "memory", mtlc_text_memory));
  }
  if (!machine.has_fma &&
      has_function(kernel->module, "llvm.fma.")) {
    MTL_TRY(mtlc_link_text(kernel, "fused", mtlc_text_fused));
  }
  if (!machine.converts_halves) {
    MTL_TRY(mtlc_link_text(kernel, "halves", mtlc_text_halves));
  }
  bool has_half = false;
  mtlc_for_each_in_module(kernel->module, note_half, &has_half);
  if (has_half) {
    MTL_TRY(mtlc_link_text(kernel, "extremes", mtlc_text_extremes));
  }
  return MTL_OK;
}

// Expands atomic operations to compare-and-swap loops on AArch64. LLVM 19 would
// expand atomic additions of floats too late: without LSE the loops then lose
// the result of the store, and additions are lost.
static mtl_status expand_atomics(mtlc_kernel *kernel) {
  return mtlc_target_is(kernel->target, "aarch64")
             ? mtlc_run_llvm_passes(kernel, "function(atomic-expand)")
             : MTL_OK;
}

mtl_status mtlc_finish_module(mtlc_kernel *kernel) {
  mtlc_hide_functions(kernel->module);
  MTL_TRY(mtlc_run_llvm_passes(kernel, "always-inline,globaldce"));
  rename_functions(kernel);
  MTL_TRY(link_callees(kernel));
  mtlc_set_target_attributes(kernel);
  return expand_atomics(kernel);
}
