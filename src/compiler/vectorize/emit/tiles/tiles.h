// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tiles.h: the 8 x 8 tiles that a simdgroup holds, as vectors of 64 elements.
#ifndef MTLC_TILES_H
#define MTLC_TILES_H

#include <llvm-c/Core.h>
#include <stdint.h>

#include "compiler/vectorize/emit/values/emitter.h"

enum {
  LANES_MOST_PRODUCTS = 4,  // that are emitted together
};

// Products of one left side.
typedef struct lanes_products {
  LLVMValueRef calls[LANES_MOST_PRODUCTS];  // [count]
  uint32_t count;
  lanes_tile_home left;
  lanes_tile_home right[LANES_MOST_PRODUCTS];
  LLVMValueRef sums[LANES_MOST_PRODUCTS];  // places, or NULL
} lanes_products;

// Mettle.tile.*
void lanes_emit_tile(lanes_emitter *e, LLVMValueRef call);

#endif
