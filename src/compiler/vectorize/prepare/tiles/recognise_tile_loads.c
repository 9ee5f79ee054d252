// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// recognise_tile_loads.c: recognises tiles that threads load one element at a
// time. MLX's matrix products compute each thread's row and column in a tile
// and store what they load there into thread_elements(): two gathers of 32
// threads. A multiplied tile whose elements come from rows of memory is loaded
// as a tile:
//   T mettle.tile.own.T(ptr, i64 elements_per_row, i1 transposed)
// is load.T, but that each thread gives the address of its own first element.
#include "compiler/vectorize/prepare/tiles/recognise_tile_loads.h"

#include <stddef.h>
#include <string.h>

#include "compiler/ir/kernel/kernel.h"
#include "compiler/ir/llvm/attributes.h"
#include "compiler/ir/llvm/calls.h"
#include "compiler/ir/llvm/instructions.h"
#include "compiler/ir/llvm/names.h"
#include "compiler/ir/llvm/types.h"
#include "compiler/vectorize/analysis/addresses/affine.h"
#include "compiler/vectorize/analysis/addresses/lane_bits.h"
#include "compiler/vectorize/analysis/callees.h"
#include "compiler/vectorize/analysis/effects.h"
#include "compiler/vectorize/analysis/graph.h"
#include "compiler/vectorize/analysis/uniformity.h"
#include "compiler/vectorize/base/tables.h"
#include "compiler/vectorize/prepare/tiles/recognise_fragments.h"

typedef enum element_kind { PLAIN, HALF, BFLOAT } element_kind;

// A thread's two elements of a tile, loaded by two loads or by one.
typedef struct tile_pair {
  LLVMValueRef value;      // both elements, as an integer
  LLVMValueRef loads[2];   // the second is NULL if one load has both
  element_kind kind;       // the type before widening
  uint32_t element_bytes;  // in memory
} tile_pair;

typedef struct tile_finder {
  mtlc_types types;
  LLVMModuleRef module;
  LLVMBuilderRef builder;
  lanes_pattern_finder patterns;
  lanes_fragment_finder fragments;
} tile_finder;

// --- What a value is made of -------------------------------------------------

static LLVMValueRef without_cast(LLVMValueRef value) {
  while (mtlc_is_opcode(value, LLVMBitCast)) {
    value = LLVMGetOperand(value, 0);
  }
  return value;
}

static uint32_t bits_of(LLVMValueRef value) {
  LLVMTypeRef type = LLVMTypeOf(value);
  switch (LLVMGetTypeKind(type)) {
    case LLVMIntegerTypeKind: return LLVMGetIntTypeWidth(type);
    case LLVMHalfTypeKind:
    case LLVMBFloatTypeKind: return 16;
    case LLVMFloatTypeKind: return 32;
    default: return 0;
  }
}

static LLVMValueRef shifted(LLVMValueRef value, uint64_t bits) {
  if (!mtlc_is_opcode(value, LLVMShl) ||
      !LLVMIsAConstantInt(LLVMGetOperand(value, 1)) ||
      LLVMConstIntGetZExtValue(LLVMGetOperand(value, 1)) != bits) {
    return NULL;
  }
  return LLVMGetOperand(value, 0);
}

// Takes one element: bits that were loaded as such, or as half of a load.
static bool take_element(tile_pair *pair, int which, LLVMValueRef value,
                         uint32_t bits) {
  value = without_cast(value);
  LLVMValueRef upper = shifted(value, 16);
  element_kind kind = PLAIN;
  if (mtlc_is_opcode(value, LLVMFPExt)) {
    kind = HALF;
    value = LLVMGetOperand(value, 0);
  } else if (upper && mtlc_is_opcode(upper, LLVMZExt)) {
    kind = BFLOAT;
    value = LLVMGetOperand(upper, 0);
  }
  value = without_cast(value);
  const uint32_t loaded_bits = kind == PLAIN ? bits : 16;
  if (!mtlc_is_opcode(value, LLVMLoad) || bits_of(value) != loaded_bits ||
      (kind != PLAIN && bits != 32) || (which && kind != pair->kind)) {
    return false;
  }
  pair->kind = kind;
  pair->element_bytes = loaded_bits / 8;
  pair->loads[which] = value;
  return true;
}

static LLVMValueRef extended(LLVMValueRef value) {
  return mtlc_is_opcode(value, LLVMZExt) ? LLVMGetOperand(value, 0) : NULL;
}

// Returns a narrower number that was extended and shifted; else NULL.
static LLVMValueRef raised(LLVMValueRef value, uint64_t by, uint32_t bits) {
  value = by ? shifted(value, by) : value;
  value = value ? extended(value) : NULL;
  return value && bits_of(value) == bits ? value : NULL;
}

