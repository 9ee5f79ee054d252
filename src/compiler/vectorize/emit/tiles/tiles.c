// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tiles.c: represents the 8 x 8 tiles of a simdgroup as vectors. A tile is <32
// x i64> (or i32), a thread's two elements in each. The 64 elements are four
// row-major blocks of 4 x 4: upper left, upper right, lower left, lower right.
// That is Apple's layout (metal_simdgroup_matrix), and it suits vectors: a
// block is a 512-bit register and a row of it 128 bits, so that broadcasts of
// a's columns and b's rows cross few 128-bit lanes.
#include "compiler/vectorize/emit/tiles/tiles.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "compiler/ir/llvm/calls.h"
#include "compiler/ir/llvm/instructions.h"
#include "compiler/ir/llvm/names.h"
#include "compiler/ir/llvm/types.h"
#include "compiler/vectorize/analysis/addresses/affine.h"
#include "compiler/vectorize/analysis/callees.h"
#include "compiler/vectorize/analysis/effects.h"
#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/analysis/uniformity.h"
#include "compiler/vectorize/base/debug_lines.h"
#include "compiler/vectorize/base/tables.h"
#include "compiler/vectorize/emit/address/segment_addresses.h"
#include "compiler/vectorize/emit/memory/gathers.h"
#include "compiler/vectorize/emit/tiles/tile_homes.h"
#include "compiler/vectorize/emit/tiles/tile_products.h"
#include "compiler/vectorize/emit/tiles/tile_values.h"
#include "compiler/vectorize/emit/values/builder.h"
#include "compiler/vectorize/emit/values/emitter.h"
#include "compiler/vectorize/emit/values/sum_memory.h"
#include "compiler/vectorize/emit/values/values.h"
#include "compiler/vectorize/plan/access/access.h"

enum {
  SIDE = LANES_TILE_SIDE,
  QUAD = LANES_TILE_QUAD,
  BLOCK = LANES_TILE_BLOCK,
  ELEMENTS = LANES_TILE_ELEMENTS,
  LINE_BYTES = 64,
};

// --- Memory ------------------------------------------------------------------

typedef struct tile_access {
  LLVMValueRef call;
  LLVMValueRef pointer;  // operands
  LLVMValueRef first;    // address of the tile, where threads give others
  LLVMValueRef elements_per_row;
  LLVMValueRef transposed;
  LLVMTypeRef element;  // an integer
  uint32_t size_bytes;  // of an element
  // Its columns are first + 0, 1, 4, 5 and so on: rows if it is transposed.
  bool is_spread;
  uint32_t first_column;
} tile_access;

static tile_access access_of(lanes_emitter *e, LLVMValueRef call,
                             LLVMTypeRef pair, unsigned first_operand) {
  const unsigned bits = LLVMGetIntTypeWidth(pair) / 2;
  return (tile_access){
      .call = call,
      .pointer = LLVMGetOperand(call, first_operand),
      .elements_per_row = LLVMGetOperand(call, first_operand + 1),
      .transposed = LLVMGetOperand(call, first_operand + 2),
      .element = LLVMIntTypeInContext(e->context, bits),
      .size_bytes = bits / 8,
  };
}

// True if all threads mean the same tile, as they must.
static bool is_one_tile(const lanes_emitter *e, const tile_access *a) {
  return (a->first ||
          lanes_is_uniform(lanes_shape_of(e->values, a->pointer))) &&
         lanes_is_uniform(lanes_shape_of(e->values, a->elements_per_row)) &&
         lanes_is_uniform(lanes_shape_of(e->values, a->transposed));
}

static bool is_plain(const tile_access *a) {
  return LLVMIsAConstantInt(a->transposed) &&
         !LLVMConstIntGetZExtValue(a->transposed);
}

// Returns a block with rows for columns.
static LLVMValueRef turned_block(lanes_emitter *e, LLVMValueRef block) {
  int items[BLOCK];
  for (int k = 0; k < BLOCK; k++) {
    items[k] = k % QUAD * QUAD + k / QUAD;
  }
  return lanes_shuffle(e, block, NULL, items, BLOCK);
}

// Transposes the tile, if the access says so.
static LLVMValueRef turned(lanes_emitter *e, const tile_access *a,
                           LLVMValueRef tile) {
  if (is_plain(a)) {
    return tile;
  }
  LLVMValueRef blocks[4];
  for (int i = 0; i < 4; i++) {
    blocks[i] = turned_block(e, lanes_block_of_tile(e, tile, i % 2, i / 2));
  }
  return LLVMBuildSelect(e->builder, lanes_scalar(e, a->transposed, 0),
                         lanes_tile_of_blocks(e, blocks), tile, "");
}

