// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Unless mathematics are fast, simd_sum and simd_product of floats begin with
// neighbours, then take pairs of them, as a butterfly over ascending distances.
// Threads that do not run count as nothing. 2^24 + 1 rounds to 2^24, so sums tell the order.
// run: literals --math safe --grid 32 --group 32 0=zeros:f32:5
// expect: 0: 30 16777246 16777216 0 1e+30
// run: butterfly --math relaxed --grid 1024 --group 256 0=rand:f32:1024 1=zeros:i32:4
// expect: 1: 0 0 0 0
// run: partial --math safe --grid 210 --group 70 0=rand:f32:210 1=zeros:i32:3
// expect: 1: 0 0 0
#include <metal_stdlib>
using namespace metal;

kernel void literals(device float *out [[buffer(0)]], uint l [[thread_index_in_simdgroup]]) {
  const float large = 16777216;
  // Neighbours cancel each other; all others are 1.
  out[0] = simd_sum(l == 0 ? large : l == 1 ? -large : 1.0f);
  // 1 beside 2^24 is lost, and the other thirty are not.
  out[1] = simd_sum(l == 6 ? large : 1.0f);
  // The lanes between take no part: 1 is lost twice.
  float odd = 0;
  if (l & 1) odd = simd_sum(l == 1 ? large : l == 3 || l == 5 ? 1.0f : 0.0f);
  if (l == 1) out[2] = odd;
  // Neighbours first: too small for a float, and 1.
  out[3] = simd_product(l == 0 ? 1e30f : l == 1 ? 1e-30f : l == 2 ? 1e-30f : l == 3 ? 1e-30f : 1.0f);
  out[4] = simd_product(l == 8 ? 1e30f : l == 9 ? 1e-30f : l == 16 ? 1e30f : 1.0f);
}

static float butterfly_sum(float x) {
  for (ushort k = 1; k < 32; k *= 2) x += simd_shuffle_xor(x, k);
  return x;
}

kernel void butterfly(device const float *in [[buffer(0)]], device atomic_int *differ [[buffer(1)]],
                      uint i [[thread_position_in_grid]]) {
  const float x = in[i] - 0.5f;
  float product = 1 + x;
  for (ushort k = 1; k < 32; k *= 2) product *= simd_shuffle_xor(product, k);
  const float3 v(x, in[i] * 1e6f, x * x);
  const float3 sums = simd_sum(v);
  const bool4 wrong(as_type<int>(simd_sum(x)) != as_type<int>(butterfly_sum(x)),
                    as_type<int>(simd_product(1 + x)) != as_type<int>(product),
                    as_type<int>(sums.y) != as_type<int>(butterfly_sum(v.y)),
                    as_type<int>(sums.z) != as_type<int>(butterfly_sum(v.z)));
  for (int k = 0; k < 4; k++) atomic_fetch_add_explicit(differ + k, wrong[k], memory_order_relaxed);
}

// Groups of 70 leave six threads in the last simdgroup; of the others, every
// third stays away.
kernel void partial(device const float *in [[buffer(0)]], device atomic_int *differ [[buffer(1)]],
                    uint i [[thread_position_in_grid]], uint l [[thread_index_in_threadgroup]]) {
  const float x = in[i] - 0.5f;
  threadgroup float shared[96];
  if (l < 26) shared[l + 70] = -0.0f;
  shared[l] = l % 3 ? x : -0.0f;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  float wanted[32];
  for (uint k = 0; k < 32; k++) wanted[k] = shared[l / 32 * 32 + k];
  for (uint count = 16; count > 0; count /= 2)
    for (uint k = 0; k < count; k++) wanted[k] = wanted[2 * k] + wanted[2 * k + 1];
  if (l % 3) {
    const float sum = simd_sum(x);
    atomic_fetch_add_explicit(differ + i / 70, as_type<int>(sum) != as_type<int>(wanted[0]),
                              memory_order_relaxed);
  }
}
