// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// value_ranges.c: emits code that computes the range of values over all threads
// of a dispatch and all loop iterations. A position lies between 0 and the
// grid's size; a counter between its start and its bound; ranges of other
// values follow. Sums and products wrap at a value's width, so ranges are
// computed in 64 bits; whether a value overflows its type is tested only where
// that matters, as for an index or a division.
#include "compiler/vectorize/prepare/versions/value_ranges.h"

#include <stddef.h>

#include "compiler/ir/llvm/calls.h"
#include "compiler/ir/llvm/instructions.h"
#include "compiler/ir/llvm/types.h"
#include "compiler/vectorize/analysis/callees.h"
#include "compiler/vectorize/base/constants.h"
#include "compiler/vectorize/prepare/versions/counter_ranges.h"

enum {
  MOST_BITS = 47,     // of an address; sums of a few of them need no check
  MOST_DEPTH = 24,    // of an expression
  MOST_RANGES = 192,  // they cost compilation
};

// --- What is the same for all threads ----------------------------------------

static bool is_dispatch_number(LLVMValueRef position) {
  switch (LLVMConstIntGetZExtValue(LLVMGetOperand(position, 0))) {
    case MTLI_DISPATCH_THREADS_PER_THREADGROUP:
    case MTLI_THREADS_PER_GRID:
    case MTLI_THREADGROUPS_PER_GRID:
    case MTLI_GRID_ORIGIN:
    case MTLI_GRID_SIZE:
    case MTLI_DISPATCH_SIMDGROUPS_PER_THREADGROUP:
    case MTLI_DISPATCH_QUADGROUPS_PER_THREADGROUP:
    case MTLI_THREADS_PER_SIMDGROUP: return true;
    default: return false;
  }
}

static bool is_alike(LLVMValueRef value, uint32_t depth);

static bool are_operands_alike(LLVMValueRef value, uint32_t depth) {
  bool alike = depth > 0;
  const unsigned count = lanes_operand_count(value);
  for (unsigned k = 0; alike && k < count; k++) {
    alike = is_alike(LLVMGetOperand(value, k), depth - 1);
  }
  return alike;
}

// True if a value is the same for all threads of a dispatch. A plain load from
// one place counts: threads that write there meanwhile would be a race.
static bool is_alike(LLVMValueRef value, uint32_t depth) {
  if (LLVMIsAConstant(value)) {
    return !LLVMIsAUndefValue(value) && !LLVMIsAConstantExpr(value);
  }
  if (!LLVMIsAInstruction(value)) {
    return false;
  }
  if (LLVMIsACallInst(value)) {
    switch (lanes_callee_of(value)) {
      case LANES_CALLEE_ARGUMENT: return true;
      case LANES_CALLEE_POSITION: return is_dispatch_number(value);
      case LANES_CALLEE_ELEMENTWISE: return are_operands_alike(value, depth);
      default: return false;
    }
  }
  if (LLVMIsALoadInst(value)) {
    return lanes_is_plain(value) && are_operands_alike(value, depth);
  }
  return (LLVMIsABinaryOperator(value) || LLVMIsACastInst(value) ||
          LLVMIsAGetElementPtrInst(value) || LLVMIsASelectInst(value) ||
          LLVMIsACmpInst(value) || LLVMIsAExtractElementInst(value)) &&
         are_operands_alike(value, depth);
}

// True if a value is there where ranges are computed, the same for all.
static bool is_there(const lanes_ranges *r, LLVMValueRef value) {
  enum { DEPTH = 12 };
  if (LLVMIsAInstruction(value)) {
    const uint32_t node =
        lanes_map_get(&r->graph->blocks, LLVMGetInstructionParent(value));
    if (node == LANES_NONE || !lanes_dominates(r->graph, node, r->place)) {
      return false;
    }
  }
  return is_alike(value, DEPTH);
}

// --- Arithmetic of ranges ----------------------------------------------------

static LLVMTypeRef long_type(const lanes_ranges *r) {
  return LLVMInt64TypeInContext(r->context);
}

static LLVMValueRef number_of(const lanes_ranges *r, int64_t value) {
  return LLVMConstInt(long_type(r), (unsigned long long)value, true);
}