static LLVMValueRef tile_address(lanes_emitter *e, const tile_access *a) {
  return a->first ? a->first : lanes_scalar(e, a->pointer, 0);
}

static LLVMValueRef bytes_of_rows(lanes_emitter *e, const tile_access *a,
                                  int count) {
  return LLVMBuildMul(e->builder, lanes_scalar(e, a->elements_per_row, 0),
                      mtlc_i64(e->context, (uint64_t)count * a->size_bytes),
                      "");
}

// Returns a spread tile's column in memory; its row, if it is transposed.
static int spread_place(const tile_access *a, int column) {
  return (int)a->first_column + column / 2 * QUAD + column % 2;
}

// Returns the address of an element of a row in memory.
static LLVMValueRef element_address(lanes_emitter *e, const tile_access *a,
                                    int row, int column) {
  const bool is_row_spread = a->is_spread && !is_plain(a);
  LLVMValueRef offset =
      bytes_of_rows(e, a, is_row_spread ? spread_place(a, row) : row);
  LLVMValueRef pointer = LLVMBuildGEP2(e->builder, e->types.i8,
                                       tile_address(e, a), &offset, 1, "");
  return lanes_address_at(e, pointer, (uint64_t)column * a->size_bytes);
}

// Returns the address of the half row of a block.
static LLVMValueRef quad_address(lanes_emitter *e, const tile_access *a,
                                 int row, int block_column) {
  return element_address(e, a, row, block_column * QUAD);
}

static LLVMValueRef load_elements(lanes_emitter *e, const tile_access *a,
                                  int row, int column, uint32_t count) {
  LLVMValueRef load =
      LLVMBuildLoad2(e->builder, LLVMVectorType(a->element, count),
                     element_address(e, a, row, column), "");
  LLVMSetAlignment(load, a->size_bytes);
  return load;
}

// Returns the half row of a block.
static LLVMValueRef load_quad(lanes_emitter *e, const tile_access *a, int row,
                              int block_column) {
  const int column = block_column * QUAD;
  if (!a->is_spread || !is_plain(a)) {
    return load_elements(e, a, row, column, QUAD);
  }
  return lanes_joined(
      e, load_elements(e, a, row, spread_place(a, column), QUAD / 2),
      load_elements(e, a, row, spread_place(a, column + 2), QUAD / 2),
      QUAD / 2);
}

// Returns one of the four blocks, in memory order.
static LLVMValueRef load_block(lanes_emitter *e, const tile_access *a, int b) {
  LLVMValueRef rows[QUAD];
  for (int r = 0; r < QUAD; r++) {
    rows[r] = load_quad(e, a, b / 2 * QUAD + r, b % 2);
  }
  return lanes_joined(e, lanes_joined(e, rows[0], rows[1], QUAD),
                      lanes_joined(e, rows[2], rows[3], QUAD), 2 * QUAD);
}

static LLVMValueRef load_tile(lanes_emitter *e, const tile_access *a) {
  LLVMValueRef blocks[4];
  for (int b = 0; b < 4; b++) {
    blocks[b] = load_block(e, a, b);
  }
  return turned(e, a, lanes_tile_of_blocks(e, blocks));
}

static void store_tile(lanes_emitter *e, const tile_access *a,
                       LLVMValueRef tile) {
  tile = turned(e, a, tile);
  for (int b = 0; b < 4; b++) {
    LLVMValueRef block = lanes_block_of_tile(e, tile, b / 2, b % 2);
    for (int r = 0; r < QUAD; r++) {
      int items[QUAD];
      for (int i = 0; i < QUAD; i++) {
        items[i] = r * QUAD + i;
      }
      LLVMValueRef store = LLVMBuildStore(
          e->builder, lanes_shuffle(e, block, NULL, items, QUAD),
          quad_address(e, a, b / 2 * QUAD + r, b % 2));
      LLVMSetAlignment(store, a->size_bytes);
    }
  }
}

// --- Threads that do not agree on a tile: each for itself --------------------

// Returns the row of each thread's two elements, or the first one's column.
static LLVMValueRef places(lanes_emitter *e, bool row) {
  LLVMValueRef items[MOST_LANES];
  for (uint32_t lane = 0; lane < e->lanes; lane++) {
    const uint32_t its_row = (lane >> 2 & 4) | (lane >> 1 & 3);
    const uint32_t its_column = (lane >> 1 & 4) | (lane << 1 & 2);
    items[lane] = mtlc_i64(e->context, row ? its_row : its_column);
  }
  return LLVMConstVector(items, e->lanes);
}

