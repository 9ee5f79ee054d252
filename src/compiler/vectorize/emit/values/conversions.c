// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// conversions.c: converts vectors of floats to integers as docs/ir.md defines:
// out-of-range numbers become the nearest integer in range, NaN becomes 0. LLVM
// 19 emits its saturating conversions and comparisons of halves lane by lane,
// and it narrows comparisons of floats that were halves to such comparisons. A
// value that the kernel has clamped itself is not clamped again.
#include "compiler/vectorize/emit/values/conversions.h"

#include <math.h>
#include <stddef.h>

#include "compiler/vectorize/emit/values/builder.h"
#include "compiler/vectorize/emit/values/emitter.h"

typedef struct conversion {
  lanes_emitter *e;
  LLVMValueRef value;  // <N x float>
  uint32_t width;      // N
  LLVMTypeRef type;    // <N x integer>
  unsigned bits;
  bool is_signed;
} conversion;

static LLVMValueRef number(const conversion *c, double number) {
  return lanes_splat_to(c->e, c->e->builder,
                        LLVMConstReal(c->e->types.f32, number), c->width);
}

static LLVMValueRef integer(const conversion *c, uint64_t bits) {
  return lanes_splat_to(c->e, c->e->builder,
                        LLVMConstInt(LLVMGetElementType(c->type), bits, false),
                        c->width);
}

static LLVMValueRef compare(const conversion *c, LLVMRealPredicate how,
                            LLVMValueRef with) {
  return LLVMBuildFCmp(c->e->builder, how, c->value, with, "");
}

// The range that a clamp leaves of a value: at most, or at least, a number.
typedef struct bounded {
  LLVMValueRef value;
  double by;
  bool is_most;
  bool is_number;  // the clamp has replaced NaN
} bounded;

// Returns the number that all elements of a vector constant are; NaN if there
// is none.
static double same_number(LLVMValueRef vector) {
  LLVMValueRef first =
      LLVMIsConstant(vector) ? LLVMGetAggregateElement(vector, 0) : NULL;
  const uint32_t count = LLVMGetVectorSize(LLVMTypeOf(vector));
  for (uint32_t i = 1; first && i < count; i++) {
    first = LLVMGetAggregateElement(vector, i) == first ? first : NULL;
  }
  LLVMBool is_rounded = false;
  return first && LLVMIsAConstantFP(first)
             ? LLVMConstRealGetDouble(first, &is_rounded)
             : NAN;
}

static bool read_bound(LLVMValueRef value, bounded *out) {
  LLVMValueRef how =
      LLVMIsASelectInst(value) ? LLVMGetOperand(value, 0) : NULL;
  if (!how || !LLVMIsAFCmpInst(how)) {
    return false;
  }
  const LLVMRealPredicate predicate = LLVMGetFCmpPredicate(how);
  const bool is_less = predicate == LLVMRealOLT || predicate == LLVMRealOLE;
  LLVMValueRef of = LLVMGetOperand(how, 0), by = LLVMGetOperand(how, 1);
  const bool is_number =
      LLVMGetOperand(value, 1) == of && LLVMGetOperand(value, 2) == by;
  *out = (bounded){of, same_number(by), is_less == is_number, is_number};
  return (is_less || predicate == LLVMRealOGT || predicate == LLVMRealOGE) &&
         (is_number ||
          (LLVMGetOperand(value, 1) == by && LLVMGetOperand(value, 2) == of)) &&
         !isnan(out->by);
}

// True if a value that is a number is at most, or at least, a limit.
static bool is_within(LLVMValueRef value, double limit, bool is_most) {
  bounded b;
  return read_bound(value, &b) && (is_most ? b.by <= limit : b.by >= limit) &&
         (b.is_most == is_most || is_within(b.value, limit, is_most));
}

static bool is_number(LLVMValueRef value) {
  bounded b;
  return read_bound(value, &b) && b.is_number;
}

