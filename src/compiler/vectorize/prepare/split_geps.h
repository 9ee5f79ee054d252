// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// split_geps.h: splits addresses with several indices that differ in the last.
#ifndef MTLC_SPLIT_GEPS_H
#define MTLC_SPLIT_GEPS_H

#include <llvm-c/Core.h>

// Splits the addresses of a block: those that differ only in the last index, as
// tile[y][x] and tile[y][x + 1], share one address of the row.
void lanes_split_geps(LLVMContextRef context, LLVMValueRef function);

#endif