static uint32_t bits_of(int64_t value) {
  uint64_t rest = value < 0 ? -(uint64_t)value : (uint64_t)value;
  uint32_t bits = 0;
  for (; rest; rest >>= 1) {
    bits++;
  }
  return bits;
}

static lanes_range exactly(const lanes_ranges *r, int64_t value) {
  LLVMValueRef number = number_of(r, value);
  return (lanes_range){number, number, bits_of(value), value >= 0};
}

static lanes_range between(const lanes_ranges *r, int64_t least,
                           LLVMValueRef greatest, uint32_t bits) {
  return (lanes_range){number_of(r, least), greatest, bits, least >= 0};
}

void lanes_range_demand(lanes_ranges *r, LLVMValueRef condition) {
  r->holds = LLVMBuildAnd(r->builder, r->holds, condition, "");
}

static LLVMValueRef choose(const lanes_ranges *r, LLVMIntPredicate predicate,
                           LLVMValueRef a, LLVMValueRef b) {
  return a == b ? a
                : LLVMBuildSelect(
                      r->builder,
                      LLVMBuildICmp(r->builder, predicate, a, b, ""), a, b, "");
}

LLVMValueRef lanes_range_smaller(const lanes_ranges *r, LLVMValueRef a,
                                 LLVMValueRef b) {
  return choose(r, LLVMIntSLT, a, b);
}

LLVMValueRef lanes_range_greater(const lanes_ranges *r, LLVMValueRef a,
                                 LLVMValueRef b) {
  return choose(r, LLVMIntSGT, a, b);
}

lanes_range lanes_range_union(lanes_ranges *r, lanes_range a, lanes_range b) {
  return (lanes_range){lanes_range_smaller(r, a.least, b.least),
                       lanes_range_greater(r, a.greatest, b.greatest),
                       a.bits > b.bits ? a.bits : b.bits,
                       a.is_negative_never && b.is_negative_never};
}

// Requires a range to lie between -2^bits and 2^bits.
static void demand_bits(lanes_ranges *r, lanes_range *range, uint32_t bits) {
  if (range->bits > bits) {
    const int64_t limit = INT64_C(1) << bits;
    lanes_range_demand(r, LLVMBuildICmp(r->builder, LLVMIntSGT, range->least,
                                        number_of(r, -limit), ""));
    lanes_range_demand(r, LLVMBuildICmp(r->builder, LLVMIntSLT, range->greatest,
                                        number_of(r, limit), ""));
    range->bits = bits;
  }
}

static void demand_no_sign(lanes_ranges *r, lanes_range *range) {
  if (!range->is_negative_never) {
    lanes_range_demand(r, LLVMBuildICmp(r->builder, LLVMIntSGE, range->least,
                                        number_of(r, 0), ""));
    range->is_negative_never = true;
  }
}

void lanes_range_as_type(lanes_ranges *r, lanes_range *range, uint32_t width,
                         bool is_signed) {
  const uint32_t bits = is_signed ? width - 1 : width;
  demand_bits(r, range, bits < MOST_BITS ? bits : MOST_BITS);
  if (!is_signed) {
    demand_no_sign(r, range);
  }
}

static bool add(lanes_ranges *r, lanes_range a, lanes_range b, bool subtracts,
                lanes_range *out) {
  demand_bits(r, &a, MOST_BITS);
  demand_bits(r, &b, MOST_BITS);
  const uint32_t bits = (a.bits > b.bits ? a.bits : b.bits) + 1;
  if (subtracts) {
    *out = (lanes_range){LLVMBuildSub(r->builder, a.least, b.greatest, ""),
                         LLVMBuildSub(r->builder, a.greatest, b.least, ""),
                         bits, false};
  } else {
    *out = (lanes_range){LLVMBuildAdd(r->builder, a.least, b.least, ""),
                         LLVMBuildAdd(r->builder, a.greatest, b.greatest, ""),
                         bits, a.is_negative_never && b.is_negative_never};
  }
  return true;
}

