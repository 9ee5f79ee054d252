// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// collectives.c: simdgroup operations as shuffles of whole vectors, in the
// order of combination that docs/ir.md fixes.
#include "compiler/vectorize/emit/lanes/collectives.h"

#include <stdbool.h>
#include <stddef.h>

#include "compiler/ir/llvm/calls.h"
#include "compiler/ir/llvm/types.h"
#include "compiler/vectorize/analysis/callees.h"
#include "compiler/vectorize/analysis/components.h"
#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/analysis/uniformity.h"
#include "compiler/vectorize/emit/values/builder.h"
#include "compiler/vectorize/emit/values/emitter.h"
#include "compiler/vectorize/emit/values/values.h"
#include "compiler/vectorize/target/machine.h"

static bool is_float(LLVMTypeRef type) {
  const LLVMTypeKind kind = LLVMGetTypeKind(type);
  return kind == LLVMFloatTypeKind || kind == LLVMHalfTypeKind ||
         kind == LLVMBFloatTypeKind || kind == LLVMDoubleTypeKind;
}

// Returns the operation's identity, which an inactive thread contributes.
static LLVMValueRef identity_of(LLVMTypeRef type, lanes_collective what) {
  if (is_float(type)) {
    switch (what.operation) {
      case LANES_ADD: return LLVMConstReal(type, -0.0);
      case LANES_MULTIPLY: return LLVMConstReal(type, 1.0);
      default: return LLVMConstRealOfString(type, "nan");
    }
  }
  const uint32_t width = LLVMGetIntTypeWidth(type);
  const uint64_t ones = ~UINT64_C(0) >> (64 - width);
  uint64_t value = 0;
  switch (what.operation) {
    case LANES_MULTIPLY: value = 1; break;
    case LANES_AND: value = ones; break;
    case LANES_MINIMUM: value = what.is_unsigned ? ones : ones >> 1; break;
    case LANES_MAXIMUM: value = what.is_unsigned ? 0 : (ones >> 1) + 1; break;
    default: break;
  }
  return LLVMConstInt(type, value, false);
}

static LLVMValueRef extremum(lanes_emitter *e, lanes_collective what,
                             LLVMValueRef a, LLVMValueRef b, bool floating) {
  const bool minimum = what.operation == LANES_MINIMUM;
  const char *name = floating ? (minimum ? "llvm.minnum" : "llvm.maxnum")
                     : what.is_unsigned ? (minimum ? "llvm.umin" : "llvm.umax")
                                        : (minimum ? "llvm.smin" : "llvm.smax");
  LLVMTypeRef type = LLVMTypeOf(a);
  LLVMValueRef arguments[] = {a, b};
  return lanes_intrinsic(e, name, &type, 1, arguments, 2);
}

static LLVMValueRef combine(lanes_emitter *e, lanes_collective what,
                            LLVMValueRef a, LLVMValueRef b) {
  const bool floating = is_float(LLVMGetElementType(LLVMTypeOf(a)));
  switch (what.operation) {
    case LANES_ADD:
      return LLVMBuildBinOp(e->builder, floating ? LLVMFAdd : LLVMAdd, a, b,
                            "");
    case LANES_MULTIPLY:
      return LLVMBuildBinOp(e->builder, floating ? LLVMFMul : LLVMMul, a, b,
                            "");
    case LANES_AND: return LLVMBuildAnd(e->builder, a, b, "");
    case LANES_OR: return LLVMBuildOr(e->builder, a, b, "");
    case LANES_XOR: return LLVMBuildXor(e->builder, a, b, "");
    default: return extremum(e, what, a, b, floating);
  }
}

static LLVMValueRef of_active(lanes_emitter *e, LLVMValueRef value,
                              lanes_collective what) {
  LLVMValueRef identity =
      identity_of(LLVMGetElementType(LLVMTypeOf(value)), what);
  return LLVMBuildSelect(e->builder, e->mask, value,
                         lanes_splat(e, e->builder, identity), "");
}

