// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What looks like a bug and is none.
// checks: all
// run: double_buffer --grid 64 --group 64 0=iota:f32:64 1=zeros:f32:64
// run: bitonic --grid 64 --group 64 0=rand:f32:64 1=zeros:f32:64
// run: scan_two_levels --grid 256 --group 256 0=iota:u32:256 1=zeros:u32:256
// run: last_group --grid 256 --group 64 0=iota:u32:256 1=zeros:u32:4 2=zeros:u32:1 3=zeros:u32:1
// run: disjoint_strides --grid 64 --group 32 0=zeros:f32:256
// run: bytes_of_a_word --grid 64 --group 32 0=zeros:u8:64
// run: halves_of_a_word --grid 64 --group 32 0=zeros:u16:64
// run: rows_of_matrix --grid 16,16 --group 8,8 0=iota:f32:256 1=zeros:f32:256
// run: packed_neighbours --grid 64 --group 64 0=zeros:f32:192
// run: append --grid 64 --group 32 0=iota:u32:64 1=zeros:u32:64 2=zeros:u32:1
// run: partial_tail --grid 50 --group 64 0=iota:f32:50 1=zeros:f32:1
// run: simd_reduce --grid 256 --group 256 0=iota:f32:256 1=zeros:f32:1
// run: uniform_loop --grid 64 --group 64 0=iota:i32:64 1=zeros:i32:64
// run: prefix_flags --grid 64 --group 64 0=iota:i32:64 1=zeros:i32:64
// run: local_struct --grid 16 --group 16 0=iota:f32:16 1=zeros:f32:16
// run: union_like --grid 16 --group 16 0=iota:u32:16 1=zeros:u32:16
// run: out_parameters --grid 16 --group 16 0=iota:u32:16 1=zeros:u32:16
// run: loop_sets --grid 16 --group 16 0=iota:u32:16 1=zeros:u32:16
// run: masked_softmax --grid 32 --group 32 0=iota:f32:32 1=zeros:f32:32
// run: running_max --grid 8 --group 8 0=iota:f32:64 1=zeros:f32:8
// run: guarded_division --grid 8 --group 8 0=iota:i32:8 1=zeros:i32:8
// run: guarded_shift --grid 8 --group 8 0=iota:u32:8 1=zeros:u32:8
// run: last_element --grid 16 --group 16 0=iota:f32:16 1=zeros:f32:16
// run: one_past_pointer --grid 4 --group 4 0=iota:f32:16 1=zeros:f32:4
// run: flexible_tail --grid 4 --group 4 0=u32:1,f32:2,f32:3,f32:4,f32:5,f32:6,f32:7 1=zeros:f32:4
// run: packed_aligned --grid 4 --group 4 0=iota:f32:13 1=zeros:f32:4
// run: shuffle_inside --grid 32 --group 32 0=iota:i32:32 1=zeros:i32:32
// run: ballot_guard --grid 32 --group 32 0=iota:i32:32 1=zeros:i32:32
// run: quad --grid 32 --group 32 0=iota:f32:32 1=zeros:f32:32
// run: atomic_flag --grid 64 --group 64 0=zeros:u32:1 1=zeros:u32:64
// run: counter_then_barrier --grid 64 --group 64 0=iota:u32:64 1=zeros:u32:64
// run: tile_reuse --grid 8,8 --group 8,8 0=iota:f32:64 1=iota:f32:64 2=zeros:f32:64
// run: simd_ping_pong --grid 32 --group 32 0=iota:f32:32 1=zeros:f32:32
// run: volatile_spill --grid 8 --group 8 0=iota:i32:8 1=zeros:i32:8
// run: compact --grid 64 --group 64 0=iota:u32:64 1=zeros:u32:64 2=zeros:u32:1
// run: early_exit_uniform --grid 256 --group 64 0=iota:u32:256 1=zeros:u32:256
// run: helper_struct_return --grid 16 --group 16 0=iota:f32:16 1=zeros:f32:16
// run: bool_vector --grid 16 --group 16 0=iota:f32:64 1=zeros:f32:64
// run: one_lane_broadcast --grid 64 --group 64 0=iota:f32:64 1=zeros:f32:64
// run: filled_members --grid 8 --group 8 0=iota:f32:32 1=zeros:f32:64
#include <metal_stdlib>
using namespace metal;
#define T uint t [[thread_index_in_threadgroup]]
#define I uint i [[thread_position_in_grid]]
#define X(type) device const type *x [[buffer(0)]]
#define Y(type) device type *y [[buffer(1)]]

