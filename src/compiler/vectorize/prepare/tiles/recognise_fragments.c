// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// recognise_fragments.c: recognises tiles in fragments that lanes load.
// Programs for matmul2d load fragments of 16 x 16, eight elements a lane; the
// library makes tiles of 8 x 8 of them by shuffles, some of every second two
// columns ("halves", mettle_fragments.h). Each of a tile's 64 elements is
// traced to its load and its place in memory. If these form rows and columns,
// the tile is loaded as one, own.T, or
//   T mettle.tile.spread.T(ptr, i64 elements_per_row, i1 transposed, i32 first)
// which is own.T but for its columns first + 0, 1, 4, 5, 8, 9, 12 and 13.
#include "compiler/vectorize/prepare/tiles/recognise_fragments.h"

#include <stddef.h>
#include <string.h>

#include "compiler/ir/llvm/attributes.h"
#include "compiler/ir/llvm/calls.h"
#include "compiler/ir/llvm/instructions.h"
#include "compiler/vectorize/analysis/callees.h"
#include "compiler/vectorize/analysis/effects.h"
#include "compiler/vectorize/analysis/words.h"
#include "compiler/vectorize/base/constants.h"
#include "compiler/vectorize/base/tables.h"

enum {
  SIDE = 8,
  MOST_STEPS = 16,   // shuffles and choices behind one another
  HALF_COLUMNS = 2,  // from one half's first column to the other's
};

typedef enum element_kind { PLAIN, HALF, BFLOAT } element_kind;

// An element of a tile, where it was loaded.
typedef struct source {
  LLVMValueRef load;
  uint32_t lane;
  uint32_t offset_bytes;  // into the lane's loaded bytes
  element_kind kind;      // the element type before conversion
} source;

// The difference of two addresses: by * symbol + bytes.
typedef struct distance {
  LLVMValueRef symbol;  // NULL for none
  bool is_unsigned;
  int64_t by;
  int64_t bytes;
} distance;

typedef struct layout {
  int64_t element_bytes;
  distance pitch;  // from row to row in memory
  bool is_turned;  // rows of the tile are columns in memory
  bool is_spread;
} layout;

struct lanes_row_length {
  distance pitch;
  int64_t element_bytes;
  LLVMValueRef elements;
};

struct lanes_loaded_tile {
  const lanes_place *place;  // of the load of the first element
  source first;
  layout layout;
  LLVMValueRef address;
  uint32_t first_column;
  LLVMValueRef value;
};

typedef struct fragment_tile {
  source elements[SIDE][SIDE];
  layout layout;
} fragment_tile;

// --- Where elements come from ------------------------------------------------

// Element number of a vector, or a number, of 16 bits.
static bool find_half(LLVMValueRef value, uint32_t number, source *out) {
  while (LLVMIsAInstruction(value)) {
    LLVMValueRef place =
        mtlc_is_opcode(value, LLVMExtractElement)  ? LLVMGetOperand(value, 1)
        : mtlc_is_opcode(value, LLVMInsertElement) ? LLVMGetOperand(value, 2)
                                                   : NULL;
    uint64_t at = 0;
    if (mtlc_is_opcode(value, LLVMLoad)) {
      out->load = value;
      out->offset_bytes = number * 2;
      return true;
    }
    if (mtlc_is_opcode(value, LLVMBitCast)) {
      value = LLVMGetOperand(value, 0);
    } else if (!place || !lanes_constant_of(place, &at) ||
               lanes_bits_of(mtlc_is_opcode(value, LLVMInsertElement)
                                 ? LLVMGetOperand(value, 1)
                                 : value) != 16) {
      return false;
    } else if (mtlc_is_opcode(value, LLVMExtractElement)) {
      number = (uint32_t)at;
      value = LLVMGetOperand(value, 0);
    } else if (at == number) {
      number = 0;
      value = LLVMGetOperand(value, 1);
    } else {
      value = LLVMGetOperand(value, 0);
    }
  }
  return false;
}

