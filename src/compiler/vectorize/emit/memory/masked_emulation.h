// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// masked_emulation.h: vectors of which only some elements are accessed, on
// machines that have no masks for them.
#ifndef MTLC_MASKED_EMULATION_H
#define MTLC_MASKED_EMULATION_H

#include <llvm-c/Core.h>
#include <stdint.h>

#include "compiler/vectorize/emit/values/emitter.h"

// The same where the machine has no masks.
LLVMValueRef lanes_load_emulated(lanes_emitter *e, LLVMTypeRef type,
                             LLVMValueRef pointer, uint32_t alignment,
                             LLVMValueRef mask);
void lanes_store_emulated(lanes_emitter *e, LLVMValueRef value,
                      LLVMValueRef pointer, uint32_t alignment,
                      LLVMValueRef mask);
// Returns i1: all elements are wanted, or some are and all lie in one page with
// them, which therefore is there.
LLVMValueRef lanes_may_load_whole(lanes_emitter *e, LLVMTypeRef type,
                                  LLVMValueRef pointer, LLVMValueRef mask);
// Returns i1: so many bytes behind a pointer do not leave its page.
LLVMValueRef lanes_is_in_page(lanes_emitter *e, LLVMValueRef pointer,
                              uint64_t bytes);

#endif
