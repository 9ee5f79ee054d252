// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Vectors at addresses that are no multiple of theirs.
// run: shifted --grid 8 --group 8 0=iota:f32:40 1=zeros:f32:32
// find: align @shifted
// expect: 1: 1 2 3 4
// run: packed --grid 8 --group 8 0=iota:f32:40 1=zeros:f32:32
// expect: 1: 1 2 3 4
#include <metal_stdlib>
using namespace metal;

kernel void shifted(device const float *x [[buffer(0)]],
                    device float4 *y [[buffer(1)]],
                    uint i [[thread_position_in_grid]]) {
  y[i] = ((device const float4 *)(x + 1))[i];  // @shifted
}

kernel void packed(device const float *x [[buffer(0)]],
                   device float4 *y [[buffer(1)]],
                   uint i [[thread_position_in_grid]]) {
  y[i] = ((device const packed_float4 *)(x + 1))[i];
}
