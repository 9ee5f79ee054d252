// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Threadgroups of one thread along x, whose rows lie along y, or z: the code for
// them is made for positions that are turned. Images go to channels last and
// back, a kernel asks for every built-in input that has dimensions, and threads
// wait for neighbours along y.
// run: channels_last --grid 3,7 --group 1,4 0=zeros:u32:21 1=iota:u32:21
// expect: 0: 0 7 14 1 8 15 2 9 16 3 10 17 4 11 18 5 12 19 6 13 20
// run: channels_first --grid 3,1,7 --group 1,1,4 0=zeros:u32:21 1=iota:u32:21
// expect: 0: 0 3 6 9 12 15 18 1 4 7 10 13 16 19 2 5 8 11 14 17 20
// run: everything --grid 2,5,2 --group 1,3,1 0=zeros:u32:20
// expect: 0: 1000000031 1100000031 1000010131 1100010131 1000020231 1100020231 1010000021 1110000021 1010010121 1110010121 1001000031 1101000031 1001010131 1101010131 1001020231 1101020231 1011000021 1111000021 1011010121 1111010121
// run: everything --grid 1,2,5 --group 1,1,3 0=zeros:u32:10
// expect: 0: 1000000013 1010000013 1000001113 1010001113 1000002213 1010002213 1001000012 1011000012 1001001112 1011001112
// run: sizes --grid 2,70,3 --group 1,32,2 0=zeros:u32:15
// expect: 0: 2 70 3 2 3 2 1 32 2 1 6 1 0 0 0
// run: neighbours --grid 2,40 --group 1,36 0=zeros:u32:80
// expect: 0: 1 101 2 102 3 103 4 104 5 105 6 106 7 107 8 108 9 109 10 110 11 111 12 112 13 113 14 114 15 115 16 116 17 117 18 118 19 119 20 120 21 121 22 122 23 123 24 124 25 125 26 126 27 127 28 128 29 129 30 130 31 131 32 132 33 133 34 134 35 135 0 100 37 137 38 138 39 139 36 136
#include <metal_stdlib>
using namespace metal;
kernel void channels_last(device uint *out [[buffer(0)]], device const uint *in [[buffer(1)]],
    uint2 at [[thread_position_in_grid]], uint2 grid [[threads_per_grid]]) {
  out[at.x + grid.x * at.y] = in[at.y + grid.y * at.x];
}
kernel void channels_first(device uint *out [[buffer(0)]], device const uint *in [[buffer(1)]],
    uint3 at [[thread_position_in_grid]], uint3 grid [[threads_per_grid]]) {
  out[at.z + grid.z * at.x] = in[at.x + grid.x * at.z];
}
// Digits behind a 1: the threadgroup's position, the thread's in it, its index,
// the threadgroup's size along y and z.
kernel void everything(device uint *out [[buffer(0)]], uint3 at [[thread_position_in_grid]],
    uint3 grid [[threads_per_grid]], uint3 group [[threadgroup_position_in_grid]],
    uint3 size [[threads_per_threadgroup]], uint3 own [[thread_position_in_threadgroup]],
    uint index [[thread_index_in_threadgroup]]) {
  uint digits = 1;
  for (int i = 0; i < 3; i++) { digits = digits * 10 + group[i]; }
  for (int i = 0; i < 3; i++) { digits = digits * 10 + own[i]; }
  digits = ((digits * 10 + index) * 10 + size.y) * 10 + size.z;
  out[at.x + grid.x * (at.y + grid.y * at.z)] = digits;
}
kernel void sizes(device uint *out [[buffer(0)]], uint3 at [[thread_position_in_grid]],
    uint3 grid [[threads_per_grid]], uint3 groups [[threadgroups_per_grid]],
    uint3 full [[dispatch_threads_per_threadgroup]], uint3 size [[threads_per_threadgroup]]) {
  if (at.x == 1 && at.y == 69 && at.z == 2) {
    for (int i = 0; i < 3; i++) {
      out[i] = grid[i];
      out[3 + i] = groups[i];
      out[6 + i] = full[i];
      out[9 + i] = size[i];
    }
  }
}
kernel void neighbours(device uint *out [[buffer(0)]], uint2 at [[thread_position_in_grid]],
    uint2 own [[thread_position_in_threadgroup]], uint2 size [[threads_per_threadgroup]]) {
  threadgroup uint shared[36];
  shared[own.y] = at.y + at.x * 100;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[at.x + at.y * 2] = shared[(own.y + 1) % size.y];
}
