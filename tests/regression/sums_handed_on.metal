// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loops that hand their sums on in variables without a value before the loop,
// as SPIRV-Cross writes them: a product of matrices of 64 rows, and sums that
// start at a constant, at an argument, and of one iteration alone.
// run: product --grid 16,16 --group 16,16 0=iota:f32:4096 1=iota:f32:4096 2=zeros:f32:4096
// expect: 2: 5462016 5464032 5466048 5468064 5470080 5472096 5474112 5476128 5478144 5480160 5482176 5484192 5486208 5488224 5490240 5492256
// run: sums --grid 4 0=iota:f32:16 1=zeros:f32:16 2=f32:10 3=u32:5
// expect: 1: 17 20 16 4 22 25 20 5 27 30 24 6 32 35 28 7
#include <metal_stdlib>
using namespace metal;

kernel void product(device const float4 *a [[buffer(0)]],
                    device const float4 *b [[buffer(1)]],
                    device float4 *c [[buffer(2)]],
                    uint2 t [[thread_position_in_threadgroup]]) {
  float4 s0 = float4(0.0), s1 = float4(0.0), s2 = float4(0.0),
         s3 = float4(0.0);
  float4 r0, r1, r2, r3;
  for (uint k = 0u; int(k) < int(64u);) {
    const uint l = t.y * 64u + k / 4u;
    const uint m = k * 16u + t.x;
    const float4 n0 = fma(float4(a[l].w), b[m + 48u], fma(float4(a[l].z), b[m + 32u], fma(float4(a[l].y), b[m + 16u], fma(float4(a[l].x), b[m], s0))));
    const float4 n1 = fma(float4(a[l + 16u].w), b[m + 48u], fma(float4(a[l + 16u].z), b[m + 32u], fma(float4(a[l + 16u].y), b[m + 16u], fma(float4(a[l + 16u].x), b[m], s1))));
    const float4 n2 = fma(float4(a[l + 32u].w), b[m + 48u], fma(float4(a[l + 32u].z), b[m + 32u], fma(float4(a[l + 32u].y), b[m + 16u], fma(float4(a[l + 32u].x), b[m], s2))));
    const float4 n3 = fma(float4(a[l + 48u].w), b[m + 48u], fma(float4(a[l + 48u].z), b[m + 32u], fma(float4(a[l + 48u].y), b[m + 16u], fma(float4(a[l + 48u].x), b[m], s3))));
    r0 = n0, r1 = n1, r2 = n2, r3 = n3;
    k += 4u;
    s0 = n0, s1 = n1, s2 = n2, s3 = n3;
    continue;
  }
  const uint first = t.y * 64u + t.x;
  c[first] = r0;
  c[first + 16u] = r1;
  c[first + 32u] = r2;
  c[first + 48u] = r3;
}

// Of x[t], x[t + 1], ... n of them.
kernel void sums(device const float *x [[buffer(0)]],
                 device float *y [[buffer(1)]],
                 constant float &start [[buffer(2)]],
                 constant uint &n [[buffer(3)]],
                 uint t [[thread_position_in_grid]]) {
  float from_seven = 7, from_start = start, from_six = 6;
  float seven, begun, before, third;
  for (uint k = 0; k < n; k++) {
    before = from_six;  // one iteration behind
    if (k == 4) {
      third = x[t + k];
    }
    from_seven += x[t + k];
    from_start += x[t + k];
    from_six += x[t + k] + 1;
    seven = from_seven;
    begun = from_start;
  }
  y[4 * t] = seven;
  y[4 * t + 1] = begun;
  y[4 * t + 2] = before;
  y[4 * t + 3] = third;
}
