// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tile_homes.c: allocates memory (homes) for multiplied tiles and accumulators.
// A product reads a side's elements by index, or broadcast, for which a load
// from memory is enough.
#include "compiler/vectorize/emit/tiles/tile_homes.h"

#include <stddef.h>

#include "compiler/ir/llvm/calls.h"
#include "compiler/ir/llvm/instructions.h"
#include "compiler/ir/llvm/names.h"
#include "compiler/ir/llvm/types.h"
#include "compiler/vectorize/analysis/callees.h"
#include "compiler/vectorize/analysis/effects.h"
#include "compiler/vectorize/base/tables.h"
#include "compiler/vectorize/emit/tiles/block_products.h"
#include "compiler/vectorize/emit/tiles/byte_products.h"
#include "compiler/vectorize/emit/tiles/tile_values.h"
#include "compiler/vectorize/emit/values/builder.h"
#include "compiler/vectorize/emit/values/emitter.h"
#include "compiler/vectorize/emit/values/sum_memory.h"

enum {
  SIDE = LANES_TILE_SIDE,
  QUAD = LANES_TILE_QUAD,
  ROW_BYTES = SIDE * 4,
  LINE_BYTES = 64,
};

// --- What loads are for ------------------------------------------------------

static bool is_widening(LLVMValueRef instruction) {
  return mtlc_is_opcode(instruction, LLVMCall) &&
         mtlc_is_call_of(instruction, "mettle.tile.widen.");
}

// Returns the last product of a block that a tile is a side of, if only that
// block's products use it; else NULL.
static LLVMValueRef last_product(const lanes_emitter *e, LLVMValueRef side,
                                 lanes_tile_use *use_of) {
  LLVMBasicBlockRef block = LLVMGetInstructionParent(side);
  uint32_t uses = 0;
  use_of->is_in_pairs = true;
  for (LLVMUseRef use = LLVMGetFirstUse(side); use;
       use = LLVMGetNextUse(use), uses++) {
    LLVMValueRef user = LLVMGetUser(use);
    if (LLVMGetInstructionParent(user) != block || !lanes_is_product(user) ||
        LLVMGetOperand(user, 2) == side) {
      return NULL;
    }
    use_of->is_left |= LLVMGetOperand(user, 0) == side;
    use_of->is_right |= LLVMGetOperand(user, 1) == side;
    use_of->is_in_pairs &= lanes_is_of_pairs(e, user);
    use_of->is_split |= lanes_splits_bytes(e, user);
  }
  for (LLVMValueRef i = side; i && uses; i = LLVMGetNextInstruction(i)) {
    for (unsigned k = 0; lanes_is_product(i) && k < 2; k++) {
      uses -= LLVMGetOperand(i, k) == side;
    }
    if (!uses) {
      return i;
    }
  }
  return NULL;
}

// True for calls that write to no memory of tiles. At a barrier within a
// simdgroup all its threads have done the same.
static bool is_harmless_call(LLVMValueRef i) {
  const char *name = mtlc_is_opcode(i, LLVMCall) ? mtlc_callee_name(i) : "";
  return (mtlc_starts_with(name, "mettle.tile.") &&
          !mtlc_starts_with(name, "mettle.tile.store.")) ||
         (name[0] && lanes_callee_of(i) == LANES_CALLEE_SIMDGROUP_BARRIER);
}

bool lanes_leaves_tiles(LLVMValueRef instruction) {
  return !lanes_may_write(instruction) || is_harmless_call(instruction);
}

// True if nothing writes memory between a load and a product.
static bool stays_between(LLVMValueRef load, LLVMValueRef product) {
  for (LLVMValueRef i = load; i != product; i = LLVMGetNextInstruction(i)) {
    if (!lanes_leaves_tiles(i)) {
      return false;
    }
  }
  return true;
}

static bool waits_between(LLVMValueRef first, LLVMValueRef last) {
  for (LLVMValueRef i = first; i != last; i = LLVMGetNextInstruction(i)) {
    if (LLVMGetInstructionOpcode(i) == LLVMCall &&
        lanes_callee_of(i) == LANES_CALLEE_THREADGROUP_BARRIER) {
      return true;
    }
  }
  return false;
}

