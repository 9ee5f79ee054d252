// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// prefetch_lines.h: asks for lines of memory ahead of time.
#ifndef MTLC_PREFETCH_LINES_H
#define MTLC_PREFETCH_LINES_H

#include <llvm-c/Core.h>
#include <stdint.h>

#include "compiler/vectorize/emit/values/emitter.h"

// How near to fetch: to the first level of the cache or the second.
typedef enum lanes_prefetch_level {
  LANES_SECOND_LEVEL = 2,
  LANES_FIRST_LEVEL = 3,
} lanes_prefetch_level;

// Asks for the lines of what lies step behind an address. Returns where that
// is.
LLVMValueRef lanes_prefetch_lines(lanes_emitter *e, LLVMValueRef address,
                               LLVMValueRef step, uint64_t bytes, bool is_store,
                               lanes_prefetch_level level);
// Asks for the lines from an address on, to write to them.
void lanes_prefetch_for_write(lanes_emitter *e, LLVMValueRef address,
                           uint64_t bytes);

#endif
