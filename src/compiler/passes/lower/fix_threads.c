// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// fix_threads.c: replaces threadgroup sizes by constants in code for a known
// size whose threads wait for each other. The steps of a tree that starts with
// half of threads_per_threadgroup thus become constants.
//
// Requires  enter_kernel
// Leaves    constants in the place of some calls of mettle.position; T1 only
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/status.h"
#include "compiler/ir/kernel/kernel.h"
#include "compiler/ir/llvm/calls.h"
#include "compiler/ir/llvm/instructions.h"
#include "compiler/ir/llvm/types.h"
#include "compiler/ir/llvm/value_list.h"
#include "compiler/passes/passes.h"

static uint64_t operand(LLVMValueRef call, unsigned index) {
  return LLVMConstIntGetZExtValue(LLVMGetOperand(call, index));
}

static void fix(mtlc_kernel *kernel, LLVMValueRef call) {
  const uint64_t builtin = operand(call, 0);
  if (builtin != MTLI_THREADS_PER_THREADGROUP &&
      builtin != MTLI_SIMDGROUPS_PER_THREADGROUP) {
    return;
  }
  kernel->facts.depends_on_simdgroups = true;
  const mtli_group_class *known = &kernel->group_class;
  const uint32_t simdgroups = known->simdgroups;
  if (!simdgroups) {
    return;
  }
  const uint32_t all = simdgroups * MTL_SIMD_WIDTH;
  const uint32_t row = known->is_exact ? known->row : all;
  const uint64_t dimension = operand(call, 1);
  const uint32_t threads = dimension == 0   ? row
                           : dimension == 1 ? all / row
                                            : 1;
  kernel->facts.needs_simdgroups = true;
  mtlc_replace(
      call,
      mtlc_i32(kernel->context,
               builtin == MTLI_THREADS_PER_THREADGROUP ? threads : simdgroups));
}

mtl_status mtlc_fix_threads(mtlc_kernel *kernel) {
  mtlc_values calls = {0};
  mtlc_collect_calls(kernel->module, "mettle.barrier.threadgroup", &calls);
  const bool waits = calls.count > 0;
  calls.count = 0;
  mtlc_collect_calls(kernel->module, "mettle.position", &calls);
  for (size_t i = 0; i < calls.count && waits; i++) {
    fix(kernel, calls.items[i]);
  }
  free(calls.items);
  return MTL_OK;
}
