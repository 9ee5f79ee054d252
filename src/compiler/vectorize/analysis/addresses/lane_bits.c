// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// lane_bits.c: finds how much each bit of a lane's number adds to a value. A
// shape tells only what the low bits add, as the stride of a segment. A value
// computed from a thread's row and column in a tile has a different amount for
// each bit.
#include "compiler/vectorize/analysis/addresses/lane_bits.h"

#include <llvm-c/Target.h>
#include <string.h>

#include "compiler/ir/llvm/marks.h"
#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/analysis/uniformity.h"
#include "compiler/vectorize/base/constants.h"
#include "compiler/vectorize/base/tables.h"

enum {
  MOST_UNWRAPPED = 1 << 20,  // largest difference between threads, for an index
                             // of any size
};

enum { UNSEEN, VISITED, FOUND, ASSUMED };

static const lanes_pattern unknown = {0};

lanes_pattern_finder lanes_patterns_begin(const lanes_values *values) {
  return (lanes_pattern_finder){
      .values = values,
      .found =
          lanes_allocate(values->arena, values->count, sizeof(lanes_pattern)),
      .states = lanes_allocate(values->arena, values->count, 1)};
}

static uint64_t highest(uint32_t width) {
  return width >= 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1;
}

static bool is_exact(const lanes_pattern *a) {
  return a->most != UINT64_MAX;
}

// Clears the amounts of unknown bits, so that patterns compare equal.
static lanes_pattern cleared(lanes_pattern a) {
  for (uint32_t i = 0; i < LANES_BITS; i++) {
    if (!(a.known >> i & 1)) {
      a.by_bit[i] = 0;
    }
  }
  return a;
}

// Keeps the bits that add nothing: any function of a value is the same for
// lanes that differ only in such bits.
static lanes_pattern indifferent(lanes_pattern a) {
  for (uint32_t i = 0; i < LANES_BITS; i++) {
    if (a.by_bit[i]) {
      a.known &= (uint8_t)~(1u << i);
    }
  }
  a.align = 0;
  a.most = UINT64_MAX;
  return cleared(a);
}

// Returns the pattern that a shape implies.
static lanes_pattern of_shape(lanes_shape shape) {
  if (shape.conditional || shape.stride < 0) {
    return unknown;
  }
  const bool exact =
      shape.bits < 64 && (shape.stride == 0 || shape.no_unsigned_wrap);
  lanes_pattern result = {.lanes = shape.lanes,
                          .known = (uint8_t)(shape.row - 1),
                          .align = shape.align,
                          .most = exact ? highest(shape.bits) : UINT64_MAX};
  for (uint32_t i = 0; i < LANES_BITS; i++) {
    result.by_bit[i] = (int64_t)((uint64_t)shape.stride << i);
  }
  return cleared(result);
}

// True if the bits' amounts share no binary digit, neither with each other nor
// with lane 0's value.
static bool is_disjoint(const lanes_pattern *a) {
  uint64_t seen = 0;
  for (uint32_t i = 0; i < LANES_BITS; i++) {
    if (seen & (uint64_t)a->by_bit[i]) {
      return false;
    }
    seen |= (uint64_t)a->by_bit[i];
  }
  return a->align >= 63 || seen < UINT64_C(1) << a->align;
}

static lanes_pattern added(lanes_pattern a, lanes_pattern b, uint32_t width) {
  const bool exact =
      is_exact(&a) && is_exact(&b) && a.most <= highest(width) - b.most;
  lanes_pattern result = {.lanes = a.lanes ? a.lanes : b.lanes,
                          .known = a.known & b.known,
                          .align = a.align < b.align ? a.align : b.align,
                          .most = exact ? a.most + b.most : UINT64_MAX};
  for (uint32_t i = 0; i < LANES_BITS; i++) {
    result.by_bit[i] = (int64_t)((uint64_t)a.by_bit[i] + (uint64_t)b.by_bit[i]);
  }
  return cleared(result);
}