bool lanes_range_times(lanes_ranges *r, lanes_range a, int64_t factor,
                       lanes_range *out) {
  const uint32_t bits = bits_of(factor);
  if (bits >= MOST_BITS) {
    return false;
  }
  demand_bits(r, &a, MOST_BITS - bits);
  LLVMValueRef by = number_of(r, factor);
  LLVMValueRef ends[] = {LLVMBuildMul(r->builder, a.least, by, ""),
                         LLVMBuildMul(r->builder, a.greatest, by, "")};
  *out = (lanes_range){ends[factor < 0], ends[factor >= 0], a.bits + bits,
                       a.is_negative_never && factor >= 0};
  return true;
}

// Multiplies two ranges that are both known only at run time.
static bool multiply(lanes_ranges *r, lanes_range a, lanes_range b,
                     lanes_range *out) {
  demand_bits(r, &a, 31);
  demand_bits(r, &b, 31);
  demand_no_sign(r, &a);
  demand_no_sign(r, &b);
  *out = (lanes_range){LLVMBuildMul(r->builder, a.least, b.least, ""),
                       LLVMBuildMul(r->builder, a.greatest, b.greatest, ""),
                       a.bits + b.bits, true};
  demand_bits(r, out, MOST_BITS);
  return true;
}

// --- Numbers -----------------------------------------------------------------

static uint32_t width_of(LLVMValueRef number) {
  return LLVMGetIntTypeWidth(LLVMTypeOf(number));
}

static LLVMValueRef call_position(const lanes_ranges *r, mtli_builtin builtin,
                                  uint32_t dimension) {
  LLVMTypeRef word = LLVMInt32TypeInContext(r->context);
  LLVMTypeRef words[] = {word, word};
  LLVMValueRef function = mtlc_declare(r->module, "mettle.position",
                                       LLVMFunctionType(word, words, 2, false));
  LLVMValueRef arguments[] = {mtlc_i32(r->context, builtin),
                              mtlc_i32(r->context, dimension)};
  return LLVMBuildZExt(r->builder,
                       mtlc_call(r->builder, function, arguments, 2),
                       long_type(r), "");
}

static lanes_range below(const lanes_ranges *r, LLVMValueRef count) {
  return between(r, 0, LLVMBuildSub(r->builder, count, number_of(r, 1), ""),
                 32);
}

static bool range_of_position(const lanes_ranges *r, LLVMValueRef position,
                              lanes_range *out) {
  const uint32_t dimension =
      (uint32_t)LLVMConstIntGetZExtValue(LLVMGetOperand(position, 1));
  mtli_builtin count;
  switch (LLVMConstIntGetZExtValue(LLVMGetOperand(position, 0))) {
    case MTLI_THREAD_POSITION_IN_GRID: count = MTLI_THREADS_PER_GRID; break;
    case MTLI_THREADGROUP_POSITION_IN_GRID:
      count = MTLI_THREADGROUPS_PER_GRID;
      break;
    case MTLI_THREAD_POSITION_IN_THREADGROUP:
      count = MTLI_DISPATCH_THREADS_PER_THREADGROUP;
      break;
    case MTLI_SIMDGROUP_INDEX_IN_THREADGROUP:
      count = MTLI_DISPATCH_SIMDGROUPS_PER_THREADGROUP;
      break;
    case MTLI_THREAD_INDEX_IN_SIMDGROUP:
      *out = between(r, 0, number_of(r, 31), 5);
      return true;
    case MTLI_THREAD_INDEX_IN_THREADGROUP:
      *out = between(r, 0, number_of(r, 1023), 10);
      return true;
    case MTLI_THREADS_PER_THREADGROUP:
      *out = between(
          r, 0,
          call_position(r, MTLI_DISPATCH_THREADS_PER_THREADGROUP, dimension),
          32);
      return true;
    default: return false;
  }
  *out = below(r, call_position(r, count, dimension));
  return true;
}

// Returns the range of a value that is available where ranges are computed: the
// value itself.
static bool range_of_known(const lanes_ranges *r, LLVMValueRef number,
                           lanes_range *out) {
  const uint32_t width = width_of(number);
  if (LLVMIsAConstantInt(number)) {
    *out = exactly(r, LLVMConstIntGetSExtValue(number));
    return true;
  }
  LLVMValueRef value =
      width == 64   ? number
      : width >= 32 ? LLVMBuildSExt(r->builder, number, long_type(r), "")
                    : LLVMBuildZExt(r->builder, number, long_type(r), "");
  *out = (lanes_range){value, value, width == 64 ? 64 : width, width < 32};
  return true;
}

