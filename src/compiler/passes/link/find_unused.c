// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// find_unused.c: finds the arguments that no thread uses: they need not be
// bound. What constants and types decide is known by then, as programs expect
// of a compiler that leaves out what it does not need.
//
// Requires  the thread as one function, of tier 1 simplified
// Leaves    is_unused of the kernel's parameters, and no other change
#include <string.h>

#include "compiler/ir/kernel/kernel.h"
#include "compiler/ir/llvm/instructions.h"
#include "compiler/ir/llvm/module.h"
#include "compiler/ir/llvm/names.h"
#include "compiler/passes/passes.h"

// Other tiers keep dead code and calls that pass on unused values, so the test
// runs on a copy without them.
#define EACH                                                                  \
  "function(sroa,early-cse,simplifycfg,instcombine<no-verify-fixpoint>,gvn,"  \
  "adce,simplifycfg)"
static const char simplified[] = EACH ",deadargelim," EACH;

static void note_use(LLVMValueRef instruction, void *context) {
  const mtli_kernel *kernel = context;
  if (!LLVMIsACallInst(instruction) || !LLVMGetFirstUse(instruction) ||
      strcmp(mtlc_name(LLVMGetCalledValue(instruction)), "mettle.argument") !=
          0) {
    return;
  }
  const uint64_t slot =
      LLVMConstIntGetZExtValue(LLVMGetOperand(instruction, 0));
  if (slot < kernel->parameter_count) {
    kernel->parameters[slot].is_unused = false;
  }
}

static void note_uses(const mtlc_kernel *kernel) {
  for (size_t i = 0; i < kernel->kernel->parameter_count; i++) {
    mtli_parameter *parameter = &kernel->kernel->parameters[i];
    parameter->is_unused = parameter->builtin == MTLI_BUILTIN_NONE;
  }
  for (LLVMValueRef f = LLVMGetFirstFunction(kernel->module); f;
       f = LLVMGetNextFunction(f)) {
    mtlc_for_each_instruction(f, note_use, (void *)kernel->kernel);
  }
}

mtl_status mtlc_find_unused(mtlc_kernel *kernel) {
  if (kernel->is_ptx || kernel->tier == MTLI_TIER_1 ||
      kernel->tier == MTLI_TIER_SCREENED) {
    note_uses(kernel);
    return MTL_OK;
  }
  LLVMModuleRef module = kernel->module;
  LLVMValueRef thread = kernel->thread;
  kernel->module = LLVMCloneModule(module);
  kernel->thread =
      LLVMGetNamedFunction(kernel->module, MTLC_THREAD_FUNCTION);
  const mtl_status status = mtlc_run_llvm_passes(kernel, simplified);
  note_uses(kernel);
  LLVMDisposeModule(kernel->module);
  kernel->module = module;
  kernel->thread = thread;
  return status;
}
