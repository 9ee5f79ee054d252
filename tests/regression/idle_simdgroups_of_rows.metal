// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Steps between barriers for the first threads of each row or of the
// threadgroup: simdgroups past them are left out, those of the next row not.
// run: rows --grid 64,4 --group 64,4 0=zeros:i32:8
// expect: 0: 312 114 1075 97 616 166 872 230
// run: rows --grid 96,2 --group 96,2 0=zeros:i32:8
// expect: 0: 312 114 210 483 129 166 0 0
// run: rows --grid 256 --group 256 0=zeros:i32:8
// expect: 0: 312 114 210 102 134 166 198 230
// run: rows --grid 100 --group 100 0=zeros:i32:8
// expect: 0: 312 114 210 0 0 0 0 0
// run: rows --grid 128,2 --group 128,2 0=zeros:i32:8
// expect: 0: 312 114 210 102 611 161 198 230
// run: beside --grid 256 --group 256 0=zeros:i32:8 1=zeros:i32:8
// expect: 0: 5 37 69 101 133 165 197 229
// expect: 1: 12 38 70 102 134 166 198 230
#include <metal_stdlib>
using namespace metal;

kernel void rows(device int *out [[buffer(0)]],
                 uint2 t [[thread_position_in_threadgroup]],
                 uint l [[thread_index_in_threadgroup]]) {
  threadgroup int s[256];
  s[l] = int(l) + 1;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (t.x < 32) { s[l] += s[l + 32]; }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (t.x < 8) { s[l] += s[l + 8]; }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (l < 70) { s[l] *= 3; }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (t.x <= 64 && t.y == 1) { s[l] -= 5; }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (l % 32 == 5) { out[l / 32] = s[l]; }
}

// Code in front of such a step or behind it is for all threads.
kernel void beside(device int *out [[buffer(0)]], device int *sums [[buffer(1)]],
                   uint l [[thread_index_in_threadgroup]]) {
  threadgroup int s[256];
  s[l] = int(l) + 1;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (l % 32 == 5) { out[l / 32] = int(l); }
  if (l < 32) { s[l] *= 2; }
  if (l % 32 == 5) { sums[l / 32] = s[l]; }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (l < 16) { s[l] += 1; }
}
