// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lanes that are not there, packs of bytes and halves, structures with padding,
// function tables, tiles of simdgroups, and what looks like such mistakes.
// run: relaxed_flag --grid 128 --group 32 0=zeros:f32:4 1=zeros:f32:4 2=zeros:u32:1
// find: race.device @relaxed_flag_w,@relaxed_flag_r
// schedule: forward
// run: shuffle_loop --grid 32 --group 32 0=iota:32 1=zeros:32
// find: sync.simdgroup @shuffle_loop
// run: broadcast_lane --grid 32 --group 32 0=iota:32 1=zeros:32
// find: sync.simdgroup @broadcast_lane
// run: quad_inactive --grid 32 --group 32 0=iota:32 1=zeros:32
// find: sync.simdgroup @quad_inactive
// run: barrier_loop --grid 64 --group 64 0=zeros:64
// find: sync.barrier @barrier_loop
// run: padded_race --grid 64 --group 64 0=zeros:64
// find: race.threadgroup @padded_race_w,@padded_race_r
// run: padded_unset --grid 64 --group 64 0=zeros:64
// find: init.threadgroup @padded_unset
// run: half_overlap --grid 64 --group 32 0=zeros:f16:66
// find: race.device @half_overlap
// run: half4_overlap --grid 16 --group 8 0=zeros:f16:36
// find: race.device @half4_overlap
// run: q4_over --grid 4 0=zeros:u8:90 1=zeros:4
// find: bounds.subobject @q4_over
// run: nibble_race --grid 32 --group 32 0=iota:u8:16
// find: race.device @nibble_race_w,@nibble_race_r
// run: bytes_as_words --grid 8 0=iota:u8:32 1=zeros:8
// find: align @bytes_as_words
// run: bytes_tail --grid 8 0=iota:u8:32 1=zeros:8
// find: bounds.device @bytes_tail
// run: tg_bytes --grid 64 --group 64 0=zeros:64
// find: race.threadgroup @tg_bytes
// run: tg_half_tile --grid 64 --group 64 0=iota:64 1=zeros:64
// find: race.threadgroup @tg_half_tile_w,@tg_half_tile_r
// run: through_table --grid 8 0=iota:8 1=zeros:8 table2=peek
// find: bounds.device @peek
// run: race_through_table --grid 8 --group 8 0=iota:8 table1=poke
// find: race.device @poke
// run: matrix_over --grid 32 0=iota:64 1=zeros:64
// find: bounds.device @matrix_over
// run: matrix_race --grid 64 --group 64 0=zeros:128
// find: race.threadgroup @matrix_race
// run: matrix_no_barrier --grid 64 --group 64 0=iota:64 1=zeros:128
// find: race.threadgroup @matrix_no_barrier_w,@matrix_no_barrier_r
// run: tg_atomic_plain --grid 32 --group 32 0=zeros:32
// find: race.threadgroup @tg_atomic_plain_a,@tg_atomic_plain_r
// run: private_by_data --grid 8 0=iota:8 1=zeros:8
// find: bounds.private @private_by_data
// run: constant_over --grid 8 0=iota:8 1=zeros:8
// find: bounds.constant @constant_over
// run: long_halves --grid 4 --group 4 0=zeros:u64:2
// find: race.device @long_halves
// run: own_halves --grid 64 --group 32 0=zeros:f16:128
// run: own_nibbles --grid 16 --group 16 0=iota:u8:16
// run: padded_apart --grid 64 --group 64 0=zeros:64
// run: matrix_by_barrier --grid 64 --group 64 0=iota:64 1=zeros:128
// run: quad_whole --grid 32 --group 32 0=iota:32 1=zeros:32
// run: pack_of_blocks --grid 4 0=zeros:u8:72 1=zeros:4
#include <metal_stdlib>
#include <metal_simdgroup_matrix>
using namespace metal;

#define X(type) device const type *x [[buffer(0)]]
#define Y(type) device type *y [[buffer(1)]]
#define I uint i [[thread_position_in_grid]]
#define T uint t [[thread_position_in_threadgroup]]

