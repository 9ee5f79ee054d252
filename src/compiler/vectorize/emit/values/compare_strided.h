// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// compare_strided.h: `i < n` for a counter of 64 bits that rises from lane to
// lane, which counters are that lead to addresses.
#ifndef MTLC_COMPARE_STRIDED_H
#define MTLC_COMPARE_STRIDED_H

#include <llvm-c/Core.h>
#include <stdbool.h>

#include "compiler/vectorize/emit/values/emitter.h"

// run < bound if it holds, run >= bound otherwise.
typedef struct lanes_strided_comparison {
  LLVMValueRef run;
  LLVMValueRef bound;  // the same for all lanes of a run
  bool is_signed;
  bool holds;
} lanes_strided_comparison;

// True if an instruction is a comparison of 64-bit counters.
bool lanes_is_strided_comparison(const lanes_emitter *e, LLVMValueRef i,
                                 lanes_strided_comparison *out);
// Its lanes, from the first of each run of lanes and each run's bound.
LLVMValueRef lanes_compare_strided(lanes_emitter *e,
                                   const lanes_strided_comparison *c,
                                   LLVMValueRef first, LLVMValueRef bound);

#endif
