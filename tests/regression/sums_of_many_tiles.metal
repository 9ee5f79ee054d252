// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Nine sums of products in a loop that waits, more than registers hold: summed
// up alone, exchanged with each other, and kept from before they are added to.
// Each thread counts what differs from sums of its own.
// run: plain --grid 128 --group 128 0=iota:f32:1024 1=zeros:u32:128
// expect: 1: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
// run: exchanged --grid 128 --group 128 0=iota:f32:1024 1=zeros:u32:128
// expect: 1: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
// run: kept --grid 128 --group 128 0=iota:f32:1024 1=zeros:u32:128
// expect: 1: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
// run: scaled --grid 128 --group 128 0=iota:f32:1024 1=zeros:u32:128
// expect: 1: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
#include <metal_simdgroup_matrix>
#include <metal_stdlib>
using namespace metal;

// Small whole numbers: all their sums are exact.
static float number(uint i) {
  return float(i * 7 % 11) - 4;
}

// Returns the number added to element (row, column) of sum (i, j) in iteration
// k.
static float added(uint simdgroup, uint k, uint i, uint j, uint row,
                   uint column) {
  float sum = 0;
  for (uint m = 0; m < 8; m++) {
    sum += number(24 * row + 8 * i + m + k + simdgroup) *
           number(24 * m + 8 * j + column + 3 * k);
  }
  return sum;
}

enum way { PLAIN, EXCHANGED, KEPT, SCALED };

template <way how>
static void run(threadgroup float *left, threadgroup float *right,
                device uint *wrong, uint t, uint s, uint lane) {
  const uint row = ((lane >> 2) & 4) | ((lane >> 1) & 3);
  const uint column = ((lane >> 1) & 4) | ((lane << 1) & 2);
  simdgroup_float8x8 sums[3][3], before[3][3];
  float expected[3][3][2];
  for (uint i = 0; i < 3; i++) {
    for (uint j = 0; j < 3; j++) {
      sums[i][j] = simdgroup_float8x8(0);
      before[i][j] = sums[i][j];
      expected[i][j][0] = expected[i][j][1] = 0;
    }
  }
  uint count = 0;
  for (uint k = 0; k < 5; k++) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint i = lane; i < 8 * 24; i += 32) {
      left[i + s * 8 * 24] = number(i + k + s);
    }
    for (uint i = t; i < 8 * 24; i += 128) right[i] = number(i + 3 * k);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    simdgroup_float8x8 a[3], b[3];
    for (uint i = 0; i < 3; i++) {
      simdgroup_load(a[i], left + s * 8 * 24 + 8 * i, 24);
      simdgroup_load(b[i], right + 8 * i, 24);
    }
    for (uint i = 0; i < 3; i++) {
      for (uint j = 0; j < 3; j++) {
        if (how == KEPT) before[i][j] = sums[i][j];
        simdgroup_multiply_accumulate(sums[i][j], a[i], b[j], sums[i][j]);
        if (how == SCALED && k == 2) {
          sums[i][j].thread_elements()[1] *= 0.5f;
        }
      }
    }
    if (how == EXCHANGED) {
      simdgroup_float8x8 first = sums[0][1];
      sums[0][1] = sums[2][2];
      sums[2][2] = sums[1][0];
      sums[1][0] = first;
    }
    for (uint i = 0; i < 3; i++) {
      for (uint j = 0; j < 3; j++) {
        for (uint e = 0; e < 2; e++) {
          if (how == KEPT) {
            count += before[i][j].thread_elements()[e] != expected[i][j][e];
          }
          expected[i][j][e] += added(s, k, i, j, row, column + e);
        }
        if (how == SCALED && k == 2) expected[i][j][1] *= 0.5f;
      }
    }
    for (uint e = 0; how == EXCHANGED && e < 2; e++) {
      const float first = expected[0][1][e];
      expected[0][1][e] = expected[2][2][e];
      expected[2][2][e] = expected[1][0][e];
      expected[1][0][e] = first;
    }
  }
  for (uint i = 0; i < 3; i++) {
    for (uint j = 0; j < 3; j++) {
      for (uint e = 0; e < 2; e++) {
        count += sums[i][j].thread_elements()[e] != expected[i][j][e];
      }
    }
  }
  wrong[t] = count;
}

#define KERNEL(name, how)                                       \
  kernel void name(device float *unused [[buffer(0)]],          \
                   device uint *wrong [[buffer(1)]],            \
                   uint t [[thread_index_in_threadgroup]],      \
                   uint s [[simdgroup_index_in_threadgroup]],   \
                   uint lane [[thread_index_in_simdgroup]]) {   \
    threadgroup float left[4 * 8 * 24], right[8 * 24];          \
    run<how>(left, right, wrong, t, s, lane);                   \
  }
KERNEL(plain, PLAIN)
KERNEL(exchanged, EXCHANGED)
KERNEL(kept, KEPT)
KERNEL(scaled, SCALED)
