// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// shape.c: the lattice of shapes, and how operations act on it.
#include "compiler/vectorize/analysis/shape.h"

#include "compiler/ir/llvm/marks.h"
#include "compiler/vectorize/base/constants.h"

lanes_shape lanes_shape_varying(uint8_t lanes) {
  return (lanes_shape){.lanes = lanes, .row = 1, .bits = 64};
}

lanes_shape lanes_shape_strided(uint8_t lanes, uint8_t row, int64_t stride) {
  return (lanes_shape){
      .lanes = lanes, .row = row, .bits = 64, .stride = stride};
}

lanes_shape lanes_shape_uniform(uint8_t lanes) {
  return (lanes_shape){.lanes = lanes,
                       .row = lanes,
                       .bits = 64,
                       .no_unsigned_wrap = true,
                       .no_signed_wrap = true};
}

static uint8_t smaller(uint8_t a, uint8_t b) {
  return a < b ? a : b;
}

static uint8_t larger(uint8_t a, uint8_t b) {
  return a > b ? a : b;
}

// What divides the first values of shorter runs.
static uint8_t align_over(lanes_shape shape, uint8_t row) {
  if (row >= shape.row || shape.stride == 0) {
    return shape.align;
  }
  const uint64_t step = (uint64_t)shape.stride * row;
  return smaller(shape.align, (uint8_t)__builtin_ctzll(step));
}

lanes_shape lanes_shape_join(lanes_shape a, lanes_shape b) {
  if (!a.row || !b.row) {
    return a.row ? a : b;
  }
  lanes_shape result = {
      .lanes = a.lanes,
      .row = smaller(a.row, b.row),
      .align = smaller(align_over(a, smaller(a.row, b.row)),
                       align_over(b, smaller(a.row, b.row))),
      .bits = larger(a.bits, b.bits),
      .no_unsigned_wrap = a.no_unsigned_wrap && b.no_unsigned_wrap,
      .no_signed_wrap = a.no_signed_wrap && b.no_signed_wrap,
      .stride = a.stride,
  };
  if (a.stride != b.stride || a.conditional || b.conditional) {
    result.row = 1;
  }
  if (result.row == 1) {
    result.stride = 0;
    result.align = 0;
  }
  return result;
}

bool lanes_shape_equal(lanes_shape a, lanes_shape b) {
  return a.row == b.row && a.align == b.align && a.bits == b.bits &&
         a.no_unsigned_wrap == b.no_unsigned_wrap &&
         a.no_signed_wrap == b.no_signed_wrap &&
         a.conditional == b.conditional && a.stride == b.stride;
}

static bool is_integer(LLVMTypeRef type) {
  return LLVMGetTypeKind(type) == LLVMIntegerTypeKind;
}

static uint32_t width_of(LLVMValueRef value) {
  LLVMTypeRef type = LLVMTypeOf(value);
  return is_integer(type) ? LLVMGetIntTypeWidth(type) : 64;
}

static uint8_t bit_length(uint64_t value) {
  return value ? (uint8_t)(64 - __builtin_clzll(value)) : 0;
}

static uint8_t trailing_zeros(uint64_t value) {
  return value ? (uint8_t)__builtin_ctzll(value) : LANES_ALIGN_ANY;
}

lanes_shape lanes_shape_of_constant(LLVMValueRef constant, uint8_t lanes) {
  lanes_shape shape = lanes_shape_uniform(lanes);
  if (LLVMIsAConstantInt(constant) && width_of(constant) <= 64) {
    const uint64_t value = LLVMConstIntGetZExtValue(constant);
    shape.bits = bit_length(value);
    shape.align = smaller(trailing_zeros(value), LANES_ALIGN_ANY);
  }
  return shape;
}

// True if rising runs stay in blocks of 2^align numbers, at whose edges
// they would wrap.
static bool is_in_block(lanes_shape shape, uint32_t width) {
  return !shape.conditional && shape.row > 1 && shape.stride > 0 &&
         shape.align < width && shape.align < 32 &&
         (uint64_t)shape.stride * (shape.row - 1u) < UINT64_C(1) << shape.align;
}