static lanes_pattern times(lanes_pattern a, uint64_t factor, uint32_t width) {
  const bool exact =
      is_exact(&a) && (a.most == 0 || factor <= highest(width) / a.most);
  const uint32_t zeros = factor ? (uint32_t)__builtin_ctzll(factor) : 63;
  a.align = a.align + zeros > 63 ? 63 : (uint8_t)(a.align + zeros);
  a.most = exact ? a.most * factor : UINT64_MAX;
  for (uint32_t i = 0; i < LANES_BITS; i++) {
    a.by_bit[i] = (int64_t)((uint64_t)a.by_bit[i] * factor);
  }
  return a;
}

static lanes_pattern masked(lanes_pattern a, uint64_t mask) {
  if (!lanes_pattern_is_whole(&a) || !is_disjoint(&a)) {
    return indifferent(a);
  }
  for (uint32_t i = 0; i < LANES_BITS; i++) {
    a.by_bit[i] = (int64_t)((uint64_t)a.by_bit[i] & mask);
  }
  a.most = a.most < mask ? a.most : mask;
  return a;
}

// True if lane 0's value and all that the bits add are multiples of 2^bits.
static bool is_multiple(const lanes_pattern *a, uint64_t bits) {
  uint64_t any = 0;
  for (uint32_t i = 0; i < LANES_BITS; i++) {
    any |= (uint64_t)a->by_bit[i];
  }
  return a->align >= bits && !(any & highest((uint32_t)bits));
}

static lanes_pattern moved_down(lanes_pattern a, uint64_t bits) {
  if (!lanes_pattern_is_whole(&a) || !is_exact(&a) ||
      !(is_disjoint(&a) || is_multiple(&a, bits))) {
    return indifferent(a);
  }
  for (uint32_t i = 0; i < LANES_BITS; i++) {
    a.by_bit[i] = (int64_t)((uint64_t)a.by_bit[i] >> bits);
  }
  a.most >>= bits;
  a.align = a.align >= 63 ? 63 : a.align > bits ? (uint8_t)(a.align - bits) : 0;
  return a;
}

// Returns a signed pattern as unsigned, for values that are not negative.
static lanes_pattern unsigned_within(lanes_pattern a, uint32_t width) {
  return is_exact(&a) && a.most <= highest(width) ? a : indifferent(a);
}

// Truncates a pattern: sums that hold modulo 2^n hold modulo a smaller power.
static lanes_pattern truncated(lanes_pattern a, uint32_t width) {
  if (a.most > highest(width)) {
    a.most = UINT64_MAX;
  }
  return a;
}

// Returns a pattern that wraps at no lane, of an index marked by no_wrap.h.
static lanes_pattern unwrapped(lanes_pattern a) {
  uint64_t most = 0;
  for (uint32_t i = 0; i < LANES_BITS; i++) {
    most += a.by_bit[i] < 0 || a.by_bit[i] > MOST_UNWRAPPED
                ? MOST_UNWRAPPED
                : (uint64_t)a.by_bit[i];
  }
  a.align = 0;
  a.most = UINT64_MAX;
  return most < MOST_UNWRAPPED ? a : indifferent(a);
}

// --- Instructions ------------------------------------------------------------

static uint32_t width_of(LLVMValueRef value) {
  LLVMTypeRef type = LLVMTypeOf(value);
  return LLVMGetTypeKind(type) == LLVMIntegerTypeKind
             ? LLVMGetIntTypeWidth(type)
             : 64;
}

static lanes_pattern operand_of(lanes_pattern_finder *f, LLVMValueRef i,
                                unsigned k) {
  return lanes_pattern_of(f, LLVMGetOperand(i, k));
}

