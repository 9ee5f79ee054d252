// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// row_products.c: products of tiles by rows of 8, for 16 registers of 256 bits.
// An element of a, eight times from memory, times a row of b is added to a row
// of sums. For one product all eight rows are in registers; of two that share a
// it is four rows each, for then an element of a serves both.
//
// The steps of a half of the sum are a turn of a loop that stays one, so that
// LLVM does not mix the products and runs out of registers.
#include "compiler/vectorize/accesses.h"
#include "compiler/vectorize/tiles.h"

enum {
  SIDE = LANES_TILE_SIDE,
  QUAD = LANES_TILE_QUAD,
  BLOCK = LANES_TILE_BLOCK,
  TOGETHER = 2,  // products
};

bool lanes_goes_by_rows(const lanes_emitter *e) {
  return e->machine.has_avx2 && !e->machine.has_avx512;
}

// Rows of the sums of some products that are made in registers.
typedef struct row_products {
  LLVMTypeRef row_type;
  lanes_tile_home left;
  lanes_tile_home right[TOGETHER];
  LLVMValueRef calls[TOGETHER];
  uint32_t count;
  uint32_t first_row;
  uint32_t row_count;
  LLVMValueRef sums[TOGETHER * SIDE];  // by product
} row_products;

// The address of an element of a tile in memory: its column is one of four, in
// a half.
static LLVMValueRef element_at(lanes_emitter *e, const lanes_tile_home *home,
                               LLVMValueRef half, uint32_t row,
                               uint32_t column) {
  LLVMValueRef from = home->rows[0] ? home->rows[row] : home->memory;
  uint32_t offset = home->rows[0] ? column : row * SIDE + column;
  uint32_t per_half = QUAD;
  if (home->order == LANES_BY_BLOCKS) {
    offset = row / QUAD * 2 * BLOCK + row % QUAD * QUAD + column;
    per_half = BLOCK;
  } else if (home->order == LANES_BY_COLUMNS) {
    offset = column * SIDE + row;
    per_half = QUAD * SIDE;
  }
  LLVMValueRef by =
      LLVMBuildMul(e->builder, half, mtlc_i64(e->context, per_half * 4), "");
  LLVMValueRef at =
      LLVMBuildGEP2(e->builder, e->types.i8, from, &by, 1, "");
  return lanes_address_at(e, at, offset * 4);
}

static LLVMValueRef load_element(lanes_emitter *e, const row_products *part,
                                 LLVMValueRef half, uint32_t row,
                                 uint32_t column) {
  LLVMValueRef element = LLVMBuildLoad2(
      e->builder, e->types.f32, element_at(e, &part->left, half, row, column),
      "");
  LLVMSetAlignment(element, 4);
  return lanes_splat_to(e, e->builder, element, SIDE);
}

// A row of b, one of four in a half.
static LLVMValueRef load_row(lanes_emitter *e, const row_products *part,
                             uint32_t product, LLVMValueRef half,
                             uint32_t row) {
  const uint32_t row_bytes = SIDE * 4;
  LLVMValueRef by = LLVMBuildMul(
      e->builder, half, mtlc_i64(e->context, QUAD * row_bytes), "");
  LLVMValueRef at = LLVMBuildGEP2(e->builder, e->types.i8,
                                  part->right[product].memory, &by, 1, "");
  LLVMValueRef load =
      LLVMBuildLoad2(e->builder, part->row_type,
                     lanes_address_at(e, at, row * row_bytes), "");
  LLVMSetAlignment(load, row_bytes);
  return load;
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
      LLVMValueRef factors[] = {element, rows[p], *sum};
      *sum = lanes_intrinsic(e, "llvm.fma", &part->row_type, 1, factors, 3);
    }
  }
}

static void read_sums(lanes_emitter *e, row_products *part, uint32_t p) {
  LLVMValueRef c = LLVMGetOperand(part->calls[p], 2);
  LLVMValueRef home = lanes_sum_home(e, c);
  LLVMValueRef *rows = &part->sums[p * part->row_count];
  if (home) {
    lanes_read_sum_rows(e, home, part->first_row, part->row_count, rows);
    return;
  }
  LLVMValueRef tile = lanes_tile_of(e, c, e->types.f32);
  for (uint32_t r = 0; r < part->row_count; r++) {
    rows[r] = lanes_row_of_tile(e, tile, (int)(part->first_row + r));
  }
}

static void write_sums(lanes_emitter *e, row_products *part, uint32_t p) {
  LLVMValueRef home = lanes_sum_home(e, part->calls[p]);
  LLVMValueRef *rows = &part->sums[p * part->row_count];
  if (home) {
    lanes_write_sum_rows(e, home, part->first_row, part->row_count, rows);
  } else {
    lanes_set_tile(e, part->calls[p], lanes_tile_of_rows(e, rows));
  }
}

static void emit_part(lanes_emitter *e, row_products *part) {
  for (uint32_t p = 0; p < part->count; p++) {
    read_sums(e, part, p);
  }
  lanes_halves halves =
      lanes_begin_halves(e, part->sums, part->count * part->row_count);
  for (uint32_t k = 0; k < QUAD; k++) {
    emit_step(e, part, halves.half, k);
  }
  lanes_end_halves(e, &halves, part->sums);
  for (uint32_t p = 0; p < part->count; p++) {
    write_sums(e, part, p);
  }
}

// Sums that are made a few rows at a time are those that have places.
static bool can_part(lanes_emitter *e, LLVMValueRef product) {
  return !e->has_one_sum && lanes_sum_home(e, product);
}

void lanes_emit_row_products(lanes_emitter *e, const lanes_products *products) {
  row_products all = {
      .row_type = LLVMVectorType(e->types.f32, SIDE),
      .left = lanes_left_home(e, LLVMGetOperand(products->calls[0], 0))};
  for (uint32_t i = 0; i < products->count; i += all.count) {
    all.count = 0;
    do {
      LLVMValueRef call = products->calls[i + all.count];
      all.calls[all.count] = call;
      all.right[all.count++] = lanes_right_home(e, LLVMGetOperand(call, 1));
    } while (all.count < TOGETHER && i + all.count < products->count &&
             can_part(e, products->calls[i]) &&
             can_part(e, products->calls[i + all.count]));
    all.row_count = all.count > 1 ? QUAD : SIDE;
    for (all.first_row = 0; all.first_row < SIDE;
         all.first_row += all.row_count) {
      emit_part(e, &all);
    }
  }
}