static bool operands(lanes_ranges *r, LLVMValueRef i, uint32_t depth,
                     lanes_range out[2]);
static bool find_range(lanes_ranges *r, LLVMValueRef number, uint32_t depth,
                       lanes_range *out);

// Quotients and remainders by a number that is known, and shifts.
static bool divide(lanes_ranges *r, LLVMValueRef i, LLVMOpcode opcode,
                   lanes_range a, uint64_t by, lanes_range *out) {
  const bool is_signed = opcode == LLVMAShr || opcode == LLVMSDiv;
  if (by == 0 || by > INT32_MAX) {
    return false;
  }
  lanes_range_as_type(r, &a, width_of(i), is_signed);
  LLVMValueRef number = number_of(r, (int64_t)by);
  if (opcode == LLVMURem) {
    *out = between(
        r, 0, lanes_range_smaller(r, a.greatest, number_of(r, (int64_t)by - 1)),
        a.bits);
    return true;
  }
  // A shift rounds down, a division to zero.
  LLVMValueRef ends[] = {a.least, a.greatest};
  for (uint32_t k = 0; k < 2; k++) {
    ends[k] =
        opcode == LLVMAShr
            ? LLVMBuildAShr(r->builder, ends[k],
                            number_of(r, (int64_t)bits_of((int64_t)by) - 1), "")
        : a.is_negative_never ? LLVMBuildUDiv(r->builder, ends[k], number, "")
                              : LLVMBuildSDiv(r->builder, ends[k], number, "");
  }
  *out = (lanes_range){ends[0], ends[1], a.bits, a.is_negative_never};
  return true;
}

static bool mask(lanes_ranges *r, lanes_range a, uint64_t bits, uint32_t width,
                 lanes_range *out) {
  if (bits > INT32_MAX || (width < 64 && bits >> (width - 1))) {
    return false;
  }
  LLVMValueRef most = number_of(r, (int64_t)bits);
  LLVMValueRef greatest =
      a.is_negative_never ? lanes_range_smaller(r, a.greatest, most) : most;
  *out = between(r, 0, greatest, bits_of((int64_t)bits));
  return true;
}

// Computes the range of an operation whose second operand is constant.
static bool range_by_constant(lanes_ranges *r, LLVMValueRef i, uint64_t c,
                              lanes_range a, lanes_range *out) {
  const LLVMOpcode opcode = LLVMGetInstructionOpcode(i);
  const int64_t with_sign = LLVMConstIntGetSExtValue(LLVMGetOperand(i, 1));
  switch (opcode) {
    case LLVMMul: return lanes_range_times(r, a, with_sign, out);
    case LLVMShl:
      return c < 31 && lanes_range_times(r, a, INT64_C(1) << c, out);
    case LLVMLShr:
      return c < 31 && divide(r, i, LLVMUDiv, a, UINT64_C(1) << c, out);
    case LLVMAShr:
      return c < 31 && divide(r, i, LLVMAShr, a, UINT64_C(1) << c, out);
    case LLVMSDiv:
    case LLVMUDiv:
    case LLVMURem: return divide(r, i, opcode, a, c, out);
    case LLVMAnd: return mask(r, a, c, width_of(i), out);
    default: return false;
  }
}

