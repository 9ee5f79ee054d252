// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// trigonometry.h: circular functions of a float and their inverses.
// Polynomials come from tests/library/fit_polynomials.py.
#ifndef METTLE_TRIGONOMETRY_H
#define METTLE_TRIGONOMETRY_H

#include <mettle/float.h>

#pragma float_control(push)
#pragma clang fp contract(off)

namespace __mettle {

// pi/2 as a sum of floats.
constexpr float half_pi_1 = 0x1.921fb6p+0f;
constexpr float half_pi_2 = -0x1.777a5cp-25f;
constexpr float half_pi_3 = -0x1.ee59dap-50f;

// An angle as quadrant * pi/2 + r, |r| <= pi/4; the quadrant counts modulo 4.
struct reduced_angle {
  uint quadrant;
  float r;
};

// Cody and Waite's reduction: exact products by fused multiply-add, good to a
// unit in the last place of r up to |x| = 2^17 (n < 2^17).
METTLE_INLINE reduced_angle reduce_near(float x) {
  float shifted = fused(x, 0x1.45f306p-1f, round_shift);  // 2/pi
  float n = shifted - round_shift;
  float r = fused(n, -half_pi_1, x);
  r = fused(n, -half_pi_2, r);
  r = fused(n, -half_pi_3, r);
  return {to_bits(shifted), r};
}

// Payne and Hanek's reduction, for 2^16 <= |x| < infinity: x is an integer of
// 24 bits times 2^(exponent - 23); the 96 bits of 2/pi that matter to it modulo
// 4 start exponent - 25 bits behind the point. The words here start with 32
// zero bits, so that the start is exponent + 7.
METTLE_INLINE reduced_angle reduce_far(float x) {
  uint bits = to_bits(x);
  uint exponent = ((bits >> 23) & 0xff) - 127;
  ulong mantissa = (bits & 0x7fffff) | 0x800000;
  uint start = exponent + 7;
  uint word = start >> 5, shift = start & 31;
  constexpr uint w[8] = {0,          0xa2f9836e, 0x4e441529, 0xfc2757d1,
                         0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab};
  // Indexed by selection, which stays in registers: word is 0 to 4.
  uint a = word == 0   ? w[0]
           : word == 1 ? w[1]
           : word == 2 ? w[2]
           : word == 3 ? w[3]
                       : w[4];
  uint b = word == 0   ? w[1]
           : word == 1 ? w[2]
           : word == 2 ? w[3]
           : word == 3 ? w[4]
                       : w[5];
  uint c = word == 0   ? w[2]
           : word == 1 ? w[3]
           : word == 2 ? w[4]
           : word == 3 ? w[5]
                       : w[6];
  uint d = word == 0   ? w[3]
           : word == 1 ? w[4]
           : word == 2 ? w[5]
           : word == 3 ? w[6]
                       : w[7];
  ulong ab = ((ulong)a << 32) | b, bc = ((ulong)b << 32) | c;
  ulong cd = ((ulong)c << 32) | d;
  uint high = (uint)((ab << shift) >> 32);
  uint middle = (uint)((bc << shift) >> 32);
  uint low = (uint)((cd << shift) >> 32);
  // The top 64 bits of mantissa * window modulo 2^96: two of quadrant, then
  // the fraction of it.
  ulong product =
      ((mantissa * high) << 32) + mantissa * middle + ((mantissa * low) >> 32);
  uint quadrant = (uint)(product >> 62) + (uint)((product >> 61) & 1);
  long fraction = (long)(product << 2);
  // As floats: 24 bits, 24 bits and 16 bits of it, then two that hold it all.
  float top = (float)(int)(fraction >> 40) * 0x1p40f;
  float next = (float)(int)((fraction >> 16) & 0xffffff) * 0x1p16f;
  float_pair sum = add_exactly(top, next);
  sum.low = sum.low + (float)(int)(fraction & 0xffff);
  constexpr float scale = 0x1.921fb6p-64f;  // pi/2 / 2^64, and the rest
  constexpr float scale_low = -0x1.777a5cp-89f;
  float scaled_sum = sum.high * scale;
  float rest = fused(sum.high, scale, -scaled_sum);
  rest = fused(sum.high, scale_low, rest);
  rest = fused(sum.low, scale, rest);
  float r = scaled_sum + rest;
  bool is_negative = x < 0.0f;
  float minus_r = -r;
  uint minus_quadrant = 0u - quadrant;
  return {is_negative ? minus_quadrant : quadrant, is_negative ? minus_r : r};
}

METTLE_INLINE reduced_angle reduce(float x) {
  reduced_angle angle = reduce_near(x);
  if (magnitude(x) > 0x1p16f) angle = reduce_far(x);
  float undefined = x - x;  // NaN for infinities and NaN, 0 otherwise
  return {angle.quadrant, undefined == 0.0f ? angle.r : not_a_number};
}

// On [-pi/4, pi/4].
METTLE_INLINE float sin_quarter(float r) {
  float z = r * r;
  float tail = polynomial(z, -0x1.555544p-3f, 0x1.1106c6p-7f, -0x1.991c24p-13f);
  return fused(r * z, tail, r);
}
METTLE_INLINE float cos_quarter(float r) {
  float z = r * r;
  float tail = polynomial(z, 0x1.55554ap-5f, -0x1.6c0c1ap-10f, 0x1.99e0ecp-16f);
  float rest = fused(z * z, tail, z * -0.5f);
  return 1.0f + rest;
}

// Sine and cosine of an angle, from the two polynomials of its remainder.
struct sine_and_cosine {
  float sine, cosine;
};
METTLE_INLINE sine_and_cosine turn(uint quadrant, float s, float c) {
  bool is_swapped = quadrant & 1;
  float sine = is_swapped ? c : s;
  float cosine = is_swapped ? s : c;
  uint sine_sign = (quadrant & 2) << 30;
  uint cosine_sign = ((quadrant + 1) & 2) << 30;
  return {from_bits(to_bits(sine) ^ sine_sign),
          from_bits(to_bits(cosine) ^ cosine_sign)};
}
METTLE_INLINE sine_and_cosine sincos_precise(float x) {
  reduced_angle angle = reduce(x);
  sine_and_cosine both =
      turn(angle.quadrant, sin_quarter(angle.r), cos_quarter(angle.r));
  both.sine = x == 0.0f ? x : both.sine;
  return both;
}
METTLE_INLINE float sin_precise(float x) {
  return sincos_precise(x).sine;
}
METTLE_INLINE float cos_precise(float x) {
  return sincos_precise(x).cosine;
}
METTLE_INLINE float tan_precise(float x) {
  sine_and_cosine both = sincos_precise(x);
  return both.sine / both.cosine;
}

// The fast forms reduce to about [-pi/2, pi/2] and use one polynomial, which is
// good to 1.7: 1/pi as a float puts n beside the nearest integer for large x.
// They hold up to |x| = 2^21 and stay within [-1, 1] beyond.
constexpr float pi_1 = 0x1.921fb6p+1f;
constexpr float pi_2 = -0x1.777a5cp-24f;
constexpr float pi_3 = -0x1.ee59dap-49f;
METTLE_INLINE float sin_half(float r, uint half_turns) {
  r = r < -1.7f ? -1.7f : r;
  r = r > 1.7f ? 1.7f : r;
  float z = r * r;
  float tail = polynomial(z, -0x1.555556p-3f, 0x1.11112ep-7f, -0x1.a01facp-13f,
                          0x1.722952p-19f, -0x1.a62ff8p-26f);
  float sine = fused(r * z, tail, r);
  return from_bits(to_bits(sine) ^ (half_turns << 31));
}
METTLE_INLINE float sin_fast(float x) {
  float shifted = fused(x, 0x1.45f306p-2f, round_shift);  // 1/pi
  float n = shifted - round_shift;
  float r = fused(n, -pi_1, x);
  r = fused(n, -pi_2, r);
  r = fused(n, -pi_3, r);
  return sin_half(r, to_bits(shifted));
}
// cos x = sin(x + pi/2): n is a whole number and a half.
METTLE_INLINE float cos_fast(float x) {
  float shifted = fused(magnitude(x), 0x1.45f306p-2f, -0.5f) + round_shift;
  float n = (shifted - round_shift) + 0.5f;
  float r = fused(n, -pi_1, magnitude(x));
  r = fused(n, -pi_2, r);
  r = fused(n, -pi_3, r);
  return sin_half(r, to_bits(shifted) + 1);
}
METTLE_INLINE sine_and_cosine sincos_fast(float x) {
  reduced_angle angle = reduce_near(x);
  return turn(angle.quadrant, sin_quarter(angle.r), cos_quarter(angle.r));
}
METTLE_INLINE float tan_fast(float x) {
  sine_and_cosine both = sincos_fast(x);
  return both.sine / both.cosine;
}

// Sine and cosine of pi * x: the remainder of x is exact.
METTLE_INLINE sine_and_cosine sincospi(float x) {
  // From 2^24 on every finite number is an even integer, as is 0.
  float even = x - x;
  x = magnitude(x) < 0x1p24f ? x : even;
  float n = __builtin_rintf(x + x);
  float remainder = fused(n, -0.5f, x);
  float r = fused(remainder, pi_1, remainder * -0x1.777a5cp-24f);
  float turns = fused(__builtin_floorf(n * 0.25f), -4.0f, n);
  uint quadrant = to_bits(turns + round_shift);
  return turn(quadrant, sin_quarter(r), cos_quarter(r));
}
METTLE_INLINE float sinpi_of(float x) {
  float sine = sincospi(x).sine;
  // An integer gives a zero of x's sign.
  return sine == 0.0f ? with_sign(0.0f, x) : sine;
}
METTLE_INLINE float cospi_of(float x) {
  float cosine = sincospi(x).cosine;
  return cosine == 0.0f ? 0.0f : cosine;
}
METTLE_INLINE float tanpi_of(float x) {
  sine_and_cosine both = sincospi(x);
  float tangent = both.sine / both.cosine;
  return x == 0.0f ? x : tangent;
}

// asin(r) for r^2 = z <= 1/4: r + r * z * tail(z).
METTLE_INLINE float asin_tail(float z) {
  return polynomial(z, 0x1.5555c8p-3f, 0x1.330204p-4f, 0x1.747bb8p-5f,
                    0x1.8c3e5p-6f, 0x1.595c6p-5f);
}
// For |x| > 1/2, by asin(x) = pi/2 - 2 asin(sqrt((1 - x) / 2)).
struct arc {
  bool is_outer;
  float r, tail;  // r and r * z * tail(z)
};
METTLE_INLINE arc arc_of(float ax) {
  bool is_outer = ax > 0.5f;
  float outer_z = fused(ax, -0.5f, 0.5f);
  float root = square_root(outer_z);
  float inner_z = ax * ax;
  float z = is_outer ? outer_z : inner_z;
  float r = is_outer ? root : ax;
  return {is_outer, r, r * z * asin_tail(z)};
}
METTLE_INLINE float asin_of(float x) {
  arc a = arc_of(magnitude(x));
  float inner = a.r + a.tail;
  float outer = fused(-2.0f, inner, half_pi_2) + half_pi_1;
  return with_sign(a.is_outer ? outer : inner, x);
}
METTLE_INLINE float acos_of(float x) {
  arc a = arc_of(magnitude(x));
  float signed_r = with_sign(a.r, x), signed_tail = with_sign(a.tail, x);
  float inner = half_pi_1 - (signed_r - (half_pi_2 - signed_tail));
  float half = a.r + a.tail;
  float positive = half + half;
  float negative = pi_1 - (positive - pi_2);
  float outer = x < 0.0f ? negative : positive;
  return a.is_outer ? outer : inner;
}

// atan(t) for 0 <= t <= 1.
METTLE_INLINE float atan_unit(float t) {
  float z = t * t;
  float tail = polynomial(z, -0x1.55553ep-2f, 0x1.9991e6p-3f, -0x1.2420b6p-3f,
                          0x1.c08f64p-4f, -0x1.58155ep-4f, 0x1.da5ed4p-5f,
                          -0x1.fdfc1cp-6f, 0x1.64c1cep-7f, -0x1.d4984ap-10f);
  return fused(t * z, tail, t);
}
METTLE_INLINE float atan_of(float x) {
  float ax = magnitude(x);
  float inverse = 1.0f / ax;
  bool is_outer = ax > 1.0f;
  float inner = atan_unit(is_outer ? inverse : ax);
  float outer = half_pi_1 - (inner - half_pi_2);
  return with_sign(is_outer ? outer : inner, x);
}
METTLE_INLINE float atan2_of(float y, float x) {
  float ax = magnitude(x), ay = magnitude(y);
  bool is_steep = ay > ax;
  float smaller = is_steep ? ax : ay;
  float larger = is_steep ? ay : ax;
  float t = smaller / larger;
  t = larger == 0.0f ? 0.0f : t;
  t = smaller == infinity ? 1.0f : t;
  float angle = atan_unit(t);
  float steep = half_pi_1 - (angle - half_pi_2);
  angle = is_steep ? steep : angle;
  // The sign of x decides even for a zero.
  bool is_behind = (int)to_bits(x) < 0;
  float behind = pi_1 - (angle - pi_2);
  angle = is_behind ? behind : angle;
  float result = with_sign(angle, y);
  return x != x || y != y ? x + y : result;
}

}  // namespace __mettle

#pragma float_control(pop)

#endif
