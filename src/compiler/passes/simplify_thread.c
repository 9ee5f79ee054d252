// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// simplify_thread.c: simplifies the code of one thread before it becomes
// vectors, loops or coroutines.
//
// Requires  contract_arithmetic
// Leaves    mettle.thread with everything inlined but mettle.texel.*, what
//           calls itself and, in long kernels, the functions of keep_calls.h,
//           in SSA form; T1 only
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "compiler/ir/analysis/inlined_size.h"
#include "compiler/ir/analysis/loops.h"
#include "compiler/ir/kernel/kernel.h"
#include "compiler/ir/llvm/attributes.h"
#include "compiler/ir/llvm/instructions.h"
#include "compiler/ir/llvm/join_phis.h"
#include "compiler/ir/llvm/marks.h"
#include "compiler/ir/llvm/module.h"
#include "compiler/ir/llvm/names.h"
#include "compiler/ir/llvm/split_calls.h"
#include "compiler/ir/transform/keep_calls.h"
#include "compiler/ir/transform/own_counters.h"
#include "compiler/ir/transform/split_numbers.h"
#include "compiler/ir/transform/unroll_arrays.h"
#include "compiler/ir/transform/unswitch.h"
#include "compiler/passes/passes.h"

enum {
  // In the source, with everything inlined. A larger thread is simplified
  // function by function: 256-bit arithmetic of an inversion in a field, whose
  // 30 products are a million instructions, took 55 s at once and takes 2 s so
  // (x86-64-v4, 2026-11).
  LARGEST_SOURCE_INSTRUCTIONS = 100000,
  // a simplified thread that is longer keeps its loops
  LARGEST_UNROLLED_INSTRUCTIONS = 16384,
};

// LLVM's own -O2 order, but without what ties a thread's code to one thread at
// a time: no vectors, no run-time unrolling, no libcalls recognised in loops.
// Private arrays are taken apart again behind the unrolled loops' arithmetic:
// indices of short are constants only then. What is inlined is taken apart
// first: a third of the instructions to copy.
static const char registers[] =
    "function(mem2reg,sroa<modify-cfg>),always-inline,globaldce,function("
    "sroa<modify-cfg>,early-cse<memssa>,simplifycfg,instcombine<no-verify-"
    "fixpoint>,sccp,bdce,simplifycfg)";
static const char together[] = "function(instcombine<no-verify-fixpoint>)";
static const char before_loops[] =
    "function(loop-simplify,lcssa,"
    "loop-mssa(loop-instsimplify,loop-simplifycfg,licm)";
static const char few_loops[] =
    ",loop(loop-idiom,indvars,loop-deletion,loop-unroll-full)";
static const char known_loops[] = ",loop(loop-unroll-full)";
static const char after_loops[] =
    "function(sroa<modify-cfg>,early-cse<memssa>,simplifycfg,gvn<no-pre>,"
    "instcombine<no-verify-fixpoint>,sroa<modify-cfg>,dse,loop-mssa(licm),"
    "adce,simplifycfg,infer-alignment),globaldce";

// --- The pass ----------------------------------------------------------------

// Marks loads from a parameter `constant T &` or from constant structures as
// invariant: they would be repeated after each barrier or store. Pointers to
// numbers are left out, because programs bind one buffer as constant input and
// as output, element by element.
static void mark_constant(LLVMValueRef load, void *context) {
  const mtli_kernel *kernel = context;
  if (!LLVMIsALoadInst(load)) {
    return;
  }
  LLVMValueRef root = mtlc_root_of(LLVMGetOperand(load, 0));
  if (!LLVMIsACallInst(root) ||
      strcmp(mtlc_name(LLVMGetCalledValue(root)), "mettle.argument") != 0) {
    return;
  }
  const mtli_parameter *parameter =
      &kernel->parameters[LLVMConstIntGetZExtValue(LLVMGetOperand(root, 0))];
  const bool is_struct = parameter->argument.components == 0;
  if (parameter->is_constant &&
      (parameter->argument.is_reference || is_struct)) {
    mtlc_mark_invariant(load);
  }
}

static const char *loop_passes(LLVMModuleRef module) {
  if (mtlc_most_loops(module) <= MTLC_MANY_LOOPS) {
    return few_loops;
  }
  return mtlc_has_known_turns(module) ? known_loops : "";
}

// Requests unrolling of loops; true if any may be unrolled.
static bool choose_loops(mtlc_kernel *kernel) {
  bool any = false;
  for (LLVMValueRef f = LLVMGetFirstFunction(kernel->module); f;
       f = LLVMGetNextFunction(f)) {
    const bool is_ours = f == kernel->thread || mtlc_is_called(f);
    if (is_ours &&
        mtlc_count_instructions(f) <= LARGEST_UNROLLED_INSTRUCTIONS) {
      mtlc_unroll_arrays(kernel, f);
      any = true;
    }
  }
  return any;
}

