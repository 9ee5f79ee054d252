// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// row_products.c: multiplies tiles by rows of 8, for 16 registers of 256 bits.
// An element of a, broadcast from memory, times a row of b is added to a row of
// sums. One product keeps all eight rows in registers; two that share a keep
// four rows each, since then an element of a serves both.
//
// The steps of a half of the sum are iterations of a loop that is not unrolled:
// LLVM would interleave the products and run out of registers.
#include "compiler/vectorize/emit/tiles/row_products.h"

#include <stdbool.h>

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
  SIDE = LANES_TILE_SIDE,
  QUAD = LANES_TILE_QUAD,
  BLOCK = LANES_TILE_BLOCK,
  TOGETHER = 2,            // products emitted at once
  SPLIT_STEPS = 2 * SIDE,  // of split bytes: even and odd ones
};

// Rows of accumulators of some products, which are in registers at once.
typedef struct row_products {
  LLVMTypeRef row_type;
  const lanes_products *all;
  uint32_t first;  // the first of the rows
  uint32_t count;
  uint32_t first_row;
  uint32_t row_count;
  LLVMValueRef sums[TOGETHER * SIDE];  // by product
} row_products;

// Returns the address of an element of a tile: its column is one of four in a
// half.
static LLVMValueRef element_at(lanes_emitter *e, const lanes_tile_home *home,
                               LLVMValueRef half, uint32_t row,
                               uint32_t column) {
  LLVMValueRef from = home->memory;
  uint32_t offset = row * SIDE + column;
  uint32_t per_half = QUAD;
  if (home->first_row) {
    LLVMValueRef rows = LLVMBuildMul(e->builder, home->row_bytes,
                                     mtlc_i64(e->context, row), "");
    from =
        LLVMBuildGEP2(e->builder, e->types.i8, home->first_row, &rows, 1, "");
    offset = column;
  }
  if (home->order == LANES_BY_BLOCKS) {
    offset = row / QUAD * 2 * BLOCK + row % QUAD * QUAD + column;
    per_half = BLOCK;
  } else if (home->order == LANES_BY_COLUMNS) {
    offset = column * SIDE + row;
    per_half = QUAD * SIDE;
  }
  LLVMValueRef by =
      LLVMBuildMul(e->builder, half, mtlc_i64(e->context, per_half * 4), "");
  LLVMValueRef at = LLVMBuildGEP2(e->builder, e->types.i8, from, &by, 1, "");
  return lanes_address_at(e, at, offset * 4);
}

static LLVMValueRef load_element(lanes_emitter *e, const row_products *part,
                                 LLVMValueRef half, uint32_t row,
                                 uint32_t column) {
  LLVMValueRef element =
      LLVMBuildLoad2(e->builder, e->types.f32,
                     element_at(e, &part->all->left, half, row, column), "");
  LLVMSetAlignment(element, 4);
  return lanes_splat_to(e, e->builder, element, SIDE);
}

// Loads a row of b, one of four in a half.
static LLVMValueRef load_row(lanes_emitter *e, const row_products *part,
                             uint32_t product, LLVMValueRef half,
                             uint32_t row) {
  const lanes_tile_home *home = &part->all->right[part->first + product];
  LLVMValueRef rows = LLVMBuildAdd(
      e->builder,
      LLVMBuildMul(e->builder, half, mtlc_i64(e->context, QUAD), ""),
      mtlc_i64(e->context, row), "");
  LLVMValueRef row_bytes =
      home->first_row ? home->row_bytes : mtlc_i64(e->context, SIDE * 4);
  LLVMValueRef by = LLVMBuildMul(e->builder, rows, row_bytes, "");
  LLVMValueRef at = LLVMBuildGEP2(
      e->builder, e->types.i8, home->first_row ? home->first_row : home->memory,
      &by, 1, "");
  LLVMValueRef load = LLVMBuildLoad2(e->builder, part->row_type, at, "");
  LLVMSetAlignment(load, home->first_row ? 4 : SIDE * 4);
  return load;
}

static LLVMValueRef sum_of(lanes_emitter *e, const row_products *part,
                           LLVMValueRef element, LLVMValueRef row,
                           LLVMValueRef sum) {
  LLVMValueRef product = part->all->calls[0];
  if (lanes_is_byte_product(product)) {
    return lanes_add_byte_products(e, product, element, row, sum);
  }
  LLVMTypeRef type = part->row_type;
  LLVMValueRef factors[] = {element, row, sum};
  return lanes_intrinsic(e, "llvm.fma", &type, 1, factors, 3);
}

