// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One thread writes an element while its neighbour reads it; with a barrier
// between, or between bytes side by side, there is no race.
// run: shifts --grid 64 --group 64 0=iota:i32:64 1=zeros:i32:64
// find: race.threadgroup @shifts_1,@shifts_2
// run: waits --grid 64 --group 64 0=iota:i32:64 1=zeros:i32:64
// expect: 1: 1 2 3 4
// run: wrong_flags --grid 64 --group 64 0=iota:i32:64 1=zeros:i32:64
// find: race.threadgroup @wrong_flags_1,@wrong_flags_2
// run: bytes --grid 64 --group 64 0=zeros:u8:64
// expect: 0: 1 2 3 4
// run: by_simdgroups --grid 64 --group 64 0=iota:i32:64 1=zeros:i32:64
// expect: 1: 1 2 3 4
#include <metal_stdlib>
using namespace metal;

kernel void shifts(device const int *x [[buffer(0)]],
                   device int *y [[buffer(1)]],
                   uint t [[thread_index_in_threadgroup]]) {
  threadgroup int values[64];
  values[t] = x[t];  // @shifts_1
  y[t] = values[(t + 1) & 63];  // @shifts_2
}

kernel void waits(device const int *x [[buffer(0)]],
                  device int *y [[buffer(1)]],
                  uint t [[thread_index_in_threadgroup]]) {
  threadgroup int values[64];
  values[t] = x[t];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = values[(t + 1) & 63];
}

// Orders device memory, but not threadgroup memory.
kernel void wrong_flags(device const int *x [[buffer(0)]],
                        device int *y [[buffer(1)]],
                        uint t [[thread_index_in_threadgroup]]) {
  threadgroup int values[64];
  values[t] = x[t];  // @wrong_flags_1
  threadgroup_barrier(mem_flags::mem_device);
  y[t] = values[(t + 1) & 63];  // @wrong_flags_2
}

kernel void bytes(device uchar *y [[buffer(0)]],
                  uint t [[thread_index_in_threadgroup]]) {
  threadgroup uchar values[64];
  values[t] = t;
  values[t] += 1;
  y[t] = values[t];
}

kernel void by_simdgroups(device const int *x [[buffer(0)]],
                          device int *y [[buffer(1)]],
                          uint t [[thread_index_in_threadgroup]]) {
  threadgroup int values[64];
  values[t] = x[t];
  simdgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = values[(t & 32) | ((t + 1) & 31)];
}
