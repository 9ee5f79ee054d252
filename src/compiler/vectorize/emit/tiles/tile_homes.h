// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tile_homes.h: the memory of tiles that are multiplied and of accumulators.
#ifndef MTLC_TILE_HOMES_H
#define MTLC_TILE_HOMES_H

#include <llvm-c/Core.h>
#include <stdbool.h>

#include "compiler/vectorize/emit/values/emitter.h"

// Returns where a tile to multiply is in memory; a right side by rows, on
// machines that multiply by rows.
lanes_tile_home lanes_left_home(lanes_emitter *e, LLVMValueRef operand);
lanes_tile_home lanes_right_home(lanes_emitter *e, LLVMValueRef operand);
// Returns the same for a product of bfloat pairs; `side` widens bfloats.
lanes_tile_home lanes_pairs_home(lanes_emitter *e, LLVMValueRef widening,
                                 lanes_tile_order order);
// Returns the same for a product that splits bytes.
lanes_tile_home lanes_bytes_home(lanes_emitter *e, LLVMValueRef operand,
                                 lanes_tile_order order);
// Stores a tile's rows, <8 x i16> each, as pairs.
void lanes_store_pairs(lanes_emitter *e, LLVMValueRef memory,
                       LLVMValueRef *rows, lanes_tile_order order);

// The use of a loaded tile, if only products of its block use it.
typedef struct lanes_tile_use {
  LLVMValueRef side;  // the load, or its conversion; NULL if there are other
                      // uses
  bool is_left;
  bool is_right;
  bool is_in_pairs;  // all its products use pairs
  bool is_split;     // a product splits its bytes
  bool stays;        // nothing writes memory from the load to the last product
} lanes_tile_use;
// True if an instruction writes no memory that tiles are loaded from.
bool lanes_leaves_tiles(LLVMValueRef instruction);
lanes_tile_use lanes_use_of_tile(const lanes_emitter *e, LLVMValueRef load);
// Returns memory of 64 floats for a side that is stored in an order.
LLVMValueRef lanes_new_home(lanes_emitter *e, LLVMValueRef side,
                            lanes_tile_order order);
// Makes a side use memory that already holds it, without a copy: its first
// row's address, and i64 bytes to the next row.
void lanes_stay_home(lanes_emitter *e, LLVMValueRef side,
                     LLVMValueRef first_row, LLVMValueRef row_bytes);
// True if a side has memory.
bool lanes_has_home(lanes_emitter *e, LLVMValueRef side);

#endif
