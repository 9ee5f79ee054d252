// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// emit.c: makes the target machine for PTX, and emits PTX text.
#include <llvm-c/DebugInfo.h>
#include <llvm-c/Target.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "compiler/ir/kernel/kernel.h"
#include "compiler/ptx/ptx.h"

static const char architecture[] = "nvptx64";
static const char triple[] = "nvptx64-nvidia-cuda";
enum {
  LEAST_CAPABILITY = 70,  // threads of a simdgroup wait for each other alone
  MOST_CAPABILITY = 90,   // LLVM 19's last that runs on later ones too
};

bool mtlc_is_ptx_target(const char *target) {
  return target && strncmp(target, architecture, sizeof architecture - 1) == 0;
}

static void prepare(void) {
  LLVMInitializeNVPTXTargetInfo();
  LLVMInitializeNVPTXTarget();
  LLVMInitializeNVPTXTargetMC();
  LLVMInitializeNVPTXAsmPrinter();
}

mtl_status mtlc_make_ptx_machine(const char *target,
                                 LLVMTargetMachineRef *out_machine,
                                 bool *out_may_approximate) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, prepare);
  unsigned capability = 0, version = 0;
  int end = 0;
  const bool is_one =
      sscanf(target, "nvptx64 sm_%2u +ptx%2u%n", &capability, &version, &end) ==
      2;
  *out_may_approximate = is_one && strcmp(target + end, " +approximate") == 0;
  if (!is_one || (target[end] && !*out_may_approximate) || capability < LEAST_CAPABILITY ||
      capability > MOST_CAPABILITY || version < 70) {
    return mtli_fail(MTL_INVALID_ARGUMENT,
                     "target \"%s\": \"nvptx64 sm_NN +ptxNN\" is known, sm_%d "
                     "to sm_%d, ptx70 or more",
                     target, LEAST_CAPABILITY, MOST_CAPABILITY);
  }
  LLVMTargetRef found = NULL;
  char *message = NULL;
  if (LLVMGetTargetFromTriple(triple, &found, &message)) {
    const mtl_status status = mtli_fail(MTL_UNSUPPORTED, "%s", message);
    LLVMDisposeMessage(message);
    return status;
  }
  char cpu[16], features[16];
  snprintf(cpu, sizeof cpu, "sm_%u", capability);
  snprintf(features, sizeof features, "+ptx%u", version);
  *out_machine = LLVMCreateTargetMachine(found, triple, cpu, features,
                                         LLVMCodeGenLevelDefault,
                                         LLVMRelocDefault, LLVMCodeModelDefault);
  return *out_machine ? MTL_OK
                      : mtli_fail(MTL_UNSUPPORTED, "no code generation for %s",
                                  target);
}

unsigned mtlc_ptx_capability(LLVMTargetMachineRef target) {
  char *cpu = LLVMGetTargetMachineCPU(target);
  const unsigned capability = (unsigned)strtoul(cpu + strlen("sm_"), NULL, 10);
  LLVMDisposeMessage(cpu);
  return capability;
}

void mtlc_set_ptx_module(mtlc_kernel *kernel) {
  LLVMTargetDataRef data = LLVMCreateTargetDataLayout(kernel->target);
  LLVMSetTarget(kernel->module, triple);
  LLVMSetModuleDataLayout(kernel->module, data);
  LLVMDisposeTargetData(data);
}

mtl_status mtlc_emit_ptx(mtlc_kernel *kernel, void **out_text,
                         size_t *out_size_bytes) {
  *out_text = NULL;
  *out_size_bytes = 0;
  LLVMMemoryBufferRef buffer = NULL;
  char *message = NULL;
  if (LLVMTargetMachineEmitToMemoryBuffer(kernel->target, kernel->module,
                                          LLVMAssemblyFile, &message,
                                          &buffer)) {
    const mtl_status status =
        mtli_fail(MTL_UNSUPPORTED, "kernel %s: code generation: %s",
                  kernel->kernel->name, message);
    LLVMDisposeMessage(message);
    return status;
  }
  const size_t size = LLVMGetBufferSize(buffer);
  char *text = malloc(size + 1);
  if (text) {
    memcpy(text, LLVMGetBufferStart(buffer), size);
    text[size] = '\0';
    *out_text = text;
    *out_size_bytes = size + 1;  // the driver API takes text that ends with it
  }
  LLVMDisposeMemoryBuffer(buffer);
  return text ? MTL_OK
              : mtli_fail(MTL_OUT_OF_MEMORY, "PTX of %zu bytes", size);
}
