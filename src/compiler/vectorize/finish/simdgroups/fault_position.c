// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// fault_position.c: makes the loops over simdgroups store the running simdgroup
// in mtli_cpu_position.thread_in_group, where a signal handler reads it. A
// volatile or atomic store there would keep LLVM from hoisting loads out of the
// loop: the one need not return, the other may write anything. So until
// hoisting is done it is a call that writes only memory unknown to LLVM; an
// argument would count as all of the memory behind it.
#include "compiler/vectorize/finish/simdgroups/fault_position.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/ir/kernel/kernel.h"
#include "compiler/ir/llvm/calls.h"
#include "compiler/ir/llvm/names.h"
#include "compiler/ir/llvm/value_list.h"
#include "compiler/vectorize/analysis/callees.h"
#include "compiler/vectorize/finish/tiling/items.h"

static const char name[] = "mettle.note.thread";

bool lanes_notes_fault_position(LLVMValueRef instruction) {
  LLVMValueRef callee = mtlc_callee(instruction);
  return callee && strcmp(mtlc_name(callee), name) == 0;
}

// True if an instruction may raise a signal: it touches memory, or calls
// something unknown.
static bool may_fault(LLVMValueRef i) {
  switch (LLVMGetInstructionOpcode(i)) {
    case LLVMLoad:
    case LLVMStore:
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg: return true;
    case LLVMCall:
      return lanes_callee_of(i) != LANES_CALLEE_ELEMENTWISE &&
             !lanes_is_prefetch(i);
    default: return false;
  }
}

// Erases a block's notes that are overwritten, or followed by the return,
// before anything can fault.
static void erase_unread(LLVMBasicBlockRef block) {
  LLVMValueRef note = NULL;
  LLVMValueRef next;
  for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = next) {
    next = LLVMGetNextInstruction(i);
    const bool is_new = lanes_notes_fault_position(i);
    if (note && (is_new || LLVMIsAReturnInst(i))) {
      LLVMInstructionEraseFromParent(note);
      note = NULL;
    }
    note = is_new ? i : may_fault(i) ? NULL : note;
  }
}

void lanes_write_fault_positions(mtlc_kernel *kernel) {
  for (LLVMValueRef f = LLVMGetFirstFunction(kernel->module); f;
       f = LLVMGetNextFunction(f)) {
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(f); block;
         block = LLVMGetNextBasicBlock(block)) {
      erase_unread(block);
    }
  }
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
