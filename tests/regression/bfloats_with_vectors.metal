// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A bfloat beside a vector of floats becomes a float and computes as one, on
// either side of every operator, from every kind of memory, and with matrices;
// beside a vector of bfloats it stays one.
// run: operators --grid 1 0=zeros:f32:26 1=bf16:3 2=bf16:0.5,1.5
// expect: 0: 3.75 4.5 6 9 2.75 2 0.5 -2.5 2.25 4.5 9 18 4 2 1 0.5 0.25 0.5 1 2 1 0 1 1 0 1
// run: assigned --grid 1 0=zeros:f32:18 1=bf16:3 2=bf16:0.5,1.5
// expect: 0: 6 9 12 4.5 -1 -0.5 0 1.5 7.5 12 13 6.5 1 0.5 0.5 0.5 9 0.5
// run: short_vectors --grid 1 0=zeros:f32:14 1=bf16:3 2=bf16:0.5,1.5
// expect: 0: 4.5 6 3.5 4 4.5 9 12 3 4.5 1.5 2 3.5 12 10
// run: of_bfloats --grid 1 0=zeros:f32:9 1=bf16:1.0078125 2=bf16:1.5,1
// expect: 0: 1.515625 1.0078125 0 2.5 1 1 0 2.5 1.015625
#include <metal_stdlib>
using namespace metal;

kernel void operators(device float *out [[buffer(0)]], constant bfloat &c [[buffer(1)]],
                      device const bfloat *d [[buffer(2)]]) {
  threadgroup bfloat t;
  t = d[1];
  const bfloat s = c;
  const float4 v(0.75f, 1.5f, 3.0f, 6.0f);
  device float4 *rows = (device float4 *)out;
  rows[0] = v + s;
  rows[1] = d[0] - v + c;
  rows[2] = c * v;
  rows[3] = s / v;
  rows[4] = v / s;
  const bool4 less = v < t, same = s == v, not_less = v >= c;
  out[20] = less.x;
  out[21] = less.y;
  out[22] = same.z;
  out[23] = not_less.z;
  out[24] = not_less.y;
  out[25] = not_less.w;
}

kernel void assigned(device float *out [[buffer(0)]], constant bfloat &c [[buffer(1)]],
                     device const bfloat *d [[buffer(2)]]) {
  device float4 *rows = (device float4 *)out;
  float4 v(2, 3, 4, 1.5f), w(0.5f, 1, 1.5f, 3);
  v *= c;
  w -= d[1];
  rows[0] = v;
  rows[1] = w;
  float4 x(d[1], c, 1, 2), y = d[0], z = {c, d[0], 0.75f, 3};
  x += v;
  rows[2] = x;
  z.y *= 3;
  z /= d[1];
  z.xy *= d[0];
  rows[3] = float4(z.x, z.y, z.z, y.w);
  float scalar = d[0];
  scalar *= c;
  scalar += c * d[1] + c;
  out[16] = scalar;
  out[17] = y.x;
}

kernel void short_vectors(device float *out [[buffer(0)]], constant bfloat &c [[buffer(1)]],
                          device const bfloat *d [[buffer(2)]]) {
  const float2 two = float2(1.5f, 3) + c;
  const float3 three = c + d[0] * float3(1, 2, 3), more = float3(3, 4, 1) * c;
  out[0] = two.x;
  out[1] = two.y;
  for (int i = 0; i < 3; i++) out[2 + i] = three[i], out[5 + i] = more[i];
  const float2x2 m = c * float2x2(2, 0.5f, 0.75f, 1) * d[0] * d[1];
  out[8] = m[0].x;
  out[9] = c > d[1] ? d[1] : 1.0f;
  const float3 pieces(float2(d[0], 2), c);
  out[10] = max(pieces, d[1] + d[0]).y;
  out[11] = fma(pieces, c, d[0] + d[1]).x;
  out[12] = mix(pieces, float3(6), c).z;
  out[13] = clamp(pieces * 4, d[0], c * c + 1).z;
}

kernel void of_bfloats(device float *out [[buffer(0)]], constant bfloat &c [[buffer(1)]],
                       device const bfloat *d [[buffer(2)]]) {
  // 1.0078125 is 1 + 2^-7, the next bfloat behind 1.
  const bfloat4 v(d[0], 1, 0, 2);
  const bfloat4 product = v * c, sum = c + v;
  for (int i = 0; i < 3; i++) out[i] = product[i];
  out[3] = sum.x;
  const bool4 more = v > c;
  out[4] = more.x;
  out[5] = more.w;
  out[6] = more.y;
  bfloat4 w = v;
  w += c;
  out[7] = w.x;
  bfloat2 p(c, 1);
  p *= c;
  out[8] = p.x;
}
