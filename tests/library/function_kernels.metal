// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// function_kernels.metal: the functions of metal_integer, metal_common,
// metal_relational, metal_geometric, metal_pack and metal_matrix over arrays,
// for test_functions.py.
#include <metal_stdlib>
using namespace metal;

#define EXPORT extern "C" __attribute__((used)) void

#define INTEGER_1(T, name)                                                 \
  EXPORT T##_##name(const device T *x, device T *out, long n) {            \
    for (long i = 0; i < n; i++) out[i] = name(x[i]);                      \
  }
#define INTEGER_2(T, name)                                                 \
  EXPORT T##_##name(const device T *x, const device T *y, device T *out,   \
                    long n) {                                              \
    for (long i = 0; i < n; i++) out[i] = name(x[i], y[i]);                \
  }
#define INTEGER_3(T, name)                                                 \
  EXPORT T##_##name(const device T *x, const device T *y,                  \
                    const device T *z, device T *out, long n) {            \
    for (long i = 0; i < n; i++) out[i] = name(x[i], y[i], z[i]);          \
  }
#define INTEGER(T)                                                         \
  INTEGER_1(T, abs) INTEGER_1(T, clz) INTEGER_1(T, ctz)                    \
  INTEGER_1(T, popcount) INTEGER_1(T, reverse_bits)                        \
  INTEGER_2(T, addsat) INTEGER_2(T, subsat) INTEGER_2(T, hadd)             \
  INTEGER_2(T, rhadd) INTEGER_2(T, mulhi) INTEGER_2(T, rotate)             \
  INTEGER_2(T, min) INTEGER_2(T, max) INTEGER_2(T, absdiff)                \
  INTEGER_3(T, madhi) INTEGER_3(T, madsat) INTEGER_3(T, median3)           \
  INTEGER_3(T, min3) INTEGER_3(T, max3)                                    \
  EXPORT T##_extract_bits(const device T *x, const device uint *offset,    \
                          const device uint *bits, device T *out, long n) { \
    for (long i = 0; i < n; i++)                                           \
      out[i] = extract_bits(x[i], offset[i], bits[i]);                     \
  }                                                                        \
  EXPORT T##_insert_bits(const device T *x, const device T *y,             \
                         const device uint *offset,                        \
                         const device uint *bits, device T *out, long n) { \
    for (long i = 0; i < n; i++)                                           \
      out[i] = insert_bits(x[i], y[i], offset[i], bits[i]);                \
  }
INTEGER(char)
INTEGER(uchar)
INTEGER(short)
INTEGER(ushort)
INTEGER(int)
INTEGER(uint)
INTEGER(long)
INTEGER(ulong)
INTEGER_2(int, mul24)
INTEGER_2(uint, mul24)
INTEGER_3(int, mad24)
INTEGER_3(uint, mad24)

#define QUESTION(T, name)                                                  \
  EXPORT T##_##name(const device T *x, device uchar *out, long n) {        \
    for (long i = 0; i < n; i++) out[i] = name(x[i]);                      \
  }
#define QUESTIONS(T)                                                       \
  QUESTION(T, isnan) QUESTION(T, isinf) QUESTION(T, isfinite)              \
  QUESTION(T, isnormal) QUESTION(T, signbit)
QUESTIONS(float)
QUESTIONS(half)
QUESTIONS(bfloat)

// Rows of four floats in, rows of four out.
#define FLOAT4(name, expression)                                           \
  EXPORT name(const device float4 *a, const device float4 *b,              \
              device float4 *out, long n) {                                \
    for (long i = 0; i < n / 4; i++) {                                     \
      [[maybe_unused]] float4 x = a[i], y = b[i]; \
      out[i] = expression;                                                 \
    }                                                                      \
  }
FLOAT4(dot_4, float4(dot(x, y), dot(x.xyz, y.xyz), dot(x.xy, y.xy), 0))
FLOAT4(cross_3, float4(cross(x.xyz, y.xyz), 0))
FLOAT4(lengths, float4(length(x), length_squared(x), distance(x, y),
                       distance_squared(x, y)))
FLOAT4(normalize_4, normalize(x))
FLOAT4(reflect_4, reflect(x, y))
FLOAT4(refract_4, refract(normalize(x), normalize(y), 0.7f))
FLOAT4(faceforward_4, faceforward(x, y, x.wzyx))
FLOAT4(mix_4, mix(x, y, 0.25))
FLOAT4(clamp_4, clamp(x, -1.0, 1.0))
FLOAT4(step_4, step(x, y))
FLOAT4(smoothstep_4, smoothstep(-1.0, 1.0, x))
FLOAT4(sign_4, sign(x))
FLOAT4(select_4, select(x, y, x < y))
FLOAT4(swizzle_4, float4(x.zw, y.yx))
FLOAT4(compare_4, float4(float2(x.xy < y.xy), any(x == y), all(x != y)))
FLOAT4(packed_4, float4(packed_float3(x.xyz) * 2 + y.xyz, x.w))
FLOAT4(bfloat_4, float4(bfloat4(x) * bfloat4(y)))
FLOAT4(half_4, float4(half4(x) + half4(y)))

#define PACK(name, from, to)                                               \
  EXPORT name(const device from *x, device to *out, long n) {              \
    for (long i = 0; i < n; i++) out[i] = ::metal::name(x[i]);             \
  }
PACK(pack_float_to_unorm4x8, float4, uint)
PACK(pack_float_to_snorm4x8, float4, uint)
PACK(pack_float_to_unorm2x16, float2, uint)
PACK(pack_float_to_snorm2x16, float2, uint)
PACK(pack_float_to_unorm10a2, float4, uint)
PACK(unpack_unorm4x8_to_float, uint, float4)
PACK(unpack_snorm4x8_to_float, uint, float4)
PACK(unpack_unorm2x16_to_float, uint, float2)
PACK(unpack_snorm2x16_to_float, uint, float2)
PACK(unpack_unorm10a2_to_float, uint, float4)
PACK(unpack_unorm4x8_srgb_to_float, uint, float4)
PACK(pack_float_to_srgb_unorm4x8, float4, uint)

// Matrices: 16 floats each.
#define MATRIX(name, expression)                                           \
  EXPORT name(const device float4x4 *a, const device float4x4 *b,          \
              device float4x4 *out, long n) {                              \
    for (long i = 0; i < n / 16; i++) {                                    \
      [[maybe_unused]] float4x4 x = a[i], y = b[i]; \
      out[i] = expression;                                                 \
    }                                                                      \
  }
MATRIX(matrix_product, x *y)
MATRIX(matrix_transpose, transpose(x))
MATRIX(matrix_sum, x + y * 2 - float4x4(1))
MATRIX(matrix_vector, float4x4(x *y[0], y[1] * x, x[2], float4(determinant(x))))
EXPORT matrix_3x2(const device float3x2 *a, const device float2x3 *b,
                  device float2x2 *out, long n) {
  for (long i = 0; i < n / 4; i++) out[i] = a[i] * b[i];
}
EXPORT half_matrix(const device half3x3 *a, device float3x3 *out, long n) {
  for (long i = 0; i < n / 12; i++) out[i] = float3x3(a[i]);
}
