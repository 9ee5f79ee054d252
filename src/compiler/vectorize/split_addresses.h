// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// split_addresses.h: addresses by several indices that differ in the last.
#ifndef MTLC_VECTORIZE_SPLIT_ADDRESSES_H
#define MTLC_VECTORIZE_SPLIT_ADDRESSES_H

#include "compiler/module.h"

// Makes one address of what those of a block have in common up to the last
// index, and steps from it: tile[y][x] and tile[y][x + 1].
void lanes_split_addresses(LLVMContextRef context, LLVMValueRef function);

#endif