// For a sum of conditions as zeros and ones: returns an i32 with the bit of
// each lane that runs and whose condition holds. NULL for any other sum.
static LLVMValueRef bits_added(lanes_emitter *e, LLVMValueRef value,
                               lanes_collective what) {
  if (what.operation != LANES_ADD || !LLVMIsAZExtInst(value)) {
    return NULL;
  }
  LLVMValueRef holds = LLVMGetOperand(value, 0);
  if (LLVMGetElementType(LLVMTypeOf(holds)) != e->types.i1) {
    return NULL;
  }
  return lanes_mask_bits(e, LLVMBuildSelect(e->builder, e->mask, holds,
                                       LLVMConstNull(LLVMTypeOf(holds)), ""));
}

// True if the order of combination matters: a sum or product of floats combines
// neighbours first, unless mathematics are fast (docs/ir.md).
static bool starts_with_neighbours(const lanes_emitter *e,
                                   lanes_collective what, LLVMTypeRef type) {
  return (what.operation == LANES_ADD || what.operation == LANES_MULTIPLY) &&
         is_float(type) && e->kernel->library->math_mode != MTL_MATH_FAST;
}

// Finds the two lanes of each pair in a step that leaves `half` values:
// neighbours first, then neighbours among their results. Results may stand in
// any order: groups of four need only shuffles within 128 bits, and the third
// step none.
static void pick_neighbours(uint32_t half, int low[MOST_LANES],
                            int high[MOST_LANES]) {
  for (uint32_t i = 0; i < half; i++) {
    const uint32_t first = i / 4 * 4 + (i & 2 ? half : 0) + (i & 1) * 2;
    low[i] = (int)(half < 8 ? i : first);
    high[i] = (int)(half < 8 ? i + half : first + 1);
  }
}

LLVMValueRef lanes_reduce(lanes_emitter *e, LLVMValueRef value,
                          lanes_collective what) {
  LLVMValueRef bits = bits_added(e, value, what);
  if (bits) {
    LLVMValueRef count =
        lanes_intrinsic(e, "llvm.ctpop", &e->types.i32, 1, &bits, 1);
    return LLVMBuildIntCast2(e->builder, count,
                             LLVMGetElementType(LLVMTypeOf(value)), false, "");
  }
  value = of_active(e, value, what);
  const bool by_neighbours =
      starts_with_neighbours(e, what, LLVMGetElementType(LLVMTypeOf(value)));
  for (uint32_t half = e->lanes / 2; half > 0; half /= 2) {
    int low[MOST_LANES];
    int high[MOST_LANES];
    for (uint32_t i = 0; i < half; i++) {
      low[i] = (int)i;
      high[i] = (int)(i + half);
    }
    if (by_neighbours) {
      pick_neighbours(half, low, high);
    }
    LLVMValueRef a = lanes_shuffle(e, value, NULL, low, half);
    LLVMValueRef b = lanes_shuffle(e, value, NULL, high, half);
    value = combine(e, what, a, b);
  }
  return LLVMBuildExtractElement(e->builder, value, mtlc_i32(e->context, 0),
                                 "");
}

// Moves every lane's value up by distance; the lowest lanes take theirs from
// the last lanes of `below`.
static LLVMValueRef moved_up(lanes_emitter *e, LLVMValueRef value,
                             LLVMValueRef below, uint32_t distance) {
  int lanes[MOST_LANES];
  for (uint32_t i = 0; i < e->lanes; i++) {
    lanes[i] = (int)(i < distance ? e->lanes + i : i - distance);
  }
  return lanes_shuffle(e, value, below, lanes, e->lanes);
}

// Returns how many bits are set below each lane, or up to it.
static LLVMValueRef scan_bits(lanes_emitter *e, LLVMValueRef bits,
                              LLVMTypeRef type, bool is_exclusive) {
  LLVMValueRef below[MOST_LANES];
  for (uint32_t i = 0; i < e->lanes; i++) {
    const uint64_t end = UINT64_C(1) << (is_exclusive ? i : i + 1);
    below[i] = mtlc_i32(e->context, (uint32_t)(end - 1));
  }
  LLVMTypeRef words = lanes_vector_of(e->lanes, e->types.i32);
  LLVMValueRef own =
      LLVMBuildAnd(e->builder, lanes_splat(e, e->builder, bits),
                   LLVMConstVector(below, e->lanes), "");
  LLVMValueRef count = lanes_intrinsic(e, "llvm.ctpop", &words, 1, &own, 1);
  return LLVMBuildIntCast2(e->builder, count, type, false, "");
}