// Sets the addresses of each thread's two elements.
static void find_addresses(lanes_emitter *e, const tile_access *a,
                           LLVMValueRef out_addresses[2]) {
  LLVMBuilderRef builder = e->builder;
  LLVMValueRef row = places(e, true);
  LLVMValueRef column = places(e, false);
  LLVMValueRef transposed = lanes_vector(e, a->transposed, 0);
  LLVMValueRef stride = lanes_vector(e, a->elements_per_row, 0);
  LLVMValueRef down = LLVMBuildSelect(builder, transposed, column, row, "");
  LLVMValueRef along = LLVMBuildSelect(builder, transposed, row, column, "");
  LLVMValueRef step = LLVMBuildSelect(
      builder, transposed, stride, lanes_steps(e->lanes, e->types.i64, 1, 0), "");
  LLVMValueRef index =
      LLVMBuildAdd(builder, LLVMBuildMul(builder, down, stride, ""), along, "");
  out_addresses[0] = LLVMBuildGEP2(
      builder, a->element, lanes_vector(e, a->pointer, 0), &index, 1, "");
  out_addresses[1] =
      LLVMBuildGEP2(builder, a->element, out_addresses[0], &step, 1, "");
}

// Describes the access to one element of each thread, at its own address.
static lanes_access own_access(const tile_access *a) {
  return (lanes_access){.instruction = a->call,
                        .element = a->element,
                        .type = a->element,
                        .count = 1,
                        .size_bytes = a->size_bytes,
                        .pitch_bytes = a->size_bytes,
                        .alignment = a->size_bytes};
}

static LLVMValueRef gather_tile(lanes_emitter *e, const tile_access *a) {
  const lanes_access own = own_access(a);
  LLVMValueRef addresses[2];
  LLVMValueRef halves[2];
  find_addresses(e, a, addresses);
  for (int i = 0; i < 2; i++) {
    lanes_lines_add(e->arena, &e->gathers, a->call);
    halves[i] = lanes_gather(e, &own, addresses[i], 0);
  }
  return lanes_interleave(e, halves[0], halves[1]);
}

static void scatter_tile(lanes_emitter *e, const tile_access *a,
                         LLVMValueRef tile) {
  const lanes_access own = own_access(a);
  LLVMValueRef addresses[2];
  find_addresses(e, a, addresses);
  for (uint32_t i = 0; i < 2; i++) {
    lanes_lines_add(e->arena, &e->scatters, a->call);
    lanes_scatter(e, &own, addresses[i], 0, lanes_deinterleave(e, tile, i));
  }
}

// True if an earlier tile with rows of the same length has prefetched the cache
// lines that an access begins in.
static bool is_fetched(const lanes_emitter *e, const tile_access *a) {
  lanes_affine at, before;
  lanes_affine_find(e->values, a->pointer, &at);
  for (LLVMValueRef i = LLVMGetPreviousInstruction(a->call); i;
       i = LLVMGetPreviousInstruction(i)) {
    if (!mtlc_is_opcode(i, LLVMCall) ||
        LLVMGetCalledValue(i) != LLVMGetCalledValue(a->call) ||
        LLVMGetOperand(i, 1) != a->elements_per_row ||
        LLVMGetOperand(i, 2) != a->transposed) {
      continue;
    }
    lanes_affine_find(e->values, LLVMGetOperand(i, 0), &before);
    const int64_t behind = lanes_affine_like(&before, &at)
                               ? lanes_affine_distance(&before, &at)
                               : LINE_BYTES;
    if (behind >= 0 && behind < LINE_BYTES) {
      return true;
    }
  }
  return false;
}

