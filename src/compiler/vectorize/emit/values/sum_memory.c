// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// sum_memory.c: reads matrix accumulators, sums of products of tiles, where
// they stay in the frame.
#include "compiler/vectorize/emit/values/sum_memory.h"

#include <stddef.h>

#include "compiler/vectorize/analysis/components.h"
#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/emit/values/builder.h"
#include "compiler/vectorize/emit/values/emitter.h"

enum {
  SIDE = LANES_TILE_SIDE,
  QUAD = LANES_TILE_QUAD,
  BLOCK = LANES_TILE_BLOCK,
  ROW_BYTES = SIDE * 4,
  LINE_BYTES = 64,
};

bool lanes_multiplies_by_rows(const lanes_emitter *e) {
  return e->machine.has_gathers && !e->machine.has_masks;
}

LLVMValueRef lanes_joined(lanes_emitter *e, LLVMValueRef a, LLVMValueRef b,
                          int count) {
  int items[LANES_TILE_ELEMENTS];
  for (int i = 0; i < 2 * count; i++) {
    items[i] = i;
  }
  return lanes_shuffle(e, a, b, items, (uint32_t)(2 * count));
}

LLVMValueRef lanes_row_of_tile(lanes_emitter *e, LLVMValueRef tile, int row) {
  int items[SIDE];
  for (int i = 0; i < SIDE; i++) {
    items[i] =
        (row / QUAD * 2 + i / QUAD) * BLOCK + row % QUAD * QUAD + i % QUAD;
  }
  return lanes_shuffle(e, tile, NULL, items, SIDE);
}

LLVMValueRef lanes_tile_of_rows(lanes_emitter *e, LLVMValueRef *rows) {
  LLVMValueRef halves[2];
  for (int h = 0; h < 2; h++) {
    LLVMValueRef *first = rows + h * QUAD;
    LLVMValueRef half =
        lanes_joined(e, lanes_joined(e, first[0], first[1], SIDE),
                     lanes_joined(e, first[2], first[3], SIDE), 2 * SIDE);
    int items[2 * BLOCK];
    for (int i = 0; i < 2 * BLOCK; i++) {
      items[i] = i % BLOCK / QUAD * SIDE + i / BLOCK * QUAD + i % QUAD;
    }
    halves[h] = lanes_shuffle(e, half, NULL, items, 2 * BLOCK);
  }
  return lanes_joined(e, halves[0], halves[1], 2 * BLOCK);
}

// Makes an access volatile, so that LLVM leaves it in its place.
void lanes_keep_in_home(LLVMValueRef access) {
  LLVMSetVolatile(access, true);
  LLVMSetAlignment(access, LINE_BYTES);
}

static LLVMTypeRef row_type(const lanes_emitter *e) {
  return LLVMVectorType(e->types.f32, SIDE);
}

static LLVMTypeRef tile_type(const lanes_emitter *e) {
  return LLVMVectorType(e->types.f32, LANES_TILE_ELEMENTS);
}

static void keep_row_in_home(LLVMValueRef access) {
  LLVMSetVolatile(access, true);
  LLVMSetAlignment(access, ROW_BYTES);
}

void lanes_read_sum_rows(lanes_emitter *e, LLVMValueRef home, uint32_t first,
                         uint32_t count, LLVMValueRef *out_rows) {
  if (e->has_one_sum) {
    LLVMValueRef all = LLVMBuildLoad2(e->builder, tile_type(e), home, "");
    for (uint32_t r = 0; r < count; r++) {
      out_rows[r] = lanes_subvector(e, all, r * SIDE, SIDE);
    }
    return;
  }
  for (uint32_t r = 0; r < count; r++) {
    out_rows[r] =
        LLVMBuildLoad2(e->builder, row_type(e),
                       lanes_address_at(e, home, (first + r) * ROW_BYTES), "");
    keep_row_in_home(out_rows[r]);
  }
}

void lanes_write_sum_rows(lanes_emitter *e, LLVMValueRef home, uint32_t first,
                          uint32_t count, LLVMValueRef *rows) {
  if (e->has_one_sum) {
    LLVMValueRef halves[2];
    for (int h = 0; h < 2; h++) {
      LLVMValueRef *half = rows + h * SIDE / 2;
      halves[h] =
          lanes_joined(e, lanes_joined(e, half[0], half[1], SIDE),
                       lanes_joined(e, half[2], half[3], SIDE), 2 * SIDE);
    }
    LLVMBuildStore(e->builder, lanes_joined(e, halves[0], halves[1], 4 * SIDE),
                   home);
    return;
  }
  for (uint32_t r = 0; r < count; r++) {
    keep_row_in_home(
        LLVMBuildStore(e->builder, rows[r],
                       lanes_address_at(e, home, (first + r) * ROW_BYTES)));
  }
}