LLVMValueRef lanes_scan(lanes_emitter *e, LLVMValueRef value,
                        lanes_collective what) {
  LLVMValueRef bits =
      e->machine.counts_bits
          ? bits_added(e, value, what)
          : NULL;
  if (bits) {
    return scan_bits(e, bits, LLVMTypeOf(value), what.is_exclusive);
  }
  value = of_active(e, value, what);
  LLVMTypeRef type = LLVMGetElementType(LLVMTypeOf(value));
  if (what.is_exclusive) {
    LLVMValueRef start = what.operation == LANES_MULTIPLY
                             ? identity_of(type, what)
                             : LLVMConstNull(type);
    value = moved_up(e, value, lanes_splat(e, e->builder, start), 1);
  }
  for (uint32_t distance = 1; distance < e->lanes; distance *= 2) {
    LLVMValueRef earlier =
        moved_up(e, value, LLVMConstNull(LLVMTypeOf(value)), distance);
    LLVMValueRef sum = combine(e, what, earlier, value);
    // A lane with no other that far below keeps its value.
    int lanes[MOST_LANES];
    for (uint32_t i = 0; i < e->lanes; i++) {
      lanes[i] = (int)(i < distance ? i : e->lanes + i);
    }
    value = lanes_shuffle(e, value, sum, lanes, e->lanes);
  }
  return value;
}

void lanes_emit_collective(lanes_emitter *e, LLVMValueRef call) {
  const lanes_collective what = lanes_collective_of(call);
  if (what.operation == LANES_NO_OPERATION) {
    lanes_refuse(e, "unknown function %s", mtlc_callee_name(call));
    return;
  }
  LLVMValueRef value = lanes_vector(e, LLVMGetOperand(call, 0), 0);
  lanes_set_result(
      e, call, 0,
      what.is_scan ? lanes_scan(e, value, what) : lanes_reduce(e, value, what));
}

// --- Shuffles ----------------------------------------------------------------

uint32_t lanes_register_words(const lanes_emitter *e) {
  return lanes_shuffled_words(&e->machine);
}

// vpermi2d selects from two registers by five bits of an index. vpermd selects
// from one by three; the other bits become signs, which select between
// registers.
LLVMValueRef lanes_pick_words(lanes_emitter *e, LLVMValueRef *tables,
                              uint32_t count, LLVMValueRef index) {
  LLVMBuilderRef b = e->builder;
  if (e->machine.has_masks) {
    LLVMValueRef arguments[] = {tables[0], index, tables[1]};
    return lanes_intrinsic(e, "llvm.x86.avx512.vpermi2var.d.512", NULL, 0,
                           arguments, 3);
  }
  LLVMValueRef picked[4];
  for (uint32_t i = 0; i < count; i++) {
    LLVMValueRef arguments[] = {tables[i], index};
    picked[i] =
        lanes_intrinsic(e, "llvm.x86.avx2.permd", NULL, 0, arguments, 2);
  }
  for (uint32_t bit = 3; count > 1; bit++, count /= 2) {
    LLVMValueRef up =
        LLVMBuildShl(b, index,
                     lanes_splat_to(e, b, mtlc_i32(e->context, 31 - bit), 8),
                     "");
    LLVMValueRef is_set = LLVMBuildICmp(
        b, LLVMIntSLT, up, LLVMConstNull(LLVMTypeOf(index)), "");
    for (uint32_t i = 0; i < count / 2; i++) {
      picked[i] =
          LLVMBuildSelect(b, is_set, picked[2 * i + 1], picked[2 * i], "");
    }
  }
  return picked[0];
}

// Permutes through memory, as loads.
static LLVMValueRef permute_in_memory(lanes_emitter *e, LLVMValueRef value,
                                      LLVMValueRef index) {
  LLVMValueRef array = lanes_fixed_alloca(e, LLVMTypeOf(value));
  LLVMBuildStore(e->builder, value, array);
  LLVMValueRef pointers =
      LLVMBuildGEP2(e->builder, e->types.i32, array, &index, 1, "");
  return lanes_gather_from(e, e->types.i32, pointers, 4,
                           LLVMConstAllOnes(lanes_vector_of(e->lanes, e->types.i1)));
}

