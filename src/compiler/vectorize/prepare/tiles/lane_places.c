// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// lane_places.c: expresses each lane's load address as a uniform part plus the
// lane's row times a row length known at dispatch, plus its column.
#include "compiler/vectorize/prepare/tiles/lane_places.h"

#include <llvm-c/Target.h>
#include <stddef.h>
#include <string.h>

#include "code/code.h"
#include "compiler/ir/llvm/calls.h"
#include "compiler/ir/llvm/instructions.h"
#include "compiler/vectorize/analysis/callees.h"
#include "compiler/vectorize/base/constants.h"
#include "compiler/vectorize/base/tables.h"

enum {
  DEPTH = 16
};  // instructions that an index is made of, one behind another

lanes_place_finder lanes_places_begin(const lanes_values *values,
                                      bool may_wrap) {
  const uint32_t count = values->count;
  return (lanes_place_finder){
      .values = values,
      .numbers = lanes_allocate(values->arena, count, sizeof(uint64_t *)),
      .is_known = lanes_allocate(values->arena, count, sizeof(bool)),
      .places = lanes_allocate(values->arena, count, sizeof(lanes_place *)),
      .may_wrap = may_wrap};
}

static uint32_t width_of(LLVMValueRef value) {
  LLVMTypeRef type = LLVMTypeOf(value);
  return LLVMGetTypeKind(type) == LLVMIntegerTypeKind
             ? LLVMGetIntTypeWidth(type)
             : 0;
}

static uint64_t cut(uint64_t number, uint32_t width) {
  return width >= 64 ? number : number & ((UINT64_C(1) << width) - 1);
}

static int64_t with_sign(uint64_t number, uint32_t width) {
  const uint32_t above = 64 - width;
  return width >= 64 ? (int64_t)number
                     : (int64_t)(number << above) >> (int)above;
}

// --- Numbers -----------------------------------------------------------------

// Evaluates an instruction on constants of this width; false if it is of no
// known kind.
static bool combine(LLVMValueRef i, uint64_t a, uint64_t b, uint64_t c,
                    uint32_t width, uint64_t *out) {
  const uint32_t from = width_of(LLVMGetOperand(i, 0));
  switch (LLVMGetInstructionOpcode(i)) {
    case LLVMAdd: *out = a + b; return true;
    case LLVMSub: *out = a - b; return true;
    case LLVMMul: *out = a * b; return true;
    case LLVMAnd: *out = a & b; return true;
    case LLVMOr: *out = a | b; return true;
    case LLVMXor: *out = a ^ b; return true;
    case LLVMShl: *out = a << (b & 63); return b < width;
    case LLVMLShr: *out = a >> (b & 63); return b < width;
    case LLVMAShr:
      *out = (uint64_t)(with_sign(a, width) >> (b & 63));
      return b < width;
    case LLVMZExt:
    case LLVMTrunc:
    case LLVMFreeze: *out = a; return true;
    case LLVMSExt: *out = (uint64_t)with_sign(a, from); return true;
    case LLVMSelect: *out = a & 1 ? b : c; return true;
    case LLVMICmp: break;
    default: return false;
  }
  switch (LLVMGetICmpPredicate(i)) {
    case LLVMIntEQ: *out = a == b; return true;
    case LLVMIntNE: *out = a != b; return true;
    case LLVMIntULT: *out = a < b; return true;
    case LLVMIntUGT: *out = a > b; return true;
    case LLVMIntSLT:
      *out = with_sign(a, from) < with_sign(b, from);
      return true;
    case LLVMIntSGT:
      *out = with_sign(a, from) > with_sign(b, from);
      return true;
    default: return false;
  }
}

static bool is_lane_number(LLVMValueRef i) {
  uint64_t which = 0;
  return mtlc_is_opcode(i, LLVMCall) &&
         lanes_callee_of(i) == LANES_CALLEE_POSITION &&
         lanes_constant_of(LLVMGetOperand(i, 0), &which) &&
         which == MTLI_THREAD_INDEX_IN_SIMDGROUP;
}

// LLVM sees that the lanes of a transposed fragment are these backwards.
static bool is_reversal(LLVMValueRef i) {
  return mtlc_is_opcode(i, LLVMCall) && mtlc_is_call_of(i, "llvm.bitreverse.i");
}

