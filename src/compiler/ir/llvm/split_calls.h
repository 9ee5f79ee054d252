// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// split_calls.h: cuts blocks, between calls that are to be inlined above all.
#ifndef MTLC_SPLIT_CALLS_H
#define MTLC_SPLIT_CALLS_H

#include <llvm-c/Core.h>

#include "compiler/ir/kernel/kernel.h"

// Moves a block's instructions, from `first` on, to a new block, and returns
// that.
LLVMBasicBlockRef mtlc_split_before(LLVMValueRef first,
                                      LLVMBuilderRef builder);

// Cuts blocks of many calls of functions that are marked alwaysinline, for
// inlining them takes time that grows with the square of their number in one.
void mtlc_split_between_calls(mtlc_kernel *kernel);

#endif
