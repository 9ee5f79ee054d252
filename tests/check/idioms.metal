// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Idioms of larger kernels, each with its bug and beside it as it should be:
// copies by a simdgroup, flags and locks of atomics, quads, tables of functions,
// tiles of matrices, texels, memory used twice.
// run: copy_no_barrier --grid 64 --group 64 0=iota:64 1=zeros:64
// find: race.threadgroup @copy,@copy_no_barrier_r
// run: copy_barrier --grid 64 --group 64 0=iota:64 1=zeros:64
// run: copy_past_end --grid 32 --group 32 0=iota:30 1=zeros:32
// find: bounds.device @copy
// run: copy_clamped --grid 32 --group 32 0=iota:30 1=zeros:32
// run: copy_over_tile --grid 32 --group 32 0=iota:64 1=zeros:32
// find: bounds.threadgroup @copy
// run: flag_relaxed --grid 128 --group 64 0=zeros:64 1=zeros:u32:1 2=zeros:64
// find: race.device @flag_relaxed_w,@flag_relaxed_r
// schedule: forward
// run: flag_fenced --grid 128 --group 64 0=zeros:64 1=zeros:u32:1 2=zeros:64
// schedule: forward
// run: fence_of_group --grid 128 --group 64 0=zeros:64 1=zeros:u32:1 2=zeros:64
// find: race.device @fence_of_group_w,@fence_of_group_r
// schedule: forward
// run: fence_inside_group --grid 64 --group 64 0=zeros:64
// schedule: forward
// run: lock_bare --grid 256 --group 64 0=zeros:i32:1 1=zeros:u32:1
// find: race.device @lock_bare
// run: lock_fenced --grid 256 --group 64 0=zeros:i32:1 1=zeros:u32:1
// run: quad_half --grid 32 --group 32 0=iota:32 1=zeros:32
// find: sync.simdgroup @quad_half
// run: quad_whole --grid 32 --group 32 0=iota:32 1=zeros:32
// run: quad_tail --grid 30 --group 30 0=iota:30 1=zeros:30
// find: sync.simdgroup @quad_tail
// run: quad_tail_guarded --grid 30 --group 30 0=iota:30 1=zeros:30
// run: rotate_tail --grid 48 --group 48 0=iota:48 1=zeros:48
// find: sync.simdgroup @rotate_tail
// run: rotate_whole --grid 64 --group 64 0=iota:64 1=zeros:64
// run: texel_fence_others --grid 8,8 --group 8,8 a=r32Float:8,8 1=zeros:64
// find: race.device @texel_fence_w,@texel_fence_r
// run: texel_fence_own --grid 8,8 --group 8,8 a=r32Float:8,8 1=zeros:64
// run: table_unset --grid 8 --group 8 0=iota:8 table1=twice,plus_one
// find: init.private @table_unset
// run: table_set --grid 8 --group 8 0=iota:8 table1=twice,plus_one
// run: ring_one_barrier --grid 64 --group 64 0=iota:256 1=zeros:64
// find: race.threadgroup @ring_w,@ring_r
// run: ring_two_buffers --grid 64 --group 64 0=iota:256 1=zeros:64
// run: reused_at_once --grid 64 --group 64 0=iota:64 1=zeros:u32:64
// find: race.threadgroup @reused_w,@reused_r
// run: reused_behind_barrier --grid 64 --group 64 0=iota:64 1=zeros:u32:64
// run: plain_start --grid 64 --group 64 0=iota:u32:64 1=zeros:u32:1
// find: race.threadgroup @plain_start_w,@plain_start_a
// run: atomic_start --grid 64 --group 64 0=iota:u32:64 1=zeros:u32:1
// run: tiles_overlap --grid 64 --group 64 0=zeros:128
// find: race.device @tiles_overlap
// run: tiles_apart --grid 64 --group 64 0=zeros:128
// run: tile_past_end --grid 32 --group 32 0=iota:60 1=zeros:64
// find: bounds.device @tile_past_end
// run: tile_unset_edge --grid 32 --group 32 0=iota:56 1=zeros:64
// find: init.threadgroup @tile_unset_edge
// run: tile_zeroed_edge --grid 32 --group 32 0=iota:56 1=zeros:64
// run: particle_whole --grid 32 --group 32 0=zeros:128
// find: race.device @particle_w,@particle_r
// run: particle_members --grid 32 --group 32 0=zeros:128
// run: tail_sum --grid 50 --group 50 0=iota:50 1=zeros:2
#include <metal_stdlib>
using namespace metal;
#define X(T) device const T *x [[buffer(0)]]
#define Y(T) device T *y [[buffer(1)]]
#define I uint i [[thread_position_in_grid]]
#define T uint t [[thread_index_in_threadgroup]]
#define S uint s [[simdgroup_index_in_threadgroup]]
#define G uint g [[threadgroup_position_in_grid]]

