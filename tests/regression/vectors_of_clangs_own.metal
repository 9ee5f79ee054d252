// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Vectors of clang's own, which may have eight components, convert component by
// component as Metal's do, by casts of both kinds.
// run: converted --grid 2 0=f16:1.5,2.5,-3.5,4,5,6,7,0.125,9,10,11,12,13,14,15,-16.5 1=zeros:f32:16 2=zeros:i32:16 3=zeros:f16:16
// expect: 1: 1.5 2.5 -3.5 4 5 6 7 0.125 9 10 11 12 13 14 15 -16.5
// expect: 2: 1 2 -3 4 5 6 7 0 9 10 11 12 13 14 15 -16
// expect: 3: 2 4 -6 8 10 12 14 0 18 20 22 24 26 28 30 -32
#include <metal_stdlib>
using namespace metal;

typedef half half8 __attribute__((ext_vector_type(8)));
typedef float float8 __attribute__((ext_vector_type(8)));
typedef int int8 __attribute__((ext_vector_type(8)));
typedef short short8 __attribute__((ext_vector_type(8)));

template <typename To, typename From>
To convert(From v) {
  return To(v);
}

kernel void converted(device const half8 *x [[buffer(0)]], device float8 *y [[buffer(1)]],
                      device int8 *z [[buffer(2)]], device half8 *w [[buffer(3)]],
                      uint i [[thread_position_in_grid]]) {
  const float8 v = float8(x[i]);
  y[i] = v;
  z[i] = (int8)v;
  w[i] = convert<half8>(convert<short8>(z[i] * 2));
}
