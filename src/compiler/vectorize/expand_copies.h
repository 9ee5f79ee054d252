// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expand_copies.h: short copies and fills of memory become loads and stores.
#ifndef MTLC_VECTORIZE_EXPAND_COPIES_H
#define MTLC_VECTORIZE_EXPAND_COPIES_H

#include <llvm-c/Core.h>

// Replaces calls of llvm.memset, memcpy and memmove of a constant length up to
// 512 bytes.
void lanes_expand_copies(LLVMContextRef context, LLVMValueRef function);

#endif
