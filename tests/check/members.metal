// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Members of variables, and atomics on memory that was never set.
// run: constant_initialised --grid 4 --group 4 0=iota:f32:4 1=zeros:f32:4
// find: bounds.subobject @initialised
// run: element_of_array --grid 4 --group 4 0=u32:1,2,4,0 1=zeros:f32:4
// find: bounds.subobject @element
// run: program_constant --grid 4 --group 4 0=u32:1,2,4,0 1=zeros:f32:4
// find: bounds.subobject @program
// run: constexpr_in_kernel --grid 4 --group 4 0=u32:1,2,4,0 1=zeros:f32:4
// find: bounds.subobject @constexpr
// run: written_member --grid 4 --group 4 0=u32:1,2,4,0 1=zeros:f32:4
// find: bounds.subobject @written
// run: member_of_group --grid 4 --group 4 0=u32:1,2,4,0 1=zeros:f32:4
// find: bounds.subobject @group_member
// run: array_of_constants --grid 4 --group 4 0=u32:1,2,4,0 1=zeros:f32:4
// find: bounds.private @constants
// run: rows_of_one_array --grid 4 --group 4 0=u32:1,5,7,0 1=zeros:f32:4
// expect: 1: 2 6 8 1
// run: behind_a_row --grid 4 --group 4 0=u32:1,2,4,0 1=zeros:f32:4
// find: bounds.subobject @behind_a_row
// run: rows_by_the_first --grid 4 --group 4 1=zeros:f32:4
// expect: 1: 120 120 120 120
// run: rows_by_pointer --grid 4 --group 4 0=u32:1,2,4,0 1=zeros:f32:4
// expect: 1: 6 7 9 5
// run: all_inside --grid 4 --group 4 0=u32:1,2,3,0 1=zeros:f32:4
// expect: 1: 12 13 14 11
// run: counted --grid 32 --group 32 0=zeros:u32:32
// find: init.threadgroup @counted
// run: counted_unread --grid 32 --group 32 0=zeros:u32:32
// find: init.threadgroup @unread
// run: compared --grid 32 --group 32 0=zeros:u32:32
// find: init.threadgroup @compared
// run: exchanged --grid 32 --group 32 0=zeros:u32:32
// expect: 0: 7 7 7 7
// run: exchange_read --grid 32 --group 32 0=zeros:u32:32
// find: init.threadgroup @old_value
// run: scan_of_some --grid 32 --group 32 0=iota:u32:32 1=zeros:u32:32
// expect: 1: 0 0 1 0 0
// run: scan_of_too_many --grid 32 --group 32 0=iota:u32:32 1=zeros:u32:32
// find: init.threadgroup @scanned
#include <metal_stdlib>
using namespace metal;
struct weights { float taps[4]; float scale; };
constant weights shared_weights = {{1, 2, 3, 4}, 10};
#define I uint i [[thread_position_in_grid]]
#define T uint t [[thread_index_in_threadgroup]]

kernel void constant_initialised(device const float *x, device float *y, I) {
  const weights w = {{1, 2, 3, 4}, 10};
  float sum = 0;
  for (uint k = 0; k <= 4; ++k) sum += w.taps[k] * x[i];  // @initialised
  y[i] = sum;
}
kernel void element_of_array(device const uint *x, device float *y, I) {
  weights w[2] = {{{1, 2, 3, 4}, 10}, {{1, 2, 3, 4}, 10}};
  y[i] = w[i & 1].taps[x[i]];  // @element
}
kernel void program_constant(device const uint *x, device float *y, I) {
  y[i] = shared_weights.taps[x[i]];  // @program
}
kernel void constexpr_in_kernel(device const uint *x, device float *y, I) {
  constexpr weights w = {{1, 2, 3, 4}, 10};
  y[i] = w.taps[x[i]];  // @constexpr
}
kernel void written_member(device const uint *x, device float *y, I) {
  weights w = {{1, 2, 3, 4}, 10};
  w.taps[x[i]] = 9;  // @written
  y[i] = w.taps[0] + w.scale;
}
kernel void member_of_group(device const uint *x, device float *y, T) {
  threadgroup weights w;
  w.taps[t] = t;
  w.scale = 1;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = w.taps[x[t]];  // @group_member
}
kernel void array_of_constants(device const uint *x, device float *y, I) {
  const float table[4] = {1, 2, 3, 4};
  y[i] = table[x[i]];  // @constants
}
kernel void rows_of_one_array(device const uint *x, device float *y, I) {
  const float table[2][4] = {{1, 2, 3, 4}, {5, 6, 7, 8}};
  y[i] = table[x[i] / 4][x[i] % 4];
}
kernel void behind_a_row(device const uint *x, device float *y, T) {
  threadgroup float table[4][4];
  for (uint k = 0; k < 4; ++k) table[k][t] = k * 4 + t;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = table[t / 2][x[t]];  // @behind_a_row
}
kernel void rows_by_the_first(device float *y [[buffer(1)]], T) {
  threadgroup float table[4][4];
  for (uint k = 0; k < 16; k += 4) table[0][k + t] = k + t;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  float sum = 0;
  for (uint k = 0; k < 16; ++k) sum += table[0][k];
  y[t] = sum;
}
kernel void rows_by_pointer(device const uint *x, device float *y, T) {
  threadgroup float table[4][4];
  for (uint k = 0; k < 4; ++k) table[k][t] = k * 4 + t + 1;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = (&table[1][0])[x[t]];
}
kernel void all_inside(device const uint *x, device float *y, I) {
  weights w[2] = {{{1, 2, 3, 4}, 10}, {{1, 2, 3, 4}, 10}};
  y[i] = w[i & 1].taps[x[i]] + w[i & 1].scale;
}

kernel void counted(device uint *y, T) {
  threadgroup atomic_uint n;
  atomic_fetch_add_explicit(&n, 1, memory_order_relaxed);  // @counted
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = atomic_load_explicit(&n, memory_order_relaxed);
}
kernel void counted_unread(device uint *y, T) {
  threadgroup atomic_uint n[4];
  atomic_fetch_max_explicit(&n[t & 3], t, memory_order_relaxed);  // @unread
  y[t] = t;
}
kernel void compared(device uint *y, T) {
  threadgroup atomic_uint n;
  uint old = 0;
  y[t] = atomic_compare_exchange_weak_explicit(&n, &old, 1u,  // @compared
      memory_order_relaxed, memory_order_relaxed);
}
// An exchange needs no earlier value.
kernel void exchanged(device uint *y, T) {
  threadgroup atomic_uint n;
  if (t == 0) atomic_exchange_explicit(&n, 7, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = atomic_load_explicit(&n, memory_order_relaxed);
}
kernel void exchange_read(device uint *y, T) {
  threadgroup atomic_uint n;
  if (t == 0) y[0] = atomic_exchange_explicit(&n, 7, memory_order_relaxed);  // @old_value
}

// A lane's prefix is made of those before it.
kernel void scan_of_some(device const uint *x, device uint *y, T) {
  threadgroup uint sums[32];
  if (t < 2) sums[t] = x[t];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const uint before = simd_prefix_exclusive_sum(sums[t]);
  y[t] = t < 3 ? before : 0;
}
kernel void scan_of_too_many(device const uint *x, device uint *y, T) {
  threadgroup uint sums[32];
  if (t < 2) sums[t] = x[t];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const uint with = simd_prefix_inclusive_sum(sums[t]);  // @scanned
  y[t] = t < 3 ? with : 0;
}
