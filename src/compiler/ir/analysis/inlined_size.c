// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// inlined_size.c: estimates the size of a thread after inlining.
#include "compiler/ir/analysis/inlined_size.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "compiler/ir/kernel/kernel.h"
#include "compiler/ir/llvm/attributes.h"
#include "compiler/ir/llvm/calls.h"
#include "compiler/ir/llvm/value_list.h"

typedef struct inlined_sizes {
  mtlc_values functions;
  uint64_t *instruction_counts;  // [functions.count], 0 if not known yet
} inlined_sizes;

static uint64_t inlined_size(inlined_sizes *sizes, LLVMValueRef function) {
  size_t index = 0;
  while (sizes->functions.items[index] != function) {
    index++;
  }
  uint64_t count = sizes->instruction_counts[index];
  if (count > 0) {
    return count;
  }
  for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block;
       block = LLVMGetNextBasicBlock(block)) {
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i;
         i = LLVMGetNextInstruction(i)) {
      LLVMValueRef callee = mtlc_callee(i);
      const bool is_inlined = callee && !LLVMIsDeclaration(callee) &&
                              mtlc_has_attribute(callee, "alwaysinline");
      count += is_inlined ? inlined_size(sizes, callee) : 1;
    }
  }
  sizes->instruction_counts[index] = count;
  return count;
}

uint64_t mtlc_inlined_size(const mtlc_kernel *kernel) {
  inlined_sizes sizes = {0};
  for (LLVMValueRef function = LLVMGetFirstFunction(kernel->module); function;
       function = LLVMGetNextFunction(function)) {
    mtlc_values_add(&sizes.functions, function);
  }
  sizes.instruction_counts =
      calloc(sizes.functions.count, sizeof sizes.instruction_counts[0]);
  const uint64_t size = inlined_size(&sizes, kernel->thread);
  free(sizes.instruction_counts);
  free(sizes.functions.items);
  return size;
}
