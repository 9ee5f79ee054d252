// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Values that were never set: told of where they decide something or are
// stored, not where they are only read.
// run: tail --grid 40 --group 64 0=ones:f32:40 1=zeros:f32:1
// find: init.threadgroup @tail
// run: chosen_away --grid 40 --group 64 0=ones:f32:40 1=zeros:f32:1
// expect: 1: 40
// run: variable --grid 8 --group 8 0=iota:i32:8 1=zeros:i32:8
// find: init.private @variable
// run: set_later --grid 8 --group 8 0=iota:i32:8 1=zeros:i32:8
// expect: 1: 0 1 2 3
// run: array --grid 8 --group 8 0=iota:i32:8 1=zeros:i32:8
// find: init.private @array
// run: decides --grid 8 --group 8 0=zeros:i32:8
// find: init.threadgroup @decides
// run: masked --grid 8 --group 8 0=zeros:u32:8
// expect: 0: 5 5 5 5
#include <metal_stdlib>
using namespace metal;

kernel void tail(device const float *x [[buffer(0)]],
                 device float *y [[buffer(1)]],
                 uint t [[thread_index_in_threadgroup]]) {
  threadgroup float part[64];
  part[t] = x[t];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  float sum = 0;
  for (uint k = 0; k < 64; ++k) sum += part[k];
  if (t == 0) y[0] = sum;  // @tail
}

kernel void chosen_away(device const float *x [[buffer(0)]],
                        device float *y [[buffer(1)]],
                        uint t [[thread_index_in_threadgroup]]) {
  threadgroup float part[64];
  part[t] = x[t];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  float sum = 0;
  for (uint k = 0; k < 64; ++k) {
    const float value = part[k];
    sum += k < 40 ? value : 0.0f;
  }
  if (t == 0) y[0] = sum;
}

kernel void variable(device const int *x [[buffer(0)]],
                     device int *y [[buffer(1)]],
                     uint i [[thread_position_in_grid]]) {
  int value;
  if (x[i] > 3) value = 1;
  y[i] = value;  // @variable
}

kernel void set_later(device const int *x [[buffer(0)]],
                      device int *y [[buffer(1)]],
                      uint i [[thread_position_in_grid]]) {
  int value;
  if (x[i] > 3) value = x[i];
  else value = int(i);
  y[i] = value;
}

kernel void array(device const int *x [[buffer(0)]],
                  device int *y [[buffer(1)]],
                  uint i [[thread_position_in_grid]]) {
  int values[8];
  for (uint k = 0; k < 7; ++k)
    values[(k + x[i]) & 7] = k;
  y[i] = values[(x[i] + (i > 3 ? 7 : 0)) & 7];  // @array
}

kernel void decides(device int *y [[buffer(0)]],
                    uint t [[thread_index_in_threadgroup]]) {
  threadgroup int flags[16];
  flags[t] = 1;
  if (flags[t + 8] > 0) y[t] = 1;  // @decides
}

kernel void masked(device uint *y [[buffer(0)]],
                   uint t [[thread_index_in_threadgroup]]) {
  threadgroup uint words[8];
  threadgroup uchar *bytes = (threadgroup uchar *)&words[t];
  bytes[0] = 5;
  y[t] = words[t] & 0xff;
}
