// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Threadgroups of one simdgroup, several of which run at once: how the number of
// one is divided, where it wraps around, threadgroups that are left over at the
// end of a row or cut off there, sums in device and in threadgroup memory, and
// such as part ways by their number. The values are of the same arithmetic with
// integers in Python.
// run: numbers --grid 1440 --group 32 0=zeros:u32:45
// expect: 0: 1072923052 1050770156 2831621986 1003056473 3671411984 3935667638 3761721878 1499346380 100607235 3639827197 3653504856 788644041 297232816 2328662641 4109514471 3828662858 3881259443 1617960300 239045394 2271637192 3172818532 2416832870 3348832797 1086457299 1846684973 2111178955 3892030785 2534721779 908109994 885718770 2034596989 4067188787 4119785372 3364038038 849922572 1115340199 2865075221 601537750 3587358726 2832535037 1720442770 3752110923 2373196017 1749481449 122869664
// run: tiles --grid 1472 --group 32 0=iota:u32:64 1=iota:u32:256 2=zeros:u32:46
// expect: 2: 62350 63809 81560 82379 65185 67586 73253 73391 56438 56871 40063 42078 81560 82379 65185 67586 85814 86145 56438 56871 40063 42078 60692 60637 65185 67586 85814 86145 68999 69625 40063 42078 60692 60637 43877 44117 85814 86145 68999 69625 52624 54832 60692 60637 43877 44117
// run: tiles_in_memory --grid 1472 --group 32 0=iota:u32:64 1=iota:u32:256 2=zeros:u32:46 3=zeros:u32:1472
// expect: 2: 62350 63809 81560 82379 65185 67586 73253 73391 56438 56871 40063 42078 81560 82379 65185 67586 85814 86145 56438 56871 40063 42078 60692 60637 65185 67586 85814 86145 68999 69625 40063 42078 60692 60637 43877 44117 85814 86145 68999 69625 52624 54832 60692 60637 43877 44117
// run: tiles_in_threadgroup --grid 736,2 --group 16,2 0=iota:u32:64 1=iota:u32:256 2=zeros:u32:46
// expect: 2: 62350 63809 81560 82379 65185 67586 73253 73391 56438 56871 40063 42078 81560 82379 65185 67586 85814 86145 56438 56871 40063 42078 60692 60637 65185 67586 85814 86145 68999 69625 40063 42078 60692 60637 43877 44117 85814 86145 68999 69625 52624 54832 60692 60637 43877 44117
// run: places --grid 150,3 --group 32,1 0=zeros:u32:15
// expect: 0: 528 3104 7728 14400 15345 11616 37248 66976 100800 92070 33264 102432 177744 259200 230175
// run: ways --grid 320 --group 32 0=zeros:u32:10
// expect: 0: 0 1 3 6 10 15 21 28 36 45
#include <metal_stdlib>
using namespace metal;

kernel void numbers(device uint *out [[buffer(0)]],
                    uint group [[threadgroup_position_in_grid]],
                    uint lane [[thread_index_in_simdgroup]]) {
  const uint g = group;
  const uint parts[] = {
      g / 64, g % 64 / 2, g % 2 * 32, g / 3, g % 5, g * 48 % 7, g * 40 / 16,
      g * 0x10000000 & 0x70000000, g * 0x20000000 >> 5, g * 0x30000000 / 3,
      g / 2 % 3 * 5, g % 24 / 4, g * 12 % 24 / 4, (g - 3) / 4, (g + 3) % 8,
      g % 8 | 16, g * 3 & 12, g / 4 * 4 % 16 / 8};
  uint sum = 0;
  for (uint i = 0; i < sizeof parts / sizeof *parts; i++) {
    sum = sum * 31 + parts[i];
  }
  if (lane == 31) {
    out[group] = sum;
  }
}

static uint input(device const uint *numbers, uint i) {
  return numbers[i] * 7 % 11;
}

static uint weight(device const uint *numbers, uint i) {
  return numbers[i] * 5 % 13;
}

kernel void tiles(device const uint *in [[buffer(0)]],
                  device const uint *weights [[buffer(1)]],
                  device uint *out [[buffer(2)]],
                  uint group [[threadgroup_position_in_grid]],
                  uint thread_at [[thread_position_in_threadgroup]]) {
  const uint row = group / 6, column = group % 6 / 2, half_at = group % 2 * 32;
  uint sum = 0;
  for (uint k = 0; k < 4; k++) {
    sum += input(in, row * 6 + column + k) *
           weight(weights, k * 64 + half_at + thread_at);
  }
  const uint all = simd_sum(sum * (thread_at + 1));
  if (thread_at == 0) {
    out[group] = all;
  }
}

// Each iteration stores to memory that may, for all the compiler knows, hold
// the weights.
kernel void tiles_in_memory(device const uint *in [[buffer(0)]],
                            device const uint *weights [[buffer(1)]],
                            device uint *out [[buffer(2)]],
                            device uint *sums [[buffer(3)]],
                            uint group [[threadgroup_position_in_grid]],
                            uint thread_at [[thread_position_in_threadgroup]],
                            uint at [[thread_position_in_grid]]) {
  const uint row = group / 6, column = group % 6 / 2, half_at = group % 2 * 32;
  sums[at] = 0;
  for (uint k = 0; k < 4; k++) {
    sums[at] += input(in, row * 6 + column + k) *
                weight(weights, k * 64 + half_at + thread_at);
  }
  const uint all = simd_sum(sums[at] * (thread_at + 1));
  if (thread_at == 0) {
    out[group] = all;
  }
}

kernel void tiles_in_threadgroup(
    device const uint *in [[buffer(0)]],
    device const uint *weights [[buffer(1)]], device uint *out [[buffer(2)]],
    uint2 group [[threadgroup_position_in_grid]],
    uint2 thread_at [[thread_position_in_threadgroup]]) {
  threadgroup uint sums[32];
  const uint row = group.x / 6, column = group.x % 6 / 2;
  const uint half_at = group.x % 2 * 32, i = thread_at.y * 16 + thread_at.x;
  sums[i] = 0;
  for (uint k = 0; k < 4; k++) {
    sums[i] += input(in, row * 6 + column + k) *
               weight(weights, k * 64 + half_at + i);
  }
  const uint all = simd_sum(sums[i] * (i + 1));
  if (i == 0) {
    out[group.x] = all;
  }
}

kernel void places(device uint *out [[buffer(0)]],
                   uint2 group [[threadgroup_position_in_grid]],
                   uint2 groups [[threadgroups_per_grid]],
                   uint2 at [[thread_position_in_grid]],
                   uint lane [[thread_index_in_simdgroup]]) {
  const uint all = simd_sum((at.x + 1) * (at.y + 1) *
                            (group.x + 1 + 10 * group.y));
  if (lane == 0) {
    out[group.y * groups.x + group.x] = all;
  }
}

kernel void ways(device uint *out [[buffer(0)]],
                 uint group [[threadgroup_position_in_grid]],
                 uint lane [[thread_index_in_simdgroup]]) {
  uint sum = 0;
  for (uint i = 0; i <= group; i++) {
    sum += i;
  }
  if (lane == 0) {
    out[group] = sum;
  }
}
