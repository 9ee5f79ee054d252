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

typedef struct {
  simd_float2 columns[2];
} simd_float2x2;
typedef struct {
  simd_float3 columns[3];
} simd_float3x3;
typedef struct {
  simd_float4 columns[4];
} simd_float4x4;
typedef simd_float2x2 matrix_float2x2;
typedef simd_float3x3 matrix_float3x3;
typedef simd_float4x4 matrix_float4x4;

#endif