// upper << by + distance | lower << by
static bool take_joined(tile_pair *pair, LLVMValueRef value, uint64_t by,
                        uint64_t distance, uint32_t bits) {
  for (unsigned k = 0; k < 2; k++) {
    LLVMValueRef upper =
        raised(LLVMGetOperand(value, k), by + distance, bits);
    LLVMValueRef lower = raised(LLVMGetOperand(value, 1 - k), by, bits);
    if (upper && lower) {
      return take_element(pair, 0, lower, bits) &&
             take_element(pair, 1, upper, bits);
    }
  }
  return false;
}

// Takes two bfloats that were widened to floats at once.
static bool take_bfloats(tile_pair *pair, LLVMValueRef value) {
  const bool are_two = take_joined(pair, value, 16, 32, 16);
  pair->kind = are_two ? BFLOAT : pair->kind;
  return are_two;
}

static LLVMValueRef inserted(LLVMValueRef value, uint64_t place,
                             LLVMValueRef *out_into) {
  if (!mtlc_is_opcode(value, LLVMInsertElement) ||
      !LLVMIsAConstantInt(LLVMGetOperand(value, 2)) ||
      LLVMConstIntGetZExtValue(LLVMGetOperand(value, 2)) != place) {
    return NULL;
  }
  *out_into = LLVMGetOperand(value, 0);
  return LLVMGetOperand(value, 1);
}

static bool take_vector(tile_pair *pair, LLVMValueRef vector, uint32_t half) {
  if (LLVMGetTypeKind(LLVMTypeOf(vector)) != LLVMVectorTypeKind ||
      LLVMGetVectorSize(LLVMTypeOf(vector)) != 2) {
    return false;
  }
  LLVMValueRef into = NULL, rest = NULL;
  LLVMValueRef upper = inserted(vector, 1, &into);
  LLVMValueRef lower = upper ? inserted(into, 0, &rest) : NULL;
  return lower && take_element(pair, 0, lower, half) &&
         take_element(pair, 1, upper, half);
}

static bool take_pair(tile_pair *pair, LLVMValueRef value) {
  *pair = (tile_pair){.value = value};
  const uint32_t half = bits_of(value) / 2;
  value = without_cast(value);
  if (mtlc_is_opcode(value, LLVMOr)) {
    return bits_of(value) == 2 * half &&
           (take_joined(pair, value, 0, half, half) ||
            (half == 32 && take_bfloats(pair, value)));
  }
  if (mtlc_is_opcode(value, LLVMLoad)) {
    pair->loads[0] = value;
    pair->element_bytes = half / 8;
    return true;
  }
  return take_vector(pair, value, half);
}

// --- Where it was loaded from ------------------------------------------------

static bool is_plain_load(LLVMValueRef load, const tile_pair *pair) {
  return lanes_is_plain(load) &&
         LLVMGetAlignment(load) >= pair->element_bytes;
}

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

// True if all threads that run load both elements from the same state of
// memory.
static bool is_loaded_together(const tile_finder *f, const tile_pair *pair) {
  const lanes_values *values = f->patterns.values;
  LLVMValueRef a = pair->loads[0], b = pair->loads[1];
  const uint32_t number = lanes_map_get(&values->numbers, a);
  return number != LANES_NONE && !values->masked[values->nodes[number]] &&
         is_plain_load(a, pair) &&
         (!b || (is_plain_load(b, pair) &&
                 LLVMGetInstructionParent(a) == LLVMGetInstructionParent(b) &&
                 (is_behind(a, b) || is_behind(b, a))));
}

// Finds how far the second element is after the first.
static bool find_distance(const tile_finder *f, const tile_pair *pair,
                          int64_t *out_bytes) {
  *out_bytes = pair->element_bytes;
  if (!pair->loads[1]) {
    return true;
  }
  lanes_affine a, b;
  lanes_affine_find(f->patterns.values, LLVMGetOperand(pair->loads[0], 0), &a);
  lanes_affine_find(f->patterns.values, LLVMGetOperand(pair->loads[1], 0), &b);
  *out_bytes = lanes_affine_distance(&a, &b);
  return lanes_affine_like(&a, &b) &&
         !lanes_affine_may_wrap(f->patterns.values, &a, &b);
}

// True if the bits of a thread's row each add row bytes, those of its column
// each column bytes, and the second element column bytes as well.
static bool is_layout(const lanes_pattern *bits, int64_t second, int64_t row,
                      int64_t column) {
  const int64_t each[LANES_BITS] = {2 * column, row, 2 * row, 4 * column,
                                    4 * row};
  return second == column && memcmp(each, bits->by_bit, sizeof each) == 0;
}