// Limits bits to the type, and draws from them that nothing wraps: only valid
// for a shape whose run is exact in infinite precision if it fits.
static lanes_shape settle(lanes_shape shape, uint32_t width, uint32_t bits) {
  const bool stays = is_in_block(shape, width);
  shape.no_unsigned_wrap |= bits <= width || stays;
  shape.no_signed_wrap |= bits < width || stays;
  shape.bits = (uint8_t)(bits < width ? bits : width);
  if (shape.conditional && shape.stride == 0) {
    shape.row = 1;  // not a run that is worth a question at run time
  }
  if (width == 1 && shape.row != shape.lanes) {
    shape.row = 1;  // masks are vectors
  }
  if (shape.row == 1) {
    shape.stride = 0;
    shape.align = 0;
    shape.conditional = false;
  }
  if (lanes_is_uniform(shape)) {
    shape.no_unsigned_wrap = true;
    shape.no_signed_wrap = true;
  }
  return shape;
}

// Values that differ only between runs of lanes give a result that does, too.
static lanes_shape by_rows(const lanes_shape *operands, uint32_t count,
                           uint32_t width) {
  lanes_shape result = lanes_shape_uniform(operands[0].lanes);
  for (uint32_t i = 0; i < count; i++) {
    result.row = smaller(result.row, operands[i].stride ? 1 : operands[i].row);
    if (operands[i].conditional) {
      result.row = 1;
    }
  }
  result.no_unsigned_wrap = result.no_signed_wrap = result.row > 1;
  return settle(result, width, 64);
}

static lanes_shape sum(LLVMValueRef instruction, lanes_shape a, lanes_shape b,
                       bool subtract) {
  const uint32_t width = width_of(instruction);
  lanes_shape result = {
      .lanes = a.lanes,
      .row = smaller(a.row, b.row),
      .align = smaller(align_over(a, smaller(a.row, b.row)),
                       align_over(b, smaller(a.row, b.row))),
      .conditional = a.conditional || b.conditional,
      .stride = subtract ? a.stride - b.stride : a.stride + b.stride,
  };
  // A flag speaks only for threads that run. Rising runs are wrong from some
  // lane on, which is harmless; falling ones could be wrong below it.
  if (result.stride >= 0) {
    const bool disjoint = LLVMGetInstructionOpcode(instruction) == LLVMOr;
    result.no_unsigned_wrap = !subtract && a.no_unsigned_wrap &&
                              b.no_unsigned_wrap &&
                              (disjoint || LLVMGetNUW(instruction));
    result.no_signed_wrap = a.no_signed_wrap && b.no_signed_wrap && !disjoint &&
                            LLVMGetNSW(instruction);
  }
  const bool exact = a.no_unsigned_wrap && b.no_unsigned_wrap && !subtract;
  const uint32_t bits = exact ? larger(a.bits, b.bits) + 1u : 65;
  return settle(result, width, bits);
}

// x ^ -1 is -1 - x: it falls where x rises.
static lanes_shape inverted(LLVMValueRef instruction,
                            const lanes_shape *operands) {
  LLVMValueRef ones = LLVMConstAllOnes(LLVMTypeOf(instruction));
  const uint32_t width = width_of(instruction);
  if (LLVMGetOperand(instruction, 1) != ones || width == 1) {
    return by_rows(operands, 2, width);
  }
  const lanes_shape result = {.lanes = operands[0].lanes,
                              .row = operands[0].row,
                              .conditional = operands[0].conditional,
                              .stride = -operands[0].stride};
  return settle(result, width, width);
}

