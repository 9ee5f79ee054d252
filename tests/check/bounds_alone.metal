// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bounds without the other checks: nothing else keeps a variable's place.
// checks: bounds
// run: tree --grid 512 --group 256 0=ones:f32:512 1=zeros:f32:2
// expect: 1: 256 256
// run: first --grid 64 --group 64 0=iota:f32:64 1=zeros:f32:1
// expect: 1: 63
// run: second_member --grid 64 --group 64 0=zeros:i32:64
// expect: 0: 5 5 5 5
// run: one_behind --grid 64 --group 64 0=zeros:f32:64
// find: bounds.threadgroup @behind
#include <metal_stdlib>
using namespace metal;

kernel void tree(device const float *x, device float *out,
                 uint t [[thread_position_in_threadgroup]],
                 uint g [[threadgroup_position_in_grid]],
                 uint i [[thread_position_in_grid]]) {
  threadgroup float part[256];
  part[t] = x[i];
  for (uint step = 128; step; step /= 2) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (t < step) {
      part[t] += part[t + step];
    }
  }
  if (t == 0) {
    out[g] = part[0];
  }
}

kernel void first(device const float *x, device float *out,
                  uint t [[thread_position_in_threadgroup]]) {
  threadgroup float value;
  if (t == 63) {
    value = x[t];
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (t == 0) {
    out[0] = value;
  }
}

struct Pair {
  int a;
  int b;
};

kernel void second_member(device int *out,
                          uint t [[thread_position_in_threadgroup]]) {
  threadgroup Pair pairs[2];
  if (t == 0) {
    pairs[1].b = 5;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[t] = pairs[1].b;
}

kernel void one_behind(device float *out,
                       uint t [[thread_position_in_threadgroup]]) {
  threadgroup float row[64];
  row[t] = t;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[t] = row[t + 1];  // @behind
}
