// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hoist.h: addresses further up in a block.
#ifndef MTLC_PTX_HOIST_H
#define MTLC_PTX_HOIST_H

#include <llvm-c/Core.h>
#include <stdbool.h>

// Moves a value before an instruction of its block, with the integer and
// address arithmetic that it needs. Without move it only returns whether that
// is possible.
bool mtlc_ptx_hoist(LLVMBuilderRef builder, LLVMValueRef value, LLVMValueRef at,
                    bool move);

#endif