static lanes_shape scaled(LLVMValueRef instruction, lanes_shape a,
                          uint64_t factor, uint32_t factor_bits) {
  const uint32_t width = width_of(instruction);
  lanes_shape result = a;
  result.stride = (int64_t)((uint64_t)a.stride * factor);
  result.align =
      smaller((uint8_t)(a.align + trailing_zeros(factor)), LANES_ALIGN_ANY);
  const bool rising = a.stride >= 0 && (int64_t)factor >= 0;
  result.no_unsigned_wrap =
      a.no_unsigned_wrap && rising && LLVMGetNUW(instruction);
  result.no_signed_wrap = a.no_signed_wrap && rising && LLVMGetNSW(instruction);
  return settle(result, width, a.no_unsigned_wrap ? a.bits + factor_bits : 65);
}

static bool constant_value(LLVMValueRef value, uint64_t *out_value) {
  if (!LLVMIsAConstantInt(value) || width_of(value) > 64) {
    return false;
  }
  *out_value = (uint64_t)LLVMConstIntGetSExtValue(value);
  return true;
}

static lanes_shape product(LLVMValueRef instruction,
                           const lanes_shape *operands) {
  for (uint32_t i = 0; i < 2; i++) {
    uint64_t factor = 0;
    if (constant_value(LLVMGetOperand(instruction, i), &factor)) {
      return scaled(instruction, operands[1 - i], factor, operands[i].bits);
    }
  }
  const uint32_t bits = operands[0].bits + operands[1].bits;
  lanes_shape result = by_rows(operands, 2, width_of(instruction));
  result.align = result.row > 1 ? smaller(LANES_ALIGN_ANY,
                                          operands[0].align + operands[1].align)
                                : 0;
  return settle(result, width_of(instruction), bits);
}

static lanes_shape shifted_left(LLVMValueRef instruction,
                                const lanes_shape *operands) {
  const uint32_t width = width_of(instruction);
  uint64_t amount = 0;
  if (constant_value(LLVMGetOperand(instruction, 1), &amount) &&
      amount < width) {
    return scaled(instruction, operands[0], UINT64_C(1) << amount,
                  (uint32_t)amount);
  }
  return by_rows(operands, 2, width);
}

// Returns the length of the longest runs in which numbers 2^n apart stay in one
// block of 2^bits numbers: 1 if there is no such pattern. Equal numbers are one
// run.
static uint8_t row_in_blocks(lanes_shape a, uint32_t bits) {
  if (a.stride == 0 && !a.conditional) {
    return a.row;
  }
  if (a.conditional || a.stride < 0 || !lanes_is_power_of_two((uint64_t)a.stride)) {
    return 1;
  }
  const uint32_t step = trailing_zeros((uint64_t)a.stride);
  const uint32_t length = bits > step ? bits - step : 0;  // its logarithm
  const uint8_t row =
      smaller(length >= 5 ? a.lanes : (uint8_t)(1u << length), a.row);
  return row < 4 || a.align < step + bit_length(row) - 1 ? 1 : row;
}

// Returns the low bits of a run of numbers: shorter runs.
static lanes_shape low_bits(lanes_shape a, uint32_t bits, uint32_t width) {
  lanes_shape result = a;
  if (!a.conditional && bits < 63 && a.stride % (INT64_C(1) << bits) == 0) {
    result.stride = 0;
  } else {
    result.row = row_in_blocks(a, bits);
  }
  result.no_unsigned_wrap = true;
  result.no_signed_wrap = true;
  return settle(result, width, bits < a.bits ? bits : a.bits);
}

// Returns the high bits of a run of numbers: the same over shorter runs, or a
// run of smaller steps.
static lanes_shape high_bits(lanes_shape a, uint32_t bits, uint32_t width) {
  lanes_shape result = a;
  if (!a.conditional && a.no_unsigned_wrap && bits < 63 && a.stride > 0 &&
      a.stride % (INT64_C(1) << bits) == 0) {
    result.stride = a.stride >> bits;
  } else {
    result.row = row_in_blocks(a, bits);
    result.stride = 0;
  }
  result.align =
      // Runs that were one before rise by one each.
      a.align > bits && result.row > 1 && result.row == a.row
          ? (uint8_t)(a.align - bits)
          : 0;
  result.no_unsigned_wrap = result.no_signed_wrap = result.row > 1;
  return settle(result, width, a.bits > bits ? a.bits - bits : 0);
}

