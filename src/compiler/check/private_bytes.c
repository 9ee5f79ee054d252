// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// private_bytes.c: the shadows of private variables that stay in memory: a
// byte for each of theirs, 0xff for one that is not set; and the end of the
// marks that simplify_checked has made.
#include <llvm-c/DebugInfo.h>
#include <stdlib.h>

#include "compiler/check/check.h"

LLVMValueRef mtlc_private_bytes_of(const mtlc_private_bytes *p,
                                   LLVMValueRef variable) {
  for (size_t i = 0; i < p->variables.count; ++i) {
    if (p->variables.items[i] == variable) {
      return p->bytes.items[i];
    }
  }
  return LLVMConstNull(mtlc_types_of(p->kernel->context).pointer);
}

static void fill(const mtlc_private_bytes *p, LLVMValueRef variable,
                 uint8_t value) {
  const mtlc_types types = mtlc_types_of(p->kernel->context);
  const mtlc_root root = mtlc_find_root(p->kernel, variable);
  LLVMBuildMemSet(p->builder, mtlc_private_bytes_of(p, variable),
                  LLVMConstInt(types.i8, value, false),
                  mtlc_i64(p->kernel->context, root.bytes), 1);
}

static void collect_variable(LLVMValueRef instruction, void *context) {
  mtlc_private_bytes *p = context;
  if (LLVMIsAAllocaInst(instruction) &&
      mtlc_find_root(p->kernel, instruction).bytes > 0) {
    mtlc_values_add(&p->variables, instruction);
  }
}

void mtlc_private_bytes_make(mtlc_private_bytes *p, const mtlc_kernel *kernel,
                             LLVMBuilderRef builder) {
  const mtlc_types types = mtlc_types_of(kernel->context);
  *p = (mtlc_private_bytes){.kernel = kernel, .builder = builder};
  mtlc_for_each_instruction(kernel->thread, collect_variable, p);
  for (size_t i = 0; i < p->variables.count; ++i) {
    const mtlc_root root = mtlc_find_root(kernel, p->variables.items[i]);
    LLVMPositionBuilderBefore(
        builder,
        LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(kernel->thread)));
    LLVMTypeRef type = LLVMArrayType2(types.i8, root.bytes);
    mtlc_values_add(&p->bytes, LLVMBuildAlloca(builder, type, "unset"));
  }
  mtlc_position_at_entry(builder, kernel->thread);
  for (size_t i = 0; i < p->variables.count; ++i) {
    fill(p, p->variables.items[i], 0);
  }
}

void mtlc_private_bytes_start(const mtlc_private_bytes *p,
                              LLVMValueRef start) {
  LLVMValueRef variable = LLVMGetOperand(start, 1);
  if (LLVMIsNull(mtlc_private_bytes_of(p, variable))) {
    return;
  }
  LLVMPositionBuilderBefore(p->builder, LLVMGetNextInstruction(start));
  LLVMSetCurrentDebugLocation2(p->builder,
                               LLVMInstructionGetDebugLoc(start));
  fill(p, variable, 0xff);
}

void mtlc_private_bytes_clear(mtlc_private_bytes *p) {
  free(p->variables.items);
  free(p->bytes.items);
}

// --- marks of what is unset -----------------------------------------------------

static void collect_unset(LLVMValueRef instruction, void *context) {
  if (LLVMIsAStoreInst(instruction) &&
      mtlc_is_call_of(LLVMGetOperand(instruction, 0), MTLC_UNSET_PREFIX)) {
    mtlc_values_add(context, instruction);
  }
}

// In-memory variables' marks state whether their bytes are set.
void mtlc_drop_unset_stores(mtlc_kernel *kernel) {
  mtlc_values stores = {0};
  mtlc_for_each_instruction(kernel->thread, collect_unset, &stores);
  for (size_t i = 0; i < stores.count; ++i) {
    LLVMInstructionEraseFromParent(stores.items[i]);
  }
  free(stores.items);
}

// Replaces the remaining marks by undefined values.
void mtlc_drop_unset_marks(mtlc_kernel *kernel) {
  mtlc_values calls = {0};
  mtlc_collect_calls(kernel->module, MTLC_UNSET_PREFIX, &calls);
  for (size_t i = 0; i < calls.count; ++i) {
    mtlc_replace(calls.items[i], LLVMConstNull(LLVMTypeOf(calls.items[i])));
  }
  free(calls.items);
}
