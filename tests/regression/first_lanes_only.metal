// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Branches that only the first lanes take, as in the last steps of a tree: what
// lies behind them stays as it was, for elements of any size, in threadgroups
// whose last simdgroup has gaps, and where others than the first are inside.
// run: below --grid 70 --group 70 0=ones:f32:72 1=ones:u8:72 2=ones:i64:72
// expect: 0: 2 2 2 2 2 1 1 1 1
// expect: 1: 3 3 3 1 1 1 1 1 1
// expect: 2: 5 1 1 1 1 1 1 1 1
// run: offset --grid 70 --group 70 0=ones:i32:72
// expect: 0: 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 7 7 7 7 1 1 1 1 1 1 1 1
// run: lanes --grid 80 --group 80 0=ones:f32:84
// expect: 0: 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 1 1 1 1
// run: tree --grid 100 --group 100 0=ones:f32:100 1=zeros:f32:2
// expect: 1: 100 0
#include <metal_stdlib>
using namespace metal;

kernel void below(device float *a [[buffer(0)]], device uchar *b [[buffer(1)]],
                  device long *c [[buffer(2)]],
                  uint l [[thread_index_in_threadgroup]]) {
  if (l < 5) {
    a[l] += 1;
    if (l <= 2) {
      b[l] = b[l] + 2;
    }
  }
  if (l == 0) {
    c[l] += 4;
  }
}

// The run begins above 0.
kernel void offset(device int *a [[buffer(0)]],
                   uint l [[thread_index_in_threadgroup]]) {
  if (l >= 20) {
    uint over = l - 20;
    if (over < 4) {
      a[l] = 7;
    }
  }
}

kernel void lanes(device float *a [[buffer(0)]],
                  uint l [[thread_index_in_threadgroup]],
                  uint lane [[thread_index_in_simdgroup]]) {
  if (lane < 16) {
    a[l] += 1;
  }
}

kernel void tree(device const float *in [[buffer(0)]],
                 device float *out [[buffer(1)]],
                 uint l [[thread_index_in_threadgroup]]) {
  threadgroup float sums[128];
  sums[l] = in[l];
  if (l < 28) {
    sums[100 + l] = 0;
  }
  for (uint stride = 64; stride > 0; stride /= 2) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (l < stride) {
      sums[l] += sums[l + stride];
    }
  }
  if (l == 0) {
    out[0] = sums[0];
  }
}
