// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// math_functions.metal: every function of metal_math over arrays, for
// test_math.py.
#include <metal_stdlib>
using namespace metal;

#define EXPORT extern "C" __attribute__((used)) void

#define ONE(space, name)                                                  \
  EXPORT space##_##name(const device float *x, device float *out, long n) { \
    for (long i = 0; i < n; i++) out[i] = space::name(x[i]);              \
  }
#define TWO(space, name)                                                  \
  EXPORT space##_##name(const device float *x, const device float *y,     \
                        device float *out, long n) {                      \
    for (long i = 0; i < n; i++) out[i] = space::name(x[i], y[i]);        \
  }
#define BOTH_1(name) ONE(precise, name) ONE(fast, name)
#define BOTH_2(name) TWO(precise, name) TWO(fast, name)

BOTH_1(exp) BOTH_1(exp2) BOTH_1(exp10) BOTH_1(log) BOTH_1(log2) BOTH_1(log10)
BOTH_1(sin) BOTH_1(cos) BOTH_1(tan) BOTH_2(pow) BOTH_2(powr) BOTH_2(fmod)

ONE(metal, sin) ONE(metal, exp)
ONE(metal, acos) ONE(metal, acosh) ONE(metal, asin) ONE(metal, asinh)
ONE(metal, atan) ONE(metal, atanh) ONE(metal, cosh) ONE(metal, cospi)
ONE(metal, sinh) ONE(metal, sinpi) ONE(metal, tanh) ONE(metal, tanpi)
ONE(metal, rsqrt) ONE(metal, sqrt) ONE(metal, ceil) ONE(metal, floor)
ONE(metal, trunc) ONE(metal, rint) ONE(metal, round) ONE(metal, fract)
ONE(metal, fabs) ONE(metal, abs) ONE(metal, sign) ONE(metal, saturate)
TWO(metal, atan2) TWO(metal, copysign) TWO(metal, divide) TWO(metal, fdim)
TWO(metal, fmin) TWO(metal, fmax) TWO(metal, nextafter) TWO(metal, min)
TWO(metal, max) TWO(metal, step)

EXPORT frexp_parts(const device float *x, device float *out, long n) {
  for (long i = 0; i < n / 2; i++) {
    int exponent;
    out[2 * i] = frexp(x[i], exponent);
    out[2 * i + 1] = exponent;
  }
}
EXPORT modf_parts(const device float *x, device float *out, long n) {
  for (long i = 0; i < n / 2; i++) out[2 * i] = modf(x[i], out[2 * i + 1]);
}
EXPORT sincos_parts(const device float *x, device float *out, long n) {
  for (long i = 0; i < n / 2; i++)
    out[2 * i] = precise::sincos(x[i], out[2 * i + 1]);
}
EXPORT ilogb_int(const device float *x, device int *out, long n) {
  for (long i = 0; i < n; i++) out[i] = ilogb(x[i]);
}
EXPORT ldexp_float(const device float *x, const device int *k,
                   device float *out, long n) {
  for (long i = 0; i < n; i++) out[i] = ldexp(x[i], k[i]);
}
// half and vectors go through the same code: one of each is enough here.
EXPORT half_exp(const device half *x, device half *out, long n) {
  for (long i = 0; i < n; i++) out[i] = precise::exp(x[i]);
}
EXPORT half_fma(const device half *x, const device half *y,
                const device half *z, device half *out, long n) {
  for (long i = 0; i < n; i++) out[i] = fma(x[i], y[i], z[i]);
}
EXPORT half_nextafter(const device half *x, const device half *y,
                      device half *out, long n) {
  for (long i = 0; i < n; i++) out[i] = nextafter(x[i], y[i]);
}
EXPORT vector_sin(const device float4 *x, device float4 *out, long n) {
  for (long i = 0; i < n / 4; i++) out[i] = precise::sin(x[i]);
}
