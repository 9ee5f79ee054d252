// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Private arrays in which all threads keep the same, and two in which they seem
// to.
// run: chosen --grid 128 --group 64 0=u32:0,2,3,1,1,1,0,5 1=iota:u32:192 2=zeros:f32:128 3=u32:4
// expect: 2: 2.5 1 3 8.5 7 5.5 4 2.5 1 3 8.5 7 5.5 4 2.5 1 3 8.5 7 5.5 4 2.5 1 3 8.5 7 5.5 4 2.5 1 3 8.5 7 5.5 4 2.5 1 3 8.5 7 5.5 4 2.5 1 3 8.5 7 5.5 4 2.5 1 3 8.5 7 5.5 4 2.5 1 3 8.5 7 5.5 4 2.5 1 0 6 5 4 3 2 1 0 6 5 4 3 2 1 0 6 5 4 3 2 1 0 6 5 4 3 2 1 0 6 5 4 3 2 1 0 6 5 4 3 2 1 0 6 5 4 3 2 1 0 6 5 4 3 2 1 0 6 5 4 3 2 1
// run: parted --grid 64 --group 64 0=zeros:i32:64 1=i32:7 2=i32:2
// expect: 0: 102 9 9 102 9 9 102 9 9 102 9 9 102 9 9 102 9 9 102 9 9 102 9 9 102 9 9 102 9 9 102 9 9 102 9 9 102 9 9 102 9 9 102 9 9 102 9 9 102 9 9 102 9 9 102 9 9 102 9 9 102 9 9 102
// run: left --grid 64 --group 64 0=zeros:i32:64 1=i32:7 2=i32:2
// expect: 0: 0 0 0 10 10 0 0 0 10 10 0 0 0 10 10 0 0 0 10 10 0 0 0 10 10 0 0 0 10 10 0 0 0 10 10 0 0 0 10 10 0 0 0 10 10 0 0 0 10 10 0 0 0 10 10 0 0 0 10 10 0 0 0 10
// report: kernel chosen\nthreads in a group: 1024 at most; threadgroup variables: 256 bytes\nvectorised
#include <metal_stdlib>
using namespace metal;

// Arrays say which rows to add, and so which threads reach a barrier.
kernel void chosen(device const uint *ids [[buffer(0)]],
                   device const uint *x [[buffer(1)]],
                   device float *y [[buffer(2)]],
                   constant uint &count [[buffer(3)]],
                   uint t [[thread_index_in_threadgroup]],
                   uint g [[threadgroup_position_in_grid]]) {
  threadgroup float tile[64];
  uint id[4];
  float weight[4];
  for (uint k = 0; k < 4; k++) {
    if (k < count) {
      id[k] = ids[g * 4 + k];
      weight[k] = float(id[k]) * 0.5f;
    } else {
      id[k] = 0;
      weight[k] = 0;
    }
  }
  float sum = 0;
  for (uint k = 0; k < count; k++) {
    if (id[k] >= 3)
      continue;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    tile[t] = x[id[k] * 64 + t] % 7;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    sum += weight[k] * tile[63 - t];
  }
  y[g * 64 + t] = sum;
}

// Every third thread writes other numbers.
kernel void parted(device int *y [[buffer(0)]],
                   constant int &start [[buffer(1)]],
                   constant int &n [[buffer(2)]],
                   uint t [[thread_index_in_threadgroup]]) {
  int a[4];
  for (int k = 0; k < 4; k++)
    a[k] = start + k;
  if (t % 3 == 0)
    for (int k = 0; k < 4; k++)
      a[k] = 100 + k;
  y[t] = a[n];
}

// Threads leave the loop one by one; others go on writing.
kernel void left(device int *y [[buffer(0)]],
                 constant int &start [[buffer(1)]],
                 constant int &n [[buffer(2)]],
                 uint t [[thread_index_in_threadgroup]]) {
  int a[4] = {0, 0, 0, 0};
  for (int k = start; k < start + 1 + int(t % 5); k++)
    a[k % 4] = k;
  y[t] = a[n];
}
