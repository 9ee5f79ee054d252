// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A formula of more values than registers hold of 32 lanes: one register's lanes
// go through it at a time.
// run: formula --grid 64 --group 64 0=zeros:f32:64 1=iota:u32:64
// expect: 0: 0 -2 -6 -8 2 0 4 2 16 18 26 28 50 52 68 70 -24 -10 2 16 42 56 76 90 56 74 98 116 154 172 204 222 -16 -2 -22 -8 50 64 52 66 0 18 10 28 98 116 116 134 -40 -10 -14 16 90 120 124 154 40 74 82 116 202 236 252 286
#include <metal_stdlib>
using namespace metal;

kernel void formula(device float *out [[buffer(0)]],
                    device const uint *x [[buffer(1)]],
                    uint i [[thread_position_in_grid]]) {
  const uint w = x[i];
  float y[12];
  for (uint k = 0; k < 12; k++) {
    y[k] = float((w >> k % 3) & (k + 1));
  }
  float sum = 0;
  for (uint k = 0; k < 12; k++) {
    sum += y[k] * y[11 - k] - y[(5 * k + 1) % 12];
  }
  out[i] = sum;
}
