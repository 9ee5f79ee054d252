// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// exp_log.h: exponentials, logarithms, powers and the hyperbolic
// functions of a float. Errors are measured over the whole range by
// tests/library/test_math.py. Polynomials come from
// tests/library/fit_polynomials.py.
#ifndef METTLE_EXP_LOG_H
#define METTLE_EXP_LOG_H

#include <mettle/float.h>

#pragma float_control(push)
#pragma clang fp contract(off)

namespace __mettle {

// Exponentials: x = n * step + r, base^x = 2^n * p(r).

// An integer, as an int and as a float.
struct rounded {
  int integer;
  float value;
};
// round(x * factor), for results below 2^22.
METTLE_INLINE rounded round_product(float x, float factor) {
  float shifted = fused(x, factor, round_shift);
  return {(int)(to_bits(shifted) - to_bits(round_shift)),
          shifted - round_shift};
}
METTLE_INLINE float bounded(float x, float low, float high) {
  x = x < low ? low : x;
  return x > high ? high : x;
}

// e^r - 1.
METTLE_INLINE float exp_polynomial(float r) {
  float tail = polynomial(r, 0x1p-1f, 0x1.55549p-3f, 0x1.5554c8p-5f,
                          0x1.123ad8p-7f, 0x1.6d7154p-10f);
  return fused(r * r, tail, r);
}
METTLE_INLINE float exp2_polynomial(float r) {
  float tail = polynomial(r, 0x1.62e43p-1f, 0x1.ebfbep-3f, 0x1.c6b074p-5f,
                          0x1.3b2a5ep-7f, 0x1.5d9ccep-10f, 0x1.440c7cp-13f,
                          0x1.ec5c3ap-17f);
  return fused(r, tail, 1.0f);
}
METTLE_INLINE float exp10_polynomial(float r) {
  float tail =
      polynomial(r, 0x1.26bb1cp+1f, 0x1.53524cp+1f, 0x1.046ffep+1f,
                 0x1.2bd7b4p+0f, 0x1.14a162p-1f, 0x1.a87b7cp-3f, 0x1.7bf65p-5f);
  return fused(r, tail, 1.0f);
}

constexpr float log2_of_e = 0x1.715476p+0f;
constexpr float log2_of_10 = 0x1.a934fp+1f;
constexpr float ln2_high = 0x1.62e43p-1f;  // ln 2 to 24 bits, and the rest
constexpr float ln2_low = -0x1.05c61p-29f;
constexpr float log10_2_high = 0x1.344136p-2f;
constexpr float log10_2_low = -0x1.ec10cp-27f;

// e^x * 2^more.
METTLE_INLINE float exp_scaled(float x, int more) {
  x = bounded(x, -105.0f, 90.0f);
  rounded n = round_product(x, log2_of_e);
  float r = fused(n.value, -ln2_high, x);
  r = fused(n.value, -ln2_low, r);
  return scaled(exp_polynomial(r) + 1.0f, n.integer + more);
}
METTLE_INLINE float exp_precise(float x) {
  return exp_scaled(x, 0);
}
METTLE_INLINE float exp2_precise(float x) {
  x = bounded(x, -151.0f, 129.0f);
  rounded n = round_product(x, 1.0f);
  return scaled(exp2_polynomial(x - n.value), n.integer);
}
METTLE_INLINE float exp10_precise(float x) {
  x = bounded(x, -46.0f, 39.0f);
  rounded n = round_product(x, log2_of_10);
  float r = fused(n.value, -log10_2_high, x);
  r = fused(n.value, -log10_2_low, r);
  return scaled(exp10_polynomial(r), n.integer);
}

// n = round(x * factor) and 2^(n - 1), for -126 <= n <= 128; any power for
// others.
struct rounded_power {
  float value;
  float half;
};
METTLE_INLINE rounded_power round_to_power(float x, float factor) {
  // Leaves n + 126 in the low bits: the exponent as a float has it.
  constexpr float shift = round_shift + 126.0f;
  float shifted = fused(x, factor, shift);
  // 2^-127, for the least of n, is subnormal. Written with < LLVM makes == of
  // it, and a choice.
  uint bits = __builtin_elementwise_max(to_bits(shifted) << 23, 0x400000u);
  return {shifted - shift, from_bits(bits)};
}
// Below `low` the result is subnormal: returns 0.
METTLE_INLINE float exp_fast(float x) {
  const float low = -0x1.5d589ep+6f;
  x = x > 89.0f ? 89.0f : x;
  rounded_power n = round_to_power(x, log2_of_e);
  float r = fused(n.value, -ln2_high, x);
  r = fused(n.value, -ln2_low, r);
  float twice = fused(exp_polynomial(r), 2.0f, 2.0f);
  return x < low ? 0.0f : twice * n.half;
}
METTLE_INLINE float exp2_fast(float x) {
  x = x > 128.0f ? 128.0f : x;
  rounded_power n = round_to_power(x, 1.0f);
  float p = exp2_polynomial(x - n.value);
  return x < -126.0f ? 0.0f : (p + p) * n.half;
}
METTLE_INLINE float exp10_fast(float x) {
  const float low = -0x1.2f7030p+5f;
  x = x > 38.5625f ? 38.5625f : x;
  rounded_power n = round_to_power(x, log2_of_10);
  float r = fused(n.value, -log10_2_high, x);
  r = fused(n.value, -log10_2_low, r);
  float p = exp10_polynomial(r);
  return x < low ? 0.0f : (p + p) * n.half;
}

// Logarithms: x = 2^n * (1 + f), 2/3 <= 1 + f < 4/3.

// log(1 + f) / f = 1 - f/2 + f^2 * tail.
METTLE_INLINE float log_polynomial(float f) {
  float tail = polynomial(f, 0x1.555506p-2f, -0x1.fffef8p-3f, 0x1.99d062p-3f,
                          -0x1.559c8ap-3f, 0x1.1ed3acp-3f, -0x1.f3324p-4f,
                          0x1.1e76d6p-3f, -0x1.07c0f2p-3f);
  return fused(f * f, fused(f, tail, -0.5f), f);
}
METTLE_INLINE float log2_tail(float f) {
  return polynomial(f, -0x1.715476p-1f, 0x1.ec703p-2f, -0x1.7153dep-2f,
                    0x1.279d74p-2f, -0x1.ecd164p-3f, 0x1.9de4d8p-3f,
                    -0x1.684956p-3f, 0x1.9ce3bep-3f, -0x1.7bf336p-3f);
}
METTLE_INLINE float log10_tail(float f) {
  return polynomial(f, -0x1.bcb7b2p-3f, 0x1.287a2ep-3f, -0x1.bcb66cp-4f,
                    0x1.63f6e8p-4f, -0x1.28c14ap-4f, 0x1.f224b6p-5f,
                    -0x1.b0e7cep-5f, 0x1.f22ebep-5f, -0x1.cc976ep-5f);
}

// f * (high + low) + f^2 * tail + n * (step_high + step_low).
METTLE_INLINE float log_sum(split_float x, float high, float low, float tail,
                            float step_high, float step_low) {
  float product = x.f * high;
  float rest = fused(x.f, high, -product);
  rest = fused(x.f, low, rest);
  rest = fused(x.exponent, step_low, rest);
  rest = fused(x.f * x.f, tail, rest);
  float_pair steps = add_exactly(x.exponent * step_high, product);
  // n * step_high is exact enough only together with its rounding error.
  float lost = fused(x.exponent, step_high, -(x.exponent * step_high));
  return steps.high + (steps.low + (lost + rest));
}

METTLE_INLINE float log_of(split_float x) {
  float result = log_polynomial(x.f);
  result = fused(x.exponent, ln2_low, result);
  return fused(x.exponent, ln2_high, result);
}
METTLE_INLINE float log2_of(split_float x) {
  return log_sum(x, 0x1.715476p+0f, 0x1.4ae0cp-26f, log2_tail(x.f), 1.0f, 0.0f);
}
METTLE_INLINE float log10_of(split_float x) {
  return log_sum(x, 0x1.bcb7b2p-2f, -0x1.5b235ep-27f, log10_tail(x.f),
                 log10_2_high, log10_2_low);
}
// Returns a logarithm outside the positive finite numbers.
METTLE_INLINE float log_limits(float x, float result) {
  float special = x == 0.0f ? -infinity : x;
  special = x < 0.0f ? not_a_number : special;
  bool is_ordinary = x > 0.0f && x < infinity;
  return is_ordinary ? result : special;
}

METTLE_INLINE float log_precise(float x) {
  return log_limits(x, log_of(split(x, two_thirds_bits)));
}
METTLE_INLINE float log2_precise(float x) {
  return log_limits(x, log2_of(split(x, two_thirds_bits)));
}
METTLE_INLINE float log10_precise(float x) {
  return log_limits(x, log10_of(split(x, two_thirds_bits)));
}
// Subnormal numbers count as the smallest normal one.
METTLE_INLINE float log_fast(float x) {
  float normal = x < 0x1p-126f ? 0x1p-126f : x;
  return log_limits(x, log_of(split_normal(normal, two_thirds_bits)));
}
METTLE_INLINE float_pair log2_pair_fast(float x) {
  float normal = x < 0x1p-126f ? 0x1p-126f : x;
  split_float parts = split_normal(normal, two_thirds_bits);
  float rest =
      fused(parts.f * parts.f, log2_tail(parts.f), parts.f * 0x1.715476p+0f);
  return add_exactly(parts.exponent, rest);
}
METTLE_INLINE float log2_fast(float x) {
  return log_limits(x, log2_pair_fast(x).high);
}
METTLE_INLINE float log10_fast(float x) {
  float normal = x < 0x1p-126f ? 0x1p-126f : x;
  split_float parts = split_normal(normal, two_thirds_bits);
  float y =
      fused(parts.f * parts.f, log10_tail(parts.f), parts.f * 0x1.bcb7b2p-2f);
  return log_limits(x, fused(parts.exponent, log10_2_high, y));
}

// log(1 + u) for u >= 0, where 1 + u rounds.
METTLE_INLINE float log1p_of(float u) {
  float sum = 1.0f + u;
  float lost =
      sum < 0x1p24f ? (u < 1.0f ? u - (sum - 1.0f) : 1.0f - (sum - u)) : 0.0f;
  split_float x = split_normal(sum, two_thirds_bits);
  // lost is below sum's precision: log(sum + lost) = log(sum) + lost / sum.
  float result = log_polynomial(x.f);
  float correction = lost / sum;
  result = result + correction;
  result = fused(x.exponent, ln2_low, result);
  return fused(x.exponent, ln2_high, result);
}

// Powers: 2^(y * log2 x), log2 x as a pair.

// log2 of a positive finite x: with s = f / (2 + f), log(1 + f) = 2 atanh(s).
METTLE_INLINE float_pair log2_pair(float x) {
  split_float parts = split(x, half_root_bits);
  float m = parts.f + 1.0f;
  float_pair d;
  d.high = m + 1.0f;
  d.low = m - (d.high - 1.0f);
  float inverse = 1.0f / d.high;
  float s = parts.f * inverse;
  float s_low = (fused(-s, d.high, parts.f) - s * d.low) * inverse;
  float z = s * s;
  float tail = polynomial(z, 0x1.555556p-2f, 0x1.999ap-3f, 0x1.245274p-3f,
                          0x1.dfa506p-4f);
  float_pair u = add_exactly(s, fused(s * z, tail, s_low));
  constexpr float scale = 0x1.715476p+1f;  // 2 / ln 2, and the rest
  constexpr float scale_low = 0x1.4ae0cp-25f;
  float product = u.high * scale;
  float rest = fused(u.high, scale, -product);
  rest = fused(u.high, scale_low, rest);
  rest = fused(u.low, scale, rest);
  float_pair sum = add_exactly(parts.exponent, product);
  return {sum.high, sum.low + rest};
}

METTLE_INLINE float exp2_pair(float high, float low) {
  bool is_huge = magnitude(high) > 200.0f;
  high = bounded(high, -200.0f, 200.0f);
  low = is_huge ? 0.0f : low;
  rounded n = round_product(high, 1.0f);
  return scaled(exp2_polynomial((high - n.value) + low), n.integer);
}

// The sign and the exceptions of pow around |x|^y.
METTLE_INLINE float pow_limits(float x, float y, float result) {
  float half_y = y * 0.5f;
  bool is_integer = __builtin_rintf(y) == y;
  bool is_odd = is_integer && __builtin_rintf(half_y) != half_y;
  result = magnitude(x) == 1.0f && y == y ? 1.0f : result;
  float signed_result = is_odd ? with_sign(result, x) : result;
  bool is_undefined = x < 0.0f && x > -infinity && !is_integer;
  signed_result = is_undefined ? not_a_number : signed_result;
  signed_result = x != x || y != y ? x + y : signed_result;
  return x == 1.0f || y == 0.0f ? 1.0f : signed_result;
}
// Most powers are squares; if all threads ask for squares, nothing else is
// computed.
METTLE_INLINE float pow_precise(float x, float y) {
  if (y == 2.0f) return x * x;
  float ax = magnitude(x);
  float_pair l = log2_pair(ax);
  float edge = ax == 0.0f ? -infinity : infinity;
  bool is_ordinary = ax > 0.0f && ax < infinity;
  l.high = is_ordinary ? l.high : edge;
  l.low = is_ordinary ? l.low : 0.0f;
  float high = y * l.high;
  float low = fused(y, l.low, fused(y, l.high, -high));
  return pow_limits(x, y, exp2_pair(high, low));
}
// Without the extended precision of log2 x itself: good to a few units while
// x^y is far from the limits of float.
METTLE_INLINE float powr_fast(float x, float y) {
  float_pair l = log2_pair_fast(x);
  l.high = log_limits(x, l.high);
  float high = y * l.high;
  float low = fused(y, l.low, fused(y, l.high, -high));
  bool is_huge = !(magnitude(high) < 200.0f);
  low = is_huge ? 0.0f : low;
  high = bounded(high, -126.0f, 128.0f);
  rounded_power n = round_to_power(high, 1.0f);
  float p = exp2_polynomial((high - n.value) + low);
  return (p + p) * n.half;
}
METTLE_INLINE float pow_fast(float x, float y) {
  return pow_limits(x, y, powr_fast(magnitude(x), y));
}
METTLE_INLINE float powr_precise(float x, float y) {
  float result = pow_precise(x, y);
  return x < 0.0f ? not_a_number : result;
}

// Hyperbolic functions. e^|x| / 2 does not overflow before they do.

METTLE_INLINE float sinh_of(float x) {
  float ax = magnitude(x), z = x * x;
  float tail = polynomial(z, 0x1.555556p-3f, 0x1.1110ep-7f, 0x1.a022bcp-13f,
                          0x1.756c1ep-19f);
  float small = fused(x * z, tail, x);
  float half_exp = exp_scaled(ax, -1);
  float large = with_sign(half_exp - 0.25f / half_exp, x);
  return ax < 1.0f ? small : large;
}
METTLE_INLINE float cosh_of(float x) {
  float half_exp = exp_scaled(magnitude(x), -1);
  return half_exp + 0.25f / half_exp;
}
METTLE_INLINE float tanh_of(float x) {
  float ax = magnitude(x), z = x * x;
  float tail = polynomial(z, -0x1.555554p-2f, 0x1.111074p-3f, -0x1.b9efacp-5f,
                          0x1.638c0ep-6f, -0x1.0bd07p-7f, 0x1.17edbep-9f);
  float small = fused(x * z, tail, x);
  float grown = exp_fast(ax + ax);
  float large = 1.0f - 2.0f / (grown + 1.0f);
  return with_sign(ax < 0.625f ? small : large, x);
}
METTLE_INLINE float asinh_of(float x) {
  float ax = magnitude(x);
  // Beyond 2^32 the square root is ax itself.
  float safe = ax < 0x1p32f ? ax : 1.0f;
  float square = safe * safe;
  float u = safe + square / (1.0f + square_root(1.0f + square));
  u = ax < 0x1p32f ? u : ax;
  float more = ax < 0x1p32f ? 0.0f : 0x1.62e43p-1f;  // ln 2
  float result = log1p_of(u) + more;
  result = ax < infinity ? result : ax;
  return with_sign(result, x);
}
METTLE_INLINE float acosh_of(float x) {
  float t = x - 1.0f;
  float safe = x < 0x1p32f ? t : 1.0f;
  float u = safe + square_root(fused(safe, safe, safe + safe));
  u = x < 0x1p32f ? u : x;
  float more = x < 0x1p32f ? 0.0f : 0x1.62e43p-1f;
  float result = log1p_of(u) + more;
  result = x < infinity ? result : x;
  return x < 1.0f ? not_a_number : result;
}
METTLE_INLINE float atanh_of(float x) {
  float ax = magnitude(x);
  float result = 0.5f * log1p_of((ax + ax) / (1.0f - ax));
  result = ax == 1.0f ? infinity : result;
  result = ax > 1.0f ? not_a_number : result;
  return ax < 0x1p-13f ? x : with_sign(result, x);
}

}  // namespace __mettle

#pragma float_control(pop)

#endif
