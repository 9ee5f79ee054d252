// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// block_products.c: multiplies tiles by blocks of 4 x 4, a 512-bit register
// each. A column of a takes a shuffle for each block, which serves all products
// of that a; rows of b are broadcast loads. The loop over the two halves of the
// sum stays a loop: its sums stay in registers, and LLVM does not interleave it
// with others.
//
// A Zen adds products of 32 bfloats, two by two, in the time of 16 floats. The
// sums are those of two fused multiply-adds, the upper one first, but that what
// is subnormal counts as 0 (so do Intel's, which take twice as long). Kernels
// that are not compiled for safe mathematics get that.
#include "compiler/vectorize/emit/tiles/block_products.h"

#include <stddef.h>
#include <string.h>

#include "compiler/ir/llvm/calls.h"
#include "compiler/ir/llvm/instructions.h"
#include "compiler/ir/llvm/types.h"
#include "compiler/vectorize/analysis/callees.h"
#include "compiler/vectorize/emit/tiles/byte_products.h"
#include "compiler/vectorize/emit/tiles/product_halves.h"
#include "compiler/vectorize/emit/tiles/tile_values.h"
#include "compiler/vectorize/emit/tiles/tiles.h"
#include "compiler/vectorize/emit/values/builder.h"
#include "compiler/vectorize/emit/values/emitter.h"
#include "compiler/vectorize/emit/values/sum_memory.h"

enum {
  QUAD = LANES_TILE_QUAD,
  BLOCK = LANES_TILE_BLOCK,
  BLOCK_BYTES = BLOCK * 4,
  TILE_BYTES = LANES_TILE_ELEMENTS * 4,
};

typedef struct product_loop {
  LLVMTypeRef block_type;
  const lanes_products *products;
  bool is_of_pairs;
  LLVMValueRef half;                          // i64, 0 or 1: which four of the
                                              // eight steps
  LLVMValueRef sums[LANES_MOST_PRODUCTS][4];  // by block
} product_loop;

static bool is_of_bfloats(LLVMValueRef side) {
  return mtlc_is_opcode(side, LLVMCall) &&
         strcmp(mtlc_callee_name(side), "mettle.tile.widen.bf16") == 0;
}

bool lanes_is_of_pairs(const lanes_emitter *e, LLVMValueRef product) {
  return e->machine.has_pairs &&
         e->kernel->library->math_mode != MTL_MATH_SAFE &&
         is_of_bfloats(LLVMGetOperand(product, 0)) &&
         is_of_bfloats(LLVMGetOperand(product, 1));
}

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

// Returns a row of b's block, or of pairs, repeated in all rows of a block.
static LLVMValueRef repeated_row(lanes_emitter *e, const product_loop *loop,
                                 uint32_t product, uint32_t column,
                                 uint32_t row) {
  const lanes_tile_home *home = &loop->products->right[product];
  const uint32_t quad_bytes = QUAD * 4;
  const uint32_t offset = home->order == LANES_BY_BLOCKS
                              ? column * BLOCK_BYTES + row * quad_bytes
                              : row * 2 * quad_bytes + column * quad_bytes;
  LLVMValueRef quad =
      load_at(e, LLVMVectorType(e->types.f32, QUAD), home->memory, loop->half,
              loop->is_of_pairs ? TILE_BYTES / 4 : TILE_BYTES / 2, offset);
  int items[BLOCK];
  for (int i = 0; i < BLOCK; i++) {
    items[i] = i % QUAD;
  }
  return lanes_shuffle(e, quad, NULL, items, BLOCK);
}

// Returns each row's element of a column, repeated over its row.
static LLVMValueRef repeated_column(lanes_emitter *e, LLVMValueRef block,
                                    int column) {
  int items[BLOCK];
  for (int i = 0; i < BLOCK; i++) {
    items[i] = i / QUAD * QUAD + column;
  }
  return lanes_shuffle(e, block, NULL, items, BLOCK);
}

