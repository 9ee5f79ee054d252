// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tiles.h: the 8 x 8 tiles that a simdgroup holds, as vectors of 64 elements.
#ifndef MTLC_VECTORIZE_TILES_H
#define MTLC_VECTORIZE_TILES_H

#include "compiler/vectorize/emitter.h"

enum {
  LANES_TILE_SIDE = 8,
  LANES_TILE_QUAD = 4,    // elements of a row of a block
  LANES_TILE_BLOCK = 16,  // elements of a block, 4 x 4
  LANES_TILE_ELEMENTS = 64,
  LANES_MOST_PRODUCTS = 4,  // that are emitted together
};

// Products of one left side.
typedef struct lanes_products {
  LLVMValueRef calls[LANES_MOST_PRODUCTS];
  uint32_t count;
} lanes_products;

// Returns an operand as <64 x element>.
LLVMValueRef lanes_tile_of(lanes_emitter *e, LLVMValueRef operand,
                           LLVMTypeRef element);
// Sets a call's result from a vector of 64.
void lanes_set_tile(lanes_emitter *e, LLVMValueRef call, LLVMValueRef tile);
LLVMValueRef lanes_block_of_tile(lanes_emitter *e, LLVMValueRef tile, int row,
                                 int column);
LLVMValueRef lanes_tile_of_blocks(lanes_emitter *e, LLVMValueRef *blocks);

// tile_products.c: emits a product and those that share its left side.
void lanes_emit_product(lanes_emitter *e, LLVMValueRef call);
bool lanes_is_product(LLVMValueRef instruction);
// Returns for how many products' sums the machine has registers.
uint32_t lanes_most_products(const lanes_emitter *e);
// Brings products of a block that share their left side together.
void lanes_gather_products(LLVMValueRef function);

// block_products.c: emits products in registers of 512 bits.
void lanes_emit_block_products(lanes_emitter *e,
                               const lanes_products *products);

// tile_homes.c: returns where a tile to multiply is in memory, block by block
// unless it was loaded otherwise.
lanes_tile_home lanes_kept_home(lanes_emitter *e, LLVMValueRef operand);
// Returns the memory, 64 floats, that products want the tile that a load loads
// in, row by row, or NULL if they want it as any other value.
LLVMValueRef lanes_home_of_rows(lanes_emitter *e, LLVMValueRef load);

// tile_phis.c: makes phis of tiles taken apart phis of tiles. Returns whether
// there were any; what took them apart stays, unused.
bool lanes_carry_tiles(LLVMContextRef context, LLVMValueRef function);

// find_tiles.c: makes loads of what is multiplied loads of tiles. Returns
// whether there were any; the loads stay, unused.
bool lanes_find_tiles(mtlc_kernel *kernel, const lanes_graph *graph,
                      const mtli_group_class *class);

// tile_sums.c: gives sums of products places in the frame, from offset_bytes
// on: sets e->sum_places and e->sums_bytes.
void lanes_sums_find(lanes_emitter *e, uint64_t offset_bytes);

#endif
