// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hoist.h: addresses further up in a block.
#ifndef MTLC_PTX_HOIST_H
#define MTLC_PTX_HOIST_H

#include <llvm-c/Core.h>
#include <stdbool.h>

// Has a value be there at an instruction of its block: what is behind it, and
// is arithmetic on integers and addresses alone, moves in front of it. Without
// move only says whether that can be.
bool mtlc_ptx_hoist(LLVMBuilderRef builder, LLVMValueRef value, LLVMValueRef at,
                    bool move);

#endif
