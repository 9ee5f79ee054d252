// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expand_memcpy.h: expands short memory copies and fills to loads and stores.
#ifndef MTLC_EXPAND_MEMCPY_H
#define MTLC_EXPAND_MEMCPY_H

#include <llvm-c/Core.h>
#include <stdint.h>

enum { MTLC_MOST_COPIED_BYTES = 512 };

// Replaces calls of llvm.memset, memcpy and memmove of a constant length up to
// most_bytes, at most MTLC_MOST_COPIED_BYTES. Accesses are of up to four words,
// halves of words or bytes; they claim the alignment of one of these, or more
// up to most_alignment where the call does.
void mtlc_expand_memcpy(LLVMContextRef context, LLVMValueRef function,
                        uint64_t most_bytes, uint32_t most_alignment);

#endif
