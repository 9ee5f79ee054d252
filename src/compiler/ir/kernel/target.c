// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// target.c: the target machine's features, and the attributes that name them.
#include "compiler/ir/kernel/target.h"

#include <stddef.h>
#include <string.h>

#include "compiler/ir/kernel/kernel.h"
#include "compiler/ir/llvm/attributes.h"
#include "compiler/ir/llvm/names.h"

bool mtlc_target_is(LLVMTargetMachineRef target, const char *architecture) {
  char *triple = LLVMGetTargetMachineTriple(target);
  const bool is = mtlc_starts_with(triple, architecture);
  LLVMDisposeMessage(triple);
  return is;
}

bool mtlc_target_is_cpu(LLVMTargetMachineRef target, const char *family) {
  char *cpu = LLVMGetTargetMachineCPU(target);
  const bool is = mtlc_starts_with(cpu, family);
  LLVMDisposeMessage(cpu);
  return is;
}

bool mtlc_target_has(LLVMTargetMachineRef target, const char *feature) {
  char *features = LLVMGetTargetMachineFeatureString(target);
  bool has =
      mtlc_target_is(target, "aarch64") || mtlc_target_is(target, "nvptx64");
  char *rest = NULL;
  for (char *name = strtok_r(features, ",", &rest); name;
       name = strtok_r(NULL, ",", &rest)) {
    has = has || (name[0] == '+' && strcmp(name + 1, feature) == 0);
  }
  LLVMDisposeMessage(features);
  return has;
}

void mtlc_set_target_attributes(mtlc_kernel *kernel) {
  char *cpu = LLVMGetTargetMachineCPU(kernel->target);
  char *features = LLVMGetTargetMachineFeatureString(kernel->target);
  for (LLVMValueRef function = LLVMGetFirstFunction(kernel->module); function;
       function = LLVMGetNextFunction(function)) {
    if (!LLVMIsDeclaration(function)) {
      mtlc_set_text_attribute(function, "target-cpu", cpu);
      mtlc_set_text_attribute(function, "target-features", features);
      // LLVM else keeps to 256 bits on machines that have 512.
      mtlc_set_text_attribute(function, "prefer-vector-width", "512");
      if (kernel->tier == MTLI_TIER_1 ||
          kernel->tier == MTLI_TIER_SCREENED) {
        // Spilled vectors that lie across cache lines cost twice as much.
        mtlc_set_text_attribute(function, "stackrealign", "");
      }
    }
  }
  LLVMDisposeMessage(cpu);
  LLVMDisposeMessage(features);
}