// Finds a bfloat that is the upper half of a word: extended and shifted, alone
// or beside another.
static bool find_bfloat(LLVMValueRef value, uint32_t number, source *out) {
  if (mtlc_is_opcode(value, LLVMOr)) {
    return find_bfloat(LLVMGetOperand(value, 0), number, out) ||
           find_bfloat(LLVMGetOperand(value, 1), number, out);
  }
  uint64_t by = 0;
  if (!mtlc_is_opcode(value, LLVMShl) ||
      !lanes_constant_of(LLVMGetOperand(value, 1), &by) ||
      by != 32 * number + 16) {
    return false;
  }
  LLVMValueRef half = LLVMGetOperand(value, 0);
  if (!mtlc_is_opcode(half, LLVMZExt) ||
      lanes_bits_of(LLVMGetOperand(half, 0)) != 16) {
    return false;
  }
  out->kind = BFLOAT;
  return find_half(LLVMGetOperand(half, 0), 0, out);
}

static bool find_loaded(lanes_word word, source *out) {
  LLVMValueRef value = word.value;
  if (mtlc_is_opcode(value, LLVMLoad)) {
    out->kind = PLAIN;
    out->load = value;
    out->offset_bytes = word.number * 4;
    return true;
  }
  if (mtlc_is_opcode(value, LLVMFPExt)) {
    LLVMValueRef half = LLVMGetOperand(value, 0);
    LLVMTypeRef type = LLVMTypeOf(half);
    type = LLVMGetTypeKind(type) == LLVMVectorTypeKind
               ? LLVMGetElementType(type)
               : type;
    out->kind = HALF;
    return LLVMGetTypeKind(type) == LLVMHalfTypeKind &&
           find_half(half, word.number, out);
  }
  return find_bfloat(value, word.number, out);
}

// Follows a lane's float of a tile through shuffles and choices.
static bool find_source(lanes_fragment_finder *f, LLVMValueRef tile,
                        uint32_t number, uint32_t lane, source *out) {
  lanes_word word = lanes_word_of(tile, number);
  for (uint32_t steps = 0; steps < MOST_STEPS && word.value; steps++) {
    LLVMValueRef i = word.value;
    const bool is_choice = mtlc_is_opcode(i, LLVMSelect);
    const bool is_shuffle = mtlc_is_opcode(i, LLVMCall) &&
                            lanes_callee_of(i) == LANES_CALLEE_SHUFFLE;
    if (!is_choice && !is_shuffle) {
      out->lane = lane;
      return find_loaded(word, out);
    }
    const uint64_t *by =
        lanes_numbers_of(&f->places, LLVMGetOperand(i, is_choice ? 0 : 1));
    if (!by) {
      return false;
    }
    LLVMValueRef value =
        LLVMGetOperand(i, is_choice ? (by[lane] & 1 ? 1 : 2) : 0);
    lane = is_shuffle ? (uint32_t)by[lane] % MOST_LANES : lane;
    word = lanes_word_of(value, word.number);
  }
  return false;
}

static bool find_sources(lanes_fragment_finder *f, LLVMValueRef tile,
                         fragment_tile *out) {
  for (uint32_t lane = 0; lane < MOST_LANES; lane++) {
    const uint32_t row = (lane >> 2 & 4) | (lane >> 1 & 3);
    const uint32_t column = (lane >> 1 & 4) | (lane << 1 & 2);
    for (uint32_t i = 0; i < 2; i++) {
      source *own = &out->elements[row][column + i];
      if (!find_source(f, tile, i, lane, own) ||
          own->kind != out->elements[0][0].kind) {
        return false;
      }
    }
  }
  out->layout.element_bytes = out->elements[0][0].kind == PLAIN ? 4 : 2;
  return true;
}

// --- Where they are in memory ------------------------------------------------

// Sets how many bytes b is after a.
static bool find_distance(const lanes_place *a, uint32_t lane_a,
                          const lanes_place *b, uint32_t lane_b,
                          distance *out) {
  *out = (distance){.bytes = b->constant[lane_b] - a->constant[lane_a]};
  if (a->base != b->base) {
    return false;
  }
  const lanes_place *both[2] = {a, b};
  for (uint32_t side = 0; side < 2; side++) {
    const lanes_place *place = both[side], *other = both[1 - side];
    for (uint32_t s = 0; s < place->count; s++) {
      uint32_t t = 0;
      while (t < other->count &&
             (other->symbols[t] != place->symbols[s] ||
              other->is_unsigned[t] != place->is_unsigned[s])) {
        t++;
      }
      if (side == 1 && t < other->count) {
        continue;  // seen from the other side
      }
      const int64_t own = place->by[s][side ? lane_b : lane_a];
      const int64_t its =
          t < other->count ? other->by[t][side ? lane_a : lane_b] : 0;
      const int64_t by = side ? own - its : its - own;
      if (by && out->symbol) {
        return false;
      }
      if (by) {
        out->symbol = place->symbols[s];
        out->is_unsigned = place->is_unsigned[s];
        out->by = by;
      }
    }
  }
  return true;
}

