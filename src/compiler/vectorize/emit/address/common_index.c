// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// common_index.c: splits indices into a uniform part and a lane's own part:
//
//   const uint low = 2 * l - (l & (stride - 1)), other = l ^ stride;
//
// A simdgroup's first thread has an index that is a multiple of 32; the lane's
// number has no bits in common with it: `l & mask` is `(first & mask) + (lane &
// mask)`. A lane's own part is thus the same in all simdgroups, and checks on
// it are hoisted before the loop over them.
#include "compiler/vectorize/emit/address/common_index.h"

#include "compiler/ir/llvm/types.h"
#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/analysis/uniformity.h"
#include "compiler/vectorize/emit/values/builder.h"
#include "compiler/vectorize/emit/values/emitter.h"
#include "compiler/vectorize/emit/values/values.h"

enum { MOST_STEPS = 12, WIDTH = 32 };

static bool part(lanes_emitter *e, LLVMValueRef value, uint32_t steps,
                 lanes_common_index_parts *out);

static LLVMValueRef number(const lanes_emitter *e, uint32_t value) {
  return mtlc_i32(e->context, value);
}

// Moves the low bits of the common part to the lanes' parts.
static void round_down(lanes_emitter *e, lanes_common_index_parts *parts) {
  LLVMBuilderRef builder = e->builder;
  LLVMValueRef low = number(e, (1 << LANES_COMMON_BITS) - 1);
  LLVMValueRef rest = LLVMBuildAnd(builder, parts->common, low, "");
  parts->common = LLVMBuildSub(builder, parts->common, rest, "");
  parts->own =
      LLVMBuildAdd(builder, parts->own, lanes_splat(e, builder, rest), "");
  parts->own_bits = 0;
}

// Splits a number whose shape tells how lanes differ.
static bool part_run(lanes_emitter *e, LLVMValueRef value, lanes_shape shape,
                     lanes_common_index_parts *out) {
  if (shape.conditional || !lanes_is_at_hand(e, value)) {
    return false;
  }
  out->common = lanes_scalar(e, value, 0);
  out->own = lanes_steps(e->lanes, e->types.i32, 0, (uint64_t)shape.stride);
  if (shape.align < LANES_COMMON_BITS) {
    round_down(e, out);
    return true;
  }
  const uint64_t last = (uint64_t)shape.stride * (e->lanes - 1);
  const uint32_t align = shape.align < WIDTH ? shape.align : WIDTH - 1;
  out->own_bits = last >> align == 0 ? align : 0;
  return true;
}

static void part_sum(lanes_emitter *e, LLVMOpcode opcode,
                     const lanes_common_index_parts *a, const lanes_common_index_parts *b,
                     lanes_common_index_parts *out) {
  LLVMBuilderRef builder = e->builder;
  out->common = LLVMBuildBinOp(builder, opcode, a->common, b->common, "");
  out->own = LLVMBuildBinOp(builder, opcode, a->own, b->own, "");
  out->own_bits = 0;
}

// Splits the result of a bitwise operation with a uniform operand, if the parts
// share no bits.
static bool part_bits(lanes_emitter *e, LLVMOpcode opcode,
                      const lanes_common_index_parts *from, LLVMValueRef bits,
                      lanes_common_index_parts *out) {
  LLVMBuilderRef builder = e->builder;
  LLVMValueRef below = number(e, (UINT32_C(1) << from->own_bits) - 1);
  LLVMValueRef high = LLVMBuildAnd(builder, bits, LLVMConstNot(below), "");
  LLVMValueRef low = LLVMBuildAnd(builder, bits, below, "");
  *out = *from;
  out->common = LLVMBuildBinOp(builder, opcode, from->common, high, "");
  out->own = LLVMBuildBinOp(builder, opcode, from->own,
                            lanes_splat(e, builder, low), "");
  return from->own_bits > 0;
}

