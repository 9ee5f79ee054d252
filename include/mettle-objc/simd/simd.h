// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// simd.h: vectors with the layout of Metal's.
#ifndef METTLE_OBJC_SIMD_H
#define METTLE_OBJC_SIMD_H

#include <stdint.h>

#define METTLE_SIMD_TYPES(type, name) \
  typedef type simd_##name##1; \
  typedef type simd_##name##2 __attribute__((ext_vector_type(2))); \
  typedef type simd_##name##3 __attribute__((ext_vector_type(3))); \
  typedef type simd_##name##4 __attribute__((ext_vector_type(4))); \
  typedef simd_##name##2 vector_##name##2; \
  typedef simd_##name##3 vector_##name##3; \
  typedef simd_##name##4 vector_##name##4
METTLE_SIMD_TYPES(int8_t, char);
METTLE_SIMD_TYPES(uint8_t, uchar);
METTLE_SIMD_TYPES(int16_t, short);
METTLE_SIMD_TYPES(uint16_t, ushort);
METTLE_SIMD_TYPES(int32_t, int);
METTLE_SIMD_TYPES(uint32_t, uint);
METTLE_SIMD_TYPES(int64_t, long);
METTLE_SIMD_TYPES(uint64_t, ulong);
METTLE_SIMD_TYPES(float, float);
METTLE_SIMD_TYPES(double, double);
#undef METTLE_SIMD_TYPES


// simd_floatCxR: C columns of R, as Metal's.
#define METTLE_SIMD_MATRIX(type, columns_, rows)                \
  typedef struct {                                              \
    simd_##type##rows columns[columns_];                        \
  } simd_##type##columns_##x##rows;                             \
  typedef simd_##type##columns_##x##rows matrix_##type##columns_##x##rows
#define METTLE_SIMD_MATRICES(type)   \
  METTLE_SIMD_MATRIX(type, 2, 2);    \
  METTLE_SIMD_MATRIX(type, 2, 3);    \
  METTLE_SIMD_MATRIX(type, 2, 4);    \
  METTLE_SIMD_MATRIX(type, 3, 2);    \
  METTLE_SIMD_MATRIX(type, 3, 3);    \
  METTLE_SIMD_MATRIX(type, 3, 4);    \
  METTLE_SIMD_MATRIX(type, 4, 2);    \
  METTLE_SIMD_MATRIX(type, 4, 3);    \
  METTLE_SIMD_MATRIX(type, 4, 4)
METTLE_SIMD_MATRICES(float);
METTLE_SIMD_MATRICES(double);
#undef METTLE_SIMD_MATRICES
#undef METTLE_SIMD_MATRIX

// --- Functions, of float vectors and of square matrices -----------------------

#include <math.h>

#define SIMD_INLINE static inline __attribute__((overloadable, unused))

SIMD_INLINE simd_float2 simd_make_float2(float x, float y) {
  return (simd_float2){x, y};
}
SIMD_INLINE simd_float3 simd_make_float3(float x, float y, float z) {
  return (simd_float3){x, y, z};
}
SIMD_INLINE simd_float3 simd_make_float3(simd_float4 v) {
  return v.xyz;
}
SIMD_INLINE simd_float4 simd_make_float4(float x, float y, float z, float w) {
  return (simd_float4){x, y, z, w};
}
SIMD_INLINE simd_float4 simd_make_float4(simd_float3 v, float w) {
  return (simd_float4){v.x, v.y, v.z, w};
}
SIMD_INLINE simd_int2 simd_make_int2(int x, int y) {
  return (simd_int2){x, y};
}
SIMD_INLINE simd_uint2 simd_make_uint2(unsigned x, unsigned y) {
  return (simd_uint2){x, y};
}
SIMD_INLINE simd_uint3 simd_make_uint3(unsigned x, unsigned y, unsigned z) {
  return (simd_uint3){x, y, z};
}
SIMD_INLINE simd_uint4 simd_make_uint4(unsigned x, unsigned y, unsigned z,
                                       unsigned w) {
  return (simd_uint4){x, y, z, w};
}

