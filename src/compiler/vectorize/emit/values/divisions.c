// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// divisions.c: emits quotients and remainders of integers, for which machines
// have no vector instruction. Most divide by a uniform value: a width, or a
// number of channels.
#include "compiler/vectorize/emit/values/divisions.h"

#include "compiler/ir/llvm/types.h"
#include "compiler/vectorize/analysis/components.h"
#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/analysis/uniformity.h"
#include "compiler/vectorize/emit/values/builder.h"
#include "compiler/vectorize/emit/values/check_arms.h"
#include "compiler/vectorize/emit/values/emitter.h"
#include "compiler/vectorize/emit/values/values.h"

// A quotient or remainder of vectors.
typedef struct division {
  lanes_emitter *e;
  LLVMValueRef instruction;
  LLVMOpcode opcode;
  LLVMTypeRef type;  // <N x integer>
  uint32_t bits;     // of the integer
  LLVMValueRef a;
  LLVMValueRef b;
} division;

bool lanes_is_division(LLVMOpcode opcode) {
  return opcode == LLVMSDiv || opcode == LLVMUDiv || opcode == LLVMSRem ||
         opcode == LLVMURem;
}

static bool is_signed(const division *d) {
  return d->opcode == LLVMSDiv || d->opcode == LLVMSRem;
}

static bool is_remainder(const division *d) {
  return d->opcode == LLVMSRem || d->opcode == LLVMURem;
}

static lanes_shape operand_shape(const division *d, unsigned k) {
  return lanes_shape_of(d->e->values, LLVMGetOperand(d->instruction, k));
}

static LLVMValueRef repeated(const division *d, LLVMValueRef scalar) {
  return lanes_splat_to(d->e, d->e->builder, scalar,
                        LLVMGetVectorSize(d->type));
}

// --- By way of floating point ------------------------------------------------

// Returns (a + 1/2) * (1 / b). Its integer part is that of a / b: it is at
// least half of 1 / b away from the next integer, and two roundings to p bits
// err by at most (a / b) * 2^(1 - p), which is less for a below 2^(p - 2).
static LLVMValueRef times_reciprocal(const division *d, LLVMValueRef a,
                                     LLVMTypeRef number, bool is_positive) {
  lanes_emitter *e = d->e;
  LLVMTypeRef element = LLVMGetElementType(number);
  LLVMValueRef divisor = LLVMBuildCast(
      e->builder, is_signed(d) ? LLVMSIToFP : LLVMUIToFP,
      lanes_scalar(e, LLVMGetOperand(d->instruction, 1), 0), element, "");
  LLVMValueRef reciprocal =
      LLVMBuildFDiv(e->builder, LLVMConstReal(element, 1), divisor, "");
  LLVMValueRef half = repeated(d, LLVMConstReal(element, 0.5));
  if (!is_positive) {
    LLVMValueRef signs[] = {half, a};
    half = lanes_intrinsic(e, "llvm.copysign", &number, 1, signs, 2);
  }
  return LLVMBuildFMul(e->builder, LLVMBuildFAdd(e->builder, a, half, ""),
                       repeated(d, reciprocal), "");
}

// Divides integers that floating point holds exactly. For |a|, |b| < 2^32 the
// rounded a / b has the integer part of the true one: the next integer is at
// least 1/b away, a relative distance above 2^-53.
static LLVMValueRef divide_as_numbers(const division *d) {
  enum { FLOAT_BITS = 22 };
  lanes_emitter *e = d->e;
  const uint8_t bits[] = {operand_shape(d, 0).bits, operand_shape(d, 1).bits};
  const bool are_positive = bits[0] < d->bits && bits[1] < d->bits;
  const bool is_positive = !is_signed(d) || are_positive;
  const bool is_short =
      d->bits <= 16 ||
      (is_positive && bits[0] <= FLOAT_BITS && bits[1] <= FLOAT_BITS);
  LLVMTypeRef number =
      lanes_wide(is_short ? e->types.f32 : LLVMDoubleTypeInContext(e->context),
                 LLVMGetVectorSize(d->type));
  // Machines have signed conversions.
  const bool as_signed = is_signed(d) || are_positive;
  const LLVMOpcode to = as_signed ? LLVMSIToFP : LLVMUIToFP;
  LLVMValueRef a = LLVMBuildCast(e->builder, to, d->a, number, "");
  LLVMValueRef quotient =
      lanes_is_uniform(operand_shape(d, 1))
          ? times_reciprocal(d, a, number, is_positive)
          : LLVMBuildFDiv(e->builder, a,
                          LLVMBuildCast(e->builder, to, d->b, number, ""), "");
  quotient = LLVMBuildCast(e->builder, as_signed ? LLVMFPToSI : LLVMFPToUI,
                           quotient, d->type, "");
  return is_remainder(d)
             ? LLVMBuildSub(e->builder, d->a,
                            LLVMBuildMul(e->builder, quotient, d->b, ""), "")
             : quotient;
}

