// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// block_products.c: products of tiles by blocks of 4 x 4, a register of 512
// bits each. A column of a takes a shuffle for each block, which serves all
// products of one a; rows of b come from memory, four times at once, for which
// a load is enough. The loop over the two halves of the sum is left a loop: its
// sums stay in registers, and LLVM does not mix it with others.
#include <string.h>

#include "compiler/vectorize/accesses.h"
#include "compiler/vectorize/tiles.h"

enum {
  QUAD = LANES_TILE_QUAD,
  BLOCK = LANES_TILE_BLOCK,
  BLOCK_BYTES = BLOCK * 4,
  TILE_BYTES = LANES_TILE_ELEMENTS * 4,
};

typedef struct product_loop {
  LLVMTypeRef block_type;
  const lanes_products *products;
  LLVMValueRef half;                          // i64, 0 or 1: which four steps
  LLVMValueRef sums[LANES_MOST_PRODUCTS][4];  // by block
} product_loop;

static LLVMValueRef load_at(lanes_emitter *e, LLVMTypeRef type,
                            LLVMValueRef home, LLVMValueRef half,
                            uint32_t bytes_per_half, uint32_t offset) {
  LLVMValueRef by =
      LLVMBuildMul(e->builder, half, mtlc_i64(e->context, bytes_per_half), "");
  LLVMValueRef at = LLVMBuildGEP2(e->builder, e->types.i8, home, &by, 1, "");
  LLVMValueRef load =
      LLVMBuildLoad2(e->builder, type, lanes_address_at(e, at, offset), "");
  LLVMSetAlignment(load, LLVMGetVectorSize(type) * 4);
  return load;
}

// A row of b's block, in all rows of a block.
static LLVMValueRef repeated_row(lanes_emitter *e, const product_loop *loop,
                                 uint32_t product, uint32_t column,
                                 uint32_t row) {
  const lanes_tile_home *home = &loop->products->right[product];
  const uint32_t quad_bytes = QUAD * 4;
  const uint32_t offset = home->order == LANES_BY_ROWS
                              ? row * 2 * quad_bytes + column * quad_bytes
                              : column * BLOCK_BYTES + row * quad_bytes;
  LLVMValueRef quad = load_at(e, LLVMVectorType(e->types.f32, QUAD),
                              home->memory, loop->half, TILE_BYTES / 2, offset);
  int items[BLOCK];
  for (int i = 0; i < BLOCK; i++) {
    items[i] = i % QUAD;
  }
  return lanes_shuffle(e, quad, NULL, items, BLOCK);
}

// Each row's element in a column, over its row.
static LLVMValueRef repeated_column(lanes_emitter *e, LLVMValueRef block,
                                    int column) {
  int items[BLOCK];
  for (int i = 0; i < BLOCK; i++) {
    items[i] = i / QUAD * QUAD + column;
  }
  return lanes_shuffle(e, block, NULL, items, BLOCK);
}

static void emit_step(lanes_emitter *e, product_loop *loop,
                      LLVMValueRef left[2], uint32_t k) {
  LLVMValueRef columns[2];
  for (int row = 0; row < 2; row++) {
    columns[row] = repeated_column(e, left[row], (int)k);
  }
  for (uint32_t p = 0; p < loop->products->count; p++) {
    for (uint32_t column = 0; column < 2; column++) {
      LLVMValueRef row_of_b = repeated_row(e, loop, p, column, k);
      for (uint32_t row = 0; row < 2; row++) {
        LLVMValueRef *sum = &loop->sums[p][row * 2 + column];
        LLVMValueRef factors[] = {columns[row], row_of_b, *sum};
        *sum = lanes_intrinsic(e, "llvm.fma", &loop->block_type, 1, factors, 3);
      }
    }
  }
}

static void emit_half(lanes_emitter *e, product_loop *loop) {
  LLVMValueRef left[2];
  for (uint32_t row = 0; row < 2; row++) {
    left[row] = load_at(e, loop->block_type, loop->products->left.memory,
                        loop->half, BLOCK_BYTES, row * 2 * BLOCK_BYTES);
  }
  for (uint32_t k = 0; k < QUAD; k++) {
    emit_step(e, loop, left, k);
  }
}

// The sums that a product adds to, by block.
static void read_sums(lanes_emitter *e, const product_loop *loop, uint32_t p,
                      LLVMValueRef *out_blocks) {
  LLVMValueRef home = loop->products->sums[p];
  if (!home) {
    LLVMValueRef tile = lanes_tile_of(
        e, LLVMGetOperand(loop->products->calls[p], 2), e->types.f32);
    for (int b = 0; b < 4; b++) {
      out_blocks[b] = lanes_block_of_tile(e, tile, b / 2, b % 2);
    }
    return;
  }
  for (uint32_t b = 0; b < 4; b++) {
    out_blocks[b] =
        LLVMBuildLoad2(e->builder, loop->block_type,
                       lanes_address_at(e, home, b * BLOCK_BYTES), "");
    lanes_keep_in_home(out_blocks[b]);
  }
}

static void write_sums(lanes_emitter *e, const product_loop *loop, uint32_t p,
                       LLVMValueRef *blocks) {
  LLVMValueRef home = loop->products->sums[p];
  if (!home) {
    lanes_set_tile(e, loop->products->calls[p],
                   lanes_tile_of_blocks(e, blocks));
    return;
  }
  for (uint32_t b = 0; b < 4; b++) {
    lanes_keep_in_home(LLVMBuildStore(
        e->builder, blocks[b], lanes_address_at(e, home, b * BLOCK_BYTES)));
  }
}

void lanes_emit_block_products(lanes_emitter *e,
                               const lanes_products *products) {
  product_loop loop = {.block_type = LLVMVectorType(e->types.f32, BLOCK),
                       .products = products};
  for (uint32_t p = 0; p < products->count; p++) {
    read_sums(e, &loop, p, loop.sums[p]);
  }
  lanes_halves halves =
      lanes_begin_halves(e, loop.sums[0], products->count * 4);
  loop.half = halves.half;
  emit_half(e, &loop);
  lanes_end_halves(e, &halves, loop.sums[0]);
  for (uint32_t p = 0; p < products->count; p++) {
    write_sums(e, &loop, p, loop.sums[p]);
  }
}