// Returns the shape of a value shifted right by bits, if the low bits of all
// lanes are equal and the value does not wrap where it matters.
static lanes_shape quotient(lanes_shape a, uint32_t bits, uint32_t width) {
  lanes_shape result = a;
  result.row = a.stride % (INT64_C(1) << bits) ? 1 : a.row;
  result.stride = a.stride / (INT64_C(1) << bits);
  result.align = 0;
  result.no_unsigned_wrap = result.no_signed_wrap = false;
  return settle(result, width, 65);
}

// True if a run of signed numbers rises by whole steps of 2^bits.
static bool is_even_quotient(lanes_shape a, uint64_t bits) {
  return a.no_signed_wrap && !a.conditional && a.stride >= 0 && bits < 31 &&
         a.stride % (INT64_C(1) << bits) == 0;
}

// Returns the shape of a value masked to the bits from first up to below end.
static lanes_shape some_bits(lanes_shape a, uint8_t first, uint32_t end,
                             uint32_t width) {
  const lanes_shape low = end < width ? low_bits(a, end, width) : a;
  lanes_shape result = high_bits(low, first, width);
  result.stride = (int64_t)((uint64_t)result.stride << first);
  result.bits = low.bits;
  if (result.row > 1) {
    result.align = smaller((uint8_t)(result.align + first), LANES_ALIGN_ANY);
  }
  if (result.stride) {
    result.no_unsigned_wrap = low.no_unsigned_wrap;
    result.no_signed_wrap = low.no_signed_wrap;
  }
  return result;
}

static lanes_shape bitwise_and(LLVMValueRef instruction,
                               const lanes_shape *operands) {
  const uint32_t width = width_of(instruction);
  uint64_t mask = 0;
  if (constant_value(LLVMGetOperand(instruction, 1), &mask) && mask) {
    const uint8_t first = trailing_zeros(mask);
    const uint64_t ones = mask >> first;
    // A constant is given with its sign: one that clears low bits has all
    // others.
    const uint32_t end = (int64_t)mask < 0 ? width : bit_length(mask);
    const bool is_one_field =
        (int64_t)mask < 0 ? lanes_is_power_of_two(~mask + 1) : !(ones & (ones + 1));
    if (is_one_field) {
      return some_bits(operands[0], first, end, width);
    }
  }
  lanes_shape result = by_rows(operands, 2, width);
  result.bits = smaller(operands[0].bits, operands[1].bits);
  if (result.row > 1) {
    result.align = larger(operands[0].align, operands[1].align);
  }
  return result;
}

static lanes_shape divided(LLVMValueRef instruction,
                           const lanes_shape *operands) {
  const uint32_t width = width_of(instruction);
  const LLVMOpcode opcode = LLVMGetInstructionOpcode(instruction);
  const bool remainder = opcode == LLVMURem || opcode == LLVMSRem;
  const bool positive = opcode == LLVMURem || opcode == LLVMUDiv ||
                        (operands[0].bits < width && operands[1].bits < width);
  uint64_t divisor = 0;
  const bool constant =
      constant_value(LLVMGetOperand(instruction, 1), &divisor);
  if (constant && positive && lanes_is_power_of_two(divisor) &&
      operands[0].no_unsigned_wrap) {
    const uint32_t bits = bit_length(divisor) - 1u;
    return remainder ? low_bits(operands[0], bits, width)
                     : high_bits(operands[0], bits, width);
  }
  lanes_shape result = by_rows(operands, 2, width);
  if (width > 32 && !constant && !lanes_is_uniform(result)) {
    result = lanes_shape_varying(result.lanes);  // lanes that do not run divide otherwise
  }
  result.bits = positive ? operands[remainder ? 1 : 0].bits : (uint8_t)width;
  return result;
}