// Prefetches the rows that the next iteration will load, assuming a constant
// distance: hardware prefetchers follow a row, but not from row to row.
static void fetch_next(lanes_emitter *e, const tile_access *a) {
  if (e->graph->nodes[e->node].loop == LANES_NONE ||
      lanes_is_in_threadgroup(e->kernel, a->pointer) || is_fetched(e, a)) {
    return;
  }
  LLVMTypeRef number = e->types.i64;
  LLVMValueRef memory = lanes_promotable_alloca(e, number);
  LLVMBuildStore(e->prologue, mtlc_i64(e->context, 0), memory);
  LLVMValueRef here = LLVMBuildPtrToInt(
      e->builder, tile_address(e, a), number, "");
  LLVMValueRef step = LLVMBuildSub(
      e->builder, here, LLVMBuildLoad2(e->builder, number, memory, ""), "");
  LLVMBuildStore(e->builder, here, memory);
  for (int r = 0; r < 2 * QUAD; r++) {
    LLVMValueRef address = quad_address(e, a, r, 0);
    LLVMValueRef arguments[] = {
        LLVMBuildGEP2(e->builder, e->types.i8, address, &step, 1, ""),
        mtlc_i32(e->context, 0), mtlc_i32(e->context, 3),
        mtlc_i32(e->context, 1)};
    lanes_intrinsic(e, "llvm.prefetch", &e->types.pointer, 1, arguments, 4);
  }
}

static void store_row(lanes_emitter *e, LLVMValueRef home, int row,
                      LLVMValueRef value) {
  const uint32_t bytes = SIDE * 4;
  LLVMValueRef store = LLVMBuildStore(
      e->builder, value, lanes_address_at(e, home, (uint64_t)row * bytes));
  LLVMSetAlignment(store, bytes);
}

// Widens elements of 16 bits, halves or bfloats, to floats.
static LLVMValueRef widened(lanes_emitter *e, LLVMValueRef values,
                            bool is_half) {
  const uint32_t count = LLVMGetVectorSize(LLVMTypeOf(values));
  if (is_half) {
    LLVMTypeRef halves = LLVMVectorType(e->types.f16, count);
    return LLVMBuildFPExt(e->builder,
                          LLVMBuildBitCast(e->builder, values, halves, ""),
                          LLVMVectorType(e->types.f32, count), "");
  }
  LLVMValueRef shift[ELEMENTS];
  for (uint32_t i = 0; i < count; i++) {
    shift[i] = mtlc_i32(e->context, 16);
  }
  LLVMValueRef bits = LLVMBuildZExt(
      e->builder, values, LLVMVectorType(e->types.i32, count), "");
  return LLVMBuildShl(e->builder, bits, LLVMConstVector(shift, count), "");
}

static bool is_of_halves(LLVMValueRef widening) {
  return strcmp(mtlc_callee_name(widening), "mettle.tile.widen.f16") == 0;
}

static LLVMValueRef load_row(lanes_emitter *e, const tile_access *a, int row) {
  return a->is_spread && is_plain(a)
             ? lanes_joined(e, load_quad(e, a, row, 0), load_quad(e, a, row, 1),
                            QUAD)
             : load_elements(e, a, row, 0, SIDE);
}

// Rows one after the other, straight from where they are, widened by a call or
// not.
static void copy_rows(lanes_emitter *e, const tile_access *a, LLVMValueRef home,
                      LLVMValueRef widening, bool turn) {
  LLVMValueRef rows[SIDE];
  for (int r = 0; r < SIDE; r++) {
    rows[r] = load_row(e, a, r);
    if (widening) {
      rows[r] = widened(e, rows[r], is_of_halves(widening));
    }
    if (!turn) {
      store_row(e, home, r, rows[r]);
    }
  }
  if (turn) {
    lanes_turn_rows(e, rows);
    for (int r = 0; r < SIDE; r++) {
      store_row(e, home, r, rows[r]);
    }
  }
}

// Blocks, straight from where they are, widened by a call or not.
static void copy_blocks(lanes_emitter *e, const tile_access *a,
                        LLVMValueRef home, LLVMValueRef widening) {
  for (int b = 0; b < 4; b++) {
    LLVMValueRef block = load_block(e, a, is_plain(a) ? b : b % 2 * 2 + b / 2);
    if (widening) {
      block = widened(e, block, is_of_halves(widening));
    }
    if (!is_plain(a)) {
      block = turned_block(e, block);
    }
    LLVMValueRef store = LLVMBuildStore(
        e->builder, block,
        lanes_address_at(e, home, (uint64_t)b * BLOCK * sizeof(float)));
    LLVMSetAlignment(store, BLOCK * sizeof(float));
  }
}

// Rows to multiply by pairs, straight from where they are.
static void store_pairs(lanes_emitter *e, const tile_access *a,
                        const lanes_tile_use *use) {
  const lanes_tile_order order =
      use->is_left ? LANES_LEFT_PAIRS : LANES_RIGHT_PAIRS;
  LLVMValueRef rows[SIDE];
  fetch_next(e, a);
  for (int r = 0; r < SIDE; r++) {
    rows[r] = load_row(e, a, r);
  }
  lanes_store_pairs(e, lanes_new_home(e, use->side, order), rows, order);
}

