// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tile_values.c: tiles as vectors of 64 elements, and their quarters.
#include "compiler/vectorize/emit/tiles/tile_values.h"

#include <stddef.h>
#include <string.h>

#include "compiler/vectorize/analysis/components.h"
#include "compiler/vectorize/emit/values/builder.h"
#include "compiler/vectorize/emit/values/emitter.h"
#include "compiler/vectorize/emit/values/sum_memory.h"
#include "compiler/vectorize/emit/values/values.h"

enum {
  SIDE = LANES_TILE_SIDE,
  QUAD = LANES_TILE_QUAD,
  BLOCK = LANES_TILE_BLOCK,
  ELEMENTS = LANES_TILE_ELEMENTS
};

// Where threads may be missing, their elements may be poison, which must not
// spread over the tile.
LLVMValueRef lanes_tile_of(lanes_emitter *e, LLVMValueRef operand,
                            LLVMTypeRef element) {
  LLVMValueRef value = lanes_vector(e, operand, 0);
  if (e->values->masked[e->node]) {
    value = LLVMBuildFreeze(e->builder, value, "");
  }
  return LLVMBuildBitCast(e->builder, value, LLVMVectorType(element, ELEMENTS),
                          "");
}

void lanes_set_tile(lanes_emitter *e, LLVMValueRef call, LLVMValueRef tile) {
  LLVMTypeRef type = lanes_vector_of(e->lanes, LLVMTypeOf(call));
  lanes_set_result(e, call, 0, LLVMBuildBitCast(e->builder, tile, type, ""));
}

LLVMValueRef lanes_block_of_tile(lanes_emitter *e, LLVMValueRef tile, int row,
                             int column) {
  int items[BLOCK];
  for (int i = 0; i < BLOCK; i++) {
    items[i] = (row * 2 + column) * BLOCK + i;
  }
  return lanes_shuffle(e, tile, NULL, items, BLOCK);
}

LLVMValueRef lanes_tile_of_blocks(lanes_emitter *e, LLVMValueRef *blocks) {
  return lanes_joined(e, lanes_joined(e, blocks[0], blocks[1], BLOCK),
                      lanes_joined(e, blocks[2], blocks[3], BLOCK), 2 * BLOCK);
}

// Pairs of rows within each 128 bits, then pairs of pairs.
void lanes_turn_rows(lanes_emitter *e, LLVMValueRef *rows) {
  static const int halves[2][SIDE] = {{0, 1, 2, 3, 8, 9, 10, 11},
                                      {4, 5, 6, 7, 12, 13, 14, 15}};
  static const int ones[2][SIDE] = {{0, 8, 1, 9, 4, 12, 5, 13},
                                    {2, 10, 3, 11, 6, 14, 7, 15}};
  static const int twos[2][SIDE] = {{0, 1, 8, 9, 4, 5, 12, 13},
                                    {2, 3, 10, 11, 6, 7, 14, 15}};
  LLVMValueRef old[SIDE];
  memcpy(old, rows, sizeof old);
  for (int h = 0; h < 2; h++) {
    LLVMValueRef four[QUAD], pairs[QUAD];
    for (int i = 0; i < QUAD; i++) {
      four[i] = lanes_shuffle(e, old[i], old[i + QUAD], halves[h], SIDE);
    }
    for (int i = 0; i < QUAD; i++) {
      pairs[i] = lanes_shuffle(e, four[i / 2 * 2], four[i / 2 * 2 + 1],
                               ones[i % 2], SIDE);
    }
    for (int i = 0; i < QUAD; i++) {
      rows[h * QUAD + i] =
          lanes_shuffle(e, pairs[i / 2], pairs[i / 2 + 2], twos[i % 2], SIDE);
    }
  }
}