#define METTLE_SIMD_VECTOR(n, sum)                                             \
  SIMD_INLINE float simd_reduce_add(simd_float##n v) {                         \
    return sum;                                                                \
  }                                                                            \
  SIMD_INLINE float simd_dot(simd_float##n a, simd_float##n b) {               \
    return simd_reduce_add(a * b);                                             \
  }                                                                            \
  SIMD_INLINE float simd_length_squared(simd_float##n v) {                     \
    return simd_dot(v, v);                                                     \
  }                                                                            \
  SIMD_INLINE float simd_length(simd_float##n v) {                             \
    return sqrtf(simd_dot(v, v));                                              \
  }                                                                            \
  SIMD_INLINE float simd_distance(simd_float##n a, simd_float##n b) {          \
    return simd_length(a - b);                                                 \
  }                                                                            \
  SIMD_INLINE simd_float##n simd_normalize(simd_float##n v) {                  \
    return v / simd_length(v);                                                 \
  }                                                                            \
  SIMD_INLINE simd_float##n simd_mix(simd_float##n a, simd_float##n b,         \
                                     simd_float##n t) {                        \
    return a + (b - a) * t;                                                    \
  }                                                                            \
  SIMD_INLINE simd_float##n simd_abs(simd_float##n v) {                        \
    for (int i = 0; i < n; ++i) v[i] = fabsf(v[i]);                            \
    return v;                                                                  \
  }                                                                            \
  SIMD_INLINE simd_float##n simd_min(simd_float##n a, simd_float##n b) {       \
    for (int i = 0; i < n; ++i) a[i] = fminf(a[i], b[i]);                      \
    return a;                                                                  \
  }                                                                            \
  SIMD_INLINE simd_float##n simd_max(simd_float##n a, simd_float##n b) {       \
    for (int i = 0; i < n; ++i) a[i] = fmaxf(a[i], b[i]);                      \
    return a;                                                                  \
  }                                                                            \
  SIMD_INLINE simd_float##n simd_clamp(simd_float##n v, simd_float##n low,     \
                                       simd_float##n high) {                   \
    return simd_min(simd_max(v, low), high);                                   \
  }                                                                            \
  SIMD_INLINE simd_float##n simd_mul(simd_float##n##x##n m, simd_float##n v) { \
    simd_float##n out = m.columns[0] * v[0];                                   \
    for (int i = 1; i < n; ++i) out += m.columns[i] * v[i];                    \
    return out;                                                                \
  }                                                                            \
  SIMD_INLINE simd_float##n##x##n simd_mul(simd_float##n##x##n a,              \
                                           simd_float##n##x##n b) {            \
    simd_float##n##x##n out;                                                   \
    for (int i = 0; i < n; ++i) out.columns[i] = simd_mul(a, b.columns[i]);    \
    return out;                                                                \
  }                                                                            \
  SIMD_INLINE simd_float##n##x##n simd_transpose(simd_float##n##x##n m) {      \
    simd_float##n##x##n out;                                                   \
    for (int i = 0; i < n; ++i)                                                \
      for (int k = 0; k < n; ++k) out.columns[i][k] = m.columns[k][i];         \
    return out;                                                                \
  }                                                                            \
  SIMD_INLINE simd_float##n##x##n simd_diagonal_matrix(simd_float##n v) {      \
    simd_float##n##x##n out = {{{0}}};                                         \
    for (int i = 0; i < n; ++i) out.columns[i][i] = v[i];                      \
    return out;                                                                \
  }                                                                            \
  static const simd_float##n##x##n matrix_identity_float##n##x##n              \
      __attribute__((unused))
METTLE_SIMD_VECTOR(2, v.x + v.y) = {{{1, 0}, {0, 1}}};
METTLE_SIMD_VECTOR(3, v.x + v.y + v.z) = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
METTLE_SIMD_VECTOR(4, v.x + v.y + v.z + v.w) = {
    {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}}};
#undef METTLE_SIMD_VECTOR

SIMD_INLINE simd_float3 simd_cross(simd_float3 a, simd_float3 b) {
  return a.yzx * b.zxy - a.zxy * b.yzx;
}
SIMD_INLINE simd_float4x4 simd_matrix(simd_float4 a, simd_float4 b,
                                      simd_float4 c, simd_float4 d) {
  return (simd_float4x4){{a, b, c, d}};
}
SIMD_INLINE simd_float3x3 simd_matrix(simd_float3 a, simd_float3 b,
                                      simd_float3 c) {
  return (simd_float3x3){{a, b, c}};
}
SIMD_INLINE simd_float2x2 simd_matrix(simd_float2 a, simd_float2 b) {
  return (simd_float2x2){{a, b}};
}
#define matrix_multiply simd_mul
#define matrix_transpose simd_transpose
#define vector_normalize simd_normalize
#define vector_dot simd_dot
#define vector_cross simd_cross
#define vector_length simd_length

#ifdef __cplusplus
// The same types and functions by their names in C++.
namespace simd {
#define METTLE_SIMD_TYPES(name)     \
  using name##2 = ::simd_##name##2; \
  using name##3 = ::simd_##name##3; \
  using name##4 = ::simd_##name##4
METTLE_SIMD_TYPES(char);
METTLE_SIMD_TYPES(uchar);
METTLE_SIMD_TYPES(short);
METTLE_SIMD_TYPES(ushort);
METTLE_SIMD_TYPES(int);
METTLE_SIMD_TYPES(uint);
METTLE_SIMD_TYPES(long);
METTLE_SIMD_TYPES(ulong);
METTLE_SIMD_TYPES(float);
METTLE_SIMD_TYPES(double);
#undef METTLE_SIMD_TYPES
#define METTLE_SIMD_MATRICES(type)                    \
  using type##2x2 = ::simd_##type##2x2;               \
  using type##2x3 = ::simd_##type##2x3;               \
  using type##2x4 = ::simd_##type##2x4;               \
  using type##3x2 = ::simd_##type##3x2;               \
  using type##3x3 = ::simd_##type##3x3;               \
  using type##3x4 = ::simd_##type##3x4;               \
  using type##4x2 = ::simd_##type##4x2;               \
  using type##4x3 = ::simd_##type##4x3;               \
  using type##4x4 = ::simd_##type##4x4
METTLE_SIMD_MATRICES(float);
METTLE_SIMD_MATRICES(double);
#undef METTLE_SIMD_MATRICES
// Declares name as simd_##target, with one, two or three arguments.
#define METTLE_SIMD_FUNCTION(name, target)                          \
  template <class... T>                                             \
  static inline auto name(T... of)->decltype(::simd_##target(of...)) { \
    return ::simd_##target(of...);                                  \
  }
METTLE_SIMD_FUNCTION(dot, dot)
METTLE_SIMD_FUNCTION(length, length)
METTLE_SIMD_FUNCTION(normalize, normalize)
METTLE_SIMD_FUNCTION(cross, cross)
METTLE_SIMD_FUNCTION(min, min)
METTLE_SIMD_FUNCTION(max, max)
METTLE_SIMD_FUNCTION(clamp, clamp)
METTLE_SIMD_FUNCTION(transpose, transpose)
METTLE_SIMD_FUNCTION(make_float2, make_float2)
METTLE_SIMD_FUNCTION(make_float3, make_float3)
METTLE_SIMD_FUNCTION(make_float4, make_float4)
#undef METTLE_SIMD_FUNCTION
}  // namespace simd
#endif

#endif
