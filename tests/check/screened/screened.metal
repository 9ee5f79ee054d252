// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels for run_screened.py: found clean by screening alone, with the results
// that the first lines tell; or stopped there, and found by checked code.
//
// clean: own --grid 64 --group 64 0=iota:f32:64
// expect: 0: 1 3 5 7
// clean: own --grid 50 --group 32 0=iota:f32:50
// expect: 0: 1 3 5 7
// clean: sums --grid 512 --group 256 0=iota:u32:512 1=zeros:u32:2
// expect: 1: 32640 98176
// clean: rows --grid 32,32 --group 16,16 0=iota:f32:1024 1=zeros:f32:1024
// expect: 1: 120 120 120
// clean: counts --grid 256 --group 64 0=zeros:u32:4
// expect: 0: 64 64 64 64
// clean: pairs --grid 16 --group 16 0=iota:f32:64 1=zeros:f32:64
// expect: 1: 0 2 4 6 8
// clean: passes --grid 64 --group 64 0=zeros:u32:64
// expect: 0: 96 95 94 93
// found: beyond bounds.device --grid 64 --group 64 0=iota:f32:60
// found: neighbours race.device --grid 64 --group 64 0=iota:f32:65
// found: together race.device --grid 64 --group 64 0=zeros:u32:1
// found: spread race.device --grid 64 --group 64 0=zeros:u32:64
// found: early race.threadgroup --grid 64 --group 64 0=zeros:u32:64
// found: behind race.threadgroup --grid 64 --group 64 0=zeros:u32:64
// found: unset init.threadgroup --grid 64 --group 64 0=zeros:u32:64
// found: leaves sync.barrier --grid 64 --group 64 0=zeros:u32:64
// found: mixed race.device --grid 64 --group 64 0=zeros:u32:1
#include <metal_stdlib>
using namespace metal;

kernel void own(device float *x [[buffer(0)]],
                uint i [[thread_position_in_grid]]) {
  x[i] += x[i];
  x[i] += 1;
}

kernel void sums(device const uint *x [[buffer(0)]],
                 device uint *y [[buffer(1)]],
                 uint i [[thread_position_in_grid]],
                 uint t [[thread_position_in_threadgroup]],
                 uint g [[threadgroup_position_in_grid]]) {
  threadgroup uint part[256];
  part[t] = x[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint step = 128; step; step /= 2) {
    if (t < step) part[t] += part[t + step];
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  if (t == 0) y[g] = part[0];
}

kernel void rows(device const float *x [[buffer(0)]],
                 device float *y [[buffer(1)]],
                 uint2 p [[thread_position_in_grid]],
                 uint2 t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[16][16];
  tile[t.y][t.x] = x[32 * p.y + p.x];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  float sum = 0;
  for (uint k = 0; k < 16; ++k) sum += tile[t.y][k];
  y[32 * p.y + p.x] = sum;
}

kernel void counts(device atomic_uint *n [[buffer(0)]],
                   uint i [[thread_position_in_grid]]) {
  atomic_fetch_add_explicit(&n[i % 4], 1, memory_order_relaxed);
}

kernel void pairs(device const float4 *x [[buffer(0)]],
                  device float4 *y [[buffer(1)]],
                  uint i [[thread_position_in_grid]]) {
  y[i] = x[i] + x[i];
}

kernel void passes(device uint *y [[buffer(0)]],
                   uint t [[thread_position_in_threadgroup]]) {
  threadgroup uint line[64];
  line[t] = t;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const uint other = line[63 - t];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  line[63 - t] = other + 33;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = line[63 - t];
}

kernel void beyond(device float *x [[buffer(0)]],
                   uint i [[thread_position_in_grid]]) {
  x[i] = 1;
}

kernel void neighbours(device float *x [[buffer(0)]],
                       uint i [[thread_position_in_grid]]) {
  x[i] = x[i + 1];
}

kernel void together(device uint *x [[buffer(0)]],
                     uint i [[thread_position_in_grid]]) {
  x[0] = i;
}

kernel void spread(device uint *x [[buffer(0)]],
                   uint i [[thread_position_in_grid]]) {
  x[i * 7 % 13] = i;
}

kernel void early(device uint *y [[buffer(0)]],
                  uint t [[thread_position_in_threadgroup]]) {
  threadgroup uint line[64];
  line[t] = t;
  y[t] = line[63 - t];
}

// The last of several readers writes the element.
kernel void behind(device uint *y [[buffer(0)]],
                   uint t [[thread_position_in_threadgroup]]) {
  threadgroup uint line[65];
  line[t] = t;
  if (t == 0) line[64] = 0;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const uint other = line[t + 1];
  const uint mine = line[t];
  line[t] = mine + other;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = line[t];
}

kernel void unset(device uint *y [[buffer(0)]],
                  uint t [[thread_position_in_threadgroup]]) {
  threadgroup uint line[64];
  if (t < 63) line[t] = t;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = line[t];
}

kernel void leaves(device uint *y [[buffer(0)]],
                   uint t [[thread_position_in_threadgroup]]) {
  threadgroup uint line[64];
  if (t >= 32) return;
  line[t] = t;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = line[31 - t];
}

kernel void mixed(device uint *x [[buffer(0)]],
                  uint t [[thread_position_in_threadgroup]]) {
  if (t == 40) x[0] = 7;
  atomic_fetch_add_explicit((device atomic_uint *)x, 1, memory_order_relaxed);
}
