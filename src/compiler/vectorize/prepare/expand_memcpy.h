// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expand_memcpy.h: expands short memory copies and fills to loads and stores.
#ifndef MTLC_EXPAND_MEMCPY_H
#define MTLC_EXPAND_MEMCPY_H

#include <llvm-c/Core.h>

// Replaces calls of llvm.memset, memcpy and memmove of a constant length up to
// 512 bytes.
void lanes_expand_memcpy(LLVMContextRef context, LLVMValueRef function);

#endif
