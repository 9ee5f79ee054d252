// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// simd/simd.h: the names of vectors and matrices in headers that kernels share
// with C and Objective-C. Each is one of Metal's own types, of the same layout.
#ifndef METTLE_SIMD_SIMD
#define METTLE_SIMD_SIMD

#include <metal_stdlib>

#define METTLE_SIMD_SCALAR(T)                         \
  typedef T simd_##T##1;                              \
  typedef T vector_##T##1;                            \
  typedef metal::vec<T, 2> simd_##T##2;               \
  typedef metal::vec<T, 3> simd_##T##3;               \
  typedef metal::vec<T, 4> simd_##T##4;               \
  typedef metal::vec<T, 2> vector_##T##2;             \
  typedef metal::vec<T, 3> vector_##T##3;             \
  typedef metal::vec<T, 4> vector_##T##4;             \
  typedef metal::packed_vec<T, 2> simd_packed_##T##2; \
  typedef metal::packed_vec<T, 4> simd_packed_##T##4;
METTLE_SIMD_SCALAR(char)
METTLE_SIMD_SCALAR(uchar)
METTLE_SIMD_SCALAR(short)
METTLE_SIMD_SCALAR(ushort)
METTLE_SIMD_SCALAR(int)
METTLE_SIMD_SCALAR(uint)
METTLE_SIMD_SCALAR(long)
METTLE_SIMD_SCALAR(ulong)
METTLE_SIMD_SCALAR(half)
METTLE_SIMD_SCALAR(float)
#undef METTLE_SIMD_SCALAR

typedef bool simd_bool;

#define METTLE_SIMD_MATRIX(T, C, R)                 \
  typedef metal::matrix<T, C, R> simd_##T##C##x##R; \
  typedef metal::matrix<T, C, R> matrix_##T##C##x##R;
#define METTLE_SIMD_MATRICES(T) \
  METTLE_SIMD_MATRIX(T, 2, 2)   \
  METTLE_SIMD_MATRIX(T, 2, 3)   \
  METTLE_SIMD_MATRIX(T, 2, 4)   \
  METTLE_SIMD_MATRIX(T, 3, 2)   \
  METTLE_SIMD_MATRIX(T, 3, 3)   \
  METTLE_SIMD_MATRIX(T, 3, 4)   \
  METTLE_SIMD_MATRIX(T, 4, 2)   \
  METTLE_SIMD_MATRIX(T, 4, 3)   \
  METTLE_SIMD_MATRIX(T, 4, 4)
METTLE_SIMD_MATRICES(half)
METTLE_SIMD_MATRICES(float)
#undef METTLE_SIMD_MATRICES
#undef METTLE_SIMD_MATRIX

typedef struct {
  simd_half4 vector;
} simd_quath;
typedef struct {
  simd_float4 vector;
} simd_quatf;

// simd::float4, simd::float4x4 and simd::normalize are Metal's.
namespace simd {
using namespace metal;
}

#endif