static uint64_t reversed(uint64_t number, uint32_t width) {
  uint64_t result = 0;
  for (uint32_t b = 0; b < width; b++) {
    result |= (number >> b & 1) << (width - 1 - b);
  }
  return result;
}

static const uint64_t *reverse(lanes_place_finder *f, LLVMValueRef i,
                               uint64_t *own) {
  const uint64_t *of = lanes_numbers_of(f, LLVMGetOperand(i, 0));
  for (uint32_t lane = 0; of && lane < MOST_LANES; lane++) {
    own[lane] = reversed(of[lane], width_of(i));
  }
  return of ? own : NULL;
}

static const uint64_t *compute(lanes_place_finder *f, LLVMValueRef i) {
  const uint32_t width = width_of(i);
  const int operands = LLVMGetNumOperands(i);
  uint64_t *own =
      lanes_allocate(f->values->arena, MOST_LANES, sizeof(uint64_t));
  if (is_lane_number(i)) {
    for (uint32_t lane = 0; lane < MOST_LANES; lane++) {
      own[lane] = lane;
    }
    return own;
  }
  if (is_reversal(i)) {
    return reverse(f, i, own);
  }
  if (!width || width > 64 || operands > 3 || LLVMIsACallInst(i) ||
      LLVMIsAPHINode(i)) {
    return NULL;
  }
  const uint64_t *of[3] = {own, own, own};
  for (int k = 0; k < operands; k++) {
    of[k] = lanes_numbers_of(f, LLVMGetOperand(i, (unsigned)k));
    if (!of[k]) {
      return NULL;
    }
  }
  for (uint32_t lane = 0; lane < MOST_LANES; lane++) {
    uint64_t number = 0;
    if (!combine(i, of[0][lane], of[1][lane], of[2][lane], width, &number)) {
      return NULL;
    }
    own[lane] = cut(number, width);
  }
  return own;
}

const uint64_t *lanes_numbers_of(lanes_place_finder *f, LLVMValueRef value) {
  uint64_t constant = 0;
  if (lanes_constant_of(value, &constant)) {
    uint64_t *all =
        lanes_allocate(f->values->arena, MOST_LANES, sizeof(uint64_t));
    for (uint32_t lane = 0; lane < MOST_LANES; lane++) {
      all[lane] = constant;
    }
    return all;
  }
  const uint32_t n = LLVMIsAInstruction(value)
                         ? lanes_map_get(&f->values->numbers, value)
                         : LANES_NONE;
  if (n == LANES_NONE) {
    return NULL;
  }
  if (!f->is_known[n]) {
    f->is_known[n] = true;
    f->numbers[n] = (uint64_t *)compute(f, value);
  }
  return f->numbers[n];
}

// --- Places ------------------------------------------------------------------

// A term of a place: a value times a factor for each lane.
typedef struct part {
  lanes_place_finder *finder;
  lanes_place *place;
  bool is_unsigned;
} part;

static bool add_symbol(part *p, LLVMValueRef symbol, const int64_t *scale) {
  lanes_place *place = p->place;
  uint32_t s = 0;
  while (s < place->count && (place->symbols[s] != symbol ||
                              place->is_unsigned[s] != p->is_unsigned)) {
    s++;
  }
  if (s == LANES_MOST_SYMBOLS) {
    return false;
  }
  if (s == place->count) {
    place->symbols[s] = symbol;
    place->is_unsigned[s] = p->is_unsigned;
    place->count++;
  }
  for (uint32_t lane = 0; lane < MOST_LANES; lane++) {
    place->by[s][lane] += scale[lane];
  }
  return true;
}

static bool add(part *p, LLVMValueRef value, const int64_t *scale,
                uint32_t depth);

static bool add_times(part *p, LLVMValueRef value, const int64_t *scale,
                      const uint64_t *factor, uint32_t width, uint32_t depth) {
  int64_t own[MOST_LANES];
  for (uint32_t lane = 0; lane < MOST_LANES; lane++) {
    own[lane] = scale[lane] * with_sign(factor[lane], width);
  }
  return add(p, value, own, depth);
}

static bool add_product(part *p, LLVMValueRef i, const int64_t *scale,
                        uint32_t depth) {
  for (unsigned k = 0; k < 2; k++) {
    const uint64_t *factor = lanes_numbers_of(p->finder, LLVMGetOperand(i, k));
    if (factor) {
      return add_times(p, LLVMGetOperand(i, 1 - k), scale, factor, width_of(i),
                       depth);
    }
  }
  return false;
}