static bool range_of_arithmetic(lanes_ranges *r, LLVMValueRef i, uint32_t depth,
                                lanes_range *out) {
  lanes_range of[2];
  uint64_t c = 0;
  if (!operands(r, i, depth, of)) {
    return false;
  }
  switch (LLVMGetInstructionOpcode(i)) {
    case LLVMAdd: return add(r, of[0], of[1], false, out);
    case LLVMSub: return add(r, of[0], of[1], true, out);
    case LLVMOr:
      if (!LLVMGetIsDisjoint(i)) {
        return false;
      }
      return add(r, of[0], of[1], false, out);
    case LLVMURem:
      if (!LLVMIsAConstantInt(LLVMGetOperand(i, 1))) {
        lanes_range_as_type(r, &of[0], width_of(i), false);
        lanes_range_as_type(r, &of[1], width_of(i), false);
        *out = between(r, 0,
                       lanes_range_smaller(r, of[0].greatest, of[1].greatest),
                       of[0].bits);
        return true;
      }
      break;
    case LLVMUDiv:
      if (!LLVMIsAConstantInt(LLVMGetOperand(i, 1))) {
        lanes_range_as_type(r, &of[0], width_of(i), false);
        *out = between(r, 0, of[0].greatest, of[0].bits);
        return true;
      }
      break;
    case LLVMMul:
      if (!LLVMIsAConstantInt(LLVMGetOperand(i, 1))) {
        return multiply(r, of[0], of[1], out);
      }
      break;
    default: break;
  }
  return lanes_constant_of(LLVMGetOperand(i, 1), &c) &&
         range_by_constant(r, i, c, of[0], out);
}

static bool range_of_limit(lanes_ranges *r, LLVMValueRef call, uint32_t depth,
                           lanes_range *out) {
  lanes_limit kind;
  lanes_range of[2];
  if (!lanes_limit_find(call, &kind) || !operands(r, call, depth, of)) {
    return false;
  }
  for (uint32_t k = 0; k < 2; k++) {
    lanes_range_as_type(r, &of[k], width_of(call), kind.is_signed);
  }
  LLVMIntPredicate first = kind.is_max ? LLVMIntSGT : LLVMIntSLT;
  *out = (lanes_range){choose(r, first, of[0].least, of[1].least),
                       choose(r, first, of[0].greatest, of[1].greatest),
                       of[0].bits > of[1].bits ? of[0].bits : of[1].bits,
                       of[0].is_negative_never && of[1].is_negative_never};
  return true;
}

static bool range_of_cast(lanes_ranges *r, LLVMValueRef cast, uint32_t depth,
                          lanes_range *out) {
  LLVMValueRef number = LLVMGetOperand(cast, 0);
  if (LLVMGetTypeKind(LLVMTypeOf(number)) != LLVMIntegerTypeKind ||
      !find_range(r, number, depth, out)) {
    return false;
  }
  switch (LLVMGetInstructionOpcode(cast)) {
    case LLVMZExt: lanes_range_as_type(r, out, width_of(number), false); break;
    case LLVMSExt: lanes_range_as_type(r, out, width_of(number), true); break;
    case LLVMTrunc: break;
    default: return false;
  }
  return true;
}

// Computes the range of a phi or a select: the union of its values' ranges.
static bool range_of_any(lanes_ranges *r, LLVMValueRef value, unsigned first,
                         uint32_t depth, lanes_range *out) {
  const unsigned count = (unsigned)LLVMGetNumOperands(value);
  for (unsigned k = first; k < count; k++) {
    lanes_range one;
    if (!find_range(r, LLVMGetOperand(value, k), depth, &one)) {
      return false;
    }
    *out = k == first ? one : lanes_range_union(r, *out, one);
  }
  return true;
}

static bool range_of_phi(lanes_ranges *r, LLVMValueRef phi, uint32_t depth,
                         lanes_range *out) {
  const uint32_t node =
      lanes_map_get(&r->graph->blocks, LLVMGetInstructionParent(phi));
  const uint32_t loop =
      node == LANES_NONE ? LANES_NONE : r->graph->nodes[node].loop;
  lanes_counted counted;
  if (node == LANES_NONE) {
    return false;
  }
  if (loop == LANES_NONE || r->graph->loops[loop].header != node) {
    return lanes_phi_is_plain(r->graph, phi) &&
           range_of_any(r, phi, 0, depth, out);
  }
  lanes_range start, bound;
  return lanes_counted_find(r->graph, phi, &counted) &&
         find_range(r, counted.start, depth, &start) &&
         find_range(r, counted.bound, depth, &bound) &&
         lanes_counted_range(r, &counted, start, bound, out);
}

