// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Results that depend on the schedule, and some that do not. The printed values
// are those of the order `forward`.
// run: sum --grid 256 --group 64 0=rand:f32:256 1=zeros:f32:1
// schedule: explore:3
// find: nondeterministic @sum
// run: whole_sum --grid 256 --group 64 0=iota:u32:256 1=zeros:u32:1
// schedule: explore:6
// expect: 1: 32640
// run: lock --grid 64 --group 32 0=zeros:u32:1 1=zeros:u32:1
// schedule: explore:64
// find: nondeterministic @lock
// find: race.device @lock
// expect: 1: 64
// run: lock_with_fences --grid 64 --group 32 0=zeros:u32:1 1=zeros:u32:1
// schedule: explore:64
// expect: 1: 64
// run: append --grid 64 --group 32 0=iota:u32:64 1=zeros:u8:64 2=zeros:u32:1
// schedule: explore:2
// find: nondeterministic @append
// expect: 1: 0 3 6 9
// run: last_one_wins --grid 64 --group 32 0=zeros:i32:2
// schedule: explore:2
// find: nondeterministic @last_one_wins
// find: race.device @last_one_wins
// expect: 0: 0 63
// run: halves --grid 64 --group 32 0=zeros:f16:4
// schedule: explore:4
// find: nondeterministic @halves
// find: race.device @halves
// run: in_a_group --grid 64 --group 64 0=zeros:u32:64
// schedule: explore:2
// find: nondeterministic @in_a_group
// run: by_address --grid 64 --group 64 0=iota:u32:64 1=zeros:u32:64
// schedule: explore:4
// expect: 1: 0 2 4 6
#include <metal_stdlib>
using namespace metal;
#define I uint i [[thread_position_in_grid]]

kernel void sum(device const float *x [[buffer(0)]],
                device atomic_float *y [[buffer(1)]], I) {
  atomic_fetch_add_explicit(y, x[i], memory_order_relaxed);  // @sum
}

kernel void whole_sum(device const uint *x [[buffer(0)]],
                      device atomic_uint *y [[buffer(1)]], I) {
  atomic_fetch_add_explicit(y, x[i], memory_order_relaxed);
}

kernel void lock(device atomic_uint *taken [[buffer(0)]],
                 device uint *n [[buffer(1)]]) {
  while (atomic_exchange_explicit(taken, 1u, memory_order_relaxed) != 0u) {
  }
  *n += 1;  // @lock
  atomic_store_explicit(taken, 0u, memory_order_relaxed);
}

kernel void lock_with_fences(device atomic_uint *taken [[buffer(0)]],
                             device uint *n [[buffer(1)]]) {
  while (atomic_exchange_explicit(taken, 1u, memory_order_relaxed) != 0u) {
  }
  atomic_thread_fence(mem_flags::mem_device, memory_order_seq_cst);
  *n += 1;
  atomic_thread_fence(mem_flags::mem_device, memory_order_seq_cst);
  atomic_store_explicit(taken, 0u, memory_order_relaxed);
}

kernel void append(device const uint *x [[buffer(0)]],
                   device uchar *y [[buffer(1)]],
                   device atomic_uint *n [[buffer(2)]], I) {
  if (x[i] % 3 == 0) {
    const uint at = atomic_fetch_add_explicit(n, 1u, memory_order_relaxed);
    y[at] = uchar(x[i]);  // @append
  }
}

kernel void last_one_wins(device int *y [[buffer(0)]], I) {
  y[1] = int(i);  // @last_one_wins
}

kernel void halves(device half *y [[buffer(0)]], I) {
  y[i & 3] += half(i);  // @halves
}

kernel void in_a_group(device uint *y [[buffer(0)]],
                       uint t [[thread_index_in_threadgroup]]) {
  threadgroup atomic_uint next;
  if (t == 0) {
    atomic_store_explicit(&next, 0u, memory_order_relaxed);
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = atomic_fetch_add_explicit(&next, 1u, memory_order_relaxed);  // @in_a_group
}

kernel void by_address(device const uint *x [[buffer(0)]],
                       device uint *y [[buffer(1)]], I) {
  device uint *to = i & 1 ? y + i : y + (i & ~0u);
  *to = 2 * x[i];
}