static bool add_shifted(part *p, LLVMValueRef i, const int64_t *scale,
                        uint32_t depth) {
  uint64_t by = 0;
  if (!lanes_constant_of(LLVMGetOperand(i, 1), &by) || by > 30) {
    return false;
  }
  uint64_t factor[MOST_LANES];
  for (uint32_t lane = 0; lane < MOST_LANES; lane++) {
    factor[lane] = UINT64_C(1) << by;
  }
  return add_times(p, LLVMGetOperand(i, 0), scale, factor, 64, depth);
}

static bool add_extended(part *p, LLVMValueRef i, const int64_t *scale,
                         uint32_t depth) {
  part own = *p;
  own.is_unsigned = mtlc_is_opcode(i, LLVMZExt);
  return add(&own, LLVMGetOperand(i, 0), scale, depth);
}

// Adds the terms of a sum, a product or an extended value.
static bool add_parts(part *p, LLVMValueRef i, const int64_t *scale,
                      uint32_t depth) {
  if (width_of(i) < 64 && p->finder->may_wrap) {
    return false;
  }
  switch (LLVMGetInstructionOpcode(i)) {
    case LLVMOr:
    case LLVMAdd:
      return (mtlc_is_opcode(i, LLVMAdd) || LLVMGetIsDisjoint(i)) &&
             add(p, LLVMGetOperand(i, 0), scale, depth) &&
             add(p, LLVMGetOperand(i, 1), scale, depth);
    case LLVMMul: return add_product(p, i, scale, depth);
    case LLVMShl: return add_shifted(p, i, scale, depth);
    case LLVMSExt:
    case LLVMZExt: return add_extended(p, i, scale, depth);
    default: return false;
  }
}

// Adds an integer; where that fails, the place is spoilt unless the integer is
// the same for all lanes.
static bool add(part *p, LLVMValueRef value, const int64_t *scale,
                uint32_t depth) {
  const uint64_t *numbers = lanes_numbers_of(p->finder, value);
  if (numbers) {
    for (uint32_t lane = 0; lane < MOST_LANES; lane++) {
      const int64_t number = p->is_unsigned
                                 ? (int64_t)numbers[lane]
                                 : with_sign(numbers[lane], width_of(value));
      p->place->constant[lane] += scale[lane] * number;
    }
    return true;
  }
  const lanes_place before = *p->place;
  if (depth && LLVMIsAInstruction(value) &&
      add_parts(p, value, scale, depth - 1)) {
    return true;
  }
  *p->place = before;
  return width_of(value) >= 16 && width_of(value) <= 64 &&
         lanes_is_uniform(lanes_shape_of(p->finder->values, value)) &&
         add_symbol(p, value, scale);
}

static bool add_address(lanes_place_finder *f, LLVMValueRef address,
                        lanes_place *place, uint32_t depth) {
  const bool is_step = LLVMIsAGetElementPtrInst(address) &&
                       LLVMGetNumOperands(address) == 2 &&
                       lanes_offset_scale(f->values, address) == 1;
  if (!is_step || !depth) {
    place->base = address;
    return lanes_is_uniform(lanes_shape_of(f->values, address));
  }
  part p = {.finder = f, .place = place};
  const int64_t bytes = (int64_t)LLVMABISizeOfType(
      f->values->data, LLVMGetGEPSourceElementType(address));
  int64_t scale[MOST_LANES];
  for (uint32_t lane = 0; lane < MOST_LANES; lane++) {
    scale[lane] = bytes;
  }
  return add(&p, LLVMGetOperand(address, 1), scale, DEPTH) &&
         add_address(f, LLVMGetOperand(address, 0), place, depth - 1);
}

const lanes_place *lanes_place_of(lanes_place_finder *f, LLVMValueRef address) {
  const uint32_t n = LLVMIsAInstruction(address)
                         ? lanes_map_get(&f->values->numbers, address)
                         : LANES_NONE;
  if (n == LANES_NONE) {
    return NULL;
  }
  if (!f->places[n]) {
    lanes_place *place = lanes_allocate(f->values->arena, 1, sizeof *place);
    if (!add_address(f, address, place, DEPTH)) {
      place->base = NULL;
    }
    f->places[n] = place;
  }
  return f->places[n]->base ? f->places[n] : NULL;
}