static lanes_pattern of_address(lanes_pattern_finder *f, LLVMValueRef address) {
  if (lanes_offset_scale(f->values, address) != 1) {
    return unknown;
  }
  lanes_pattern result = operand_of(f, address, 0);
  result.align = 0;
  result.most = UINT64_MAX;
  LLVMTypeRef type = LLVMGetGEPSourceElementType(address);
  for (int k = 1; k < LLVMGetNumOperands(address); k++) {
    LLVMValueRef index = LLVMGetOperand(address, (unsigned)k);
    if (k > 1 && LLVMGetTypeKind(type) == LLVMStructTypeKind) {
      type = LLVMStructGetTypeAtIndex(
          type, (unsigned)LLVMConstIntGetZExtValue(index));
      continue;
    }
    type = k > 1 ? LLVMGetElementType(type) : type;
    lanes_pattern by = lanes_pattern_of(f, index);
    if (width_of(index) < 64) {
      by = unsigned_within(by, width_of(index) - 1);
    }
    const uint64_t bytes = LLVMABISizeOfType(f->values->data, type);
    result = added(result, times(by, bytes, 64), 64);
  }
  return result;
}

// Returns the pattern of a division by a power of two.
static lanes_pattern of_division(lanes_pattern_finder *f, LLVMValueRef i,
                                 uint64_t by) {
  const LLVMOpcode opcode = LLVMGetInstructionOpcode(i);
  const bool is_signed = opcode == LLVMSDiv || opcode == LLVMSRem;
  const lanes_pattern a =
      unsigned_within(operand_of(f, i, 0), width_of(i) - is_signed);
  if (!by || (by & (by - 1)) || (is_signed && by > highest(width_of(i) - 1))) {
    return unknown;
  }
  return opcode == LLVMUDiv || opcode == LLVMSDiv
             ? moved_down(a, (uint64_t)__builtin_ctzll(by))
             : masked(a, by - 1);
}

// Returns the pattern of a sum.
static lanes_pattern of_both(lanes_pattern a, lanes_pattern b) {
  a = indifferent(a);
  a.known &= indifferent(b).known;
  return a;
}

static lanes_pattern by_constant(lanes_pattern_finder *f, LLVMValueRef i) {
  const uint32_t width = width_of(i);
  uint64_t c = 0;
  if (!lanes_constant_of(LLVMGetOperand(i, 1), &c)) {
    return of_both(operand_of(f, i, 0), operand_of(f, i, 1));
  }
  switch (LLVMGetInstructionOpcode(i)) {
    case LLVMMul: return times(operand_of(f, i, 0), c, width);
    case LLVMShl:
      return c < width ? times(operand_of(f, i, 0), UINT64_C(1) << c, width)
                       : unknown;
    case LLVMLShr:
      return c < width ? moved_down(operand_of(f, i, 0), c) : unknown;
    case LLVMAShr:
      return c < width ? moved_down(
                             unsigned_within(operand_of(f, i, 0), width - 1), c)
                       : unknown;
    case LLVMAnd: return masked(operand_of(f, i, 0), c);
    default: return of_division(f, i, c);
  }
}

static lanes_pattern of_instruction(lanes_pattern_finder *f, LLVMValueRef i) {
  const uint32_t width = width_of(i);
  switch (LLVMGetInstructionOpcode(i)) {
    case LLVMGetElementPtr: return of_address(f, i);
    case LLVMOr:
      if (!LLVMGetIsDisjoint(i)) {
        return of_both(operand_of(f, i, 0), operand_of(f, i, 1));
      }
      return added(operand_of(f, i, 0), operand_of(f, i, 1), width);
    case LLVMAdd: return added(operand_of(f, i, 0), operand_of(f, i, 1), width);
    case LLVMMul:
    case LLVMShl:
    case LLVMLShr:
    case LLVMAShr:
    case LLVMAnd:
    case LLVMUDiv:
    case LLVMSDiv:
    case LLVMURem:
    case LLVMSRem: return by_constant(f, i);
    case LLVMTrunc: return truncated(operand_of(f, i, 0), width);
    case LLVMZExt:
      return unsigned_within(operand_of(f, i, 0),
                             width_of(LLVMGetOperand(i, 0)));
    case LLVMSExt:
      if (mtlc_is_marked(i, MTLC_UNWRAPPED_MARK)) {
        return unwrapped(operand_of(f, i, 0));
      }
      return unsigned_within(operand_of(f, i, 0),
                             width_of(LLVMGetOperand(i, 0)) - 1);
    case LLVMFreeze: return operand_of(f, i, 0);
    default: return unknown;
  }
}

