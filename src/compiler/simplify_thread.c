// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// simplify_thread.c: brings what one thread does into its simplest form, from
// which vectors, loops or coroutines are made.
//
// Requires  contract_arithmetic
// Leaves    mettle.thread with everything inlined but mettle.texel.* and what
//           calls itself, in SSA form; T1 only
#include "base/status.h"
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
static const char loops[] =
    "function(loop-simplify,lcssa,"
    "loop-mssa(loop-instsimplify,loop-simplifycfg,licm),"
    "instcombine<no-verify-fixpoint>,"
    "loop(loop-idiom,indvars,loop-deletion,loop-unroll-full),"
    "sroa<modify-cfg>,early-cse<memssa>,simplifycfg,gvn<no-pre>,sccp,bdce,"
    "instcombine<no-verify-fixpoint>,sroa<modify-cfg>,dse,loop-mssa(licm),"
    "adce,simplifycfg,instcombine<no-verify-fixpoint>,infer-alignment),"
    "globaldce";

mtl_status mtlc_simplify_thread(mtlc_kernel *kernel) {
  for (LLVMValueRef function = LLVMGetFirstFunction(kernel->module); function;
       function = LLVMGetNextFunction(function)) {
    // Texels of rare formats: too much code for every place that reads one.
    const bool stays =
        function == kernel->thread ||
        mtlc_has_attribute(function, "noinline") ||
        mtlc_starts_with(mtlc_name(function), "mettle.texel.");
    if (!LLVMIsDeclaration(function) && !stays) {
      mtlc_set_attribute(function, "alwaysinline", 0);
    }
  }
  MTL_TRY(mtlc_run_llvm_passes(kernel, registers));
  mtlc_unroll_arrays(kernel);
  return mtlc_run_llvm_passes(kernel, loops);
}
