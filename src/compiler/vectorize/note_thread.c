// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// note_thread.c: the loops over simdgroups write which one is at it to
// mtli_cpu_position.thread_in_group, where a signal handler looks for it. As a
// volatile store it would keep LLVM from loading in front of the loop what all
// simdgroups load: such a store need not return, and an atomic one may be to
// anything. It is a call, of which LLVM knows no more than what is true, until
// that is done.
#include <stdlib.h>
#include <string.h>

#include "compiler/module.h"
#include "compiler/vectorize/emitter.h"

static const char name[] = "mettle.note.thread";

bool lanes_notes_thread(LLVMValueRef instruction) {
  LLVMValueRef callee = mtlc_callee(instruction);
  return callee && strcmp(mtlc_name(callee), name) == 0;
}

void lanes_write_notes(mtlc_kernel *kernel) {
  mtlc_values calls = {0};
  LLVMBuilderRef builder = LLVMCreateBuilderInContext(kernel->context);
  mtlc_collect_calls(kernel->module, name, &calls);
  for (size_t n = 0; n < calls.count; n++) {
    LLVMPositionBuilderBefore(builder, calls.items[n]);
    LLVMValueRef store =
        LLVMBuildStore(builder, LLVMGetOperand(calls.items[n], 1),
                       LLVMGetOperand(calls.items[n], 0));
    LLVMSetVolatile(store, true);
    LLVMSetAlignment(store, 4);
    LLVMInstructionEraseFromParent(calls.items[n]);
  }
  LLVMDisposeBuilder(builder);
  free(calls.items);
}
