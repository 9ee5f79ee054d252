// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// row_products.h: products of tiles by rows of 8, for 16 registers of 256 bits.
#ifndef MTLC_ROW_PRODUCTS_H
#define MTLC_ROW_PRODUCTS_H

#include "compiler/vectorize/emit/tiles/tiles.h"
#include "compiler/vectorize/emit/values/emitter.h"

// Emits products in 256-bit registers.
void lanes_emit_row_products(lanes_emitter *e, const lanes_products *products);

#endif