// Returns each row's pair of one of the half's two columns, repeated over its
// row.
static LLVMValueRef repeated_pair(lanes_emitter *e, const product_loop *loop,
                                  LLVMValueRef block, uint32_t k) {
  LLVMValueRef half =
      LLVMBuildTrunc(e->builder, loop->half, e->types.i32, "");
  LLVMValueRef first =
      LLVMBuildMul(e->builder, half, mtlc_i32(e->context, 2), "");
  LLVMValueRef column =
      LLVMBuildAdd(e->builder, first, mtlc_i32(e->context, k), "");
  LLVMValueRef arguments[] = {block,
                              lanes_splat_to(e, e->builder, column, BLOCK)};
  return lanes_intrinsic(e, "llvm.x86.avx512.vpermilvar.ps.512", NULL, 0,
                         arguments, 2);
}

static LLVMValueRef as_bfloats(lanes_emitter *e, LLVMValueRef block) {
  LLVMTypeRef type =
      LLVMVectorType(LLVMBFloatTypeInContext(e->context), 2 * BLOCK);
  return LLVMBuildBitCast(e->builder, block, type, "");
}

static LLVMValueRef sum_of(lanes_emitter *e, product_loop *loop,
                           LLVMValueRef column, LLVMValueRef row,
                           LLVMValueRef sum) {
  if (lanes_is_byte_product(loop->products->calls[0])) {
    return lanes_add_byte_products(e, loop->products->calls[0], column, row,
                                   sum);
  }
  if (!loop->is_of_pairs) {
    LLVMValueRef factors[] = {column, row, sum};
    return lanes_intrinsic(e, "llvm.fma", &loop->block_type, 1, factors, 3);
  }
  LLVMValueRef pairs[] = {sum, as_bfloats(e, column), as_bfloats(e, row)};
  return lanes_intrinsic(e, "llvm.x86.avx512bf16.dpbf16ps.512", NULL, 0, pairs,
                         3);
}

static void emit_step(lanes_emitter *e, product_loop *loop,
                      LLVMValueRef left[2], uint32_t k) {
  LLVMValueRef columns[2];
  for (int row = 0; row < 2; row++) {
    columns[row] = loop->is_of_pairs
                       ? repeated_pair(e, loop, left[row], k)
                       : repeated_column(e, left[row], (int)k);
  }
  for (uint32_t p = 0; p < loop->products->count; p++) {
    for (uint32_t column = 0; column < 2; column++) {
      LLVMValueRef row_of_b = repeated_row(e, loop, p, column, k);
      for (uint32_t row = 0; row < 2; row++) {
        LLVMValueRef *sum = &loop->sums[p][row * 2 + column];
        *sum = sum_of(e, loop, columns[row], row_of_b, *sum);
      }
    }
  }
}

// A row of four pairs serves both halves; a row of four floats serves one.
static void emit_half(lanes_emitter *e, product_loop *loop) {
  const uint32_t halves = loop->is_of_pairs ? 1 : 2;
  LLVMValueRef left[2];
  for (uint32_t row = 0; row < 2; row++) {
    left[row] = load_at(e, loop->block_type, loop->products->left.memory,
                        loop->half, (halves - 1) * BLOCK_BYTES,
                        row * halves * BLOCK_BYTES);
  }
  for (uint32_t k = 0; k < halves * QUAD / 2; k++) {
    emit_step(e, loop, left, k);
  }
}

// Loads the accumulators of a product, block by block.
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
                       .products = products,
                       .is_of_pairs = products->left.order == LANES_LEFT_PAIRS};
  for (uint32_t p = 0; p < products->count; p++) {
    read_sums(e, &loop, p, loop.sums[p]);
  }
  lanes_halves halves =
      lanes_begin_halves(e, loop.sums[0], products->count * 4);
  loop.half = halves.half;
  emit_half(e, &loop);
  lanes_end_halves(e, &halves, loop.sums[0], 2);
  for (uint32_t p = 0; p < products->count; p++) {
    write_sums(e, &loop, p, loop.sums[p]);
  }
}