static bool find_step(lanes_fragment_finder *f, const fragment_tile *t,
                      uint32_t row, uint32_t column, distance *out) {
  const source *a = &t->elements[0][0], *b = &t->elements[row][column];
  const lanes_place *from =
      lanes_place_of(&f->places, LLVMGetOperand(a->load, 0));
  const lanes_place *to =
      lanes_place_of(&f->places, LLVMGetOperand(b->load, 0));
  if (!from || !to || !find_distance(from, a->lane, to, b->lane, out)) {
    return false;
  }
  out->bytes += (int64_t)b->offset_bytes - (int64_t)a->offset_bytes;
  return true;
}

static bool is_same(const distance *a, const distance *b, int64_t times) {
  return a->bytes == times * b->bytes && a->by == times * b->by &&
         (!a->by ||
          (a->symbol == b->symbol && a->is_unsigned == b->is_unsigned));
}

static bool is_beside(const distance *a, int64_t bytes) {
  return !a->symbol && a->bytes == bytes;
}

static uint32_t column_of(const fragment_tile *t, uint32_t column) {
  return t->layout.is_spread ? column / 2 * 4 + column % 2 : column;
}

// True if all elements are where rows and columns would have them.
static bool is_matrix(lanes_fragment_finder *f, const fragment_tile *t) {
  for (uint32_t row = 0; row < SIDE; row++) {
    for (uint32_t column = 0; column < SIDE; column++) {
      distance own;
      const int64_t across = column_of(t, column);
      const int64_t along = t->layout.is_turned ? row : across;
      const int64_t down = t->layout.is_turned ? across : row;
      if (!find_step(f, t, row, column, &own)) {
        return false;
      }
      own.bytes -= along * t->layout.element_bytes;
      if (!is_same(&own, &t->layout.pitch, down)) {
        return false;
      }
    }
  }
  return true;
}

// Finds how a tile lies in memory: the steps from row to row and from column to
// column. In a spread tile, element 2 of a row is four columns after element 0.
static bool find_layout(lanes_fragment_finder *f, fragment_tile *t) {
  distance down, across, further;
  if (!find_step(f, t, 1, 0, &down) || !find_step(f, t, 0, 1, &across) ||
      !find_step(f, t, 0, 2, &further)) {
    return false;
  }
  t->layout.is_turned = is_beside(&down, t->layout.element_bytes);
  t->layout.pitch = t->layout.is_turned ? across : down;
  t->layout.is_spread = is_same(&further, &across, 4);
  return (t->layout.is_turned || is_beside(&across, t->layout.element_bytes)) &&
         t->layout.pitch.bytes % t->layout.element_bytes == 0 &&
         t->layout.pitch.by % t->layout.element_bytes == 0 && is_matrix(f, t);
}

// --- When they are loaded ----------------------------------------------------

static bool writes(LLVMValueRef i) {
  return lanes_may_write(i) && !(mtlc_is_opcode(i, LLVMCall) &&
                                 (mtlc_is_call_of(i, "mettle.tile.own.") ||
                                  mtlc_is_call_of(i, "mettle.tile.spread.")));
}

static bool is_behind(LLVMValueRef load, LLVMValueRef other) {
  for (LLVMValueRef i = load; i && !writes(i); i = LLVMGetNextInstruction(i)) {
    if (i == other) {
      return true;
    }
  }
  return false;
}

// True if all lanes load from the same memory as another load does.
static bool is_loaded_with(const lanes_fragment_finder *f,
                           const fragment_tile *t, LLVMValueRef first,
                           LLVMValueRef load) {
  const uint32_t number = lanes_map_get(&f->values->numbers, load);
  return number != LANES_NONE && !f->values->masked[f->values->nodes[number]] &&
         lanes_is_plain(load) &&
         LLVMGetAlignment(load) >= t->layout.element_bytes &&
         LLVMGetInstructionParent(load) == LLVMGetInstructionParent(first) &&
         (is_behind(first, load) || is_behind(load, first));
}

static bool are_loaded_together(const lanes_fragment_finder *f,
                                const fragment_tile *t) {
  LLVMValueRef first = t->elements[0][0].load, last = NULL;
  for (uint32_t i = 0; i < SIDE * SIDE; i++) {
    LLVMValueRef load = t->elements[i / SIDE][i % SIDE].load;
    if (load != last && !is_loaded_with(f, t, first, load)) {
      return false;
    }
    last = load;
  }
  return true;
}