// Returns for each lane the element of 32 words that its index selects: by the
// lowest five bits on machines with such permutations; elsewhere indices are
// below 32.
static LLVMValueRef permute_words(lanes_emitter *e, LLVMValueRef value,
                                  LLVMValueRef index) {
  const uint32_t words = lanes_register_words(e);
  if (words == 0) {
    return permute_in_memory(e, value, index);
  }
  const uint32_t count = e->lanes / words;
  LLVMValueRef tables[MOST_LANES], parts[MOST_LANES];
  for (uint32_t i = 0; i < count; i++) {
    tables[i] = lanes_subvector(e, value, i * words, words);
  }
  for (uint32_t i = 0; i < count; i++) {
    parts[i] = lanes_pick_words(e, tables, count,
                                lanes_subvector(e, index, i * words, words));
  }
  return lanes_concatenated(e, parts, count);
}

static LLVMValueRef permute(lanes_emitter *e, LLVMValueRef value,
                            LLVMValueRef index) {
  LLVMTypeRef element = LLVMGetElementType(LLVMTypeOf(value));
  if (LLVMGetIntTypeWidth(element) == 32) {
    return permute_words(e, value, index);
  }
  LLVMTypeRef narrow = lanes_vector_of(e->lanes, e->types.i32);
  LLVMValueRef shift =
      lanes_splat(e, e->builder, LLVMConstInt(element, 32, false));
  LLVMValueRef low = permute_words(
      e, LLVMBuildTrunc(e->builder, value, narrow, ""), index);
  LLVMValueRef high = permute_words(
      e,
      LLVMBuildTrunc(e->builder, LLVMBuildLShr(e->builder, value, shift, ""),
                     narrow, ""),
      index);
  low = LLVMBuildZExt(e->builder, low, LLVMTypeOf(value), "");
  high = LLVMBuildZExt(e->builder, high, LLVMTypeOf(value), "");
  return LLVMBuildOr(e->builder, low, LLVMBuildShl(e->builder, high, shift, ""),
                     "");
}

static LLVMValueRef shuffle_by_constant(lanes_emitter *e, LLVMValueRef value,
                                        LLVMValueRef index) {
  int lanes[MOST_LANES];
  for (uint32_t i = 0; i < e->lanes; i++) {
    LLVMValueRef lane = LLVMGetAggregateElement(index, i);
    if (!lane || !LLVMIsAConstantInt(lane)) {
      return NULL;
    }
    lanes[i] = (int)(LLVMConstIntGetZExtValue(lane) % e->lanes);
  }
  return lanes_shuffle(e, value, NULL, lanes, e->lanes);
}

void lanes_emit_shuffle(lanes_emitter *e, LLVMValueRef call) {
  LLVMValueRef operand = LLVMGetOperand(call, 0);
  LLVMValueRef lane = LLVMGetOperand(call, 1);
  if (lanes_is_uniform(lanes_shape_of(e->values, operand))) {
    lanes_set_result(e, call, 0, lanes_scalar(e, operand, 0));
    return;
  }
  // Lanes that do not run may hold poison, which must not spread.
  LLVMValueRef value =
      LLVMBuildFreeze(e->builder, lanes_vector(e, operand, 0), "");
  LLVMValueRef last = mtlc_i32(e->context, e->lanes - 1);
  if (lanes_is_uniform(lanes_shape_of(e->values, lane))) {
    LLVMValueRef one =
        LLVMBuildAnd(e->builder, lanes_scalar(e, lane, 0), last, "");
    lanes_set_result(e, call, 0,
                     LLVMBuildExtractElement(e->builder, value, one, ""));
    return;
  }
  LLVMValueRef index = lanes_vector(e, lane, 0);
  LLVMValueRef result =
      LLVMIsConstant(index) ? shuffle_by_constant(e, value, index) : NULL;
  if (!result) {
    index =
        LLVMBuildAnd(e->builder, index, lanes_splat(e, e->builder, last), "");
    result = permute(e, value, LLVMBuildFreeze(e->builder, index, ""));
  }
  lanes_set_result(e, call, 0, result);
}

void lanes_emit_ballot(lanes_emitter *e, LLVMValueRef call) {
  LLVMValueRef predicate = lanes_vector(e, LLVMGetOperand(call, 0), 0);
  LLVMValueRef active = LLVMBuildSelect(e->builder, e->mask, predicate,
                                        LLVMConstNull(LLVMTypeOf(e->mask)), "");
  lanes_set_result(e, call, 0, lanes_mask_bits(e, active));
}
