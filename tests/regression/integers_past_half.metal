// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Integers of few digits that are too large for half: infinity, also where the
// half is widened again.
// run: widened --grid 4 --group 4 0=zeros:f32:4 1=zeros:f32:4 2=zeros:u32:4
// expect: 0: 0 inf inf inf
// expect: 1: 0 -inf -inf -inf
// expect: 2: 0 4294967295 4294967295 4294967295
#include <metal_stdlib>
using namespace metal;

kernel void widened(device float *y [[buffer(0)]],
                    device float *z [[buffer(1)]],
                    device uint *w [[buffer(2)]],
                    uint i [[thread_position_in_grid]]) {
  y[i] = float(half((i & 3) << 20));
  const long4 v = -long4(long(i & 3) << 40);
  z[i] = float4(half4(float4(v))).z;
  w[i] = uint(half(float((i & 3) << 30)));
}
