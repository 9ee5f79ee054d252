// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Atomic additions without results, which a worker may sum up before it adds
// them: to few places, to more than it keeps sums for, behind a branch, in a
// loop that reads other arguments, by all threads to one place, by signed and
// narrow indices, to elements of structures, and where a thread of the group
// looks at them, which means at once.
// run: few --grid 20000 --group 250 0=zeros:i32:10
// expect: 0: 2500 2500 2500 2500 2500 2500 2500 2500 -10000 -20000
// run: many --grid 49152 --group 256 0=zeros:u32:16384
// expect: 0: 3 3 3 3
// run: branch --grid 30000 --group 100 0=zeros:u32:4
// expect: 0: 10000 20000 0 7
// run: seen --grid 5120 --group 256 0=zeros:u32:80 1=zeros:u32:80
// expect: 1: 64 128 192 256 64 128 192 256
// run: strided --grid 1000 --group 100 0=zeros:u32:100000 1=zeros:u32:9
// expect: 1: 25000 25000 25000 25000 0 0 0 0 100000
// run: indices --grid 65536 --group 256 0=zeros:i32:16 1=zeros:u32:24
// expect: 0: 16384 0 0 0 16384 0 0 0 16384 0 0 0 16384 0 0 0
// expect: 1: 0 65536 0 131072 0 196608 0 262144 0 0 0 0
// run: pages --grid 262144 --group 256 0=zeros:u32:8192
// expect: 0: 32 32 32 32
#include <metal_stdlib>
using namespace metal;

kernel void few(device atomic_int *sums [[buffer(0)]],
                uint i [[thread_position_in_grid]]) {
  atomic_fetch_add_explicit(&sums[i * 3 & 7], 1, memory_order_relaxed);
  atomic_fetch_sub_explicit(&sums[8 + (i & 1)], int(i & 3),
                            memory_order_relaxed);
}

kernel void many(device atomic_uint *counts [[buffer(0)]],
                 uint i [[thread_position_in_grid]]) {
  atomic_fetch_add_explicit(&counts[i * 2654435761u >> 7 & 16383], 0u,
                            memory_order_relaxed);
  atomic_fetch_add_explicit(&counts[i & 16383], 1u, memory_order_relaxed);
}

kernel void branch(device atomic_uint *counts [[buffer(0)]],
                   uint i [[thread_position_in_grid]]) {
  if (i % 3 == 0) {
    atomic_fetch_add_explicit(&counts[i & 0], 1u, memory_order_relaxed);
  } else {
    atomic_fetch_add_explicit(&counts[min(i, 1u)], 1u, memory_order_relaxed);
  }
  if (i >= 29993) {
    atomic_fetch_add_explicit(&counts[i & 1 | 3], 1u, memory_order_relaxed);
  }
}

kernel void seen(device atomic_uint *counts [[buffer(0)]],
                 device uint *out [[buffer(1)]],
                 uint i [[thread_position_in_grid]],
                 uint local [[thread_index_in_threadgroup]],
                 uint group [[threadgroup_position_in_grid]]) {
  atomic_fetch_add_explicit(&counts[group * 4 + (i & 3)], 1 + (i & 3),
                            memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_device);
  if (local < 4) {
    out[group * 4 + local] = atomic_load_explicit(&counts[group * 4 + local],
                                                  memory_order_relaxed);
  }
}

kernel void strided(device const uint *in [[buffer(0)]],
                    device atomic_uint *counts [[buffer(1)]],
                    uint i [[thread_position_in_grid]],
                    uint step [[threads_per_grid]]) {
  for (uint j = i; j < 100000; j += step) {
    atomic_fetch_add_explicit(&counts[in[j] + (j & 3)], 1u,
                              memory_order_relaxed);
    atomic_fetch_add_explicit(&counts[8], 1u, memory_order_relaxed);
  }
}

struct pair {
  uint first;
  atomic_uint second;
};

kernel void indices(device atomic_int *signed_at [[buffer(0)]],
                    device pair *pairs [[buffer(1)]],
                    uint i [[thread_position_in_grid]]) {
  device atomic_int *middle = signed_at + 8;
  atomic_fetch_add_explicit(&middle[(int(i & 3) - 2) * 4], 1,
                            memory_order_relaxed);
  atomic_fetch_add_explicit(&pairs[uchar(i >> 2) & 3].second,
                            ((i >> 2) & 3) * 4 + 4, memory_order_relaxed);
}

kernel void pages(device atomic_uint *counts [[buffer(0)]],
                  uint i [[thread_position_in_grid]]) {
  atomic_fetch_add_explicit(&counts[(8191 - (i >> 3 & 8191)) ^ (i & 7)], 1u,
                            memory_order_relaxed);
}
