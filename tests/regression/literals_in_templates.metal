// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Literals without a suffix are floats in templates too: where the other
// operand's type hangs on a parameter they once were doubles.
// run: scale --grid 3 0=f32:1,3,7 1=zeros:f32:3 2=zeros:f16:3 3=zeros:u32:3
// expect: 1: 16777216 50331648 117440512
// expect: 2: 0.25 2.25 12.25
// expect: 3: 4 4 4
#include <metal_stdlib>
using namespace metal;

// No float is 16777217. In double it is, and 3 would give 50331652.
template <typename T>
static T grown(T x) {
  return (16777216.0 + 1.0e0) * x;
}

template <typename Out, typename T>
static Out quarter(T x) {
  return Out(0.25 * x * x * (0x1p-1 + .5));
}

template <typename T>
static uint size(T x) {
  return sizeof(1. * x);
}

kernel void scale(device const float *in [[buffer(0)]],
                  device float *floats [[buffer(1)]],
                  device half *halves [[buffer(2)]],
                  device uint *sizes [[buffer(3)]],
                  uint i [[thread_position_in_grid]]) {
  floats[i] = grown(in[i]);
  halves[i] = quarter<half>(in[i]);
  sizes[i] = size(in[i]);
}
