// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// effects.h: which memory instructions may write, and which memory an address
// is in.
#ifndef MTLC_EFFECTS_H
#define MTLC_EFFECTS_H

#include <llvm-c/Core.h>
#include <stdbool.h>

#include "compiler/ir/kernel/kernel.h"

// True if an address is known to be in threadgroup memory.
bool lanes_is_in_threadgroup(const mtlc_kernel *kernel,
                             LLVMValueRef address);
// True if an instruction may write memory that a later load reads.
bool lanes_may_write(LLVMValueRef instruction);

#endif
