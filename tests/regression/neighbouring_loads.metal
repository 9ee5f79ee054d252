// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elements beside each other, 8, 4 and 2 to a thread, in rising and falling
// order, some of them missing, under a mask, with a store in between; and loops
// whose bounds are and are not what whole simdgroups reach. The expected values
// are those of x[k] = k: sums of (j + 1) * (8 i + j) are 288 i + 168, and so on.
// run: eights --grid 50 --group 50 0=iota:f32:400 1=zeros:f32:50
// expect: 1: 168 456 744 1032
// run: pairs --grid 40 --group 40 0=iota:f32:80 1=zeros:f32:40
// expect: 1: 2 6 10 14
// run: some --grid 70 --group 64 0=iota:f32:280 1=zeros:f32:70
// expect: 1: -1 17 29 -1 53 65
// run: between --grid 33 --group 33 0=iota:f32:132
// expect: 0: 0 0 0 0 4 4 4 4 8 8 8 8
// run: bounds --grid 64 --group 64 0=zeros:u32:128 1=u32:96 2=u32:70
// expect: 0: 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 0
#include <metal_stdlib>
using namespace metal;

kernel void eights(device const float *x [[buffer(0)]],
                   device float *y [[buffer(1)]],
                   uint i [[thread_position_in_grid]]) {
  float sum = 0;
  for (uint j = 0; j < 8; j++) {
    sum += (j + 1) * x[i * 8 + j];
  }
  y[i] = sum;
}

kernel void pairs(device const float *x [[buffer(0)]],
                  device float *y [[buffer(1)]],
                  uint i [[thread_position_in_grid]]) {
  const float high = x[2 * i + 1];
  y[i] = high + x[2 * i] + 1;
}

kernel void some(device const float *x [[buffer(0)]],
                 device float *y [[buffer(1)]],
                 uint i [[thread_position_in_grid]]) {
  if (i % 3 == 0) {
    y[i] = -1;
  } else {
    // 4 i + 3 + 2 (4 i + 1)
    y[i] = x[4 * i + 3] + 2 * x[4 * i + 1];
  }
}

kernel void between(device float *x [[buffer(0)]],
                    uint i [[thread_position_in_grid]]) {
  x[4 * i + 1] = x[4 * i];
  const float first = x[4 * i + 1];
  x[4 * i + 2] = first;
  x[4 * i + 3] = x[4 * i + 2];
}

// Counts how often each element is met: twice below 70, once up to 96.
kernel void bounds(device uint *met [[buffer(0)]],
                   constant uint &whole [[buffer(1)]],
                   constant uint &part [[buffer(2)]],
                   uint l [[thread_index_in_threadgroup]]) {
  for (uint i = l; i < 96; i += 64) {
    met[i] += whole == 96;
  }
  for (uint i = l; i < part; i += 64) {
    met[i]++;
  }
}
