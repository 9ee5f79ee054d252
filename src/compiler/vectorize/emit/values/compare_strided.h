// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// compare_strided.h: emits `i < n` for a 64-bit counter that rises from lane to
// lane.
#ifndef MTLC_COMPARE_STRIDED_H
#define MTLC_COMPARE_STRIDED_H

#include <llvm-c/Core.h>
#include <stdbool.h>

#include "compiler/vectorize/emit/values/emitter.h"

// Means run < bound if `holds`, else run >= bound.
typedef struct lanes_strided_comparison {
  LLVMValueRef run;
  LLVMValueRef bound;  // the same for all lanes of a segment
  bool is_signed;
  bool holds;
} lanes_strided_comparison;

// True if an instruction is a comparison of 64-bit counters.
bool lanes_is_strided_comparison(const lanes_emitter *e, LLVMValueRef i,
                                 lanes_strided_comparison *out);
// Returns the lanes' results, from each segment's first value and bound.
LLVMValueRef lanes_compare_strided(lanes_emitter *e,
                                   const lanes_strided_comparison *c,
                                   LLVMValueRef first, LLVMValueRef bound);

#endif
