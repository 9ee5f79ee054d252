// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// probe_alignment.c: makes misaligned vector accesses fault in tier 0 too, as
// they do in code that keeps vectors in registers. Tier 0 copies vectors in
// parts, which the processor allows at any address.
//
// Requires  mettle.thread; before threads are looped over
// Leaves    in front of each access that is aligned to 16 bytes or more a load
//           that demands 16: of the access's address if it is misaligned, else
//           of a variable, so that nothing else is read
#include <llvm-c/DebugInfo.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/status.h"
#include "compiler/ir/kernel/kernel.h"
#include "compiler/ir/llvm/calls.h"
#include "compiler/ir/llvm/instructions.h"
#include "compiler/ir/llvm/names.h"
#include "compiler/ir/llvm/types.h"
#include "compiler/ir/llvm/value_list.h"
#include "compiler/passes/passes.h"

// The widest alignment that x86-64 demands of any of its vectors.
enum { DEMANDED_BYTES = 16 };

typedef struct probing {
  mtlc_types types;
  LLVMBuilderRef builder;
  LLVMValueRef aligned;  // a variable of the function
} probing;

static bool is_variable(LLVMValueRef address) {
  return LLVMIsAAllocaInst(mtlc_root_of(address)) != NULL;
}

static bool is_copy(LLVMValueRef instruction) {
  const char *name = mtlc_callee_name(instruction);
  return mtlc_starts_with(name, "llvm.memcpy") ||
         mtlc_starts_with(name, "llvm.memmove");
}

static bool demands(LLVMValueRef copy, unsigned parameter) {
  LLVMAttributeRef align = LLVMGetCallSiteEnumAttribute(
      copy, parameter + 1, LLVMGetEnumAttributeKindForName("align", 5));
  return align && LLVMGetEnumAttributeValue(align) >= DEMANDED_BYTES;
}

static void probe(probing *self, LLVMValueRef access, LLVMValueRef address) {
  if (is_variable(address)) {
    return;
  }
  LLVMBuilderRef builder = self->builder;
  LLVMPositionBuilderBefore(builder, access);
  LLVMSetCurrentDebugLocation2(builder, LLVMInstructionGetDebugLoc(access));
  LLVMValueRef low = LLVMBuildAnd(
      builder, LLVMBuildPtrToInt(builder, address, self->types.i64, ""),
      LLVMConstInt(self->types.i64, DEMANDED_BYTES - 1, false), "");
  LLVMValueRef is_odd = LLVMBuildICmp(
      builder, LLVMIntNE, low, LLVMConstInt(self->types.i64, 0, false), "");
  LLVMValueRef load = LLVMBuildLoad2(
      builder, LLVMVectorType(self->types.i32, DEMANDED_BYTES / 4),
      LLVMBuildSelect(builder, is_odd, address, self->aligned, ""), "");
  LLVMSetAlignment(load, DEMANDED_BYTES);
  LLVMSetVolatile(load, true);
}

static void probe_access(probing *self, LLVMValueRef it) {
  if (is_copy(it)) {
    for (unsigned i = 0; i < 2; ++i) {
      if (demands(it, i)) {
        probe(self, it, LLVMGetOperand(it, i));
      }
    }
  } else if (LLVMGetAlignment(it) >= DEMANDED_BYTES) {
    probe(self, it, LLVMGetOperand(it, LLVMIsAStoreInst(it) ? 1 : 0));
  }
}

static void collect(LLVMValueRef instruction, void *context) {
  if (LLVMIsALoadInst(instruction) || LLVMIsAStoreInst(instruction) ||
      is_copy(instruction)) {
    mtlc_values_add(context, instruction);
  }
}

static void probe_function(probing *self, LLVMValueRef function) {
  mtlc_values accesses = {0};
  mtlc_for_each_instruction(function, collect, &accesses);
  if (accesses.count > 0) {
    mtlc_position_at_entry(self->builder, function);
    LLVMSetCurrentDebugLocation2(self->builder, NULL);
    self->aligned = LLVMBuildAlloca(
        self->builder, LLVMVectorType(self->types.i32, DEMANDED_BYTES / 4),
        "aligned");
    LLVMSetAlignment(self->aligned, DEMANDED_BYTES);
  }
  for (size_t i = 0; i < accesses.count; ++i) {
    probe_access(self, accesses.items[i]);
  }
  free(accesses.items);
}

mtl_status mtlc_probe_alignment(mtlc_kernel *kernel) {
  probing self = {.types = mtlc_types_of(kernel->context),
                  .builder = LLVMCreateBuilderInContext(kernel->context)};
  for (LLVMValueRef function = LLVMGetFirstFunction(kernel->module); function;
       function = LLVMGetNextFunction(function)) {
    if (LLVMCountBasicBlocks(function) > 0) {
      probe_function(&self, function);
    }
  }
  LLVMDisposeBuilder(self.builder);
  return MTL_OK;
}