lanes_tile_use lanes_use_of_tile(const lanes_emitter *e, LLVMValueRef load) {
  lanes_tile_use use = {.side = load};
  LLVMUseRef only = LLVMGetFirstUse(load);
  if (only && !LLVMGetNextUse(only) && is_widening(LLVMGetUser(only)) &&
      LLVMGetInstructionParent(LLVMGetUser(only)) ==
          LLVMGetInstructionParent(load)) {
    use.side = LLVMGetUser(only);
  }
  LLVMValueRef last = last_product(e, use.side, &use);
  if (!last || waits_between(load, last)) {
    return (lanes_tile_use){0};
  }
  use.stays = stays_between(load, last);
  return use;
}

// --- Sides -------------------------------------------------------------------

static LLVMValueRef new_memory(lanes_emitter *e, bool is_wide) {
  LLVMValueRef memory = lanes_fixed_alloca(
      e, LLVMArrayType(e->types.f32, LANES_TILE_ELEMENTS * (is_wide ? 2 : 1)));
  LLVMSetAlignment(memory, LINE_BYTES);
  return memory;
}

// The orders of elements, a bit each.
enum {
  OF_FLOATS = 1 << LANES_BY_BLOCKS | 1 << LANES_BY_ROWS | 1 << LANES_BY_COLUMNS,
  ANY = -1,
};

static lanes_tile_home *home_of(lanes_emitter *e, LLVMValueRef value,
                                int orders) {
  if (e->homes_fresh != e->fresh) {
    e->home_count = 0;
    e->homes_fresh = e->fresh;
  }
  for (uint32_t i = 0; i < e->home_count; i++) {
    lanes_tile_home *home = &e->homes[i];
    if (home->value == value && (orders >> home->order & 1)) {
      return home;
    }
  }
  return NULL;
}

static lanes_tile_home *add_home(lanes_emitter *e, LLVMValueRef value,
                                 lanes_tile_order order) {
  e->homes = lanes_make_room(e->arena, e->homes, e->home_count,
                             &e->home_capacity, 16, sizeof *e->homes);
  lanes_tile_home *home = &e->homes[e->home_count++];
  home->value = value;
  home->order = order;
  home->first_row = NULL;
  return home;
}

static lanes_tile_home *add_memory(lanes_emitter *e, LLVMValueRef value,
                                   lanes_tile_order order) {
  lanes_tile_home *home = add_home(e, value, order);
  const bool is_wide = order >= LANES_LEFT_BYTES;
  if (!home->memory || (is_wide && !home->is_wide)) {
    home->memory = new_memory(e, is_wide);
    home->is_wide = is_wide;
  }
  return home;
}

LLVMValueRef lanes_new_home(lanes_emitter *e, LLVMValueRef side,
                            lanes_tile_order order) {
  home_of(e, side, ANY);
  return add_memory(e, side, order)->memory;
}

void lanes_stay_home(lanes_emitter *e, LLVMValueRef side,
                     LLVMValueRef first_row, LLVMValueRef row_bytes) {
  home_of(e, side, ANY);
  lanes_tile_home *home = add_home(e, side, LANES_BY_ROWS);
  home->first_row = first_row;
  home->row_bytes = row_bytes;
}

bool lanes_has_home(lanes_emitter *e, LLVMValueRef side) {
  return home_of(e, side, ANY) != NULL;
}

lanes_tile_home lanes_left_home(lanes_emitter *e, LLVMValueRef operand) {
  lanes_tile_home *home = home_of(e, operand, OF_FLOATS);
  if (!home) {
    home = add_memory(e, operand, LANES_BY_BLOCKS);
    LLVMValueRef store = LLVMBuildStore(
        e->builder, lanes_tile_of(e, operand, e->types.f32), home->memory);
    LLVMSetAlignment(store, LINE_BYTES);
  }
  return *home;
}

static void store_row(lanes_emitter *e, const lanes_tile_home *home, int row,
                      LLVMValueRef value) {
  LLVMValueRef store = LLVMBuildStore(
      e->builder, value,
      lanes_address_at(e, home->memory, (uint64_t)row * ROW_BYTES));
  LLVMSetAlignment(store, ROW_BYTES);
}

