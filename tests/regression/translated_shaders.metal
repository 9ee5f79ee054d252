// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What translators to MSL (naga, SPIRV-Cross) and kernels that share headers
// with C count on: <simd/simd.h>, vectors' sizes deduced as uint, is_integral
// of vectors, functions that overload the library's, coherent and volatile
// memory, attributes in front of an array's bounds.
// run: k --grid 1 0=zeros:f32:4 1=zeros:i32:1 2=zeros:f32:4
// expect: 0: 6 0 9 1
// expect: 1: 12
// expect: 2: 3.4028235e+38 3.4028235e+38 3.4028235e+38 3.4028235e+38
#include <metal_stdlib>
#include <simd/simd.h>
using namespace metal;
struct Shared {
  vector_float3 a;
  simd_float4x4 m;
  matrix_float3x3 n;
  simd_uint2 u;
  packed_float3 p;
  simd::float4 q;
};
static_assert(sizeof(Shared) == 16 + 64 + 48 + 16 + 16 + 16, "");
template <typename T, uint N>
T total(vec<T, N> v) {
  T t = 0;
  for (uint i = 0; i < N; i++) t += v[i];
  return t;
}
template <typename T, uint C, uint R>
T corner(matrix<T, C, R> m) {
  return m[C - 1][R - 1];
}
template <typename T, uint N>
T last(array<T, N> a) {
  return a[N - 1];
}
template <typename T,
          typename E = typename enable_if<is_integral<T>::value>::type>
T sign(T x) {
  return select(select(select(x, T(0), x == T(0)), T(1), x > T(0)), T(-1),
                x < T(0));
}
struct Fused {
  float2 v;
};
Fused fma(Fused a, Fused b, Fused c) {
  return {metal::fma(a.v, b.v, c.v)};
}
template <typename T>
struct MD {
  T m;
  float d;
  constexpr MD<T>() = default;
  constexpr MD<T>() threadgroup = default;
};
template <typename T>
struct Indexed {
  T v;
};
template <typename T>
struct _numeric_limits_impl<Indexed<T>> {
  static constexpr METAL_FUNC Indexed<T> max() {
    return Indexed<T>{numeric_limits<T>::max()};
  }
};
struct Args {
  constant float *x [[id(0)]];
  device float *ys [[id(1)]][2];
  float z [[user(a)]][3];
};
kernel void k(volatile device float4 *out [[buffer(0)]],
              coherent(device) device int *ints [[buffer(1)]],
              coherent device float4 *more [[user(x)]],
              uint i [[thread_position_in_grid]]) {
  float4 v = {1.0};
  out[i] = float4(total(float3(1, 2, 3)), corner(float3x2(2)),
                  last(array<float, 3>{{1, 2, 9}}), v.x);
  float4 back = out[i];
  ints[i] = sign(-3) + sign(int2(5, 0)).x + (int2(1, 2) << uint2(3, 1u)).x +
            vec_elements<float4>::value;
  more[i] = back + numeric_limits<float4>::max();
}