// --- Values of loops ---------------------------------------------------------

// Returns the pattern that both have in common.
static lanes_pattern meet(lanes_pattern a, lanes_pattern b) {
  a.known &= b.known;
  for (uint32_t i = 0; i < LANES_BITS; i++) {
    if (a.by_bit[i] != b.by_bit[i]) {
      a.known &= (uint8_t)~(1u << i);
    }
  }
  return cleared(a);
}

// Returns the best pattern known of a value. While a phi is being found, values
// that depend on it have only what their shapes tell.
static lanes_pattern best_known(lanes_pattern_finder *f, LLVMValueRef phi) {
  lanes_pattern best = unknown;
  for (unsigned k = 0; k < LLVMCountIncoming(phi); k++) {
    const lanes_pattern bits =
        lanes_pattern_of(f, LLVMGetIncomingValue(phi, k));
    if (__builtin_popcount(bits.known) > __builtin_popcount(best.known)) {
      best = bits;
    }
  }
  return best;
}

// Forgets patterns found while a phi's pattern was an assumption that failed.
static void forget(lanes_pattern_finder *f) {
  for (uint32_t n = 0; n < f->values->count; n++) {
    if (f->states[n] == FOUND) {
      f->states[n] = UNSEEN;
    }
  }
}

static bool is_the_same_for_all(const lanes_values *values, LLVMValueRef phi,
                                uint32_t node) {
  for (unsigned k = 0; k < LLVMCountIncoming(phi); k++) {
    LLVMValueRef value = LLVMGetIncomingValue(phi, k);
    if (LLVMIsUndef(value) || lanes_is_temporal(values, value, node)) {
      return false;
    }
  }
  return !lanes_diverges_before(values, node);
}

// Finds the pattern of a phi: the common pattern of its incoming values, under
// the assumption that the phi has that pattern itself.
static lanes_pattern of_phi(lanes_pattern_finder *f, LLVMValueRef phi,
                            uint32_t n) {
  if (!is_the_same_for_all(f->values, phi, f->values->nodes[n])) {
    return unknown;
  }
  lanes_pattern assumed = best_known(f, phi);
  assumed.align = 0;
  assumed.most = UINT64_MAX;
  f->states[n] = ASSUMED;
  for (lanes_pattern found = assumed;; found = assumed) {
    f->found[n] = assumed;
    forget(f);
    for (unsigned k = 0; assumed.known && k < LLVMCountIncoming(phi); k++) {
      found = meet(found, lanes_pattern_of(f, LLVMGetIncomingValue(phi, k)));
    }
    if (found.known == assumed.known) {
      return found;
    }
    assumed = found;
  }
}

lanes_pattern lanes_pattern_of(lanes_pattern_finder *f, LLVMValueRef value) {
  const lanes_pattern shape = of_shape(lanes_shape_of(f->values, value));
  const uint32_t n = LLVMIsAInstruction(value)
                         ? lanes_map_get(&f->values->numbers, value)
                         : LANES_NONE;
  if (lanes_pattern_is_whole(&shape) || n == LANES_NONE ||
      f->states[n] == VISITED) {
    return shape;
  }
  if (f->states[n] == UNSEEN) {
    f->states[n] = VISITED;
    const lanes_pattern found =
        LLVMIsAPHINode(value) ? of_phi(f, value, n) : of_instruction(f, value);
    f->found[n] = (found.known & shape.known) == shape.known ? found : shape;
    f->states[n] = FOUND;
  }
  return f->found[n];
}

bool lanes_has_pattern(lanes_pattern_finder *f, LLVMValueRef value) {
  const lanes_pattern pattern = lanes_pattern_of(f, value);
  return lanes_pattern_is_whole(&pattern);
}

uint64_t lanes_pattern_at(const lanes_pattern *pattern, uint32_t lane) {
  int64_t above = 0;
  for (uint32_t b = 0; b < LANES_BITS; b++) {
    above += lane >> b & 1 ? pattern->by_bit[b] : 0;
  }
  return (uint64_t)above;
}
