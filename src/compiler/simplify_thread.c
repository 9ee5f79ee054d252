// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// simplify_thread.c: brings what one thread does into its simplest form, from
// which vectors, loops or coroutines are made.
//
// Requires  contract_arithmetic
// Leaves    mettle.thread with everything inlined but mettle.texel.* and what
//           calls itself, in SSA form; T1 only
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "compiler/loops.h"
#include "compiler/module.h"
#include "compiler/unroll_arrays.h"

// LLVM's own -O2 order, but without what ties a thread's code to one thread at
// a time: no vectors, no run-time unrolling, no libcalls recognised in loops.
// Private arrays are taken apart again behind the unrolled loops' arithmetic:
// indices of short are constants only then.
static const char registers[] =
    "always-inline,globaldce,function("
    "sroa<modify-cfg>,early-cse<memssa>,simplifycfg,instcombine<no-verify-"
    "fixpoint>,sccp,bdce,simplifycfg)";
static const char before_loops[] =
    "function(loop-simplify,lcssa,"
    "loop-mssa(loop-instsimplify,loop-simplifycfg,licm),"
    "instcombine<no-verify-fixpoint>,";
static const char few_loops[] =
    "loop(loop-idiom,indvars,loop-deletion,loop-unroll-full),";
static const char known_loops[] = "loop(loop-unroll-full),";
static const char after_loops[] =
    "sroa<modify-cfg>,early-cse<memssa>,simplifycfg,gvn<no-pre>,sccp,bdce,"
    "instcombine<no-verify-fixpoint>,sroa<modify-cfg>,dse,loop-mssa(licm),"
    "adce,simplifycfg,instcombine<no-verify-fixpoint>,infer-alignment),"
    "globaldce";

// Marks loads from a parameter `constant T &` or from constant structures:
// numbers for the whole dispatch, which behind each barrier or store would be
// loaded again. Not from pointers to numbers: programs bind one buffer as
// constant input and as output, element by element.
static void mark_constant(LLVMValueRef load, void *context) {
  const mtli_kernel *kernel = context;
  if (!LLVMIsALoadInst(load)) {
    return;
  }
  LLVMValueRef root = LLVMGetOperand(load, 0);
  while (LLVMIsAGetElementPtrInst(root)) {
    root = LLVMGetOperand(root, 0);
  }
  if (!LLVMIsACallInst(root) ||
      strcmp(mtlc_name(LLVMGetCalledValue(root)), "mettle.argument") != 0) {
    return;
  }
  const mtli_parameter *parameter =
      &kernel->parameters[LLVMConstIntGetZExtValue(LLVMGetOperand(root, 0))];
  const bool is_struct = parameter->argument.components == 0;
  if (parameter->is_constant && (parameter->argument.is_reference || is_struct)) {
    mtlc_mark_invariant(load);
  }
}

static const char *loop_passes(LLVMModuleRef module) {
  if (mtlc_most_loops(module) <= MTLC_MANY_LOOPS) {
    return few_loops;
  }
  return mtlc_has_known_turns(module) ? known_loops : "";
}

mtl_status mtlc_simplify_thread(mtlc_kernel *kernel) {
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
  MTL_TRY(mtlc_run_llvm_passes(kernel, registers));
  mtlc_for_each_instruction(kernel->thread, mark_constant,
                            (void *)kernel->kernel);
  mtlc_unroll_arrays(kernel);
  char passes[sizeof before_loops + sizeof few_loops + sizeof after_loops];
  snprintf(passes, sizeof passes, "%s%s%s", before_loops,
           loop_passes(kernel->module), after_loops);
  return mtlc_run_llvm_passes(kernel, passes);
}
