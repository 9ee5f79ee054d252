// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// product_halves.h: the loop over the steps of a product, by halves or one by
// one.
#ifndef MTLC_PRODUCT_HALVES_H
#define MTLC_PRODUCT_HALVES_H

#include <llvm-c/Core.h>
#include <stdint.h>

#include "compiler/vectorize/emit/tiles/tiles.h"
#include "compiler/vectorize/emit/values/emitter.h"

typedef struct lanes_halves {
  LLVMBasicBlockRef before;
  LLVMBasicBlockRef body;
  LLVMValueRef half;  // i64: the iteration, 0 or 1, over the two halves of the
                      // eight steps
  LLVMValueRef *phis;
  uint32_t count;
} lanes_halves;

// Begins the loop; count values become its phis.
lanes_halves lanes_begin_halves(lanes_emitter *e, LLVMValueRef *values,
                                uint32_t count);

// Ends the loop after that many iterations; values go to the next one.
void lanes_end_halves(lanes_emitter *e, lanes_halves *halves,
                      LLVMValueRef *values, uint32_t turns);

#endif