static lanes_shape disjoint_or(LLVMValueRef instruction,
                               const lanes_shape *operands) {
  if (LLVMGetIsDisjoint(instruction)) {
    return sum(instruction, operands[0], operands[1], false);
  }
  lanes_shape result = by_rows(operands, 2, width_of(instruction));
  result.bits = larger(operands[0].bits, operands[1].bits);
  result.align =
      result.row > 1 ? smaller(operands[0].align, operands[1].align) : 0;
  return result;
}

static lanes_shape extended(LLVMValueRef instruction, lanes_shape a,
                            bool is_signed) {
  lanes_shape result = a;
  const uint32_t from = width_of(LLVMGetOperand(instruction, 0));
  const bool positive = a.bits < from;
  bool exact = is_signed && !positive ? a.no_signed_wrap : a.no_unsigned_wrap;
  if (!is_signed && LLVMGetNNeg(instruction)) {
    exact |= a.no_signed_wrap;
  }
  exact |= mtlc_is_marked(instruction, MTLC_UNWRAPPED_MARK);
  if (from == 1 && !lanes_is_uniform(a)) {
    result.row = a.stride ? 1 : a.row;
  } else if (!exact && a.stride) {
    const bool small = a.stride > -4096 && a.stride < 4096;
    result.row = small && from >= 32 ? a.row : 1;
    result.conditional = true;
  }
  result.no_unsigned_wrap = exact && !(is_signed && !positive);
  result.no_signed_wrap = exact;
  return settle(result, width_of(instruction),
                is_signed && !positive ? 65 : a.bits);
}

static lanes_shape truncated(LLVMValueRef instruction, lanes_shape a) {
  const uint32_t width = width_of(instruction);
  lanes_shape result = a;
  if (a.bits > width || a.conditional) {
    result.no_unsigned_wrap = false;
    result.no_signed_wrap = false;
  }
  if (width == 1 && a.stride) {
    result.row = 1;
  }
  if (a.conditional) {
    // Below the bits that may have wrapped, the run is what it was, but its
    // operands' condition would have to be asked; keep it simple.
    result.row = 1;
  }
  const bool fits = a.bits <= width && a.no_unsigned_wrap;
  return settle(result, width, fits ? a.bits : 65);
}

// True if a run, whose lanes fill a block of 2^bits numbers that begins at
// a multiple of it, lies on one side of a bound that is such a multiple itself.
static bool on_one_side(lanes_shape run, lanes_shape bound) {
  const uint64_t span = (uint64_t)run.lanes * (uint64_t)run.stride;
  return run.row == run.lanes && run.stride > 0 && run.stride <= 1024 &&
         !run.conditional && lanes_is_uniform(bound) &&
         (run.align >= 63 || UINT64_C(1) << run.align >= span) &&
         (bound.align >= 63 || UINT64_C(1) << bound.align >= span);
}

// `run < bound` and its opposite: true for all lanes or for none if no lane
// passes a multiple of the block, as in loops over whole simdgroups.
static lanes_shape compared(LLVMValueRef instruction,
                            const lanes_shape *operands) {
  LLVMValueRef left = LLVMGetOperand(instruction, 0);
  bool same = false;
  if (is_integer(LLVMTypeOf(left)) && width_of(left) >= 16) {
    switch (LLVMGetICmpPredicate(instruction)) {
      case LLVMIntULT:
      case LLVMIntSLT:
      case LLVMIntUGE:
      case LLVMIntSGE: same = on_one_side(operands[0], operands[1]); break;
      case LLVMIntUGT:
      case LLVMIntSGT:
      case LLVMIntULE:
      case LLVMIntSLE: same = on_one_side(operands[1], operands[0]); break;
      default: break;
    }
  }
  return same ? settle(lanes_shape_uniform(operands[0].lanes), 1, 1)
              : by_rows(operands, 2, width_of(instruction));
}

