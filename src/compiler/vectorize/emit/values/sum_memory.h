// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// sum_memory.h: reads matrix accumulators, sums of products of tiles, where
// they stay in the frame.
#ifndef MTLC_SUM_MEMORY_H
#define MTLC_SUM_MEMORY_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>

#include "compiler/vectorize/emit/values/emitter.h"

enum {
  LANES_TILE_SIDE = 8,
  LANES_TILE_QUAD = 4,    // elements of a row of a block
  LANES_TILE_BLOCK = 16,  // elements of a block, 4 x 4
  LANES_TILE_ELEMENTS = 64,
};

// Returns an accumulator as <32 x i64> (tile_homes.c).
LLVMValueRef lanes_read_sum(lanes_emitter *e, LLVMValueRef home);
// True if threads' elements can be read without the whole tile.
bool lanes_has_sum_elements(const lanes_emitter *e);
// Returns each thread's first or second element, <32 x float>.
LLVMValueRef lanes_read_sum_element(lanes_emitter *e, LLVMValueRef home,
                                    uint32_t element);
// Returns the address of a lane's element.
LLVMValueRef lanes_sum_element_at(lanes_emitter *e, LLVMValueRef home,
                                  uint32_t element, LLVMValueRef lane);
void lanes_write_sum(lanes_emitter *e, LLVMValueRef home, LLVMValueRef tile);
// Concatenates two vectors of count elements each.
LLVMValueRef lanes_joined(lanes_emitter *e, LLVMValueRef a, LLVMValueRef b,
                          int count);
// The first returns a row of a tile as 8 elements; the second, a tile of 8
// rows.
LLVMValueRef lanes_row_of_tile(lanes_emitter *e, LLVMValueRef tile, int row);
LLVMValueRef lanes_tile_of_rows(lanes_emitter *e, LLVMValueRef *rows);
// True if the machine multiplies tiles by rows: accumulators then lie by rows.
bool lanes_multiplies_by_rows(const lanes_emitter *e);
// Load or store rows [count] of the matrix accumulators that lie in the frame at
// home, from row first on, as <8 x float> each. With one accumulator
// (e->has_one_sum) its eight rows.
void lanes_read_sum_rows(lanes_emitter *e, LLVMValueRef home, uint32_t first,
                         uint32_t count, LLVMValueRef *out_rows);
void lanes_write_sum_rows(lanes_emitter *e, LLVMValueRef home, uint32_t first,
                          uint32_t count, LLVMValueRef *rows);
// Call it on each load from and store to an accumulator in the frame.
void lanes_keep_in_home(LLVMValueRef access);

#endif
