// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rounding.h: functions of a float that are exact: rounding, remainders,
// and the parts of a number.
#ifndef METTLE_ROUNDING_H
#define METTLE_ROUNDING_H

#include <mettle/float.h>

#pragma float_control(push)
#pragma clang fp contract(off)

namespace __mettle {

// Halves go away from zero.
METTLE_INLINE float round_of(float x) {
  float whole = __builtin_truncf(x);
  float step = magnitude(x - whole) >= 0.5f ? 1.0f : 0.0f;
  float result = whole + with_sign(step, x);
  return magnitude(x) < infinity ? result : x;
}

// Below 1, though a tiny negative x is 1 above its floor when rounded.
METTLE_INLINE float fract_of(float x) {
  float fraction = x - __builtin_floorf(x);
  return fraction >= 1.0f ? 0x1.fffffep-1f : fraction;
}

// The sign bit and 24-bit remainder of a long division, 21 bits a turn; one
// turn unless x / y is beyond 2^22.
METTLE_INLINE float fmod_precise(float x, float y) {
  float rest = magnitude(x), divisor = magnitude(y);
  bool is_defined = rest < infinity && divisor > 0.0f;
  rest = is_defined ? rest : 0.0f;
  while (rest >= divisor) {
    float multiple = divisor;
    float quotient = rest / multiple;
    while (quotient >= 0x1p22f) {
      uint exponent = (to_bits(quotient) >> 23) - 127;
      exponent = exponent > 127 ? 127 : exponent;
      multiple *= power_of_two((int)exponent - 20);
      quotient = rest / multiple;
    }
    // The quotient may have been rounded up to the next integer.
    float reduced = fused(-__builtin_truncf(quotient), multiple, rest);
    float repaired = reduced + multiple;
    rest = reduced < 0.0f ? repaired : reduced;
  }
  float result = with_sign(rest, x);
  float undefined = divisor == divisor && x == x ? not_a_number : x + y;
  return is_defined ? result : undefined;
}
METTLE_INLINE float fmod_fast(float x, float y) {
  float quotient = __builtin_truncf(x / y);
  float rest = fused(-quotient, y, x);
  // Off by one where the quotient was rounded up to the next integer.
  float repaired = rest + with_sign(y, x);
  bool is_past = (rest < 0.0f && x > 0.0f) || (rest > 0.0f && x < 0.0f);
  rest = is_past ? repaired : rest;
  bool is_whole = magnitude(x) < magnitude(y);
  return is_whole ? x : with_sign(rest, x);
}

// x * 2^n, rounded once. The first two steps leave normal numbers normal
// wherever the result is not 0.
METTLE_INLINE float ldexp_of(float x, int n) {
  n = n < -400 ? -400 : n;
  n = n > 400 ? 400 : n;
  for (int turn = 0; turn < 2; turn++) {
    int step = n < -126 ? -102 : 0;
    step = n > 127 ? 127 : step;
    x *= power_of_two(step);
    n -= step;
  }
  n = n < -126 ? -126 : n;
  n = n > 127 ? 127 : n;
  return x * power_of_two(n);
}

// x as fraction * 2^exponent, 1/2 <= |fraction| < 1.
struct fraction_and_exponent {
  float fraction;
  int exponent;
};
METTLE_INLINE fraction_and_exponent frexp_of(float x) {
  bool is_tiny = magnitude(x) < 0x1p-126f;
  float grown = x * 0x1p24f;
  uint bits = to_bits(is_tiny ? grown : x);
  int exponent = (int)((bits >> 23) & 0xff) - 126;
  exponent = is_tiny ? exponent - 24 : exponent;
  float fraction = from_bits((bits & 0x807fffffu) | 0x3f000000u);
  bool is_ordinary = magnitude(x) > 0.0f && magnitude(x) < infinity;
  return {is_ordinary ? fraction : x, is_ordinary ? exponent : 0};
}
// FP_ILOGB0 and FP_ILOGBNAN are the limits of int.
METTLE_INLINE int ilogb_of(float x) {
  int exponent = frexp_of(x).exponent - 1;
  exponent = x == 0.0f ? -0x7fffffff - 1 : exponent;
  exponent = magnitude(x) == infinity ? 0x7fffffff : exponent;
  return x != x ? 0x7fffffff : exponent;
}

METTLE_INLINE float nextafter_of(float x, float y) {
  int bits = (int)to_bits(x);
  bool is_up = y > x;
  // As an integer a float rises with its magnitude.
  int next = is_up == (x > 0.0f) ? bits + 1 : bits - 1;
  int smallest = (int)(0x1u | (is_up ? 0u : 0x80000000u));
  next = x == 0.0f ? smallest : next;
  float result = from_bits((uint)next);
  result = x == y ? y : result;
  return x != x || y != y ? x + y : result;
}

}  // namespace __mettle

#pragma float_control(pop)

#endif