static bool is_there_before(LLVMValueRef value, LLVMValueRef instruction) {
  if (!value || !LLVMIsAInstruction(value) ||
      LLVMGetInstructionParent(value) !=
          LLVMGetInstructionParent(instruction)) {
    return true;
  }
  for (LLVMValueRef i = instruction; i; i = LLVMGetPreviousInstruction(i)) {
    if (i == value) {
      return true;
    }
  }
  return false;
}

// --- What takes their place --------------------------------------------------

static LLVMValueRef built(lanes_fragment_finder *f, const distance *d,
                          int64_t per) {
  LLVMValueRef constant =
      LLVMConstInt(f->types.i64, (uint64_t)(d->bytes / per), true);
  if (!d->symbol) {
    return constant;
  }
  LLVMValueRef symbol = LLVMBuildIntCast2(f->builder, d->symbol, f->types.i64,
                                          !d->is_unsigned, "");
  LLVMValueRef times =
      LLVMConstInt(f->types.i64, (uint64_t)(d->by / per), true);
  return LLVMBuildAdd(f->builder, LLVMBuildMul(f->builder, symbol, times, ""),
                      constant, "");
}

// Returns a row's length in elements, where what it is made of is: once for all
// tiles.
static LLVMValueRef row_length(lanes_fragment_finder *f,
                               const fragment_tile *t) {
  const layout *own = &t->layout;
  for (uint32_t i = 0; i < f->length_count; i++) {
    const lanes_row_length *its = &f->lengths[i];
    if (its->element_bytes == own->element_bytes &&
        is_same(&its->pitch, &own->pitch, 1)) {
      return its->elements;
    }
  }
  LLVMValueRef symbol = own->pitch.symbol;
  if (symbol && LLVMIsAInstruction(symbol)) {
    mtlc_position_behind_phis(f->builder, LLVMGetNextInstruction(symbol));
  } else {
    mtlc_position_at_entry(f->builder, f->function);
  }
  f->lengths = lanes_make_room(f->values->arena, f->lengths, f->length_count,
                               &f->length_capacity, 4, sizeof *f->lengths);
  lanes_row_length *length = &f->lengths[f->length_count++];
  *length = (lanes_row_length){own->pitch, own->element_bytes,
                               built(f, &own->pitch, own->element_bytes)};
  LLVMPositionBuilderBefore(f->builder, t->elements[0][0].load);
  return length->elements;
}

// Returns the tile's address, in lane 0: from that of the lane whose element is
// first.
static LLVMValueRef address_of(lanes_fragment_finder *f,
                               const fragment_tile *t) {
  const source *first = &t->elements[0][0];
  LLVMValueRef pointer = LLVMGetOperand(first->load, 0);
  const lanes_place *place = lanes_place_of(&f->places, pointer);
  distance ahead;
  if (!find_distance(place, 0, place, first->lane, &ahead) ||
      !is_there_before(ahead.symbol, first->load)) {
    return NULL;
  }
  ahead.bytes += first->offset_bytes;
  if (!ahead.symbol && !ahead.bytes) {
    return pointer;
  }
  LLVMValueRef by = built(f, &ahead, 1);
  return LLVMBuildGEP2(f->builder, f->types.i8, pointer, &by, 1, "");
}

static bool is_same_layout(const layout *a, const layout *b) {
  return a->element_bytes == b->element_bytes && a->is_turned == b->is_turned &&
         a->is_spread == b->is_spread && is_same(&a->pitch, &b->pitch, 1);
}

// Returns a tile of the same layout that was loaded from so many bytes before;
// NULL if there is none.
static const lanes_loaded_tile *loaded_before(lanes_fragment_finder *f,
                                              const fragment_tile *t,
                                              int64_t bytes) {
  const source *first = &t->elements[0][0];
  const lanes_place *place =
      lanes_place_of(&f->places, LLVMGetOperand(first->load, 0));
  for (uint32_t i = f->tile_count; i > 0; i--) {
    const lanes_loaded_tile *its = &f->tiles[i - 1];
    distance behind;
    if (its->first.kind == first->kind &&
        is_same_layout(&its->layout, &t->layout) &&
        LLVMGetInstructionParent(its->first.load) ==
            LLVMGetInstructionParent(first->load) &&
        find_distance(its->place, its->first.lane, place, first->lane,
                      &behind) &&
        is_beside(&behind, bytes + (int64_t)its->first.offset_bytes -
                               (int64_t)first->offset_bytes) &&
        is_behind(its->first.load, first->load)) {
      return its;
    }
  }
  return NULL;
}

