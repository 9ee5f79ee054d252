// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A row of a matrix a simdgroup, whose result one thread stores, or two that
// part: simdgroups of a threadgroup go the same way, two at once and the last of
// an odd number alone. Others do not: those whose threads store side by side,
// and those that only some come to a store. The sums are over c < 256 of
// (row + c / 32 & 3) * (4 * row + c & 7) * (c & 3), below 2^24.
// report: vectorised for rows of 32 threads: 0 gathers, 0 scatters, 0 instructions lane by lane, 0 barriers by fission\n2 simdgroups of a threadgroup at once
// run: first --grid 224 --group 224 0=iota:u32:1820 1=iota:u32:256 2=zeros:u32:7
// expect: 2: 2496 2496 2496 2496 2496 2496 2496
// run: first --grid 200 --group 96 0=iota:u32:1820 1=iota:u32:256 2=zeros:u32:7
// expect: 2: 2496 2496 2496 2496 2496 2496 832
// run: two --grid 224 --group 224 0=iota:u32:1820 1=iota:u32:256 2=zeros:u32:14
// expect: 2: 2496 0 2496 28 2496 152 2496 84 2496 0 2496 28 2496 152
// run: odd_ones --grid 224 --group 224 0=iota:u32:1820 1=iota:u32:256 2=zeros:u32:224
// expect: 2: 0 0 0 0 0 0 0 0 0 76 0 76 0 76 0 76 0 152 0 152 0 152 0 152 0 228 0 228 0 228 0 228 0 28 0 28 0 28 0 28 0 56 0 56 0 56 0 56 0 84 0 84 0 84 0 84 0 0 0 0 0 0 0 0 0 152 0 152 0 152 0 152 0 228 0 228 0 228 0 228 0 0 0 0 0 0 0 0 0 76 0 76 0 76 0 76 0 84 0 84 0 84 0 84 0 0 0 0 0 0 0 0 0 28 0 28 0 28 0 28 0 56 0 56 0 56 0 56 0 0 0 0 0 0 0 0 0 76 0 76 0 76 0 76 0 152 0 152 0 152 0 152 0 228 0 228 0 228 0 228 0 28 0 28 0 28 0 28 0 56 0 56 0 56 0 56 0 84 0 84 0 84 0 84 0 0 0 0 0 0 0 0 0 152 0 152 0 152 0 152 0 228 0 228 0 228 0 228 0 0 0 0 0 0 0 0 0 76 0 76 0 76 0 76
// run: some_rows --grid 224 --group 224 0=iota:u32:1820 1=iota:u32:256 2=zeros:u32:7
// expect: 2: 0 2496 2496 0 2496 2496 0
#include <metal_stdlib>
using namespace metal;

// Rows are 65 vectors apart, of which 64 count.
static float sum_of_row(device const uint4 *matrix, device const uint4 *vector,
                        uint row, uint lane) {
  float sum = 0;
  for (uint i = lane; i < 64; i += 32) {
    sum += float(row + i / 8 & 3) *
           dot(float4(matrix[row * 65 + i] & 7), float4(vector[i] & 3));
  }
  return sum;
}

kernel void first(device const uint4 *matrix [[buffer(0)]],
                  device const uint4 *vector [[buffer(1)]],
                  device uint *out [[buffer(2)]],
                  uint lane [[thread_index_in_simdgroup]],
                  uint simdgroup [[simdgroup_index_in_threadgroup]],
                  uint group [[threadgroup_position_in_grid]],
                  uint simdgroups [[dispatch_simdgroups_per_threadgroup]]) {
  const uint own = group * simdgroups + simdgroup;
  const float sum = simd_sum(sum_of_row(matrix, vector, own, lane));
  if (lane == 0) {
    out[own] = uint(sum);
  }
}

kernel void two(device const uint4 *matrix [[buffer(0)]],
                device const uint4 *vector [[buffer(1)]],
                device uint *out [[buffer(2)]],
                uint lane [[thread_index_in_simdgroup]],
                uint row [[simdgroup_index_in_threadgroup]]) {
  const float own = sum_of_row(matrix, vector, row, lane);
  const float sum = simd_sum(own);
  if (lane == 0) {
    out[2 * row] = uint(sum);
  } else if (lane == 5) {
    out[2 * row + 1] = uint(own);
  }
}

kernel void odd_ones(device const uint4 *matrix [[buffer(0)]],
                     device const uint4 *vector [[buffer(1)]],
                     device uint *out [[buffer(2)]],
                     uint lane [[thread_index_in_simdgroup]],
                     uint row [[simdgroup_index_in_threadgroup]]) {
  const float own = sum_of_row(matrix, vector, row, lane);
  if (lane & 1) {
    out[row * 32 + lane] = uint(own);
  }
}

kernel void some_rows(device const uint4 *matrix [[buffer(0)]],
                      device const uint4 *vector [[buffer(1)]],
                      device uint *out [[buffer(2)]],
                      uint lane [[thread_index_in_simdgroup]],
                      uint row [[simdgroup_index_in_threadgroup]]) {
  const float sum = simd_sum(sum_of_row(matrix, vector, row, lane));
  if (lane == 0 && row % 3) {
    out[row] = uint(sum);
  }
}
