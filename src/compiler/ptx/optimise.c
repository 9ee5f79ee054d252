// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// optimise.c: LLVM's own passes for the machine, over one kernel with all that
// it calls.
//
// Requires  enter_block
// Leaves    internal functions and variables with names that PTX takes
#include "base/status.h"
#include "code/ptx_abi.h"
#include "compiler/ir/kernel/kernel.h"
#include "compiler/ir/kernel/target.h"
#include "compiler/ir/llvm/module.h"
#include "compiler/ptx/ptx.h"

static void hide_all(mtlc_kernel *kernel) {
  for (LLVMValueRef f = LLVMGetFirstFunction(kernel->module); f;
       f = LLVMGetNextFunction(f)) {
    if (!LLVMIsDeclaration(f) && f != kernel->thread) {
      LLVMSetLinkage(f, LLVMInternalLinkage);
    }
  }
  for (LLVMValueRef g = LLVMGetFirstGlobal(kernel->module); g;
       g = LLVMGetNextGlobal(g)) {
    if (LLVMGetInitializer(g)) {
      LLVMSetLinkage(g, LLVMInternalLinkage);
    }
  }
}

mtl_status mtlc_ptx_optimise(mtlc_kernel *kernel) {
  hide_all(kernel);
  mtlc_set_target_attributes(kernel);
  return mtlc_run_llvm_passes(kernel, "default<O3>");
}
