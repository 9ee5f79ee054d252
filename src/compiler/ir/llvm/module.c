// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// module.c: moves function bodies, links IR text and runs LLVM's own passes.
#include "compiler/ir/llvm/module.h"

#include <llvm-c/DebugInfo.h>
#include <llvm-c/IRReader.h>
#include <llvm-c/Linker.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "code/cpu_abi.h"
#include "compiler/ir/kernel/kernel.h"
#include "compiler/ir/llvm/attributes.h"
#include "compiler/ir/llvm/instructions.h"

void mtlc_move_body(LLVMValueRef source, LLVMValueRef target) {
  LLVMContextRef context = LLVMGetModuleContext(LLVMGetGlobalParent(target));
  // Blocks are moved after a block of the target, so it needs one first.
  LLVMBasicBlockRef anchor =
      LLVMAppendBasicBlockInContext(context, target, "anchor");
  LLVMBasicBlockRef after = anchor;
  LLVMBasicBlockRef next;
  for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(source); block;
       block = next) {
    next = LLVMGetNextBasicBlock(block);
    LLVMMoveBasicBlockAfter(block, after);
    after = block;
  }
  LLVMDeleteBasicBlock(anchor);
  LLVMMetadataRef subprogram = LLVMGetSubprogram(source);
  if (subprogram) {
    // A debug-info definition describes one function only.
    LLVMGlobalEraseMetadata(source,
                            LLVMGetMDKindIDInContext(context, "dbg", 3));
    LLVMSetSubprogram(target, subprogram);
  }
}

void mtlc_hide_functions(LLVMModuleRef module) {
  for (LLVMValueRef function = LLVMGetFirstFunction(module); function;
       function = LLVMGetNextFunction(function)) {
    if (!LLVMIsDeclaration(function)) {
      LLVMSetLinkage(function, LLVMInternalLinkage);
    }
  }
}

mtl_status mtlc_link_text(mtlc_kernel *kernel, const char *name,
                          const char *text) {
  LLVMMemoryBufferRef buffer =
      LLVMCreateMemoryBufferWithMemoryRange(text, strlen(text), name, true);
  LLVMModuleRef part = NULL;
  char *message = NULL;
  if (LLVMParseIRInContext(kernel->context, buffer, &part, &message)) {
    const mtl_status status =
        mtli_fail(MTL_UNSUPPORTED, "built-in IR %s: %s", name, message);
    LLVMDisposeMessage(message);
    return status;
  }
  LLVMSetTarget(part, LLVMGetTarget(kernel->module));
  LLVMSetDataLayout(part, LLVMGetDataLayoutStr(kernel->module));
  if (LLVMLinkModules2(kernel->module, part)) {
    return mtli_fail(MTL_UNSUPPORTED, "built-in IR %s does not link", name);
  }
  return MTL_OK;
}

// Makes LLVM keep accesses to null pointers as faults, not as undefined: it
// would drop the store, or take the other pointer of a select.
static void keep_null_accesses(LLVMModuleRef module) {
  for (LLVMValueRef function = LLVMGetFirstFunction(module); function;
       function = LLVMGetNextFunction(function)) {
    if (!LLVMIsDeclaration(function)) {
      mtlc_set_attribute(function, "null_pointer_is_valid", 0);
    }
  }
}

// LLVM finds that addresses which are constants, as null is, are multiples of
// up to 2^32, which its C API tells as 0.
static void bound_alignment(LLVMValueRef i, void *unused) {
  enum { MOST_BYTES = 4096 };
  (void)unused;
  if ((LLVMIsALoadInst(i) || LLVMIsAStoreInst(i)) && LLVMGetAlignment(i) == 0) {
    LLVMSetAlignment(i, MOST_BYTES);
  }
}

static bool infers_alignments(const char *passes) {
  return strstr(passes, "infer-alignment") || strstr(passes, "default<");
}

mtl_status mtlc_run_llvm_passes(mtlc_kernel *kernel, const char *passes) {
  keep_null_accesses(kernel->module);
  LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
  LLVMErrorRef error =
      LLVMRunPasses(kernel->module, passes, kernel->target, options);
  LLVMDisposePassBuilderOptions(options);
  if (!error) {
    if (infers_alignments(passes)) {
      mtlc_for_each_in_module(kernel->module, bound_alignment, NULL);
    }
    return MTL_OK;
  }
  char *message = LLVMGetErrorMessage(error);
  const mtl_status status =
      mtli_fail(MTL_UNSUPPORTED, "LLVM passes \"%s\": %s", passes, message);
  LLVMDisposeErrorMessage(message);
  return status;
}
