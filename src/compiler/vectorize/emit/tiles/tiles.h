// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tiles.h: the 8 x 8 tiles that a simdgroup holds, as vectors of 64 elements.
#ifndef MTLC_TILES_H
#define MTLC_TILES_H

#include "compiler/vectorize/emit/values/emitter.h"

enum {
  LANES_TILE_SIDE = 8,
  LANES_TILE_QUAD = 4,    // elements of a row of a block
  LANES_TILE_BLOCK = 16,  // elements of a block, 4 x 4
  LANES_TILE_ELEMENTS = 64,
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

// Returns an operand as <64 x element>.
LLVMValueRef lanes_tile_of(lanes_emitter *e, LLVMValueRef operand,
                           LLVMTypeRef element);
// Sets a call's result from a vector of 64.
void lanes_set_tile(lanes_emitter *e, LLVMValueRef call, LLVMValueRef tile);
LLVMValueRef lanes_block_of_tile(lanes_emitter *e, LLVMValueRef tile, int row,
                                 int column);
LLVMValueRef lanes_tile_of_blocks(lanes_emitter *e, LLVMValueRef *blocks);
// Joins two vectors of count elements each.
LLVMValueRef lanes_joined(lanes_emitter *e, LLVMValueRef a, LLVMValueRef b,
                          int count);
// A row as 8 elements, and a tile of its 8 rows.
LLVMValueRef lanes_row_of_tile(lanes_emitter *e, LLVMValueRef tile, int row);
LLVMValueRef lanes_tile_of_rows(lanes_emitter *e, LLVMValueRef *rows);

// tile_products.c: emits a product and those that share its left side.
void lanes_emit_product(lanes_emitter *e, LLVMValueRef call);
bool lanes_is_product(LLVMValueRef instruction);
// Says whether a product is made of pairs of bfloats (block_products.c).
bool lanes_is_of_pairs(const lanes_emitter *e, LLVMValueRef product);
// Emits products whose sides and sums are found.
void lanes_emit_products(lanes_emitter *e, const lanes_products *products);
// product_functions.c: calls a function for products whose sums have places.
// Returns false if they are better emitted here.
bool lanes_call_products(lanes_emitter *e, const lanes_products *products);

// Returns for how many products' sums the machine has registers.
uint32_t lanes_most_sums(const lanes_emitter *e);
// Brings products of a block that share their left side together.
void lanes_gather_products(LLVMValueRef function);

// The loop over both halves of a product's sum.
typedef struct lanes_halves {
  LLVMBasicBlockRef before;
  LLVMBasicBlockRef body;
  LLVMValueRef half;  // i64, 0 or 1
  LLVMValueRef *phis;
  uint32_t count;
} lanes_halves;
// Begins it; count values become what each turn begins with.
lanes_halves lanes_begin_halves(lanes_emitter *e, LLVMValueRef *values,
                                uint32_t count);
// Ends it: values are what a turn leaves.
void lanes_end_halves(lanes_emitter *e, lanes_halves *halves,
                      LLVMValueRef *values);

// block_products.c: emits products in registers of 512 bits; of bfloats by
// pairs, if both sides lie so.
void lanes_emit_block_products(lanes_emitter *e,
                               const lanes_products *products);
// row_products.c: emits products in registers of 256 bits.
void lanes_emit_row_products(lanes_emitter *e, const lanes_products *products);
// Says whether that is what the machine has: sums then lie by rows.
bool lanes_goes_by_rows(const lanes_emitter *e);

// tile_homes.c: returns where a tile to multiply is in memory; a right side by
// rows, where products go by rows.
lanes_tile_home lanes_left_home(lanes_emitter *e, LLVMValueRef operand);
lanes_tile_home lanes_right_home(lanes_emitter *e, LLVMValueRef operand);
// A side of a product of pairs: what widens bfloats.
lanes_tile_home lanes_pairs_home(lanes_emitter *e, LLVMValueRef widening,
                                 lanes_tile_order order);
// Stores a tile's rows, <8 x i16> each, as pairs.
void lanes_store_pairs(lanes_emitter *e, LLVMValueRef memory,
                       LLVMValueRef *rows, lanes_tile_order order);
// What a load of a tile is for, if that is products of its block alone.
typedef struct lanes_tile_use {
  LLVMValueRef side;  // the load, or what widens it; NULL for none or others
  bool is_left;
  bool is_right;
  bool is_in_pairs;  // in all products
  bool stays;  // nothing is written from the load to the last product
} lanes_tile_use;
lanes_tile_use lanes_use_of_tile(const lanes_emitter *e, LLVMValueRef load);
// Returns the memory, 64 floats, for a side that is brought there in an order.
LLVMValueRef lanes_new_home(lanes_emitter *e, LLVMValueRef side,
                            lanes_tile_order order);
// Lets a side stay where it is, its first row at that address, i64 bytes from
// one to the next.
void lanes_stay_home(lanes_emitter *e, LLVMValueRef side,
                     LLVMValueRef first_row, LLVMValueRef row_bytes);
// Says whether a side is there.
bool lanes_has_home(lanes_emitter *e, LLVMValueRef side);
// The rows of sums in their places, from first on: <8 x float> each; all of
// them, where there is one sum (e->has_one_sum).
void lanes_read_sum_rows(lanes_emitter *e, LLVMValueRef home, uint32_t first,
                         uint32_t count, LLVMValueRef *out_rows);
void lanes_write_sum_rows(lanes_emitter *e, LLVMValueRef home, uint32_t first,
                          uint32_t count, LLVMValueRef *rows);
// To be called on each load from and store to a sum's place in the frame.
void lanes_keep_in_home(LLVMValueRef access);

// tile_phis.c: makes phis of tiles taken apart phis of tiles. Returns whether
// there were any; what took them apart stays, unused.
bool lanes_carry_tiles(LLVMContextRef context, LLVMValueRef function);

// recognise_tile_loads.c: makes loads of what is multiplied loads of tiles. Returns
// whether there were any; the loads stay, unused.
bool lanes_find_tiles(mtlc_kernel *kernel, const lanes_graph *graph,
                      const mtli_group_class *class);

// tile_sums.c: gives sums of products places in the frame, from offset_bytes
// on: sets e->sum_places and e->sums_bytes.
void lanes_sums_find(lanes_emitter *e, uint64_t offset_bytes);

#endif
