// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Barriers that not all threads come to, and values of threads that are not
// there.
// run: early --grid 64 --group 64 0=zeros:i32:64
// find: sync.barrier @early
// run: whole_groups --grid 128 --group 64 0=zeros:i32:128
// expect: 0: 1 2 3 4
// run: sides --grid 64 --group 64 0=zeros:i32:64
// find: sync.barrier @sides_1,@sides_2
// run: alike_sides --grid 64 --group 64 0=zeros:i32:64
// find: sync.barrier @alike_sides_1,@alike_sides_2
// run: turns --grid 64 --group 64 0=zeros:i32:64
// find: sync.barrier @turns
// run: shuffles --grid 32 --group 32 0=iota:i32:32 1=zeros:i32:32
// find: sync.simdgroup @shuffles
// run: beyond --grid 32 --group 32 0=iota:i32:32 1=zeros:i32:32
// find: sync.simdgroup @beyond
// run: beyond_xor --grid 32 --group 32 0=iota:i32:32 1=zeros:i32:64
// find: sync.simdgroup @beyond_xor
// run: beyond_broadcast --grid 32 --group 32 0=iota:i32:32 1=zeros:i32:32 2=32
// find: sync.simdgroup @beyond_broadcast
// run: beyond_quad --grid 32 --group 32 0=iota:i32:32 1=zeros:i32:32
// find: sync.simdgroup @beyond_quad
// run: within --grid 32 --group 32 0=iota:i32:32 1=zeros:i32:32
// expect: 1: 61
// run: unused --grid 32 --group 32 0=iota:i32:32 1=zeros:i32:32
// expect: 1: 120
// run: half_a_simdgroup --grid 48 --group 48 0=iota:i32:48 1=zeros:i32:48
// expect: 1: 496 496
// run: some_of_a_simdgroup --grid 64 --group 32 0=zeros:i32:64
// find: sync.barrier @some_of_a_simdgroup
// run: one_simdgroup --grid 80 --group 80 0=zeros:i32:80
#include <metal_stdlib>
using namespace metal;

kernel void early(device int *y [[buffer(0)]],
                  uint i [[thread_position_in_grid]]) {
  if (i >= 50) return;
  y[i] = i;
  threadgroup_barrier(mem_flags::mem_device);  // @early
  y[i] += 1;
}

kernel void whole_groups(device int *y [[buffer(0)]],
                         uint i [[thread_position_in_grid]],
                         uint g [[threadgroup_position_in_grid]]) {
  if (g > 0) return;
  y[i] = i;
  threadgroup_barrier(mem_flags::mem_device);
  y[i] += 1;
}

kernel void sides(device int *y [[buffer(0)]],
                  uint i [[thread_position_in_grid]]) {
  if (i & 1) {
    y[i] = 1;
    threadgroup_barrier(mem_flags::mem_device);  // @sides_1
  } else {
    y[i] = 2;
    threadgroup_barrier(mem_flags::mem_device);  // @sides_2
  }
}

// Half of the threads wait at one barrier, the others at another: alike, but a
// barrier wants all threads of the threadgroup.
kernel void alike_sides(device int *y [[buffer(0)]],
                        uint t [[thread_position_in_grid]]) {
  threadgroup int all[64];
  all[t] = t;
  if (t < 32)
    threadgroup_barrier(mem_flags::mem_threadgroup);  // @alike_sides_1
  else
    threadgroup_barrier(mem_flags::mem_threadgroup);  // @alike_sides_2
  y[t] = all[t];
}

kernel void turns(device int *y [[buffer(0)]],
                  uint i [[thread_position_in_grid]]) {
  for (uint k = 0; k < i / 32 + 1; ++k) {
    y[i] += 1;
    threadgroup_barrier(mem_flags::mem_device);  // @turns
  }
}

kernel void shuffles(device const int *x [[buffer(0)]],
                     device int *y [[buffer(1)]],
                     uint i [[thread_position_in_grid]]) {
  int value = x[i];
  if (i < 20) {
    value += simd_shuffle_down(value, 8);  // @shuffles
  }
  y[i] = value;
}

// Without the checker the number is taken modulo 32.
kernel void beyond(device const int *x [[buffer(0)]],
                   device int *y [[buffer(1)]],
                   uint i [[thread_position_in_grid]]) {
  y[i] = simd_shuffle(x[i], i % 32 + 8);  // @beyond
}

kernel void beyond_xor(device const int *x [[buffer(0)]],
                       device int2 *y [[buffer(1)]],
                       uint i [[thread_position_in_grid]]) {
  y[i] = simd_shuffle_xor(int2(x[i]), 32);  // @beyond_xor
}

kernel void beyond_broadcast(device const int *x [[buffer(0)]],
                             constant int &n [[buffer(2)]],
                             device int *y [[buffer(1)]],
                             uint i [[thread_position_in_grid]]) {
  y[i] = simd_broadcast(x[i], n);  // @beyond_broadcast
}

kernel void beyond_quad(device const int *x [[buffer(0)]],
                        device int *y [[buffer(1)]],
                        uint i [[thread_position_in_grid]]) {
  y[i] = quad_shuffle(x[i], i % 4 + 1);  // @beyond_quad
}

// What lies beyond is chosen away, or not beyond.
kernel void within(device const int *x [[buffer(0)]],
                   device int *y [[buffer(1)]],
                   uint i [[thread_position_in_grid]]) {
  int other = simd_shuffle(x[i], i % 32 + 8);
  y[i] = i % 32 < 24 ? other : x[i];
  y[i] += simd_shuffle_rotate_down(x[i], 40) + quad_shuffle_rotate_up(x[i], 1) +
          simd_shuffle(x[i], (i + 8) % 32) + simd_shuffle_xor(x[i], 31) +
          quad_shuffle_xor(x[i], 3) + simd_shuffle_down(x[i], 40);
}

// Values of threads that are not there are not used.
kernel void unused(device const int *x [[buffer(0)]],
                   device int *y [[buffer(1)]],
                   uint i [[thread_position_in_grid]]) {
  int value = x[i];
  if (i < 16) {
    for (ushort k = 8; k > 0; k /= 2)
      value += simd_shuffle_down(value, k);
    if (i == 0) y[0] = value;
  }
}

kernel void half_a_simdgroup(device const int *x [[buffer(0)]],
                             device int *y [[buffer(1)]],
                             uint i [[thread_position_in_grid]]) {
  y[i] = simd_sum(x[i]);
}

kernel void some_of_a_simdgroup(device int *y [[buffer(0)]],
                                uint i [[thread_position_in_grid]]) {
  y[i] = 1;
  if (i % 32 < 8) {
    simdgroup_barrier(mem_flags::mem_device);  // @some_of_a_simdgroup
  }
  y[i] += 1;
}

kernel void one_simdgroup(device int *y [[buffer(0)]],
                          uint i [[thread_position_in_grid]]) {
  y[i] = 1;
  if (i / 32 == 2) {
    simdgroup_barrier(mem_flags::mem_device);
  }
  y[i] += 1;
}
