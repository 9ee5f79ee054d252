// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// bundles.h: finds the values of a tiled loop (register_tiling.c) that belong
// in registers together.
#ifndef MTLC_TILING_BUNDLES_H
#define MTLC_TILING_BUNDLES_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>

#include "compiler/vectorize/finish/tiling/register_tiling.h"

// Finds the bundles and units, in order.
void lanes_find_units(lanes_region *l);
// Collects operand k of several operations.
void lanes_take_operands(LLVMValueRef *values, uint32_t count, unsigned k,
                         LLVMValueRef *out);
// True if all values are the same.
bool lanes_are_all(LLVMValueRef *values, uint32_t count);
// True if a value's lanes in a piece are all equal.
bool lanes_is_splat(LLVMValueRef value, uint32_t first, uint32_t count);

// An element of a vector that is loaded in the loop.
typedef struct lanes_element {
  LLVMValueRef base;
  int64_t bytes;
  LLVMValueRef load;
} lanes_element;
// True if values' lanes in a piece are adjacent in memory, count elements a
// lane; tells where the first is.
bool lanes_lie_side_by_side(const lanes_region *l, LLVMValueRef *values,
                            uint32_t count, uint32_t first,
                            lanes_element *out_first);

#endif