struct _simdgroup_event_t;
thread _simdgroup_event_t *copy_in(ulong, ulong, threadgroup void *, ulong, ulong, ulong2,
                                   const device void *, ulong, ulong, ulong2, long2, int)
    __asm("air.simdgroup_async_copy_2d.p3i8.p1i8");
void wait_for(int, thread _simdgroup_event_t **) __asm("air.wait_simdgroup_events");

static void fetch(threadgroup float *to, device const float *from, uint n, uint m) {
  thread _simdgroup_event_t *event =
      copy_in(4, 4, to, n, 1, ulong2(n, 1), from, m, 1, ulong2(m, 1), long2(0), 0);  // @copy
  wait_for(1, &event);
}

kernel void copy_no_barrier(X(float), Y(float), T, S) {
  threadgroup float tile[64];
  if (s == 0) fetch(tile, x, 64, 64);
  y[t] = tile[t];  // @copy_no_barrier_r
}
kernel void copy_barrier(X(float), Y(float), T, S) {
  threadgroup float tile[64];
  if (s == 0) fetch(tile, x, 64, 64);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = tile[t];
}
kernel void copy_past_end(X(float), Y(float), T) {
  threadgroup float tile[32];
  fetch(tile, x, 32, 32);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = tile[t];
}
kernel void copy_clamped(X(float), Y(float), T) {
  threadgroup float tile[32];
  fetch(tile, x, 32, 30);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = tile[t];
}
kernel void copy_over_tile(X(float), Y(float), T) {
  threadgroup float tile[32];
  fetch(tile, x, 33, 33);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = tile[t];
}

#define FLAG device float *x [[buffer(0)]], device atomic_uint *flag [[buffer(1)]], device float *out [[buffer(2)]]
kernel void flag_relaxed(FLAG, T, G) {
  if (g == 0) {
    x[t] = t;  // @flag_relaxed_w
    threadgroup_barrier(mem_flags::mem_device);
    if (t == 0) atomic_store_explicit(flag, 1u, memory_order_relaxed);
    return;
  }
  if (atomic_load_explicit(flag, memory_order_relaxed) == 1) out[t] = x[t];  // @flag_relaxed_r
}
kernel void flag_fenced(FLAG, T, G) {
  threadgroup bool is_there;
  if (g == 0) {
    x[t] = t;
    threadgroup_barrier(mem_flags::mem_device);
    if (t == 0) {
      atomic_thread_fence(mem_flags::mem_device, memory_order_seq_cst, thread_scope_device);
      atomic_store_explicit(flag, 1u, memory_order_relaxed);
    }
    return;
  }
  if (t == 0) {
    is_there = atomic_load_explicit(flag, memory_order_relaxed) == 1;
    atomic_thread_fence(mem_flags::mem_device, memory_order_seq_cst, thread_scope_device);
  }
  threadgroup_barrier(mem_flags::mem_threadgroup | mem_flags::mem_device);
  if (is_there) out[t] = x[t];
}
kernel void fence_of_group(FLAG, T, G) {
  if (g == 0) {
    x[t] = t;  // @fence_of_group_w
    threadgroup_barrier(mem_flags::mem_device);
    if (t == 0) {
      atomic_thread_fence(mem_flags::mem_device, memory_order_seq_cst, thread_scope_threadgroup);
      atomic_store_explicit(flag, 1u, memory_order_relaxed);
    }
    return;
  }
  const bool is_there = atomic_load_explicit(flag, memory_order_relaxed) == 1;
  atomic_thread_fence(mem_flags::mem_device, memory_order_seq_cst, thread_scope_threadgroup);
  if (is_there) out[t] = x[t];  // @fence_of_group_r
}