static lanes_shape address(LLVMValueRef instruction,
                           const lanes_shape *operands,
                           const lanes_layout *layout) {
  lanes_shape result = operands[0];
  result.align = 0;
  LLVMTypeRef type = LLVMGetGEPSourceElementType(instruction);
  const int count = LLVMGetNumOperands(instruction);
  for (int i = 1; i < count; i++) {
    LLVMValueRef index = LLVMGetOperand(instruction, (unsigned)i);
    if (i > 1 && LLVMGetTypeKind(type) == LLVMStructTypeKind) {
      type = LLVMStructGetTypeAtIndex(
          type, (unsigned)LLVMConstIntGetZExtValue(index));
      continue;
    }
    if (i > 1) {
      type = LLVMGetElementType(type);
    }
    const lanes_shape by = operands[i];
    const bool exact = width_of(index) >= 64 || by.no_signed_wrap;
    result.row = smaller(result.row, by.stride && !exact ? 1 : by.row);
    result.conditional |= by.conditional;
    result.stride += by.stride * (int64_t)layout->offset_scale *
                     (int64_t)LLVMABISizeOfType(layout->data, type);
  }
  return settle(result, 64, 64);
}

lanes_shape lanes_shape_of_operation(LLVMValueRef instruction,
                                     const lanes_shape *operands,
                                     const lanes_layout *layout) {
  const uint32_t count = (uint32_t)LLVMGetNumOperands(instruction);
  const uint32_t width = width_of(instruction);
  const LLVMTypeKind kind = LLVMGetTypeKind(LLVMTypeOf(instruction));
  const LLVMOpcode opcode = LLVMGetInstructionOpcode(instruction);
  if (kind == LLVMPointerTypeKind && opcode == LLVMGetElementPtr) {
    return address(instruction, operands, layout);
  }
  if (kind != LLVMIntegerTypeKind && kind != LLVMPointerTypeKind) {
    return by_rows(operands, count, 64);
  }
  switch (opcode) {
    case LLVMAdd: return sum(instruction, operands[0], operands[1], false);
    case LLVMSub: return sum(instruction, operands[0], operands[1], true);
    case LLVMMul: return product(instruction, operands);
    case LLVMShl: return shifted_left(instruction, operands);
    case LLVMAnd: return bitwise_and(instruction, operands);
    case LLVMOr: return disjoint_or(instruction, operands);
    case LLVMXor: return inverted(instruction, operands);
    case LLVMURem:
    case LLVMUDiv:
    case LLVMSRem:
    case LLVMSDiv: return divided(instruction, operands);
    case LLVMAShr:
    case LLVMLShr: {
      uint64_t amount = 0;
      if (!constant_value(LLVMGetOperand(instruction, 1), &amount)) {
        return by_rows(operands, 2, width);
      }
      if (mtlc_is_marked(instruction, MTLC_UNWRAPPED_MARK)) {
        return quotient(operands[0], (uint32_t)amount, width);
      }
      if (amount < width && operands[0].no_unsigned_wrap &&
          (opcode == LLVMLShr || operands[0].bits < width)) {
        return high_bits(operands[0], (uint32_t)amount, width);
      }
      if (opcode == LLVMAShr && is_even_quotient(operands[0], amount)) {
        lanes_shape result = quotient(operands[0], (uint32_t)amount, width);
        result.no_signed_wrap = true;
        return result;
      }
      return by_rows(operands, 2, width);
    }
    case LLVMZExt:
      if (is_integer(LLVMTypeOf(LLVMGetOperand(instruction, 0)))) {
        return extended(instruction, operands[0], false);
      }
      break;
    case LLVMSExt:
      if (is_integer(LLVMTypeOf(LLVMGetOperand(instruction, 0)))) {
        return extended(instruction, operands[0], true);
      }
      break;
    case LLVMTrunc: return truncated(instruction, operands[0]);
    case LLVMPtrToInt:
    case LLVMIntToPtr:
    case LLVMAddrSpaceCast:
    case LLVMFreeze:
      if (!operands[0].conditional && width == 64) {
        return settle(operands[0], width, operands[0].bits);
      }
      break;
    case LLVMICmp: return compared(instruction, operands);
    case LLVMSelect:
      if (lanes_is_uniform(operands[0])) {
        return lanes_shape_join(operands[1], operands[2]);
      }
      break;
    default: break;
  }
  return by_rows(operands, count, width);
}
