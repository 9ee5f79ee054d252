// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// flow.c: finds where threads diverge, by the vectoriser's analysis.
#include "compiler/ptx/flow.h"

#include "compiler/ir/llvm/module.h"

void mtlc_ptx_find_flow(mtlc_kernel *kernel, mtlc_ptx_flow *f) {
  *f = (mtlc_ptx_flow){0};
  if (!kernel->group_class.is_whole || kernel->group_class.is_uneven ||
      mtlc_run_llvm_passes(kernel,
                           "function(lower-switch,loop-simplify,lcssa)") !=
          MTL_OK ||
      !lanes_graph_build(kernel->thread, &f->arena, &f->graph)) {
    return;
  }
  const mtli_group_class any = {.row = 1};
  lanes_values_find(&f->graph, LLVMGetModuleDataLayout(kernel->module), MOST_LANES, 1, &any,
                    &f->values);
  f->is_known = true;
}

bool mtlc_ptx_is_for_all(const mtlc_ptx_flow *f, LLVMValueRef instruction) {
  for (uint32_t i = 0; f->is_known && i < f->graph.node_count; i++) {
    if (f->graph.nodes[i].kind == LANES_BLOCK &&
        f->graph.nodes[i].block == LLVMGetInstructionParent(instruction)) {
      return !f->values.masked[i];
    }
  }
  return false;
}
