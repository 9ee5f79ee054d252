// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// lower_tiles.c: lowers operations on a simdgroup's tiles for kernels that are
// not vectorised: each thread handles its own elements and shuffles the
// others'.
//
// Requires  mettle.thread, if there is no mettle.group yet
// Leaves    no calls of mettle.tile.*
#include <stdlib.h>

#include "base/status.h"
#include "compiler/ir/kernel/kernel.h"
#include "compiler/ir/llvm/calls.h"
#include "compiler/ir/llvm/module.h"
#include "compiler/ir/llvm/value_list.h"
#include "compiler/passes/passes.h"

mtl_status mtlc_lower_tiles(mtlc_kernel *kernel) {
  mtlc_values calls = {0};
  mtlc_collect_calls(kernel->module, "mettle.tile.", &calls);
  free(calls.items);
  if (calls.count == 0) {
    return MTL_OK;
  }
  MTL_TRY(mtlc_link_text(kernel, "tiles", mtlc_text_tiles));
  return mtlc_run_llvm_passes(kernel, "always-inline,globaldce");
}
