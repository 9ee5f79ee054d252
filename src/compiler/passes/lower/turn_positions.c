// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// turn_positions.c: numbers dimensions as the launch does, for threadgroups
// whose rows lie along y or z (group_class.h). From then on they lie along x.
//
// Requires  enter_kernel
// Leaves    calls of mettle.position that number the dimensions as the turned
//           launch does (cpu_abi.h); tier 1 only
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/status.h"
#include "compiler/ir/kernel/kernel.h"
#include "compiler/ir/llvm/calls.h"
#include "compiler/ir/llvm/types.h"
#include "compiler/ir/llvm/value_list.h"
#include "compiler/passes/passes.h"

// True if a built-in input has a value for each dimension.
static bool has_dimensions(uint64_t builtin) {
  switch (builtin) {
    case MTLI_THREAD_POSITION_IN_GRID:
    case MTLI_THREAD_POSITION_IN_THREADGROUP:
    case MTLI_THREADGROUP_POSITION_IN_GRID:
    case MTLI_THREADS_PER_THREADGROUP:
    case MTLI_DISPATCH_THREADS_PER_THREADGROUP:
    case MTLI_THREADS_PER_GRID:
    case MTLI_THREADGROUPS_PER_GRID:
    case MTLI_GRID_ORIGIN:
    case MTLI_GRID_SIZE: return true;
    default: return false;
  }
}

mtl_status mtlc_turn_positions(mtlc_kernel *kernel) {
  const uint32_t turn = kernel->group_class.row_dimension;
  mtlc_values calls = {0};
  if (!turn) {
    return MTL_OK;
  }
  mtlc_collect_calls(kernel->module, "mettle.position", &calls);
  for (size_t i = 0; i < calls.count; i++) {
    LLVMValueRef call = calls.items[i];
    if (has_dimensions(LLVMConstIntGetZExtValue(LLVMGetOperand(call, 0)))) {
      const uint32_t dimension =
          (uint32_t)LLVMConstIntGetZExtValue(LLVMGetOperand(call, 1));
      LLVMSetOperand(call, 1,
                     mtlc_i32(kernel->context, (dimension + 3 - turn) % 3));
    }
  }
  free(calls.items);
  return MTL_OK;
}
