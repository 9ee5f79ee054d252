// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lanes that load elements near each other, in orders that loads find out at
// run time: halves of blocks, bits exchanged, positions divided, at the edges of
// pages, below zero, where an index wraps, where lane 0 does not run, and some
// that are too far. An element holds its own index; threads compare.
// run: pairs --grid 2048 --group 64 0=iota:u32:4096 1=iota:f32:4096 2=iota:i32:8 3=zeros:u32:2
// expect: 3: 0 2048
// run: pairs --grid 2000 --group 200 0=iota:u32:4096 1=iota:f32:4096 2=iota:i32:8 3=zeros:u32:2
// expect: 3: 0 2000
// run: shared --grid 1024 --group 256 0=zeros:u32:1024 1=zeros:u32:2
// expect: 1: 0 1024
// run: wrapping --grid 64 --group 64 0=iota:u32:4096 1=ones:u32:1 2=zeros:u32:2
// expect: 2: 0 64
#include <metal_stdlib>
using namespace metal;

kernel void pairs(device const uint *words [[buffer(0)]],
                  device const float *floats [[buffer(1)]],
                  device const int *numbers [[buffer(2)]],
                  device atomic_uint *counts [[buffer(3)]],
                  uint i [[thread_position_in_grid]]) {
  uint wrong = 0;
  for (uint bit = 0; bit < 11; bit++) {
    const uint stride = uint(numbers[1]) << bit;
    const uint low = 2 * i - (i & (stride - 1));
    wrong += words[low] != low;
    wrong += words[(low + stride) & 4095] != ((low + stride) & 4095);
    wrong += words[i ^ stride] != (i ^ stride);
    wrong += floats[i >> (bit & 7)] != float(i >> (bit & 7));
    wrong += words[i / stride] != i / stride;
    // From the middle of the buffer down and up: signed, below zero.
    const int near = (int(i) - 1024) ^ int(stride - 1);
    wrong += (words + 2048)[near] != uint(near + 2048);
    if (i % 32 > 3 || (i & stride)) {
      const uint k = (i ^ (stride - 1)) + (i & stride ? 5 : 0);
      wrong += words[k] != k;
    }
    const uint turned = ((i << 1) | (i >> 4 & 1)) & 31;
    wrong += floats[(i & ~31u) ^ turned] != float((i & ~31u) ^ turned);
  }
  atomic_fetch_add_explicit(&counts[0], wrong, memory_order_relaxed);
  atomic_fetch_add_explicit(&counts[1], 1u, memory_order_relaxed);
}

// Elements that were stored just before, lane by lane.
kernel void shared(device uint *out [[buffer(0)]],
                   device atomic_uint *counts [[buffer(1)]],
                   uint l [[thread_index_in_threadgroup]],
                   uint i [[thread_position_in_grid]]) {
  threadgroup uint held[256];
  uint wrong = 0;
  held[l] = l;
  for (uint stride = 128; stride > 0; stride /= 2) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    const uint other = held[l ^ stride];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    held[l ^ stride] = other + 1;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    // Each step increments every element.
    wrong += held[l] % 256 != (l + 8 - ctz(stride)) % 256;
  }
  out[i] = held[l];
  atomic_fetch_add_explicit(&counts[0], wrong, memory_order_relaxed);
  atomic_fetch_add_explicit(&counts[1], 1u, memory_order_relaxed);
}

// An index that wraps from one lane to the next, and one below zero.
kernel void wrapping(device const uint *words [[buffer(0)]],
                     device const uint *one [[buffer(1)]],
                     device atomic_uint *counts [[buffer(2)]],
                     uint i [[thread_position_in_grid]]) {
  const uint place = ((i ^ one[0]) + 4294967280u) & 4095u;
  const int below = (int(i) ^ int(one[0])) - 48;
  uint wrong = words[place] != place;
  wrong += (words + 64)[below] != uint(below + 64);
  atomic_fetch_add_explicit(&counts[0], wrong, memory_order_relaxed);
  atomic_fetch_add_explicit(&counts[1], 1u, memory_order_relaxed);
}
