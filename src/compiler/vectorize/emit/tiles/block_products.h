// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// block_products.h: products of tiles by blocks of 4 x 4, a register of 512
// bits each.
#ifndef MTLC_BLOCK_PRODUCTS_H
#define MTLC_BLOCK_PRODUCTS_H

#include <llvm-c/Core.h>
#include <stdbool.h>

#include "compiler/vectorize/emit/tiles/tiles.h"
#include "compiler/vectorize/emit/values/emitter.h"

// True if a product multiplies pairs of bfloats (block_products.c).
bool lanes_is_of_pairs(const lanes_emitter *e, LLVMValueRef product);
// Emits products in 512-bit registers; of pairs of bfloats, if both sides are
// stored so.
void lanes_emit_block_products(lanes_emitter *e,
                               const lanes_products *products);

#endif
