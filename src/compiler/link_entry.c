// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// link_entry.c: puts the loop over threadgroups around mettle.group.
//
// Requires  mettle.group and mettle.context_bytes
// Leaves    the two functions of cpu_abi.h
#include "base/status.h"
#include "code/cpu_abi.h"
#include "compiler/module.h"

mtl_status mtlc_link_entry(mtlc_kernel *kernel) {
  if (LLVMGetNamedFunction(kernel->module, MTLI_CPU_ENTRY_SYMBOL)) {
    return MTL_OK;
  }
  if (!LLVMGetNamedFunction(kernel->module, "mettle.begin")) {
    MTL_TRY(mtlc_link_text(kernel, "no_counters", mtlc_text_no_counters));
  }
  return mtlc_link_text(kernel, "entry", mtlc_text_entry);
}