lanes_tile_home lanes_right_home(lanes_emitter *e, LLVMValueRef operand) {
  if (!lanes_multiplies_by_rows(e)) {
    return lanes_left_home(e, operand);
  }
  lanes_tile_home *home = home_of(e, operand, 1 << LANES_BY_ROWS);
  if (!home) {
    home = add_memory(e, operand, LANES_BY_ROWS);
    LLVMValueRef tile = lanes_tile_of(e, operand, e->types.f32);
    for (int r = 0; r < SIDE; r++) {
      store_row(e, home, r, lanes_row_of_tile(e, tile, r));
    }
  }
  return *home;
}

lanes_tile_home lanes_bytes_home(lanes_emitter *e, LLVMValueRef operand,
                                 lanes_tile_order order) {
  const bool is_right =
      order == LANES_RIGHT_BYTES || order == LANES_RIGHT_SIGNED_BYTES;
  const bool is_signed =
      order == LANES_LEFT_SIGNED_BYTES || order == LANES_RIGHT_SIGNED_BYTES;
  lanes_tile_home *home = home_of(e, operand, 1 << order);
  if (!home) {
    home = add_memory(e, operand, order);
    LLVMValueRef tile = lanes_tile_of(e, operand, e->types.i32);
    for (int r = 0; r < SIDE; r++) {
      LLVMValueRef words = lanes_row_of_tile(e, tile, r);
      for (int odd = 0; odd < 2; odd++) {
        store_row(e, home, is_right ? odd * SIDE + r : 2 * r + odd,
                  lanes_split_bytes(e, words, is_signed, (unsigned)odd));
      }
    }
  }
  return *home;
}

// Returns a row's pairs, swapped; or those of a row and the next.
static LLVMValueRef pairs_of(lanes_emitter *e, LLVMValueRef row,
                             LLVMValueRef next) {
  int items[2 * SIDE];
  for (int i = 0; i < 2 * SIDE; i++) {
    items[i] = next ? i / 2 + (1 - i % 2) * SIDE : i ^ 1;
  }
  return lanes_shuffle(e, row, next, items, next ? 2 * SIDE : SIDE);
}

// Stores 64 bytes at once, as they are loaded.
void lanes_store_pairs(lanes_emitter *e, LLVMValueRef memory,
                       LLVMValueRef *rows, lanes_tile_order order) {
  for (uint32_t h = 0; h < 2; h++) {
    LLVMValueRef *own = rows + h * QUAD, quarters[2];
    for (int i = 0; i < 4; i += 2) {
      quarters[i / 2] =
          order == LANES_RIGHT_PAIRS
              ? pairs_of(e, own[i], own[i + 1])
              : lanes_joined(e, pairs_of(e, own[i], NULL),
                             pairs_of(e, own[i + 1], NULL), SIDE);
    }
    LLVMValueRef store = LLVMBuildStore(
        e->builder, lanes_joined(e, quarters[0], quarters[1], 2 * SIDE),
        lanes_address_at(e, memory, (uint64_t)h * LINE_BYTES));
    LLVMSetAlignment(store, LINE_BYTES);
  }
}

// Returns the bfloats that floats were widened from.
static LLVMValueRef upper_halves(lanes_emitter *e, LLVMValueRef floats) {
  const uint32_t count = LANES_TILE_ELEMENTS;
  LLVMValueRef shift =
      lanes_splat_to(e, e->builder, mtlc_i32(e->context, 16), count);
  return LLVMBuildTrunc(e->builder,
                        LLVMBuildLShr(e->builder, floats, shift, ""),
                        LLVMVectorType(e->types.i16, count), "");
}

lanes_tile_home lanes_pairs_home(lanes_emitter *e, LLVMValueRef widening,
                                 lanes_tile_order order) {
  lanes_tile_home *home = home_of(e, widening, 1 << order);
  if (!home) {
    home = add_memory(e, widening, order);
    LLVMValueRef tile =
        upper_halves(e, lanes_tile_of(e, widening, e->types.i32));
    LLVMValueRef rows[SIDE];
    for (int r = 0; r < SIDE; r++) {
      rows[r] = lanes_row_of_tile(e, tile, r);
    }
    lanes_store_pairs(e, home->memory, rows, order);
  }
  return *home;
}
