// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// product_halves.h: the loop over both halves of a product's eight steps.
#ifndef MTLC_PRODUCT_HALVES_H
#define MTLC_PRODUCT_HALVES_H

#include <llvm-c/Core.h>
#include <stdint.h>

#include "compiler/vectorize/emit/tiles/tiles.h"
#include "compiler/vectorize/emit/values/emitter.h"

// The loop over both halves of a product's eight steps.
typedef struct lanes_halves {
  LLVMBasicBlockRef before;
  LLVMBasicBlockRef body;
  LLVMValueRef half;  // i64, 0 or 1
  LLVMValueRef *phis;
  uint32_t count;
} lanes_halves;

// Begins the loop; count values become its phis.
lanes_halves lanes_begin_halves(lanes_emitter *e, LLVMValueRef *values,
                                uint32_t count);

// Ends the loop; values go to the next iteration.
void lanes_end_halves(lanes_emitter *e, lanes_halves *halves,
                      LLVMValueRef *values);

#endif