static lanes_loaded_tile *note(lanes_fragment_finder *f,
                               const fragment_tile *t) {
  const source *first = &t->elements[0][0];
  f->tiles = lanes_make_room(f->values->arena, f->tiles, f->tile_count,
                             &f->tile_capacity, 16, sizeof *f->tiles);
  lanes_loaded_tile *tile = &f->tiles[f->tile_count++];
  *tile = (lanes_loaded_tile){
      .place = lanes_place_of(&f->places, LLVMGetOperand(first->load, 0)),
      .first = *first,
      .layout = t->layout};
  return tile;
}

static LLVMValueRef called(lanes_fragment_finder *f, const char *name,
                           LLVMTypeRef result, LLVMValueRef *arguments,
                           unsigned count) {
  LLVMTypeRef types[4];
  for (unsigned i = 0; i < count; i++) {
    types[i] = LLVMTypeOf(arguments[i]);
  }
  LLVMValueRef function = mtlc_declare(
      f->module, name, LLVMFunctionType(result, types, count, false));
  mtlc_set_attribute(function, "convergent", 0);
  mtlc_set_attribute(function, "nounwind", 0);
  return mtlc_call(f->builder, function, arguments, count);
}

static LLVMValueRef loaded(lanes_fragment_finder *f, const fragment_tile *t,
                           LLVMValueRef address, uint32_t first_column) {
  const bool is_wide = t->layout.element_bytes == 4;
  LLVMValueRef arguments[] = {
      address, row_length(f, t),
      LLVMConstInt(f->types.i1, t->layout.is_turned, false),
      LLVMConstInt(f->types.i32, first_column, false)};
  static const char *const names[2][2] = {
      {"mettle.tile.own.i32", "mettle.tile.own.i64"},
      {"mettle.tile.spread.i32", "mettle.tile.spread.i64"}};
  LLVMValueRef tile = called(f, names[t->layout.is_spread][is_wide],
                             is_wide ? f->types.i64 : f->types.i32, arguments,
                             t->layout.is_spread ? 4 : 3);
  const element_kind kind = t->elements[0][0].kind;
  return kind == PLAIN ? tile
                       : called(f,
                                kind == HALF ? "mettle.tile.widen.f16"
                                             : "mettle.tile.widen.bf16",
                                f->types.i64, &tile, 1);
}

// Finds the address of a tile, or of the other half of its columns if that is
// loaded before: halves share it.
static bool find_address(lanes_fragment_finder *f, const fragment_tile *t,
                         LLVMValueRef *out_address,
                         uint32_t *out_first_column) {
  const lanes_loaded_tile *other =
      t->layout.is_spread && !t->layout.is_turned
          ? loaded_before(f, t, HALF_COLUMNS * t->layout.element_bytes)
          : NULL;
  const bool is_second = other && other->first_column == 0;
  *out_address = is_second ? other->address : address_of(f, t);
  *out_first_column = is_second ? HALF_COLUMNS : 0;
  return *out_address;
}

bool lanes_load_tile_of_fragment(lanes_fragment_finder *f, LLVMValueRef tile) {
  fragment_tile t = {0};
  if (!LLVMIsAInstruction(tile) || LLVMTypeOf(tile) != f->types.i64 ||
      !find_sources(f, tile, &t) || !find_layout(f, &t) ||
      !are_loaded_together(f, &t) ||
      !is_there_before(t.layout.pitch.symbol, t.elements[0][0].load)) {
    return false;
  }
  const lanes_loaded_tile *same = loaded_before(f, &t, 0);
  if (same) {
    LLVMReplaceAllUsesWith(tile, same->value);
    return true;
  }
  LLVMValueRef address = NULL;
  uint32_t first_column = 0;
  LLVMPositionBuilderBefore(f->builder, t.elements[0][0].load);
  if (!find_address(f, &t, &address, &first_column)) {
    return false;
  }
  lanes_loaded_tile *own = note(f, &t);
  own->address = address;
  own->first_column = first_column;
  own->value = loaded(f, &t, address, first_column);
  LLVMReplaceAllUsesWith(tile, own->value);
  return true;
}
