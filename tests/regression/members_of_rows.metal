// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A structure that neighbouring threads share, with a vector and scalars beside
// each other: the scalars are loaded once for each four threads and must not
// come as part of what each thread loads of its own.
// run: sums --grid 24 --group 8 0=iota:f32:24 1=zeros:f32:24
// expect: 1: 34 34 34 34 94 94 94 94 154 154 154 154 214 214 214 214 274 274 274 274 334 334 334 334
// run: sums --grid 32 --group 32 0=iota:f32:32 1=zeros:f32:32
// expect: 1: 34 34 34 34 94 94 94 94 154 154 154 154 214 214 214 214 274 274 274 274 334 334 334 334 394 394 394 394 454 454 454 454
#include <metal_stdlib>
using namespace metal;

struct row {
  float2 both;
  float third;
  float fourth;
};

kernel void sums(device const row *rows [[buffer(0)]],
                 device float *out [[buffer(1)]],
                 uint i [[thread_position_in_grid]]) {
  const row r = rows[i >> 2];
  out[i] = r.both.x + r.both.y * 2 + r.third * 4 + r.fourth * 8;
}
