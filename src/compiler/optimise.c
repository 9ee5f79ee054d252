// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// optimise.c: LLVM's optimiser over the finished loops.
//
// Requires  mettle_entry and all that it calls
// Leaves    the same functions, faster; T1 only
#include "base/status.h"
#include "code/cpu_abi.h"
#include "compiler/module.h"
#include "compiler/vectorize/vectorize.h"

mtl_status mtlc_optimise(mtlc_kernel *kernel) {
  mtlc_set_target_attributes(kernel);
  mtlc_hide_functions(kernel->module);
  // The group stays a function of its own: profilers show it by the kernel's
  // name.
  LLVMValueRef group =
      LLVMGetNamedFunction(kernel->module, MTLC_GROUP_FUNCTION);
  if (group) {
    mtlc_set_attribute(group, "noinline", 0);
  }
  return kernel->is_vectorized ? mtlc_finish_vectors(kernel)
                               : mtlc_run_llvm_passes(kernel, "default<O3>");
}
