// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// convert.c: air.convert.TO.FROM: conversions between numbers, each type with a
// letter in front: f, s (signed), u (unsigned or bool). define_arithmetic gives
// those to integers their values where C++ leaves them open.
#include <string.h>

#include "compiler/air/families.h"

typedef struct number_type {
  char letter;  // 'f', 's', 'u'
  LLVMTypeRef type;
  LLVMTypeRef element;
} number_type;

static LLVMTypeRef element_of(LLVMTypeRef type) {
  return LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LLVMGetElementType(type)
                                                     : type;
}

// Returns the type with other elements.
static LLVMTypeRef like(LLVMTypeRef type, LLVMTypeRef element) {
  return LLVMGetTypeKind(type) == LLVMVectorTypeKind
             ? LLVMVectorType(element, LLVMGetVectorSize(type))
             : element;
}

static bool is_bfloat(LLVMTypeRef element) {
  return LLVMGetTypeKind(element) == LLVMBFloatTypeKind;
}

static bool is_bool(LLVMTypeRef element) {
  return LLVMGetTypeKind(element) == LLVMIntegerTypeKind &&
         LLVMGetIntTypeWidth(element) == 1;
}

static LLVMValueRef from_float(air_translation *t, LLVMValueRef value,
                               const number_type *to) {
  if (to->letter == 'f') {
    return LLVMBuildFPCast(t->builder, value, to->type, "");
  }
  if (is_bool(to->element)) {
    return LLVMBuildFCmp(t->builder, LLVMRealUNE, value,
                         LLVMConstNull(LLVMTypeOf(value)), "");
  }
  return to->letter == 's'
             ? LLVMBuildFPToSI(t->builder, value, to->type, "")
             : LLVMBuildFPToUI(t->builder, value, to->type, "");
}

static LLVMValueRef from_integer(air_translation *t, LLVMValueRef value,
                                 const number_type *from,
                                 const number_type *to) {
  if (to->letter == 'f') {
    return from->letter == 's'
               ? LLVMBuildSIToFP(t->builder, value, to->type, "")
               : LLVMBuildUIToFP(t->builder, value, to->type, "");
  }
  if (is_bool(to->element)) {
    return LLVMBuildICmp(t->builder, LLVMIntNE, value,
                         LLVMConstNull(LLVMTypeOf(value)), "");
  }
  return LLVMBuildIntCast2(t->builder, value, to->type, from->letter == 's',
                           "");
}

// Returns the letter of the second type in "s.i32.f.f32"; 0 if there are not
// two.
static char second_letter(const char *rest) {
  const char *dot = strchr(rest + 1, '.');
  dot = dot ? strchr(dot + 1, '.') : NULL;
  return dot ? dot[1] : '\0';
}

// True for rounding to nearest even; other rounding modes are named after the
// types.
static bool is_rounded_plainly(const char *rest) {
  int dots = 0;
  for (; *rest; ++rest) {
    dots += *rest == '.';
  }
  return dots == 3;
}

LLVMValueRef air_call_convert(air_translation *t, LLVMValueRef call,
                              const char *rest) {
  LLVMValueRef value = air_operand(t, call, 0);
  number_type to = {.letter = rest[0], .type = air_type(t, LLVMTypeOf(call))};
  number_type from = {.letter = second_letter(rest), .type = LLVMTypeOf(value)};
  to.element = element_of(to.type);
  from.element = element_of(from.type);
  if (!strchr("fsu", to.letter) || !from.letter ||
      !strchr("fsu", from.letter) || !is_rounded_plainly(rest)) {
    return air_miss_callee(t, call);
  }
  // A bfloat is converted as a float, both ways.
  LLVMTypeRef f32 = LLVMFloatTypeInContext(t->context);
  if (is_bfloat(from.element)) {
    from.type = like(from.type, f32);
    value = LLVMBuildFPExt(t->builder, value, from.type, "");
  }
  number_type through = to;
  if (is_bfloat(to.element)) {
    through.type = like(to.type, f32);
  }
  LLVMValueRef made = from.letter == 'f'
                          ? from_float(t, value, &through)
                          : from_integer(t, value, &from, &through);
  return through.type == to.type
             ? made
             : LLVMBuildFPTrunc(t->builder, made, to.type, "");
}
