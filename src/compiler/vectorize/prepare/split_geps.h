// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// split_geps.h: splits addresses with several indices that differ in the last.
#ifndef MTLC_SPLIT_GEPS_H
#define MTLC_SPLIT_GEPS_H

#include <llvm-c/Core.h>

// Splits addresses: those of a block that differ only in the last index share
// one address up to it: tile[y][x] and tile[y][x + 1].
void lanes_split_geps(LLVMContextRef context, LLVMValueRef function);

#endif