kernel void double_buffer(X(float), Y(float), T) {
  threadgroup float part[2][64];
  part[0][t] = x[t];
  uint from = 0;
  for (uint step = 1; step < 64; step *= 2) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    part[1 - from][t] = part[from][t] + (t >= step ? part[from][t - step] : 0);
    from = 1 - from;
  }
  y[t] = part[from][t];
}
kernel void bitonic(X(float), Y(float), T) {
  threadgroup float a[64];
  a[t] = x[t];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint k = 2; k <= 64; k *= 2) {
    for (uint j = k / 2; j > 0; j /= 2) {
      const uint other = t ^ j;
      if (other > t && (a[t] > a[other]) == ((t & k) == 0)) {
        const float kept = a[t];
        a[t] = a[other];
        a[other] = kept;
      }
      threadgroup_barrier(mem_flags::mem_threadgroup);
    }
  }
  y[t] = a[t];
}
kernel void scan_two_levels(X(uint), Y(uint), T,
                            uint lane [[thread_index_in_simdgroup]],
                            uint row [[simdgroup_index_in_threadgroup]]) {
  threadgroup uint sums[8];
  const uint own = simd_prefix_inclusive_sum(x[t]);
  if (lane == 31) sums[row] = own;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (row == 0) {
    const uint s = lane < 8 ? sums[lane] : 0;
    const uint p = simd_prefix_exclusive_sum(s);
    if (lane < 8) sums[lane] = p;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = own + sums[row];
}
kernel void last_group(X(uint), device uint *parts [[buffer(1)]],
                       device atomic_uint *n [[buffer(2)]],
                       device uint *out [[buffer(3)]], T, I,
                       uint g [[threadgroup_position_in_grid]],
                       uint lane [[thread_index_in_simdgroup]]) {
  threadgroup uint all[2];
  threadgroup bool is_last;
  const uint own = simd_sum(x[i]);
  if (lane == 0) all[t / 32] = own;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (t == 0) {
    parts[g] = all[0] + all[1];
    atomic_thread_fence(mem_flags::mem_device, memory_order_seq_cst,
                        thread_scope_device);
    is_last = atomic_fetch_add_explicit(n, 1u, memory_order_relaxed) == 3;
    atomic_thread_fence(mem_flags::mem_device, memory_order_seq_cst,
                        thread_scope_device);
  }
  threadgroup_barrier(mem_flags::mem_threadgroup | mem_flags::mem_device);
  if (is_last && t < 4) {
    const uint s = parts[t];
    const uint sum = simd_sum(s);
    if (t == 0) *out = sum;
  }
}
kernel void disjoint_strides(device float *y [[buffer(0)]], I) {
  for (uint k = i; k < 256; k += 64) y[k] = y[k] + k;
}
kernel void bytes_of_a_word(device uchar *y [[buffer(0)]], I) {
  y[i] = uchar(y[i] + i);
}
kernel void halves_of_a_word(device ushort *y [[buffer(0)]], I) {
  y[63 - i] += ushort(i);
}
kernel void rows_of_matrix(X(float), Y(float),
                           uint2 p [[thread_position_in_grid]],
                           uint2 t [[thread_position_in_threadgroup]],
                           uint2 g [[threadgroup_position_in_grid]]) {
  threadgroup float tile[8][9];
  tile[t.y][t.x] = x[p.y * 16 + p.x];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[(g.x * 8 + t.y) * 16 + g.y * 8 + t.x] = tile[t.x][t.y];
}
kernel void packed_neighbours(device packed_float3 *y [[buffer(0)]], I) {
  y[i] = packed_float3(i, i + 1, i + 2);
  y[i].y += 1;
}
kernel void append(X(uint), Y(uint), device atomic_uint *n [[buffer(2)]], I) {
  if (x[i] % 3 == 0) {
    y[atomic_fetch_add_explicit(n, 1u, memory_order_relaxed)] = x[i];
  }
}
kernel void partial_tail(X(float), device float *y [[buffer(1)]], T,
                         uint n [[threads_per_threadgroup]]) {
  threadgroup float part[64];
  part[t] = x[t];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint step = 32; step > 0; step /= 2) {
    if (t < step && t + step < n) part[t] += part[t + step];
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  if (t == 0) *y = part[0];
}
kernel void simd_reduce(X(float), Y(float), T,
                        uint lane [[thread_index_in_simdgroup]],
                        uint row [[simdgroup_index_in_threadgroup]],
                        uint rows [[simdgroups_per_threadgroup]]) {
  threadgroup float sums[32];
  float own = simd_sum(x[t]);
  if (lane == 0) sums[row] = own;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  own = lane < rows ? sums[lane] : 0;
  own = simd_sum(own);
  if (t == 0) *y = own;
}
kernel void uniform_loop(X(int), Y(int), T) {
  threadgroup int shared[64];
  for (int k = 0; k < x[5]; ++k) {
    shared[(t + k) & 63] = int(t);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    y[t] += shared[t];
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
}
kernel void prefix_flags(X(int), Y(int), T) {
  threadgroup atomic_int first;
  if (t == 0) atomic_store_explicit(&first, 1000, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (x[t] > 20) atomic_fetch_min_explicit(&first, int(t), memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = atomic_load_explicit(&first, memory_order_relaxed);
}
struct sphere { float3 centre; float radius; uint flags; };
kernel void local_struct(X(float), Y(float), I) {
  sphere all[3];
  for (int k = 0; k < 3; ++k) {
    all[k].centre = float3(x[i], k, 0);
    all[k].radius = k + 1;
  }
  sphere copy = all[i % 3];
  copy.flags = 1;
  all[1] = copy;
  y[i] = all[1].centre.x + all[1].radius + all[2].radius;
}
kernel void union_like(X(uint), Y(uint), I) {
  uchar4 parts = as_type<uchar4>(x[i]);
  parts.w = 0;
  thread uchar *bytes = (thread uchar *)&parts;
  bytes[2] = 7;
  y[i] = as_type<uint>(parts);
}
static void both(uint x, thread uint *a, thread uint &b) { *a = x; b = x + 1; }
kernel void out_parameters(X(uint), Y(uint), I) {
  uint a, b;
  both(x[i], &a, b);
  y[i] = a * b;
}
kernel void loop_sets(X(uint), Y(uint), I) {
  uint last;
  bool any = false;
  for (uint k = 0; k < x[i]; ++k) { last = k; any = true; }
  y[i] = any ? last : 0;
}
kernel void masked_softmax(X(float), Y(float), T) {
  const float score = t < 20 ? x[t] : -INFINITY;
  const float largest = simd_max(score);
  const float e = exp(score - largest);
  y[t] = e / simd_sum(e);
}
kernel void running_max(X(float), Y(float), I) {
  float m = -INFINITY, sum = 0;
  for (uint k = 0; k < 8; ++k) {
    const float v = x[i * 8 + k], next = max(m, v);
    sum = sum * exp(m - next) + exp(v - next);
    m = next;
  }
  y[i] = sum;
}
kernel void guarded_division(X(int), Y(int), I) {
  y[i] = x[i] != 0 ? 100 / x[i] : 0;
}
kernel void guarded_shift(X(uint), Y(uint), I) {
  y[i] = x[i] * 8 < 32 ? 1u << (x[i] * 8) : 0;
}
kernel void last_element(X(float), Y(float), I) {
  y[i] = x[15 - i] + x[min(i + 1, 15u)] + x[max(int(i) - 1, 0)];
}
kernel void one_past_pointer(X(float), Y(float), I) {
  device const float *p = x + 4 * i, *end = p + 4;
  float sum = 0;
  while (p != end) sum += *p++;
  y[i] = sum;
}
struct header { uint count; float scale; float items[1]; };
kernel void flexible_tail(device const header &h [[buffer(0)]], Y(float), I) {
  device const float *items = h.items;
  y[i] = h.scale + items[i];
}
kernel void packed_aligned(X(packed_float3), Y(float), I) {
  const float3 v = x[i];
  y[i] = v.x + v.z;
}
kernel void shuffle_inside(X(int), Y(int), T) {
  if (t < 16) {
    y[t] = simd_shuffle(x[t], t ^ 3);
  } else {
    y[t] = simd_shuffle_xor(x[t], 8);
  }
}
kernel void ballot_guard(X(int), Y(int), T) {
  const bool takes = x[t] > 10;
  const ulong votes = ulong(simd_vote::vote_t(simd_ballot(takes)));
  const uint before = popcount(uint(votes) & ((1u << t) - 1));
  if (takes) y[before] = x[t];
}
kernel void quad(X(float), Y(float), T) {
  y[t] = quad_shuffle_xor(x[t], 1) + quad_broadcast(x[t], 2) + quad_sum(x[t]);
}
kernel void atomic_flag(device atomic_uint *n [[buffer(0)]], Y(uint), T) {
  atomic_fetch_or_explicit(n, 1u << (t & 31), memory_order_relaxed);
  y[t] = atomic_load_explicit(n, memory_order_relaxed) ? 1 : 0;
}
kernel void counter_then_barrier(X(uint), Y(uint), T) {
  threadgroup atomic_uint bins[8];
  if (t < 8) atomic_store_explicit(&bins[t], 0u, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  atomic_fetch_add_explicit(&bins[x[t] & 7], 1u, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = ((threadgroup uint *)bins)[t & 7];
}
kernel void tile_reuse(device const float *a [[buffer(0)]],
                       device const float *b [[buffer(1)]],
                       device float *c [[buffer(2)]],
                       uint2 t [[thread_position_in_threadgroup]]) {
  threadgroup float ta[4][8], tb[4][8];
  float sum = 0;
  for (uint k = 0; k < 8; k += 4) {
    if (t.y < 4) {
      ta[t.y][t.x] = a[t.x * 8 + k + t.y];
      tb[t.y][t.x] = b[(k + t.y) * 8 + t.x];
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint j = 0; j < 4; ++j) sum += ta[j][t.y] * tb[j][t.x];
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  c[t.y * 8 + t.x] = sum;
}
kernel void simd_ping_pong(X(float), Y(float), T) {
  threadgroup float part[32];
  part[t] = x[t];
  simdgroup_barrier(mem_flags::mem_threadgroup);
  const float other = part[31 - t];
  simdgroup_barrier(mem_flags::mem_threadgroup);
  part[t] = other;
  simdgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = part[t ^ 1];
}
kernel void volatile_spill(X(int), Y(int), I) {
  int stack[8];
  int top = 0;
  for (int k = 0; k < x[i]; ++k) stack[top++] = k;
  int sum = 0;
  while (top > 0) sum += stack[--top];
  y[i] = sum;
}
kernel void compact(X(uint), Y(uint), device uint *count [[buffer(2)]], T) {
  threadgroup uint places[64];
  places[t] = x[t] & 1;
  for (uint step = 1; step < 64; step *= 2) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    const uint other = t >= step ? places[t - step] : 0;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    places[t] += other;
  }
  if (x[t] & 1) y[places[t] - 1] = x[t];
  if (t == 63) *count = places[t];
}
kernel void early_exit_uniform(X(uint), Y(uint), T, I,
                               uint g [[threadgroup_position_in_grid]]) {
  threadgroup uint shared[64];
  if (x[g * 64] < 64) return;
  shared[t] = x[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[i] = shared[63 - t];
}
struct hit { float distance; bool is_hit; };
static hit find(float x) {
  hit h;
  h.is_hit = x > 3;
  if (h.is_hit) h.distance = x * 2;
  return h;
}
kernel void helper_struct_return(X(float), Y(float), I) {
  const hit h = find(x[i]);
  y[i] = h.is_hit ? h.distance : -1;
}
kernel void bool_vector(X(float4), Y(float4), I) {
  const bool4 small = x[i] < 8;
  y[i] = any(small) ? select(x[i], float4(0), small) : x[i];
}
kernel void one_lane_broadcast(X(float), Y(float), T,
                               uint lane [[thread_index_in_simdgroup]]) {
  float own;
  if (lane == 0) own = x[t];
  y[t] = simd_broadcast(own, 0) + simd_broadcast_first(own);
}
// An array that is filled behind its first elements, in a member of a member.
struct tile_of_four {
  float2 parts[4] = {float2(0)};
};
struct pair_of_tiles {
  tile_of_four left;
  tile_of_four right;
  short scale;
  pair_of_tiles(ushort a) { scale = a; }
};
kernel void filled_members(X(float), Y(float2), T) {
  thread pair_of_tiles pair(ushort(t + 1));
  for (uint k = 0; k < 4; ++k) pair.right.parts[k] += x[4 * t + k];
  for (uint k = 0; k < 4; ++k) {
    y[4 * t + k] = pair.left.parts[k] + pair.right.parts[k] * pair.scale;
  }
}