kernel void relaxed_flag(device float *d [[buffer(0)]], Y(float), device atomic_uint *flag [[buffer(2)]],
   uint g [[threadgroup_position_in_grid]], T) {
  if (g == 0) { if (t == 0) { d[0] = 7; atomic_store_explicit(flag, 1u, memory_order_relaxed);} }  // @relaxed_flag_w
  else if (t == 0) { if (atomic_load_explicit(flag, memory_order_relaxed)) y[g] = d[0]; }  // @relaxed_flag_r
}

kernel void shuffle_loop(X(int), Y(int), T) {
  int v = x[t];
  for (uint k = 0; k < t % 5; ++k) v += simd_shuffle_xor(v, 1);  // @shuffle_loop
  y[t] = v;
}

kernel void broadcast_lane(X(int), Y(int), T) {
  if (t != 3) y[t] = simd_broadcast(x[t], 3);  // @broadcast_lane
}

kernel void quad_inactive(X(int), Y(int), T) {
  if (t % 4 != 0) y[t] = quad_broadcast(x[t], 0);  // @quad_inactive
}

kernel void barrier_loop(device int *y [[buffer(0)]], T) {
  for (uint k = 0; k < t % 3 + 1; ++k) {
    threadgroup_barrier(mem_flags::mem_threadgroup);  // @barrier_loop
    y[t] = k;
  }
}

struct padded { uchar tag; float value; uchar last; };
kernel void padded_race(device float *y [[buffer(0)]], T) {
  threadgroup padded part[64];
  part[t].tag = t; part[t].value = t; part[t].last = 1;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  part[(t + 1) % 64].value += 1;  // @padded_race_w
  y[t] = part[t].value;  // @padded_race_r
}

kernel void padded_unset(device float *y [[buffer(0)]], T) {
  threadgroup padded part[64];
  part[t].tag = t; part[t].last = 1;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = part[63 - t].value;  // @padded_unset
}

kernel void half_overlap(device half *h [[buffer(0)]], I) {
  *(device packed_half2 *)(h + i) = packed_half2(half(i), half(2 * i));  // @half_overlap
}

kernel void half4_overlap(device half4 *h [[buffer(0)]], I) {
  device half *p = (device half *)h + 2 * i;
  p[0] = i; p[1] = i; p[2] = 3 * i + 2;  // @half4_overlap
}

struct block_q4 { half d; uchar qs[16]; };
kernel void q4_over(device const block_q4 *b [[buffer(0)]], Y(float), I) {
  float s = 0;
  for (uint k = 0; k <= 16; ++k) s += b[i].qs[k] & 15;  // @q4_over
  y[i] = s * b[i].d;
}

kernel void nibble_race(device uchar *q [[buffer(0)]], I) {
  uchar old = q[i / 2];  // @nibble_race_r
  q[i / 2] = i & 1 ? uchar((old & 15) | (i << 4)) : uchar((old & 240) | (i & 15));  // @nibble_race_w
}

kernel void bytes_as_words(device const uchar *q [[buffer(0)]], Y(uint), I) {
  y[i] = *(device const uint *)(q + 3 * i);  // @bytes_as_words
}

kernel void bytes_tail(device const uchar *q [[buffer(0)]], Y(uint), I) {
  packed_uchar4 p = *(device const packed_uchar4 *)(q + 4 * i + 1);  // @bytes_tail
  y[i] = p[0] + p[3];
}

kernel void tg_bytes(device uchar *y [[buffer(0)]], T) {
  threadgroup uchar part[64];
  part[t] = t;
  y[t] = part[t ^ 1];  // @tg_bytes
}

kernel void tg_half_tile(X(half), device half *y [[buffer(1)]], T) {
  threadgroup half tile[8][8];
  tile[t / 8][t % 8] = x[t];  // @tg_half_tile_w
  y[t] = tile[t % 8][t / 8];  // @tg_half_tile_r
}