static mtl_status split_numbers(mtlc_kernel *kernel) {
  bool any = false;
  for (LLVMValueRef f = LLVMGetFirstFunction(kernel->module); f;
       f = LLVMGetNextFunction(f)) {
    any |= mtlc_split_numbers(kernel, f);
  }
  return any ? mtlc_run_llvm_passes(kernel, together) : MTL_OK;
}

// Counters that are to be vectors stay as they are written meanwhile.
static mtl_status simplify_loops(mtlc_kernel *kernel) {
  const bool unrolls = choose_loops(kernel);
  if (unrolls) {
    MTL_TRY(mtlc_unswitch(kernel));
  }
  bool holds = false;
  for (LLVMValueRef f = LLVMGetFirstFunction(kernel->module); f;
       f = LLVMGetNextFunction(f)) {
    holds |= unrolls && mtlc_hold_own_counters(kernel, f);
  }
  char passes[sizeof before_loops + sizeof few_loops + 1];
  snprintf(passes, sizeof passes, "%s%s)", before_loops,
           unrolls ? loop_passes(kernel->module) : "");
  MTL_TRY(mtlc_run_llvm_passes(kernel, passes));
  for (LLVMValueRef f = LLVMGetFirstFunction(kernel->module); f && holds;
       f = LLVMGetNextFunction(f)) {
    mtlc_release_held(f);
  }
  return MTL_OK;
}

static mtl_status simplify(mtlc_kernel *kernel) {
  MTL_TRY(mtlc_run_llvm_passes(kernel, registers));
  MTL_TRY(split_numbers(kernel));
  mtlc_for_each_instruction(kernel->thread, mark_constant,
                            (void *)kernel->kernel);
  MTL_TRY(simplify_loops(kernel));
  for (LLVMValueRef f = LLVMGetFirstFunction(kernel->module); f;
       f = LLVMGetNextFunction(f)) {
    mtlc_join_phis(f);
  }
  return mtlc_run_llvm_passes(kernel, after_loops);
}

static void mark_inlined(const mtlc_kernel *kernel) {
  for (LLVMValueRef function = LLVMGetFirstFunction(kernel->module); function;
       function = LLVMGetNextFunction(function)) {
    // Texels of rare formats: too much code for every place that reads one.
    const bool stays = function == kernel->thread ||
                       mtlc_has_attribute(function, "noinline") ||
                       mtlc_starts_with(mtlc_name(function), "mettle.texel.");
    if (!LLVMIsDeclaration(function) && !stays) {
      mtlc_set_attribute(function, "alwaysinline", 0);
    }
  }
}

static void set_module(mtlc_kernel *kernel, LLVMModuleRef module) {
  LLVMDisposeModule(kernel->module);
  kernel->module = module;
  kernel->thread = LLVMGetNamedFunction(module, MTLC_THREAD_FUNCTION);
}

// Tries to keep calls. Restores the kernel if that does not make it shorter.
static mtl_status simplify_with_calls(mtlc_kernel *kernel, bool *out_done) {
  *out_done = false;
  if (!mtlc_may_keep_calls(kernel)) {
    return MTL_OK;
  }
  LLVMModuleRef before = LLVMCloneModule(kernel->module);
  bool any = false;
  mtl_status status = mtlc_keep_calls(kernel, &any);
  if (status == MTL_OK && any) {
    status = simplify(kernel);
  }
  if (status != MTL_OK || !any || !mtlc_settle_calls(kernel)) {
    set_module(kernel, before);
    mark_inlined(kernel);
    return status;
  }
  *out_done = true;
  LLVMDisposeModule(before);
  // Inlines the remaining calls, and drops unused parameters.
  MTL_TRY(mtlc_run_llvm_passes(kernel, "always-inline,deadargelim"));
  return simplify(kernel);
}

mtl_status mtlc_simplify_thread(mtlc_kernel *kernel) {
  bool is_done = false;
  mark_inlined(kernel);
  mtlc_split_between_calls(kernel);
  MTL_TRY(simplify_with_calls(kernel, &is_done));
  if (is_done) {
    return MTL_OK;
  }
  if (mtlc_inlined_size(kernel) > LARGEST_SOURCE_INSTRUCTIONS) {
    MTL_TRY(mtlc_run_llvm_passes(kernel, MTLC_PIECEWISE));
  }
  return simplify(kernel);
}
