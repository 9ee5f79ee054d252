// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// split_geps.h: splits addresses with several indices that differ in the last.
#ifndef MTLC_SPLIT_GEPS_H
#define MTLC_SPLIT_GEPS_H

#include <llvm-c/Core.h>

// Makes one address of what those of a block have in common up to the last
// index, and steps from it: tile[y][x] and tile[y][x + 1].
void lanes_split_geps(LLVMContextRef context, LLVMValueRef function);

#endif
