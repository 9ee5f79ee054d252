// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tile_values.c: tiles as vectors of 64 elements, and their quarters.
#include "compiler/vectorize/emit/tiles/tile_values.h"

#include <stddef.h>

#include "compiler/vectorize/analysis/components.h"
#include "compiler/vectorize/emit/values/builder.h"
#include "compiler/vectorize/emit/values/emitter.h"
#include "compiler/vectorize/emit/values/sum_memory.h"
#include "compiler/vectorize/emit/values/values.h"

enum {
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
