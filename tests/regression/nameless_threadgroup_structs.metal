// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Threadgroup variables whose class is defined where they are declared, with
// and without a name.
// run: reverse --grid 8 0=zeros:i32:8
// expect: 0: 7 8 9 10 9 10 11 12
#include <metal_stdlib>
using namespace metal;

kernel void reverse(device int *out [[buffer(0)]],
                    uint i [[thread_position_in_grid]]) {
  threadgroup struct {
    int values[8];
    float4 bounds;
  } shared;
  threadgroup struct Named { int last; } named;
  threadgroup union {
    int words[2];
    float numbers[2];
  } either[4];
  shared.values[i] = int(i);
  either[i / 2].words[i % 2] = int(i);
  if (i == 7) {
    named.last = 7;
    shared.bounds = float4(0, 1, 2, 3);
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[i] = shared.values[7 - i] + either[i / 4 + 2].words[0] - 4 +
           int(shared.bounds[i % 4]) + int(i) - named.last + 7;
}
