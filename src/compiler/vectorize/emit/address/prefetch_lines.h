// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// prefetch_lines.h: emits prefetches of cache lines.
#ifndef MTLC_PREFETCH_LINES_H
#define MTLC_PREFETCH_LINES_H

#include <llvm-c/Core.h>
#include <stdint.h>

#include "compiler/vectorize/emit/values/emitter.h"

// The level of the cache to prefetch to.
typedef enum lanes_prefetch_level {
  LANES_SECOND_LEVEL = 2,
  LANES_FIRST_LEVEL = 3,
} lanes_prefetch_level;

// Prefetches the lines that are step bytes after an address. Returns that
// address.
LLVMValueRef lanes_prefetch_lines(lanes_emitter *e, LLVMValueRef address,
                               LLVMValueRef step, uint64_t bytes, bool is_store,
                               lanes_prefetch_level level);
// Prefetches lines for writing, from an address on.
void lanes_prefetch_for_write(lanes_emitter *e, LLVMValueRef address,
                           uint64_t bytes);

#endif
