// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Counters in threadgroup memory whose numbers are bits of what was loaded, cut
// out by a shift that is known when the kernel runs: the numbers are read from
// memory a second time.
// run: bits --grid 128 --group 64 0=iota:u32:1024 1=zeros:u32:32 2=u32:5
// expect: 1: 32 32 32 32 32 32 32 32 32 32 32 32 32 32 32 32 32 32 32 32 32 32 32 32 32 32 32 32 32 32 32 32
// run: bits --grid 128 --group 64 0=iota:u32:1024 1=zeros:u32:32 2=u32:39
// expect: 1: 128 128 128 128 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 128 128 128 128 0 0 0 0 0 0 0 0
// run: largest --grid 96 --group 32 0=iota:u16:96 1=zeros:u32:12 2=u32:6
// expect: 1: 76 82 88 94 172 178 184 190 268 274 280 286
#include <metal_stdlib>
using namespace metal;

kernel void bits(device const uint *x [[buffer(0)]],
                 device uint *counts [[buffer(1)]],
                 constant uint &shift [[buffer(2)]],
                 uint t [[thread_index_in_threadgroup]],
                 uint g [[threadgroup_position_in_grid]]) {
  threadgroup atomic_uint bins[16];
  if (t < 16) {
    atomic_store_explicit(&bins[t], 0, memory_order_relaxed);
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint i = 0; i < 8; ++i) {
    const uint value = x[(g * 8 + i) * 64 + t];
    atomic_fetch_add_explicit(&bins[value >> shift & 15], 1,
                              memory_order_relaxed);
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (t < 16) {
    counts[g * 16 + t] = atomic_load_explicit(&bins[t], memory_order_relaxed);
  }
}

// The same for numbers of 16 bits, by a mask.
kernel void largest(device const ushort *x [[buffer(0)]],
                    device uint *most [[buffer(1)]],
                    constant uint &mask [[buffer(2)]],
                    uint t [[thread_index_in_threadgroup]],
                    uint g [[threadgroup_position_in_grid]]) {
  threadgroup atomic_uint places[4];
  if (t < 4) {
    atomic_store_explicit(&places[t], 0, memory_order_relaxed);
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const uint value = x[g * 32 + t];
  atomic_fetch_max_explicit(&places[(value & mask) >> 1], value * 3 + 1,
                            memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (t < 4) {
    most[g * 4 + t] = atomic_load_explicit(&places[t], memory_order_relaxed);
  }
}