static LLVMValueRef load_split(lanes_emitter *e, LLVMTypeRef type,
                               const lanes_tile_home *home, LLVMValueRef step,
                               uint32_t offset) {
  LLVMValueRef by = LLVMBuildMul(
      e->builder, step,
      mtlc_i64(e->context,
               LLVMGetTypeKind(type) == LLVMVectorTypeKind ? SIDE * 4 : 4),
      "");
  LLVMValueRef at =
      LLVMBuildGEP2(e->builder, e->types.i8, home->memory, &by, 1, "");
  return LLVMBuildLoad2(e->builder, type, lanes_address_at(e, at, offset), "");
}

// Adds products of bytes that are split into the even and the odd ones of each
// word. Each call adds once to each sum: with several products in an iteration
// LLVM would add them to each other first and run out of registers.
static void emit_split_step(lanes_emitter *e, row_products *part,
                            LLVMValueRef step) {
  LLVMValueRef rows[TOGETHER];
  for (uint32_t p = 0; p < part->count; p++) {
    rows[p] = load_split(e, part->row_type, &part->all->right[part->first + p],
                         step, 0);
  }
  for (uint32_t r = 0; r < part->row_count; r++) {
    LLVMValueRef element = load_split(e, e->types.f32, &part->all->left, step,
                                      (part->first_row + r) * SPLIT_STEPS * 4);
    element = lanes_splat_to(e, e->builder, element, SIDE);
    for (uint32_t p = 0; p < part->count; p++) {
      LLVMValueRef *sum = &part->sums[p * part->row_count + r];
      *sum = lanes_add_split_products(e, element, rows[p], *sum);
    }
  }
}

static void emit_step(lanes_emitter *e, row_products *part, LLVMValueRef half,
                      uint32_t k) {
  LLVMValueRef rows[TOGETHER];
  for (uint32_t p = 0; p < part->count; p++) {
    rows[p] = load_row(e, part, p, half, k);
  }
  for (uint32_t r = 0; r < part->row_count; r++) {
    LLVMValueRef element = load_element(e, part, half, part->first_row + r, k);
    for (uint32_t p = 0; p < part->count; p++) {
      LLVMValueRef *sum = &part->sums[p * part->row_count + r];
      *sum = sum_of(e, part, element, rows[p], *sum);
    }
  }
}

static void read_sums(lanes_emitter *e, row_products *part, uint32_t p) {
  LLVMValueRef home = part->all->sums[part->first + p];
  LLVMValueRef *rows = &part->sums[p * part->row_count];
  if (home) {
    lanes_read_sum_rows(e, home, part->first_row, part->row_count, rows);
    return;
  }
  LLVMValueRef c = LLVMGetOperand(part->all->calls[part->first + p], 2);
  LLVMValueRef tile = lanes_tile_of(e, c, e->types.f32);
  for (uint32_t r = 0; r < part->row_count; r++) {
    rows[r] = lanes_row_of_tile(e, tile, (int)(part->first_row + r));
  }
}

static void write_sums(lanes_emitter *e, row_products *part, uint32_t p) {
  LLVMValueRef home = part->all->sums[part->first + p];
  LLVMValueRef *rows = &part->sums[p * part->row_count];
  if (home) {
    lanes_write_sum_rows(e, home, part->first_row, part->row_count, rows);
  } else {
    lanes_set_tile(e, part->all->calls[part->first + p],
                   lanes_tile_of_rows(e, rows));
  }
}

static void emit_part(lanes_emitter *e, row_products *part) {
  for (uint32_t p = 0; p < part->count; p++) {
    read_sums(e, part, p);
  }
  lanes_halves halves =
      lanes_begin_halves(e, part->sums, part->count * part->row_count);
  const bool is_split = lanes_splits_bytes(e, part->all->calls[0]);
  if (is_split) {
    emit_split_step(e, part, halves.half);
  }
  for (uint32_t k = 0; !is_split && k < QUAD; k++) {
    emit_step(e, part, halves.half, k);
  }
  lanes_end_halves(e, &halves, part->sums, is_split ? SPLIT_STEPS : 2);
  for (uint32_t p = 0; p < part->count; p++) {
    write_sums(e, part, p);
  }
}

// True if accumulators are in memory: those can be updated a few rows at a
// time.
static bool can_part(const lanes_emitter *e, const lanes_products *products,
                     uint32_t i) {
  return i < products->count && !e->has_one_sum && products->sums[i];
}

void lanes_emit_row_products(lanes_emitter *e, const lanes_products *products) {
  row_products part = {.row_type = LLVMVectorType(e->types.f32, SIDE),
                       .all = products};
  for (; part.first < products->count; part.first += part.count) {
    const bool are_two = can_part(e, products, part.first) &&
                         can_part(e, products, part.first + 1);
    part.count = are_two ? TOGETHER : 1;
    part.row_count = are_two ? QUAD : SIDE;
    for (part.first_row = 0; part.first_row < SIDE;
         part.first_row += part.row_count) {
      emit_part(e, &part);
    }
  }
}