// Reads rows for a use other than a product: their loads need not be volatile.
static void read_rows(lanes_emitter *e, LLVMValueRef home,
                      LLVMValueRef rows[SIDE]) {
  lanes_read_sum_rows(e, home, 0, SIDE, rows);
  for (uint32_t r = 0; r < SIDE && !e->has_one_sum; r++) {
    LLVMSetVolatile(rows[r], false);
  }
}

bool lanes_has_sum_elements(const lanes_emitter *e) {
  return lanes_multiplies_by_rows(e) && !e->has_one_sum;
}

LLVMValueRef lanes_read_sum_element(lanes_emitter *e, LLVMValueRef home,
                                    uint32_t element) {
  LLVMValueRef rows[SIDE];
  read_rows(e, home, rows);
  // Eight lanes have a 4 x 4 block, two lanes a row.
  LLVMValueRef blocks[MOST_LANES / SIDE];
  for (int b = 0; b < MOST_LANES / SIDE; b++) {
    const int first = b % 2 * QUAD + (int)element;
    const int lanes[QUAD] = {first, first + 2, first + SIDE, first + SIDE + 2};
    LLVMValueRef *own = rows + b / 2 * QUAD;
    blocks[b] =
        lanes_joined(e, lanes_shuffle(e, own[0], own[1], lanes, QUAD),
                     lanes_shuffle(e, own[2], own[3], lanes, QUAD), QUAD);
  }
  return lanes_concatenated(e, blocks, MOST_LANES / SIDE);
}

// Returns how many floats each lane's first element is after the accumulator's
// first.
static LLVMValueRef places_of_lanes(lanes_emitter *e) {
  static const char name[] = "mettle.tile.lanes";
  LLVMModuleRef module = LLVMGetGlobalParent(e->function);
  LLVMValueRef table = LLVMGetNamedGlobal(module, name);
  if (table) {
    return table;
  }
  LLVMValueRef places[MOST_LANES];
  for (uint32_t lane = 0; lane < e->lanes; lane++) {
    const uint32_t block = lane / SIDE, in_block = lane % SIDE;
    const uint32_t row = block / 2 * QUAD + in_block / 2;
    const uint32_t column = block % 2 * QUAD + in_block % 2 * 2;
    places[lane] = LLVMConstInt(e->types.i8, row * SIDE + column, false);
  }
  LLVMValueRef all = LLVMConstArray2(e->types.i8, places, e->lanes);
  table = LLVMAddGlobal(module, LLVMTypeOf(all), name);
  LLVMSetInitializer(table, all);
  LLVMSetGlobalConstant(table, true);
  LLVMSetLinkage(table, LLVMPrivateLinkage);
  return table;
}

LLVMValueRef lanes_sum_element_at(lanes_emitter *e, LLVMValueRef home,
                                  uint32_t element, LLVMValueRef lane) {
  LLVMBuilderRef b = e->builder;
  LLVMValueRef at =
      LLVMBuildGEP2(b, e->types.i8, places_of_lanes(e), &lane, 1, "");
  LLVMValueRef place = LLVMBuildZExt(b, LLVMBuildLoad2(b, e->types.i8, at, ""),
                                     e->types.i64, "");
  LLVMValueRef first = LLVMBuildGEP2(b, e->types.f32, home, &place, 1, "");
  return lanes_address_at(e, first, element * sizeof(float));
}

LLVMValueRef lanes_read_sum(lanes_emitter *e, LLVMValueRef home) {
  LLVMTypeRef type = lanes_vector_of(e->lanes, e->types.i64);
  if (!lanes_multiplies_by_rows(e)) {
    LLVMValueRef sum = LLVMBuildLoad2(e->builder, type, home, "");
    LLVMSetAlignment(sum, LINE_BYTES);
    return sum;
  }
  LLVMValueRef rows[SIDE];
  read_rows(e, home, rows);
  return LLVMBuildBitCast(e->builder, lanes_tile_of_rows(e, rows), type, "");
}

void lanes_write_sum(lanes_emitter *e, LLVMValueRef home, LLVMValueRef tile) {
  if (!lanes_multiplies_by_rows(e)) {
    lanes_keep_in_home(LLVMBuildStore(e->builder, tile, home));
    return;
  }
  LLVMValueRef floats = LLVMBuildBitCast(e->builder, tile, tile_type(e), "");
  LLVMValueRef rows[SIDE];
  for (int r = 0; r < SIDE; r++) {
    rows[r] = lanes_row_of_tile(e, floats, r);
  }
  lanes_write_sum_rows(e, home, 0, SIDE, rows);
}
