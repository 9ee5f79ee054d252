// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// optimise.c: LLVM's optimiser over the finished loops.
//
// Requires  describe_code
// Leaves    the same functions, faster; T1 only
#include "base/status.h"
#include "compiler/ir/kernel/kernel.h"
#include "compiler/ir/kernel/target.h"
#include "compiler/ir/llvm/module.h"
#include "compiler/passes/passes.h"
#include "compiler/vectorize/finish/finish_vectors.h"

mtl_status mtlc_optimise(mtlc_kernel *kernel) {
  mtlc_set_target_attributes(kernel);
  mtlc_hide_functions(kernel->module);
  return kernel->is_vectorized ? mtlc_finish_vectors(kernel)
                               : mtlc_run_llvm_passes(kernel, "default<O3>");
}