[[visible]] float twice(float v) { return v * 2; }
[[visible]] float peek(device const float *x, uint i) { return x[i + 1]; }  // @peek
kernel void through_table(X(float), Y(float), visible_function_table<float(device const float *, uint)> f [[buffer(2)]], I) {
  y[i] = f[0](x, i);
}

[[visible]] void poke(device float *x, uint i) { x[i / 2] = i; }  // @poke
kernel void race_through_table(device float *x [[buffer(0)]], visible_function_table<void(device float *, uint)> f [[buffer(1)]], I) {
  f[0](x, i);
}

kernel void matrix_over(device const float *a [[buffer(0)]], Y(float)) {
  simdgroup_float8x8 m;
  simdgroup_load(m, a, 9);  // @matrix_over
  simdgroup_store(m, y, 8);
}

kernel void matrix_race(device float *y [[buffer(0)]], uint s [[simdgroup_index_in_threadgroup]]) {
  threadgroup float tile[128];
  simdgroup_float8x8 m = make_filled_simdgroup_matrix<float, 8, 8>(float(s));
  simdgroup_store(m, tile, 8);  // @matrix_race
  threadgroup_barrier(mem_flags::mem_threadgroup);
  simdgroup_load(m, tile, 8);
  simdgroup_store(m, y + 64 * s, 8);
}

kernel void matrix_no_barrier(device const float *x [[buffer(0)]], Y(float), T, uint s [[simdgroup_index_in_threadgroup]]) {
  threadgroup float tile[64];
  tile[t] = x[t];  // @matrix_no_barrier_w
  simdgroup_float8x8 m;
  simdgroup_load(m, tile, 8);  // @matrix_no_barrier_r
  simdgroup_store(m, y + 64 * s, 8);
}

kernel void tg_atomic_plain(device uint *y [[buffer(0)]], T) {
  threadgroup atomic_uint n;
  if (t == 0) atomic_store_explicit(&n, 0u, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  atomic_fetch_add_explicit(&n, 1u, memory_order_relaxed);  // @tg_atomic_plain_a
  y[t] = *(threadgroup uint *)&n;  // @tg_atomic_plain_r
}

kernel void private_by_data(device const uint *x [[buffer(0)]], Y(uint), I) {
  uint a[4] = {1, 2, 3, 4};
  y[i] = a[x[i]];  // @private_by_data
}

constant uint table_of[4] = {5, 6, 7, 8};
kernel void constant_over(device const uint *x [[buffer(0)]], Y(uint), I) {
  y[i] = table_of[x[i]];  // @constant_over
}

kernel void long_halves(device ulong *y [[buffer(0)]], I) {
  ((device uint *)y)[i] = i;
  if (i == 0) y[1] = 5;  // @long_halves
}

// Clean: neighbours' halves, one thread for a byte's two nibbles, members side
// by side.
kernel void own_halves(device half *h [[buffer(0)]], I) {
  *(device packed_half2 *)(h + 2 * i) = packed_half2(half(i), half(i + 1));
}

kernel void own_nibbles(device uchar *q [[buffer(0)]], I) {
  q[i] = uchar((q[i] & 15) | (i << 4));
}

kernel void padded_apart(device float *y [[buffer(0)]], T) {
  threadgroup padded part[64];
  part[t].tag = t;
  part[63 - t].value = t;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = part[t].value + part[t].tag;
}

kernel void matrix_by_barrier(device const float *x [[buffer(0)]], Y(float), T, uint s [[simdgroup_index_in_threadgroup]]) {
  threadgroup float tile[64];
  tile[t] = x[t];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  simdgroup_float8x8 m;
  simdgroup_load(m, tile, 8);
  simdgroup_store(m, y + 64 * s, 8);
}

kernel void quad_whole(X(int), Y(int), T) {
  if (t < 8) y[t] = quad_broadcast(x[t], 0);
}

kernel void pack_of_blocks(device const block_q4 *b [[buffer(0)]], Y(float), I) {
  float s = 0;
  for (uint k = 0; k < 16; ++k) s += b[i].qs[k] & 15;
  y[i] = s * b[i].d;
}

