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
// run: refills --grid 64 --group 64 0=zeros:f32:64
// find: race.threadgroup @refills_1,@refills_2
// run: refills_bytes --grid 64 --group 64 0=zeros:u8:64
// find: race.threadgroup @refills_bytes_1,@refills_bytes_2
// run: counts --grid 64 --group 64 0=zeros:u32:64
// find: race.threadgroup @counts_1,@counts_2
// run: second_reader --grid 32 --group 32 0=zeros:f32:32
// find: race.threadgroup @second_reader_1,@second_reader_2
// findings: 1
// run: second_reader_of_bytes --grid 32 --group 32 0=zeros:u8:32
// find: race.threadgroup @second_of_bytes_1,@second_of_bytes_2
// findings: 1
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

// All threads read an element. The simdgroup barrier orders only the writer's own
// simdgroup's reads before the next write.
kernel void refills(device float *y [[buffer(0)]],
                    uint t [[thread_index_in_threadgroup]]) {
  threadgroup float shared[1];
  if (t == 0) shared[0] = 1;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = shared[0];  // @refills_1
  simdgroup_barrier(mem_flags::mem_threadgroup);
  if (t == 0) shared[0] = 2;  // @refills_2
}

kernel void refills_bytes(device uchar *y [[buffer(0)]],
                          uint t [[thread_index_in_threadgroup]]) {
  threadgroup uchar shared[4];
  if (t < 4) shared[t] = 1;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = shared[1];  // @refills_bytes_1
  simdgroup_barrier(mem_flags::mem_threadgroup);
  if (t == 0) shared[1] = 2;  // @refills_bytes_2
}

// Atomics of the other simdgroup are not ordered before the read.
kernel void counts(device uint *y [[buffer(0)]],
                   uint t [[thread_index_in_threadgroup]]) {
  threadgroup uint n;
  if (t == 0) n = 0;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  threadgroup atomic_uint *counter = (threadgroup atomic_uint *)&n;
  atomic_fetch_add_explicit(counter, 1u, memory_order_relaxed);  // @counts_1
  simdgroup_barrier(mem_flags::mem_threadgroup);
  if (t == 62) y[t] = n;  // @counts_2
}

// A thread writes what it has read itself, at another line than its neighbour.
kernel void second_reader(device float *y [[buffer(0)]],
                          uint t [[thread_index_in_threadgroup]]) {
  threadgroup float shared[32];
  shared[t] = t;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const float own = shared[t];
  const float other = shared[t ^ 1];  // @second_reader_1
  threadgroup_barrier(mem_flags::mem_device);
  shared[t] = own + other;  // @second_reader_2
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = shared[t];
}

kernel void second_reader_of_bytes(device uchar *y [[buffer(0)]],
                                   uint t [[thread_index_in_threadgroup]]) {
  threadgroup uchar shared[32];
  shared[t] = t;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const uchar own = shared[t];
  const uchar other = shared[t ^ 1];  // @second_of_bytes_1
  threadgroup_barrier(mem_flags::mem_device);
  shared[t] = own + other;  // @second_of_bytes_2
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = shared[t];
}