// Converts to 8 or 16 bits: by a clamp, since their limits are exact floats,
// and through 32 bits.
static LLVMValueRef convert_clamped(const conversion *c) {
  LLVMBuilderRef b = c->e->builder;
  const double end = ldexp(1, (int)c->bits - c->is_signed);
  const double least = c->is_signed ? -end : 0;
  LLVMValueRef low = number(c, least);
  LLVMValueRef high = number(c, end - 1);
  // NaN becomes the limit here.
  LLVMValueRef above =
      is_number(c->value) && is_within(c->value, least, false)
          ? c->value
          : LLVMBuildSelect(b, compare(c, LLVMRealOGT, low), c->value, low, "");
  LLVMValueRef clamped =
      is_within(c->value, end - 1, true)
          ? above
          : LLVMBuildSelect(b, LLVMBuildFCmp(b, LLVMRealOLT, above, high, ""),
                            above, high, "");
  LLVMValueRef word = LLVMBuildFPToSI(
      b, clamped, LLVMVectorType(c->e->types.i32, c->width), "");
  LLVMValueRef result = LLVMBuildTrunc(b, word, c->type, "");
  return c->is_signed && !is_number(c->value)
             ? LLVMBuildSelect(b, compare(c, LLVMRealORD, c->value), result,
                               LLVMConstNull(c->type), "")
             : result;
}

// Converts to 32 or 64 bits: only the powers of two at their limits are exact
// floats.
static LLVMValueRef convert_inside(const conversion *c) {
  LLVMBuilderRef b = c->e->builder;
  LLVMValueRef end = number(c, ldexp(1, (int)c->bits - c->is_signed));
  LLVMValueRef low = number(c, c->is_signed ? -ldexp(1, (int)c->bits - 1) : -1);
  LLVMValueRef inside =
      LLVMBuildAnd(b, compare(c, c->is_signed ? LLVMRealOGE : LLVMRealOGT, low),
                   compare(c, LLVMRealOLT, end), "");
  LLVMValueRef defined = LLVMBuildSelect(b, inside, c->value, number(c, 0), "");
  const uint64_t all = ~UINT64_C(0) >> (64 - c->bits);
  LLVMValueRef result = c->is_signed ? LLVMBuildFPToSI(b, defined, c->type, "")
                                     : LLVMBuildFPToUI(b, defined, c->type, "");
  result =
      LLVMBuildSelect(b, compare(c, LLVMRealOGE, end),
                      integer(c, c->is_signed ? all >> 1 : all), result, "");
  return c->is_signed ? LLVMBuildSelect(b, compare(c, LLVMRealOLT, low),
                                        integer(c, (all >> 1) + 1), result, "")
                      : result;
}

LLVMValueRef lanes_as_float(lanes_emitter *e, LLVMValueRef value) {
  LLVMTypeRef type = LLVMTypeOf(value);
  if (LLVMGetTypeKind(type) != LLVMVectorTypeKind ||
      LLVMGetElementType(type) != e->types.f16) {
    return value;
  }
  LLVMTypeRef wide = LLVMVectorType(e->types.f32, LLVMGetVectorSize(type));
  LLVMValueRef result = LLVMBuildFPExt(e->builder, value, wide, "");
  return LLVMIsConstant(result) ? result
                                : lanes_intrinsic(e, "llvm.arithmetic.fence",
                                                  &wide, 1, &result, 1);
}

LLVMValueRef lanes_to_integer(lanes_emitter *e, LLVMValueRef value,
                              LLVMTypeRef type, bool is_signed) {
  if (LLVMGetTypeKind(type) != LLVMVectorTypeKind) {
    return NULL;
  }
  LLVMTypeRef from = LLVMGetElementType(LLVMTypeOf(value));
  conversion c = {.e = e,
                  .value = value,
                  .width = LLVMGetVectorSize(type),
                  .type = type,
                  .bits = LLVMGetIntTypeWidth(LLVMGetElementType(type)),
                  .is_signed = is_signed};
  if (from == e->types.f16) {
    c.value = lanes_as_float(e, value);
  } else if (from != e->types.f32) {
    return NULL;
  }
  switch (c.bits) {
    case 8:
    case 16: return convert_clamped(&c);
    case 32:
    case 64: return convert_inside(&c);
    default: return NULL;
  }
}