kernel void fence_inside_group(device float *out [[buffer(0)]], T) {
  threadgroup float value;
  threadgroup atomic_uint flag;
  if (t == 0) atomic_store_explicit(&flag, 0u, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (t == 0) {
    value = 7;
    atomic_thread_fence(mem_flags::mem_threadgroup, memory_order_seq_cst, thread_scope_threadgroup);
    atomic_store_explicit(&flag, 1u, memory_order_relaxed);
  }
  const bool is_there = atomic_load_explicit(&flag, memory_order_relaxed) == 1;
  atomic_thread_fence(mem_flags::mem_threadgroup, memory_order_seq_cst, thread_scope_threadgroup);
  if (is_there) out[t] = value;
}

static bool take(device atomic_uint *lock) {
  uint free = 0;
  return atomic_compare_exchange_weak_explicit(lock, &free, 1u, memory_order_relaxed, memory_order_relaxed);
}
kernel void lock_bare(device int *sum [[buffer(0)]], device atomic_uint *lock [[buffer(1)]], T) {
  if (t != 0) return;
  while (!take(lock)) {}
  *sum += 1;  // @lock_bare
  atomic_store_explicit(lock, 0u, memory_order_relaxed);
}
kernel void lock_fenced(device int *sum [[buffer(0)]], device atomic_uint *lock [[buffer(1)]], T) {
  if (t != 0) return;
  while (!take(lock)) {}
  atomic_thread_fence(mem_flags::mem_device, memory_order_seq_cst, thread_scope_device);
  *sum += 1;
  atomic_thread_fence(mem_flags::mem_device, memory_order_seq_cst, thread_scope_device);
  atomic_store_explicit(lock, 0u, memory_order_relaxed);
}

kernel void quad_half(X(float), Y(float), T) {
  if (t & 1) y[t] = quad_shuffle_xor(x[t], 1);  // @quad_half
}
kernel void quad_whole(X(float), Y(float), T) {
  if (t / 4 & 1) y[t] = quad_shuffle_xor(x[t], 1);
}
kernel void quad_tail(X(float), Y(float), T) {
  y[t] = quad_broadcast(x[t], 3);  // @quad_tail
}
kernel void quad_tail_guarded(X(float), Y(float), T) {
  const float last = quad_broadcast(x[t], 3);
  y[t] = t < 28 ? last : x[t];
}
kernel void rotate_tail(X(float), Y(float), T) {
  y[t] = simd_shuffle_rotate_down(x[t], 1);  // @rotate_tail
}
kernel void rotate_whole(X(float), Y(float), T) {
  y[t] = simd_shuffle_rotate_down(x[t], 1);
}

typedef texture2d<float, access::read_write> texels;
kernel void texel_fence_others(texels a, Y(float), uint2 p [[thread_position_in_grid]]) {
  a.write(float4(p.x), p);  // @texel_fence_w
  a.fence();
  y[p.y * 8 + p.x] = a.read(uint2(p.x ^ 1, p.y)).x;  // @texel_fence_r
}
kernel void texel_fence_own(texels a, Y(float), uint2 p [[thread_position_in_grid]]) {
  a.write(float4(p.x), p);
  a.fence();
  y[p.y * 8 + p.x] = a.read(p).x;
}

[[visible]] float twice(float v) { return 2 * v; }
[[visible]] float plus_one(float v) { return v + 1; }
kernel void table_unset(device float *x [[buffer(0)]], visible_function_table<float(float)> f [[buffer(1)]], I) {
  uint which;
  if (x[i] > 3) which = 1;
  x[i] = f[which](x[i]);  // @table_unset
}
kernel void table_set(device float *x [[buffer(0)]], visible_function_table<float(float)> f [[buffer(1)]], I) {
  uint which;
  if (x[i] > 3) which = 1; else which = 0;
  x[i] = f[which](x[i]);
}

kernel void ring_one_barrier(X(float), Y(float), T) {
  threadgroup float tile[64];
  float sum = 0;
  for (uint k = 0; k < 4; ++k) {
    tile[t] = x[64 * k + t];  // @ring_w
    threadgroup_barrier(mem_flags::mem_threadgroup);
    sum += tile[63 - t];  // @ring_r
  }
  y[t] = sum;
}
kernel void ring_two_buffers(X(float), Y(float), T) {
  threadgroup float tile[2][64];
  float sum = 0;
  for (uint k = 0; k < 4; ++k) {
    tile[k & 1][t] = x[64 * k + t];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    sum += tile[k & 1][63 - t];
  }
  y[t] = sum;
}

kernel void reused_at_once(X(float), Y(uint), T) {
  threadgroup float4 memory[16];
  threadgroup float *floats = (threadgroup float *)memory;
  threadgroup ushort *shorts = (threadgroup ushort *)memory;
  floats[t] = x[t];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const uint found = floats[63 - t];  // @reused_r
  shorts[t] = found;  // @reused_w
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = shorts[t ^ 1];
}
kernel void reused_behind_barrier(X(float), Y(uint), T) {
  threadgroup float4 memory[16];
  threadgroup float *floats = (threadgroup float *)memory;
  threadgroup ushort *shorts = (threadgroup ushort *)memory;
  floats[t] = x[t];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const uint found = floats[63 - t];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  shorts[t] = found;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = shorts[t ^ 1];
}

kernel void plain_start(X(uint), Y(uint), T) {
  threadgroup uint most;
  if (t == 0) most = 0;  // @plain_start_w
  atomic_fetch_max_explicit((threadgroup atomic_uint *)&most, x[t], memory_order_relaxed);  // @plain_start_a
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (t == 0) *y = most;
}
kernel void atomic_start(X(uint), Y(uint), T) {
  threadgroup atomic_uint most;
  if (t == 0) atomic_store_explicit(&most, 0u, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  atomic_fetch_max_explicit(&most, x[t], memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (t == 0) *y = atomic_load_explicit(&most, memory_order_relaxed);
}

kernel void tiles_overlap(device float *x [[buffer(0)]], S) {
  simdgroup_float8x8 m = make_filled_simdgroup_matrix<float, 8, 8>(s);
  simdgroup_store(m, x + 4 * s, 8);  // @tiles_overlap
}
kernel void tiles_apart(device float *x [[buffer(0)]], S) {
  simdgroup_float8x8 m = make_filled_simdgroup_matrix<float, 8, 8>(s);
  simdgroup_store(m, x + 8 * s, 16);
}
kernel void tile_past_end(X(float), Y(float)) {
  simdgroup_float8x8 m;
  simdgroup_load(m, x, 8);  // @tile_past_end
  simdgroup_store(m, y, 8);
}
kernel void tile_unset_edge(X(float), Y(float), T) {
  threadgroup float tile[64];
  for (uint k = t; k < 56; k += 32) tile[k] = x[k];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  simdgroup_float8x8 m;
  simdgroup_load(m, tile, 8);
  simdgroup_store(m, y, 8);  // @tile_unset_edge
}
kernel void tile_zeroed_edge(X(float), Y(float), T) {
  threadgroup float tile[64];
  for (uint k = t; k < 64; k += 32) tile[k] = k < 56 ? x[k] : 0;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  simdgroup_float8x8 m;
  simdgroup_load(m, tile, 8);
  simdgroup_store(m, y, 8);
}

struct particle { packed_float3 place; uint flags; };
kernel void particle_whole(device particle *p [[buffer(0)]], T) {
  p[t].flags = t;
  const particle other = p[t ^ 1];  // @particle_r
  p[t].place = other.place + 1;  // @particle_w
}
kernel void particle_members(device particle *p [[buffer(0)]], T) {
  p[t].flags = p[t].flags + 1;
  p[t ^ 1].place = p[t ^ 1].place + 1;
}

kernel void tail_sum(X(float), Y(float), T, S) {
  const float sum = simd_sum(x[t]);
  if (t % 32 == 0) y[s] = sum;
}
