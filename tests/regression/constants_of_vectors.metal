// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// constants_of_vectors.metal: program-scope constants by arithmetic on whole
// vectors from function constants, which LLVM does not compute by itself; and
// float4(float3, w), whose w was lost in every function of such a program.
// run: all --grid 1 --constant 0=f32:2 --constant 1=f32:1,2,3 --constant 2=i32:1,2,3,4 0=zeros:f32:20 1=f32:0.5,4,8,16
// expect: 0: 3 6 9 14 1 2 3 2 2 8 0 0 1 5 0.25 -3 0.5 4 8 7
#include <metal_stdlib>
using namespace metal;

constant float f [[function_constant(0)]];
constant float3 v [[function_constant(1)]];
constant int4 n [[function_constant(2)]];

constant float3 sum = v * 2.0f + float3(1, 2, 3);
constant float product = dot(v, v);
constant float4 joined = float4(v, f);
constant int4 shifted = (n << 1) / int4(1, 1, 0, 0);
constant bool3 larger = v > 1;
constant float chained = joined.w * 2 + larger.y;
constant float power = 1 / (f * f);
constant float3 chosen = select(-v, v, larger.zxy);

kernel void all(device float *out [[buffer(0)]],
                device const packed_float4 *in [[buffer(1)]],
                uint i [[thread_position_in_grid]]) {
  out[0] = sum.x, out[1] = sum.y, out[2] = sum.z;
  out[3] = product;
  out[4] = joined.x, out[5] = joined.y, out[6] = joined.z, out[7] = joined.w;
  out[8] = shifted.x, out[9] = shifted.w + 8, out[10] = shifted.z;
  out[11] = larger.x, out[12] = larger.z;
  out[13] = chained, out[14] = power, out[15] = chosen.z * (larger.x ? 1 : -1);
  float4 whole = float4(float4(in[i]).xyz, 7);
  out[16] = whole.x, out[17] = whole.y, out[18] = whole.z, out[19] = whole.w;
}
