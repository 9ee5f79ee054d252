// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Atomic additions without results, which a worker may sum up before it adds
// them: to few places, to so many that they drive each other out of its table,
// behind a branch, and where a thread of the group looks at them, which means
// at once.
// run: few --grid 20000 --group 250 0=zeros:i32:10
// expect: 0: 2500 2500 2500 2500 2500 2500 2500 2500 -10000 -20000
// run: many --grid 49152 --group 256 0=zeros:u32:16384
// expect: 0: 3 3 3 3
// run: branch --grid 30000 --group 100 0=zeros:u32:4
// expect: 0: 10000 20000 0 7
// run: seen --grid 5120 --group 256 0=zeros:u32:80 1=zeros:u32:80
// expect: 1: 64 128 192 256 64 128 192 256
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
