// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// compare_strided.h: `i < n` for a counter of 64 bits that rises from lane to
// lane, which counters are that lead to addresses.
#ifndef MTLC_COMPARE_STRIDED_H
#define MTLC_COMPARE_STRIDED_H

#include <llvm-c/Core.h>

#include "compiler/vectorize/emit/values/emitter.h"

// The lanes of a comparison of 64-bit counters; NULL if it is
// another.
LLVMValueRef lanes_compare_strided(lanes_emitter *e, LLVMValueRef instruction);

#endif
