// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tile_products.h: c + a * b of tiles.
#ifndef MTLC_TILE_PRODUCTS_H
#define MTLC_TILE_PRODUCTS_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>

#include "compiler/vectorize/emit/tiles/tiles.h"
#include "compiler/vectorize/emit/values/emitter.h"

// True if an operand is available before an instruction of its block.
bool lanes_is_there_before(LLVMValueRef operand, LLVMValueRef instruction);
// Emits a product and those that share its left side.
void lanes_emit_product(lanes_emitter *e, LLVMValueRef call);
// Emits products whose operands' memory is found.
void lanes_emit_products(lanes_emitter *e, const lanes_products *products);
// Returns for how many products' sums the machine has registers.
uint32_t lanes_most_sums(const lanes_emitter *e);
// Moves products of a block that share their left side together.
void lanes_gather_products(LLVMValueRef function);

#endif
