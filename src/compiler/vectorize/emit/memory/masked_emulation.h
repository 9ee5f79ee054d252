// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// masked_emulation.h: masked loads and stores on machines without masks for
// such elements.
#ifndef MTLC_MASKED_EMULATION_H
#define MTLC_MASKED_EMULATION_H

#include <llvm-c/Core.h>
#include <stdint.h>

#include "compiler/vectorize/emit/values/emitter.h"

// Load and store as lanes_masked_load and lanes_masked_store do.
LLVMValueRef lanes_load_emulated(lanes_emitter *e, LLVMTypeRef type,
                             LLVMValueRef pointer, uint32_t alignment,
                             LLVMValueRef mask);
void lanes_store_emulated(lanes_emitter *e, LLVMValueRef value,
                      LLVMValueRef pointer, uint32_t alignment,
                      LLVMValueRef mask);
// Returns an i1: all elements are wanted, or some are and the whole vector is
// in their page, which is mapped.
LLVMValueRef lanes_may_load_whole(lanes_emitter *e, LLVMTypeRef type,
                                  LLVMValueRef pointer, LLVMValueRef mask);
// Returns an i1: a number of bytes after a pointer is in the pointer's page.
LLVMValueRef lanes_is_in_page(lanes_emitter *e, LLVMValueRef pointer,
                              uint64_t bytes);

#endif