// Returns the other half of a fragment's columns, if it is loaded behind; else
// NULL.
static LLVMValueRef other_half(const tile_access *a) {
  for (LLVMValueRef i = LLVMGetNextInstruction(a->call); i;
       i = LLVMGetNextInstruction(i)) {
    if (LLVMGetInstructionOpcode(i) != LLVMCall ||
        LLVMGetCalledValue(i) != LLVMGetCalledValue(a->call)) {
      continue;
    }
    if (LLVMGetOperand(i, 0) == a->pointer &&
        LLVMGetOperand(i, 1) == a->elements_per_row &&
        LLVMGetOperand(i, 2) == a->transposed &&
        LLVMGetOperand(i, 3) != LLVMGetOperand(a->call, 3)) {
      return i;
    }
  }
  return NULL;
}

// Stores both halves of a fragment's columns as rows of two right sides:
// contiguous memory is loaded and converted once. Returns whether it did.
static bool store_halves(lanes_emitter *e, const tile_access *a,
                         const lanes_tile_use *use) {
  LLVMValueRef other = a->is_spread && is_plain(a) ? other_half(a) : NULL;
  const lanes_tile_use its =
      other ? lanes_use_of_tile(e, other) : (lanes_tile_use){0};
  if (!its.side || use->is_left || its.is_left || !use->stays ||
      use->is_in_pairs || its.is_in_pairs ||
      (use->side == a->call) != (its.side == other)) {
    return false;
  }
  LLVMValueRef homes[2] = {lanes_new_home(e, use->side, LANES_BY_ROWS),
                           lanes_new_home(e, its.side, LANES_BY_ROWS)};
  fetch_next(e, a);
  for (int r = 0; r < SIDE; r++) {
    LLVMValueRef row = load_elements(e, a, r, 0, 2 * SIDE);
    if (use->side != a->call) {
      row = widened(e, row, is_of_halves(use->side));
    }
    int items[2 * SIDE];
    for (int i = 0; i < 2 * SIDE; i++) {
      items[i] = i / SIDE * 2 + i % SIDE / 2 * QUAD + i % 2;
    }
    row = lanes_shuffle(e, row, NULL, items, 2 * SIDE);
    for (uint32_t h = 0; h < 2; h++) {
      store_row(e, homes[h], r, lanes_subvector(e, row, h * SIDE, SIDE));
    }
  }
  return true;
}

// Stores a tile for products alone in its home, or leaves it where it is.
// Returns whether it did.
static bool store_home(lanes_emitter *e, const tile_access *a) {
  const lanes_tile_use use = lanes_use_of_tile(e, a->call);
  LLVMValueRef widening = use.side != a->call ? use.side : NULL;
  if (!use.side || use.is_split || (!widening && a->size_bytes != 4) ||
      !LLVMIsAConstantInt(a->transposed)) {
    return false;
  }
  if (use.is_in_pairs && use.is_left != use.is_right && is_plain(a)) {
    store_pairs(e, a, &use);
    return true;
  }
  if (lanes_has_home(e, use.side) || store_halves(e, a, &use)) {
    return true;
  }
  if (!lanes_multiplies_by_rows(e) && e->machine.has_masks && !use.is_in_pairs &&
      (use.is_left || widening || !is_plain(a))) {
    fetch_next(e, a);
    copy_blocks(e, a, lanes_new_home(e, use.side, LANES_BY_BLOCKS), widening);
    return true;
  }
  if (!lanes_multiplies_by_rows(e) && (use.is_left || widening || !is_plain(a))) {
    return false;
  }
  // Rows of right sides are loaded again for each left one. In a matrix of a
  // device they may lie where the cache has room for few.
  const bool may_stay =
      !use.is_right ||
      (lanes_multiplies_by_rows(e) && lanes_is_in_threadgroup(e->kernel, a->pointer));
  if (use.stays && !widening && is_plain(a) && may_stay && !a->is_spread) {
    fetch_next(e, a);
    lanes_stay_home(e, use.side, tile_address(e, a), bytes_of_rows(e, a, 1));
    return true;
  }
  const bool turn = !is_plain(a) && use.is_right;
  const lanes_tile_order order =
      is_plain(a) || turn ? LANES_BY_ROWS : LANES_BY_COLUMNS;
  fetch_next(e, a);
  copy_rows(e, a, lanes_new_home(e, use.side, order), widening, turn);
  return true;
}