// --- Lanes one behind the other ----------------------------------------------

// True if a dividend rises from lane to lane by little, and is not negative, as
// an unsigned number, if its first lane is not.
static bool is_rising(const division *d) {
  enum { MOST_STRIDE = 1 << 16 };
  const lanes_shape shape = operand_shape(d, 0);
  return d->bits == 32 && LLVMGetVectorSize(d->type) == d->e->lanes &&
         lanes_is_scalar(shape) && shape.stride > 0 &&
         shape.stride <= MOST_STRIDE && !shape.conditional &&
         (is_signed(d) ? shape.no_signed_wrap : shape.no_unsigned_wrap) &&
         lanes_is_uniform(operand_shape(d, 1));
}

// Divides lanes that rise by less than the divisor in total: they have at most
// two different quotients.
static LLVMValueRef divide_rising(const division *d) {
  lanes_emitter *e = d->e;
  LLVMBuilderRef b = e->builder;
  const uint64_t stride = (uint64_t)operand_shape(d, 0).stride;
  LLVMValueRef first = lanes_scalar(e, LLVMGetOperand(d->instruction, 0), 0);
  LLVMValueRef divisor = lanes_scalar(e, LLVMGetOperand(d->instruction, 1), 0);
  LLVMValueRef last = mtlc_i32(e->context, (uint32_t)((e->lanes - 1) * stride));
  LLVMValueRef holds = LLVMBuildICmp(b, is_signed(d) ? LLVMIntSGT : LLVMIntUGT,
                                     divisor, last, "");
  if (is_signed(d) && operand_shape(d, 0).bits >= d->bits) {
    LLVMValueRef zero = mtlc_i32(e->context, 0);
    holds = LLVMBuildAnd(b, holds,
                         LLVMBuildICmp(b, LLVMIntSGE, first, zero, ""), "");
  }
  LLVMValueRef quotient = LLVMBuildUDiv(b, first, divisor, "");
  LLVMValueRef remainder =
      LLVMBuildSub(b, first, LLVMBuildMul(b, quotient, divisor, ""), "");
  LLVMValueRef steps = lanes_steps(e->lanes, e->types.i32, 0, stride);
  LLVMValueRef is_next =
      LLVMBuildICmp(b, LLVMIntUGE, steps,
                    repeated(d, LLVMBuildSub(b, divisor, remainder, "")), "");
  LLVMValueRef two;
  if (is_remainder(d)) {
    LLVMValueRef less =
        LLVMBuildSelect(b, is_next, d->b, LLVMConstNull(d->type), "");
    two = LLVMBuildSub(b, LLVMBuildAdd(b, repeated(d, remainder), steps, ""),
                       less, "");
  } else {
    two = LLVMBuildSub(b, repeated(d, quotient),
                       LLVMBuildSExt(b, is_next, d->type, ""), "");
  }
  const lanes_check question = lanes_begin_check(e, holds);
  LLVMBasicBlockRef from[2] = {LLVMGetInsertBlock(b)};
  lanes_end_check_arm(e, &question, question.some);
  LLVMValueRef values[] = {two, divide_as_numbers(d)};
  from[1] = LLVMGetInsertBlock(b);
  lanes_end_check_arm(e, &question, question.done);
  LLVMValueRef result = LLVMBuildPhi(b, d->type, "");
  LLVMAddIncoming(result, values, from, 2);
  return result;
}

// --- All of them -------------------------------------------------------------

LLVMValueRef lanes_divide(lanes_emitter *e, LLVMValueRef instruction,
                          LLVMValueRef a, LLVMValueRef b) {
  division d = {.e = e,
                .instruction = instruction,
                .opcode = LLVMGetInstructionOpcode(instruction),
                .type = LLVMTypeOf(a),
                .a = a,
                .b = b};
  LLVMTypeRef element = LLVMGetElementType(d.type);
  d.bits = LLVMGetIntTypeWidth(element);
  if (LLVMIsConstant(LLVMGetOperand(instruction, 1))) {
    // LLVM makes a multiplication of it
    return LLVMBuildBinOp(e->builder, d.opcode, a, b, "");
  }
  if (d.bits <= 32) {
    return is_rising(&d) ? divide_rising(&d) : divide_as_numbers(&d);
  }
  // LLVM divides lane after lane here: lanes that do not run must not trap.
  LLVMValueRef one =
      lanes_splat(e, e->builder, LLVMConstInt(element, 1, false));
  return LLVMBuildBinOp(e->builder, d.opcode, a,
                        LLVMBuildSelect(e->builder, e->mask, b, one, ""), "");
}
