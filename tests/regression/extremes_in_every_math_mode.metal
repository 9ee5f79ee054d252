// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// min, max and what is made of them give the number where one operand is a NaN,
// whichever it is, of whatever type and in every math mode.
// run: of_floats --math safe --grid 1 0=f32:nan,1,3 1=zeros:f32:19
// expect: 1: 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 3 nan nan nan
// run: of_floats --grid 1 0=f32:nan,1,3 1=zeros:f32:19
// expect: 1: 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 3 nan nan nan
// run: of_floats --math relaxed --grid 1 0=f32:nan,1,3 1=zeros:f32:19
// expect: 1: 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 3 nan nan nan
// run: of_others --grid 1 0=f32:nan,1,3 1=zeros:f32:18
// expect: 1: 1 1 1 1 1 1 1 1 1 3 1 1 1 1 1 1 1 1
// run: always --grid 1 0=f32:nan,1,3 1=zeros:f32:10
// expect: 1: 1 1 1 1 0 1 1 1 1 1
// run: of_lanes --grid 64 0=iota:f32:64 1=zeros:f32:8
// expect: 1: 31 1 3 1 63 33 35 33
// run: along --grid 33 0=iota:f32:40 1=zeros:f32:33
// expect: 1: 2 2 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 20 20 20 20 20 20 20 20 20 20 20 20
#include <metal_stdlib>
using namespace metal;

kernel void of_floats(device const float *in [[buffer(0)]], device float *out [[buffer(1)]]) {
  const float n = in[0], a = in[1], b = in[2];
  const float answers[] = {min(n, a), min(a, n), max(n, a), max(a, n),
                           min3(n, a, b), min3(b, n, a), max3(a, n, n), max3(n, n, a),
                           median3(n, n, a), median3(a, n, n), median3(n, a, n), median3(a, a, n),
                           clamp(a, n, b), clamp(a, 0.0f, n), clamp(n, a, b), clamp(b, n, n),
                           min(n, n), max(n, n), clamp(n, n, n)};
  for (int i = 0; i < 19; i++) out[i] = answers[i];
}

kernel void of_others(device const float *in [[buffer(0)]], device float *out [[buffer(1)]]) {
  const float n = in[0], a = in[1], b = in[2];
  const half hn = half(n), ha = half(a);
  const bfloat bn = bfloat(n), ba = bfloat(a);
  const float4 mixed = min(float4(n, a, n, a), float4(a, n, a, n));
  const half3 halves = max(half3(hn, ha, hn), half3(ha, hn, ha));
  const bfloat2 bfloats = max(bfloat2(bn, ba), ba);
  const float answers[] = {min(hn, ha), max(ha, hn), min(bn, ba), max(ba, bn),
                           mixed.x, mixed.y, halves.x, halves.y, bfloats.x,
                           clamp(float3(n, a, b), n, b).z, clamp(half2(hn, ha), ha, half(b)).x,
                           min3(half4(hn), half4(ha), half4(hn)).w, max3(bfloat3(bn), bfloat3(ba), bfloat3(bn)).z,
                           median3(float2(n, a), float2(a, n), float2(n, n)).y,
                           fast::min(n, a), fast::max(n, a), fast::clamp(a, n, b), min(float2(n), a).y};
  for (int i = 0; i < 18; i++) out[i] = answers[i];
}

kernel void always(device const float *in [[buffer(0)]], device float *out [[buffer(1)]]) {
  const float n = in[0], a = in[1];
  const float answers[] = {precise::min(n, a), precise::min(a, n), precise::max(n, a), precise::max(a, n),
                           precise::clamp(n, 0.0f, 2.0f), precise::clamp(a, n, 2.0f), precise::min3(n, n, a),
                           precise::max(float4(n), a).z, fmin(n, a), fmax(n, a)};
  for (int i = 0; i < 10; i++) out[i] = answers[i];
}

// NaN in every even lane.
kernel void of_lanes(device const float *in [[buffer(0)]], device float *out [[buffer(1)]],
                     uint i [[thread_position_in_grid]]) {
  const float x = i % 2 ? in[i] : NAN;
  const float4 answers(simd_max(x), simd_min(x), quad_max(x), quad_min(x));
  if (i % 32 == 0) *(device float4 *)(out + i / 32 * 4) = answers;
}

// A loop's running maximum, bounded from both sides.
kernel void along(device const float *in [[buffer(0)]], device float *out [[buffer(1)]],
                  uint i [[thread_position_in_grid]]) {
  float most = NAN;
  for (uint k = 0; k <= i; k++) most = max(most, k % 4 == 3 ? NAN : in[k]);
  out[i] = clamp(max(most, i % 4 == 3 ? in[i] : NAN), 2.0f, 20.0f);
}
