// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// bundles.h: what of a loop in parts (register_tiling.c) stays in
// registers together.
#ifndef MTLC_TILING_BUNDLES_H
#define MTLC_TILING_BUNDLES_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>

#include "compiler/vectorize/finish/tiling/register_tiling.h"

// Finds the bundles and units, in order.
void lanes_find_units(lanes_region *l);
// The operands with that number of several operations.
void lanes_take_operands(LLVMValueRef *values, uint32_t count, unsigned k,
                         LLVMValueRef *out);
// True if values are one.
bool lanes_are_all(LLVMValueRef *values, uint32_t count);
// True if some lanes have the same.
bool lanes_is_splat(LLVMValueRef value, uint32_t first, uint32_t count);

// An element of a vector that is loaded in the loop.
typedef struct lanes_element {
  LLVMValueRef base;
  int64_t bytes;
  LLVMValueRef load;
} lanes_element;
// True if values' lanes of a piece lie side by side, count of each lane,
// and where the first one is.
bool lanes_lie_side_by_side(const lanes_region *l, LLVMValueRef *values,
                            uint32_t count, uint32_t first,
                            lanes_element *out_first);

#endif
