// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Atomics whose results steer a loop, in threadgroup and device memory, with
// a signed minimum and a compare-and-swap maximum of floats.
// run: bins --grid 1000 --group 100 0=zeros:u32:8 1=zeros:i32:1 2=zeros:f32:1
// expect: 1: -2997
// expect: 2: 31.606962
#include <metal_stdlib>
using namespace metal;

kernel void bins(device atomic_uint *counts [[buffer(0)]],
                 device atomic_int *least [[buffer(1)]],
                 device atomic_uint *most_bits [[buffer(2)]],
                 uint i [[thread_position_in_grid]],
                 uint local [[thread_index_in_threadgroup]]) {
  threadgroup atomic_uint ticket;
  if (local == 0) { atomic_store_explicit(&ticket, 0u, memory_order_relaxed); }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  while (atomic_fetch_add_explicit(&ticket, 1u, memory_order_relaxed) < 150) {
    if (i % 2 == 0) {
      atomic_fetch_add_explicit(&counts[i % 4], 1u, memory_order_relaxed);
    } else {
      atomic_fetch_add_explicit(&counts[4 + i % 4], 1u, memory_order_relaxed);
    }
    if (local > 60) { break; }
  }
  atomic_fetch_min_explicit(least, int(i) * -3, memory_order_relaxed);
  const float own = sqrt(float(i));
  uint seen = atomic_load_explicit(most_bits, memory_order_relaxed);
  while (as_type<float>(seen) < own &&
         !atomic_compare_exchange_weak_explicit(
             most_bits, &seen, as_type<uint>(own), memory_order_relaxed,
             memory_order_relaxed)) {
  }
}
