// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// float.h: bits, scaling and argument reduction: what the functions of
// mettle/exp_log.h, mettle/trigonometry.h and mettle/rounding.h share.
//
// All of Mettle's mathematics is made of +, -, *, /, fused multiply-add, square
// root and integer operations in one fixed order, so every tier and vector
// width computes the same bits. Contraction is off: what is fused says so.
// Choices are written `condition ? a : b` between values that are already
// computed, which become selects. A float becomes an integer by its bits after
// adding a large constant, never by a conversion, which costs more.
#ifndef METTLE_FLOAT_H
#define METTLE_FLOAT_H

#include <metal_type_traits>

#pragma float_control(push)
#pragma clang fp contract(off)

namespace __mettle {

METTLE_INLINE constexpr uint to_bits(float x) {
  return __builtin_bit_cast(uint, x);
}
METTLE_INLINE constexpr float from_bits(uint bits) {
  return __builtin_bit_cast(float, bits);
}
METTLE_INLINE float fused(float a, float b, float c) {
  return __builtin_fmaf(a, b, c);
}
METTLE_INLINE float magnitude(float x) {
  return __builtin_fabsf(x);
}
METTLE_INLINE float with_sign(float value, float sign) {
  return __builtin_copysignf(value, sign);
}
METTLE_INLINE float square_root(float x) {
  return __builtin_sqrtf(x);
}

constexpr float infinity = __builtin_inff();
constexpr float not_a_number = __builtin_nanf("");

// c0 + c1 x + c2 x^2 + ..., innermost first.
METTLE_INLINE float polynomial(float, float c) {
  return c;
}
template <typename... C>
METTLE_INLINE float polynomial(float x, float c, C... more) {
  return fused(polynomial(x, more...), x, c);
}

// Adding this to |x| < 2^22 leaves round(x) in the low bits of the sum.
constexpr float round_shift = 0x1.8p23f;

// 2^n for -126 <= n <= 127.
METTLE_INLINE float power_of_two(int n) {
  return from_bits((uint)(n + 127) << 23);
}
// p * 2^n for p near 1 and -252 <= n <= 254, rounded once where it underflows.
METTLE_INLINE float scaled(float p, int n) {
  int first = n >> 1;
  return p * power_of_two(first) * power_of_two(n - first);
}

// A value as the sum of two floats, the second below the first's precision.
struct float_pair {
  float high, low;
};
// a + b exactly, for |a| >= |b| or a == 0.
METTLE_INLINE float_pair add_exactly(float a, float b) {
  float sum = a + b;
  return {sum, b - (sum - a)};
}

// A positive finite x as 2^exponent * (1 + f) with 1 + f from `low` to 2 * low.
struct split_float {
  float exponent, f;
};
// x normal.
METTLE_INLINE split_float split_normal(float x, uint low) {
  uint offset = to_bits(x) - low;
  float mantissa = from_bits((offset & 0x7fffffu) + low);
  // The exponent, a small integer, is put into a float's low bits.
  float shifted = from_bits(to_bits(round_shift) + (uint)((int)offset >> 23));
  return {shifted - round_shift, mantissa - 1.0f};
}
// x may be subnormal.
METTLE_INLINE split_float split(float x, uint low) {
  bool is_tiny = x < 0x1p-126f;
  float grown = x * 0x1p24f;
  float normal = is_tiny ? grown : x;
  split_float parts = split_normal(normal, low);
  float shrink = is_tiny ? 24.0f : 0.0f;
  return {parts.exponent - shrink, parts.f};
}
constexpr uint two_thirds_bits = 0x3f2aaaab;
constexpr uint half_root_bits = 0x3f3504f3;  // sqrt(1/2)

}  // namespace __mettle

#pragma float_control(pop)

#endif