static void part_product(lanes_emitter *e, const lanes_common_index_parts *from,
                         LLVMValueRef factor, lanes_common_index_parts *out) {
  LLVMBuilderRef builder = e->builder;
  out->common = LLVMBuildMul(builder, from->common, factor, "");
  out->own =
      LLVMBuildMul(builder, from->own, lanes_splat(e, builder, factor), "");
  out->own_bits = 0;
}

// Splits a shift, if nothing carries from the lanes' parts to the common part.
static bool part_shift(lanes_emitter *e, LLVMOpcode opcode,
                       const lanes_common_index_parts *from, LLVMValueRef by,
                       lanes_common_index_parts *out) {
  LLVMBuilderRef builder = e->builder;
  out->common = LLVMBuildBinOp(builder, opcode, from->common, by, "");
  out->own = LLVMBuildBinOp(builder, opcode, from->own,
                            lanes_splat(e, builder, by), "");
  out->own_bits = 0;
  if (opcode == LLVMShl) {
    return true;
  }
  round_down(e, out);
  return from->own_bits > 0;
}

// Splits an operation with a uniform operand.
static bool part_with_uniform(lanes_emitter *e, LLVMOpcode opcode,
                              LLVMValueRef value, LLVMValueRef uniform,
                              uint32_t steps, lanes_common_index_parts *out) {
  lanes_common_index_parts from;
  if (!lanes_is_uniform(lanes_shape_of(e->values, uniform)) ||
      !lanes_is_at_hand(e, uniform) || !part(e, value, steps, &from)) {
    return false;
  }
  LLVMValueRef scalar = lanes_scalar(e, uniform, 0);
  switch (opcode) {
    case LLVMMul: part_product(e, &from, scalar, out); return true;
    case LLVMShl:
    case LLVMLShr: return part_shift(e, opcode, &from, scalar, out);
    default: return part_bits(e, opcode, &from, scalar, out);
  }
}

static bool is_sum(LLVMValueRef value, LLVMOpcode opcode) {
  return opcode == LLVMAdd || opcode == LLVMSub ||
         (opcode == LLVMOr && LLVMGetIsDisjoint(value));
}

static bool part_operation(lanes_emitter *e, LLVMValueRef value, uint32_t steps,
                           lanes_common_index_parts *out) {
  const LLVMOpcode opcode = LLVMGetInstructionOpcode(value);
  const bool is_shift = opcode == LLVMShl || opcode == LLVMLShr;
  if (!is_sum(value, opcode) && !is_shift && opcode != LLVMMul &&
      opcode != LLVMAnd && opcode != LLVMOr && opcode != LLVMXor) {
    return false;
  }
  LLVMValueRef left = LLVMGetOperand(value, 0);
  LLVMValueRef right = LLVMGetOperand(value, 1);
  if (is_sum(value, opcode)) {
    lanes_common_index_parts a, b;
    if (!part(e, left, steps, &a) || !part(e, right, steps, &b)) {
      return false;
    }
    part_sum(e, opcode == LLVMSub ? LLVMSub : LLVMAdd, &a, &b, out);
    return true;
  }
  return part_with_uniform(e, opcode, left, right, steps, out) ||
         (!is_shift && part_with_uniform(e, opcode, right, left, steps, out));
}

static bool part(lanes_emitter *e, LLVMValueRef value, uint32_t steps,
                 lanes_common_index_parts *out) {
  const lanes_shape shape = lanes_shape_of(e->values, value);
  if (shape.row == e->lanes) {
    return part_run(e, value, shape, out);
  }
  return LLVMIsAInstruction(value) && steps > 0 &&
         part_operation(e, value, steps - 1, out);
}

bool lanes_common_index(lanes_emitter *e, LLVMValueRef index,
                      lanes_common_index_parts *out_parts) {
  return LLVMTypeOf(index) == e->types.i32 &&
         part(e, index, MOST_STEPS, out_parts);
}