static bool find_new(lanes_ranges *r, LLVMValueRef number, uint32_t depth,
                     lanes_range *out) {
  if (is_there(r, number)) {
    return range_of_known(r, number, out);
  }
  if (depth == 0 || !LLVMIsAInstruction(number)) {
    return false;
  }
  if (LLVMIsACallInst(number)) {
    return lanes_callee_of(number) == LANES_CALLEE_POSITION
               ? range_of_position(r, number, out)
               : range_of_limit(r, number, depth, out);
  }
  return LLVMIsAPHINode(number)      ? range_of_phi(r, number, depth, out)
         : LLVMIsASelectInst(number) ? range_of_any(r, number, 1, depth, out)
         : LLVMIsACastInst(number)   ? range_of_cast(r, number, depth, out)
         : LLVMIsAFreezeInst(number) ? range_of_any(r, number, 0, depth, out)
         : LLVMIsABinaryOperator(number)
             ? range_of_arithmetic(r, number, depth, out)
             : false;
}

static bool find_range(lanes_ranges *r, LLVMValueRef number, uint32_t depth,
                       lanes_range *out) {
  if (LLVMGetTypeKind(LLVMTypeOf(number)) != LLVMIntegerTypeKind ||
      width_of(number) > 64) {
    return false;
  }
  const uint32_t known = lanes_map_get(&r->numbers, number);
  if (known != LANES_NONE) {
    *out = r->made[known];
    return true;
  }
  if (r->numbers.count == MOST_RANGES ||
      !find_new(r, number, depth ? depth - 1 : 0, out)) {
    return false;
  }
  r->made = lanes_make_room(r->graph->arena, r->made, r->numbers.count,
                            &r->capacity, 32, sizeof *r->made);
  r->made[r->numbers.count] = *out;
  lanes_map_set(r->graph->arena, &r->numbers, number, r->numbers.count);
  return true;
}

static bool operands(lanes_ranges *r, LLVMValueRef i, uint32_t depth,
                     lanes_range out[2]) {
  return find_range(r, LLVMGetOperand(i, 0), depth, &out[0]) &&
         find_range(r, LLVMGetOperand(i, 1), depth, &out[1]);
}

bool lanes_range_of(lanes_ranges *r, LLVMValueRef number,
                    lanes_range *out_range) {
  return find_range(r, number, MOST_DEPTH, out_range);
}

// --- Addresses ---------------------------------------------------------------

static bool add_step(lanes_ranges *r, LLVMValueRef index, uint64_t scale,
                     lanes_range *bytes) {
  lanes_range step;
  if (!lanes_range_of(r, index, &step)) {
    return false;
  }
  lanes_range_as_type(r, &step, width_of(index), true);
  return scale <= INT32_MAX &&
         lanes_range_times(r, step, (int64_t)scale, &step) &&
         add(r, *bytes, step, false, bytes);
}

static bool add_steps(lanes_ranges *r, LLVMValueRef address,
                      lanes_range *bytes) {
  LLVMTypeRef type = LLVMGetGEPSourceElementType(address);
  bool found = true;
  for (unsigned k = 1; found && k < (unsigned)LLVMGetNumOperands(address);
       k++) {
    LLVMValueRef index = LLVMGetOperand(address, k);
    if (k > 1 && LLVMGetTypeKind(type) == LLVMStructTypeKind) {
      const unsigned field = (unsigned)LLVMConstIntGetZExtValue(index);
      const int64_t at = (int64_t)LLVMOffsetOfElement(r->data, type, field);
      found = add(r, *bytes, exactly(r, at), false, bytes);
      type = LLVMStructGetTypeAtIndex(type, field);
      continue;
    }
    type = k > 1 ? LLVMGetElementType(type) : type;
    found = add_step(r, index, LLVMABISizeOfType(r->data, type), bytes);
  }
  return found;
}

bool lanes_range_of_address(lanes_ranges *r, LLVMValueRef address,
                            LLVMValueRef *out_root, lanes_range *out_bytes) {
  *out_bytes = exactly(r, 0);
  while (LLVMIsAGetElementPtrInst(address) && !is_there(r, address)) {
    if (!add_steps(r, address, out_bytes)) {
      return false;
    }
    address = LLVMGetOperand(address, 0);
  }
  *out_root = address;
  return is_there(r, address);
}
