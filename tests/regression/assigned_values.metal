// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// assigned_values.metal: an assignment to components of a vector has a value,
// which another takes, in every address space and of packed vectors too.
// run: chain --grid 2 0=zeros:f32:8 1=zeros:f32:6 2=zeros:i32:2
// expect: 0: 5 6 6 6 5 6 7 7
// expect: 1: 2 2 4 2 2 4
// expect: 2: 16 16
#include <metal_stdlib>
using namespace metal;

struct Rows {
  float4 x, y, z;
};

kernel void chain(device float4 *out [[buffer(0)]],
                  device packed_float3 *packed [[buffer(1)]],
                  device int *sums [[buffer(2)]],
                  uint i [[thread_position_in_grid]]) {
  Rows r;
  r.x = r.y = r.z = float4(1);
  r.x.w = r.y.w = r.z.w = float(i);
  out[i].xy = r.x.zw = r.y.xy = float2(5, 6);
  out[i].w = out[i].z = r.x.w + r.z.w;
  packed[i].y = packed[i].x = 2;
  packed[i].z = (r.x.x += 3);
  int3 n = 1;
  sums[i] = (n.y += 4) + (n.z = 7) + (n.x <<= 2);
}
