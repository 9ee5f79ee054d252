// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Threads of a dispatch write where others read, in one threadgroup and in
// several; atomics may meet, a fence on both sides orders what is around them.
// run: in_place --grid 512 --group 64 0=iota:f32:512
// find: race.device @in_place
// run: plain_and_atomic --grid 64 --group 32 0=zeros:u32:1 1=zeros:u32:64
// find: race.device @plain_and_atomic_1,@plain_and_atomic_2
// run: atomics --grid 64 --group 32 0=zeros:u32:1
// expect: 0: 64
// run: same_value --grid 64 --group 32 0=zeros:u32:1
// expect: 0: 7
// run: other_values --grid 64 --group 32 0=zeros:u32:1
// find: race.device @other_values
// run: last_one --grid 256 --group 64 0=iota:u32:256 1=zeros:u32:4 2=zeros:u32:1 3=zeros:u32:1
// expect: 3: 32640
// run: without_fences --grid 256 --group 64 0=iota:u32:256 1=zeros:u32:4 2=zeros:u32:1 3=zeros:u32:1
// find: race.device @without_fences_1,@without_fences_2
// run: refills --grid 64 --group 64 0=zeros:f32:64 1=zeros:f32:1
// find: race.device @refills_1,@refills_2
// run: sums --grid 128 --group 64 0=zeros:u32:1 1=zeros:u32:128
// find: race.device @sums_1,@sums_2
#include <metal_stdlib>
using namespace metal;

kernel void in_place(device float *u [[buffer(0)]],
                     uint i [[thread_position_in_grid]]) {
  u[i] = u[i] + u[(i + 1) & 511];  // @in_place
}

// Counted by atomics, and read by plain loads.
kernel void plain_and_atomic(device atomic_uint *n [[buffer(0)]],
                             device uint *y [[buffer(1)]],
                             uint i [[thread_position_in_grid]]) {
  atomic_fetch_add_explicit(n, 1u, memory_order_relaxed);  // @plain_and_atomic_1
  y[i] = *(device uint *)n;  // @plain_and_atomic_2
}

kernel void atomics(device atomic_uint *n [[buffer(0)]]) {
  atomic_fetch_add_explicit(n, 1u, memory_order_relaxed);
}

// All threads store the same value, 7.
kernel void same_value(device uint *n [[buffer(0)]]) {
  *n = 7;
}

kernel void other_values(device uint *n [[buffer(0)]],
                         uint i [[thread_position_in_grid]]) {
  *n = i;  // @other_values
}

// The last threadgroup to arrive adds up the results of all.
kernel void last_one(device const uint *x [[buffer(0)]],
                     device uint *parts [[buffer(1)]],
                     device atomic_uint *count [[buffer(2)]],
                     device uint *sum [[buffer(3)]],
                     uint i [[thread_position_in_grid]],
                     uint t [[thread_index_in_threadgroup]],
                     uint g [[threadgroup_position_in_grid]]) {
  threadgroup atomic_uint own;
  if (t == 0) {
    atomic_store_explicit(&own, 0, memory_order_relaxed);
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  atomic_fetch_add_explicit(&own, x[i], memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (t == 0) {
    parts[g] = atomic_load_explicit(&own, memory_order_relaxed);
    atomic_thread_fence(mem_flags::mem_device, memory_order_seq_cst);
    const uint before =
        atomic_fetch_add_explicit(count, 1, memory_order_relaxed);
    if (before == 3) {
      atomic_thread_fence(mem_flags::mem_device, memory_order_seq_cst);
      *sum = parts[0] + parts[1] + parts[2] + parts[3];
    }
  }
}

// The same without fences.
kernel void without_fences(device const uint *x [[buffer(0)]],
                           device uint *parts [[buffer(1)]],
                           device atomic_uint *count [[buffer(2)]],
                           device uint *sum [[buffer(3)]],
                           uint i [[thread_position_in_grid]],
                           uint t [[thread_index_in_threadgroup]],
                           uint g [[threadgroup_position_in_grid]]) {
  threadgroup atomic_uint own;
  if (t == 0) {
    atomic_store_explicit(&own, 0, memory_order_relaxed);
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  atomic_fetch_add_explicit(&own, x[i], memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (t == 0) {
    parts[g] = atomic_load_explicit(&own, memory_order_relaxed);  // @without_fences_1

    const uint before =
        atomic_fetch_add_explicit(count, 1, memory_order_relaxed);
    if (before == 3) {
      *sum = parts[0] + parts[1] + parts[2] + parts[3];  // @without_fences_2
    }
  }
}

kernel void refills(device float *y [[buffer(0)]],
                    device float *shared [[buffer(1)]],
                    uint t [[thread_index_in_threadgroup]]) {
  y[t] = shared[0];  // @refills_1
  simdgroup_barrier(mem_flags::mem_device);
  if (t == 0) shared[0] = 2;  // @refills_2
}

// Several threads of each threadgroup add; the barrier orders those of its own.
kernel void sums(device atomic_uint *sum [[buffer(0)]],
                 device uint *y [[buffer(1)]],
                 uint i [[thread_position_in_grid]],
                 uint t [[thread_index_in_threadgroup]]) {
  if (t < 40) atomic_fetch_add_explicit(sum, t, memory_order_relaxed);  // @sums_1
  threadgroup_barrier(mem_flags::mem_device);
  if (i == 114) y[i] = *(device uint *)sum;  // @sums_2
}