// Returns the access of a load, by lane if each gives its own element's
// address.
static tile_access load_of(lanes_emitter *e, LLVMValueRef call, bool by_lane) {
  tile_access a = access_of(e, call, LLVMTypeOf(call), 0);
  a.first = by_lane ? lanes_first_address(e, a.pointer) : NULL;
  a.is_spread = by_lane && LLVMGetNumArgOperands(call) == 4;
  a.first_column =
      a.is_spread ? (uint32_t)LLVMConstIntGetZExtValue(LLVMGetOperand(call, 3))
                  : 0;
  return a;
}

static bool is_load_like(LLVMValueRef i, const tile_access *a) {
  bool is_like = mtlc_is_opcode(i, LLVMCall) &&
                 LLVMGetCalledValue(i) == LLVMGetCalledValue(a->call);
  for (unsigned k = 1; is_like && k < LLVMGetNumArgOperands(i); k++) {
    is_like = LLVMGetOperand(i, k) == LLVMGetOperand(a->call, k);
  }
  return is_like;
}

// Stores the tiles next to one in memory, whose rows share its cache lines:
// where rows are a power of two apart a cache has room for few of them.
static void store_neighbours(lanes_emitter *e, const tile_access *a,
                             bool by_lane) {
  const int64_t bytes = (int64_t)SIDE * a->size_bytes;
  lanes_affine here, there;
  lanes_affine_find(e->values, a->pointer, &here);
  for (LLVMValueRef i = LLVMGetNextInstruction(a->call);
       i && lanes_leaves_tiles(i); i = LLVMGetNextInstruction(i)) {
    LLVMValueRef pointer = is_load_like(i, a) ? LLVMGetOperand(i, 0) : NULL;
    if (!pointer || !lanes_is_there_before(pointer, a->call)) {
      continue;
    }
    lanes_affine_find(e->values, pointer, &there);
    const int64_t behind = lanes_affine_like(&here, &there)
                               ? lanes_affine_distance(&here, &there)
                               : 0;
    if (behind > 0 && behind < LINE_BYTES && behind % bytes == 0) {
      const tile_access next = load_of(e, i, by_lane);
      if (is_one_tile(e, &next)) {
        store_home(e, &next);
      }
    }
  }
}

static void emit_load(lanes_emitter *e, LLVMValueRef call, bool by_lane) {
  const tile_access a = load_of(e, call, by_lane);
  if (!is_one_tile(e, &a)) {
    lanes_set_tile(e, call, gather_tile(e, &a));
  } else if (store_home(e, &a)) {
    if (lanes_multiplies_by_rows(e)) {
      store_neighbours(e, &a, by_lane);
    }
  } else {
    fetch_next(e, &a);
    lanes_set_tile(e, call, load_tile(e, &a));
  }
}

static void emit_store(lanes_emitter *e, LLVMValueRef call) {
  LLVMValueRef value = LLVMGetOperand(call, 0);
  const tile_access a = access_of(e, call, LLVMTypeOf(value), 1);
  LLVMValueRef tile = lanes_tile_of(e, value, a.element);
  if (is_one_tile(e, &a)) {
    store_tile(e, &a, tile);
  } else {
    scatter_tile(e, &a, tile);
  }
}

// Widens a tile in registers. A tile in memory was widened when it was stored
// there.
static void emit_widen(lanes_emitter *e, LLVMValueRef call) {
  if (lanes_has_home(e, call)) {
    return;
  }
  LLVMValueRef operand = LLVMGetOperand(call, 0);
  LLVMTypeRef element = is_of_halves(call) ? e->types.f16 : e->types.i16;
  lanes_set_tile(e, call, widened(e, lanes_tile_of(e, operand, element),
                                  is_of_halves(call)));
}

void lanes_emit_tile(lanes_emitter *e, LLVMValueRef call) {
  const char *name = mtlc_callee_name(call) + strlen("mettle.tile.");
  if (lanes_is_product(call)) {
    lanes_emit_product(e, call);
  } else if (mtlc_starts_with(name, "load.")) {
    emit_load(e, call, false);
  } else if (mtlc_starts_with(name, "own.") ||
             mtlc_starts_with(name, "spread.")) {
    emit_load(e, call, true);
  } else if (mtlc_starts_with(name, "store.")) {
    emit_store(e, call);
  } else if (mtlc_starts_with(name, "widen.")) {
    emit_widen(e, call);
  } else {
    lanes_refuse(e, "unknown function %s", mtlc_callee_name(call));
  }
}