// Finds the length of a row in elements, and whether rows are columns.
static bool find_layout(tile_finder *f, const tile_pair *pair,
                        int64_t *out_elements_per_row, bool *out_transposed) {
  int64_t second = 0;
  if (!find_distance(f, pair, &second)) {
    return false;
  }
  const lanes_pattern bits =
      lanes_pattern_of(&f->patterns, LLVMGetOperand(pair->loads[0], 0));
  const int64_t size = pair->element_bytes;
  *out_transposed = bits.by_bit[1] == size && second != size;
  const int64_t pitch = *out_transposed ? second : bits.by_bit[1];
  *out_elements_per_row = pitch / size;
  return lanes_pattern_is_whole(&bits) && pitch > 0 && pitch % size == 0 &&
         (*out_transposed ? is_layout(&bits, second, size, pitch)
                          : is_layout(&bits, second, pitch, size));
}

// --- What takes its place ----------------------------------------------------

static LLVMValueRef declared(tile_finder *f, const char *name,
                             LLVMTypeRef type) {
  LLVMValueRef function = mtlc_declare(f->module, name, type);
  mtlc_set_attribute(function, "convergent", 0);
  mtlc_set_attribute(function, "nounwind", 0);
  return function;
}

static LLVMValueRef own_tile(tile_finder *f, const tile_pair *pair,
                             int64_t elements_per_row, bool transposed) {
  const mtlc_types *t = &f->types;
  const bool is_float = pair->element_bytes == 4;
  LLVMTypeRef parameters[] = {t->pointer, t->i64, t->i1};
  LLVMTypeRef type =
      LLVMFunctionType(is_float ? t->i64 : t->i32, parameters, 3, false);
  LLVMValueRef arguments[] = {
      LLVMGetOperand(pair->loads[0], 0),
      LLVMConstInt(t->i64, (uint64_t)elements_per_row, false),
      LLVMConstInt(t->i1, transposed, false)};
  return mtlc_call(
      f->builder,
      declared(f, is_float ? "mettle.tile.own.i64" : "mettle.tile.own.i32",
               type),
      arguments, 3);
}

static LLVMValueRef widened(tile_finder *f, const tile_pair *pair,
                            LLVMValueRef tile) {
  if (pair->kind == PLAIN) {
    return tile;
  }
  LLVMTypeRef type = LLVMFunctionType(f->types.i64, &f->types.i32, 1, false);
  return mtlc_call(f->builder,
                   declared(f,
                            pair->kind == HALF ? "mettle.tile.widen.f16"
                                               : "mettle.tile.widen.bf16",
                            type),
                   &tile, 1);
}

static bool load_as_tile(tile_finder *f, LLVMValueRef value) {
  tile_pair pair;
  int64_t elements_per_row = 0;
  bool transposed = false;
  if (!LLVMIsAInstruction(value) || !take_pair(&pair, value) ||
      !is_loaded_together(f, &pair) ||
      !find_layout(f, &pair, &elements_per_row, &transposed)) {
    return false;
  }
  LLVMPositionBuilderBefore(f->builder, pair.loads[0]);
  LLVMValueRef tile = own_tile(f, &pair, elements_per_row, transposed);
  LLVMReplaceAllUsesWith(value, widened(f, &pair, tile));
  return true;
}

// Returns how many operands of a call are tiles to multiply.
static unsigned factor_count(LLVMValueRef call) {
  if (!mtlc_is_opcode(call, LLVMCall)) {
    return 0;
  }
  const char *name = mtlc_callee_name(call);
  return lanes_is_product(call)                         ? 2
         : mtlc_starts_with(name, "mettle.tile.widen.") ? 1
                                                        : 0;
}

bool lanes_recognise_tile_loads(mtlc_kernel *kernel, const lanes_graph *graph,
                               uint8_t lanes, const mtli_group_class *class) {
  lanes_values values;
  lanes_values_find(graph, LLVMGetModuleDataLayout(kernel->module), lanes,
                    class->row ? (uint8_t)class->row : 1, class, &values);
  tile_finder f = {.types = mtlc_types_of(kernel->context),
                   .module = kernel->module,
                   .builder = LLVMCreateBuilderInContext(kernel->context),
                   .patterns = lanes_patterns_begin(&values)};
  f.fragments = (lanes_fragment_finder){
      .types = f.types,
      .module = f.module,
      .function = kernel->thread,
      .builder = f.builder,
      .values = &values,
      .places = lanes_places_begin(&values, class->is_far)};
  bool any = false;
  for (uint32_t n = 0; n < values.count; n++) {
    for (unsigned k = 0; k < factor_count(values.items[n]); k++) {
      LLVMValueRef tile = LLVMGetOperand(values.items[n], k);
      any |= load_as_tile(&f, tile) ||
             lanes_load_tile_of_fragment(&f.fragments, tile);
    }
  }
  LLVMDisposeBuilder(f.builder);
  return any;
}
