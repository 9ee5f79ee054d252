// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The reductions of a real softmax: simdgroups first, then across them, with a
// strided loop whose last round is partial.
// run: softmax --grid 96 --group 96 0=iota:f32:100 1=zeros:f32:100 2=zeros:f32:4 3=u32:100
// expect: 2: 99 1 1 3
#include <metal_stdlib>
using namespace metal;

kernel void softmax(device const float *in [[buffer(0)]],
                    device float *out [[buffer(1)]],
                    device float *facts [[buffer(2)]],
                    constant uint &n [[buffer(3)]],
                    uint i [[thread_position_in_threadgroup]],
                    uint threads [[threads_per_threadgroup]],
                    uint lane [[thread_index_in_simdgroup]],
                    uint simdgroup [[simdgroup_index_in_threadgroup]],
                    uint simdgroups [[simdgroups_per_threadgroup]]) {
  threadgroup float shared[32];
  float most = -INFINITY;
  for (uint c = i; c < n; c += threads) { most = max(most, in[c]); }
  most = simd_max(most);
  if (lane == 0) { shared[simdgroup] = most; }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  most = simd_max(lane < simdgroups ? shared[lane] : -INFINITY);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  float sum = 0;
  for (uint c = i; c < n; c += threads) { sum += exp(in[c] - most); }
  sum = simd_sum(sum);
  if (lane == 0) { shared[simdgroup] = sum; }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  sum = simd_sum(lane < simdgroups ? shared[lane] : 0.0f);
  for (uint c = i; c < n; c += threads) { out[c] = exp(in[c] - most) / sum; }
  threadgroup_barrier(mem_flags::mem_device);
  if (i == 0) {
    float total = 0;
    for (uint c = 0; c < n; c++) { total += out[c]; }
    facts[0] = most;
    facts[1] = rint(total * 1000) / 1000;
    facts[2] = out[99] > 0.632f && out[99] < 0.633f;
    facts[3] = simdgroups;
  }
}
