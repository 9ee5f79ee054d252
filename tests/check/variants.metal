// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bugs as they come in other clothes: through inlined functions, templates and
// references, in vectors, halves and bytes, at the ends of what is odd.
// run: odd_bytes --grid 37 --group 37 0=zeros:u8:37 1=zeros:u8:37
// find: bounds.device @odd_bytes
// run: negative --grid 64 --group 64 0=iota:f32:64 1=zeros:f32:64
// find: bounds.device @negative
// run: wide_index --grid 16 --group 16 0=iota:f32:16 1=zeros:f32:16
// find: bounds.device @wide_index
// run: one_too_many --grid 64 --group 64 0=iota:f32:64 1=zeros:f32:64
// find: bounds.threadgroup @one_too_many
// run: two_dimensions --grid 64 --group 64 0=zeros:f32:64
// find: bounds.threadgroup @two_dimensions
// run: half_tail --grid 33 --group 33 0=zeros:f16:65 1=zeros:f16:66
// find: bounds.device @half_tail
// run: vector_tail --grid 8 --group 8 0=iota:f32:30 1=zeros:f32:32
// find: bounds.device @vector_tail
// run: first_rows --grid 8 --group 8 0=iota:f32:24 1=zeros:f32:8
// find: bounds.subobject @first_rows
// run: by_template --grid 64 --group 64 0=iota:f32:64 1=zeros:f32:64
// find: race.threadgroup @by_template_write,@by_template_read
// run: by_function --grid 128 --group 64 0=iota:i32:128
// find: race.device @by_function_write,@by_function_read
// run: halves --grid 64 --group 64 0=zeros:f16:64
// find: race.device @halves
// run: bytes_of_words --grid 64 --group 64 0=zeros:u32:64
// find: race.device @bytes_of_words_1,@bytes_of_words_2
// run: vectors --grid 64 --group 64 0=iota:f32:256
// find: race.device @vectors
// run: device_flag --grid 64 --group 64 0=iota:i32:64 1=zeros:i32:64
// find: race.device @device_flag_write,@device_flag_read
// run: counts_plainly --grid 256 --group 64 0=zeros:u32:1 1=zeros:u32:1
// find: race.device @counts_plainly_add,@counts_plainly_read
// run: same_group_counts --grid 64 --group 64 0=zeros:u32:1
// find: race.threadgroup @same_group_counts_add,@same_group_counts_read
// run: last_step --grid 256 --group 64 0=iota:f32:256 1=zeros:f32:4
// find: race.threadgroup @last_step_write,@last_step_read
// run: next_tile --grid 64 --group 64 0=iota:f32:256 1=zeros:f32:64
// find: race.threadgroup @next_tile_write,@next_tile_read
// run: one_lane --grid 32 --group 32 0=iota:i32:32 1=zeros:i32:32
// find: init.private @one_lane
// run: in_a_loop --grid 8 --group 8 0=iota:i32:8 1=zeros:i32:8
// find: init.private @in_a_loop
// run: member_left_out --grid 8 --group 8 0=zeros:f32:8
// find: init.private @member_left_out
// run: last_row --grid 48 --group 64 0=iota:f32:48 1=zeros:f32:64
// find: init.threadgroup @last_row
// run: in_one_branch --grid 64 --group 64 0=zeros:i32:64
// find: sync.barrier @in_one_branch
// run: uneven_turns --grid 64 --group 64 0=zeros:i32:64
// find: sync.barrier @uneven_turns
// run: in_a_function --grid 96 --group 96 0=zeros:i32:96
// find: sync.barrier @in_a_function
// run: down_past_the_end --grid 24 --group 24 0=iota:f32:24 1=zeros:f32:24
// find: sync.simdgroup @down_past_the_end
// run: broadcast_from_none --grid 32 --group 32 0=iota:i32:32 1=zeros:i32:32
// find: sync.simdgroup @broadcast_from_none
// run: shifted_int2 --grid 8 --group 8 0=iota:i32:17 1=zeros:i32:16
// find: align @shifted_int2
#include <metal_stdlib>
using namespace metal;

kernel void odd_bytes(device const uchar *x [[buffer(0)]],
                      device uchar *y [[buffer(1)]],
                      uint i [[thread_position_in_grid]]) {
  y[i] = x[i] + x[i + 1];  // @odd_bytes
}

kernel void negative(device const float *x [[buffer(0)]],
                     device float *y [[buffer(1)]],
                     uint i [[thread_position_in_grid]]) {
  device const float *centre = x + i;
  for (int k = -1; k <= 0; ++k) {
    y[i] += centre[k];  // @negative
  }
}

kernel void wide_index(device const float *x [[buffer(0)]],
                       device float *y [[buffer(1)]],
                       uint i [[thread_position_in_grid]]) {
  const long at = long(i) * 0x100000000l;
  y[i] = x[at];  // @wide_index
}

kernel void one_too_many(device const float *x [[buffer(0)]],
                         device float *y [[buffer(1)]],
                         uint t [[thread_position_in_threadgroup]]) {
  threadgroup float values[64];
  values[t] = x[t];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = t + 1 <= 64 ? values[t + 1] : 0;  // @one_too_many
}

kernel void two_dimensions(device float *y [[buffer(0)]],
                           uint t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[8][8];
  tile[t % 8][t / 8] = t;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = tile[t / 8 + 1][t % 8];  // @two_dimensions
}

kernel void half_tail(device const half *x [[buffer(0)]],
                      device half *y [[buffer(1)]],
                      uint i [[thread_position_in_grid]]) {
  y[2 * i] = x[2 * i];
  y[2 * i + 1] = x[2 * i + 1];  // @half_tail
}

kernel void vector_tail(device const packed_float4 *x [[buffer(0)]],
                        device float4 *y [[buffer(1)]],
                        uint i [[thread_position_in_grid]]) {
  y[i] = float4(x[i]);  // @vector_tail
}

struct table {
  float rows[2][4];
  float after[16];
};
kernel void first_rows(constant table &t [[buffer(0)]],
                       device float *y [[buffer(1)]],
                       uint i [[thread_position_in_grid]]) {
  y[i] = t.rows[i / 2][i % 2];  // @first_rows
}

template <typename T>
T next_of(threadgroup const T *values, uint t, uint n) {
  return values[(t + 1) % n];  // @by_template_read
}
kernel void by_template(device const float *x [[buffer(0)]],
                        device float *y [[buffer(1)]],
                        uint t [[thread_position_in_threadgroup]]) {
  threadgroup float values[64];
  values[t] = x[t];  // @by_template_write
  y[t] = next_of<float>(values, t, 64);
}

static void put(device int *x, uint i, int value) {
  x[i] = value;  // @by_function_write
}
static int get(device int *x, uint i) {
  return x[i];  // @by_function_read
}
kernel void by_function(device int *x [[buffer(0)]],
                        uint i [[thread_position_in_grid]]) {
  put(x, i, get(x, (i + 64) % 128) + 1);
}

kernel void halves(device half *x [[buffer(0)]],
                   uint i [[thread_position_in_grid]]) {
  x[i] = x[(i + 1) % 64] + half(1);  // @halves
}

kernel void bytes_of_words(device uint *x [[buffer(0)]],
                           uint i [[thread_position_in_grid]]) {
  device uchar *bytes = (device uchar *)x;
  bytes[4 * i + 3] = uchar(i);      // @bytes_of_words_1
  x[(i + 1) % 64] = 0x01000000 + i;  // @bytes_of_words_2
}

kernel void vectors(device float *x [[buffer(0)]],
                    uint i [[thread_position_in_grid]]) {
  device float4 *v = (device float4 *)x;
  v[i].y = x[(4 * i + 5) % 256] + 1;  // @vectors
}

kernel void device_flag(device const int *x [[buffer(0)]],
                        device int *y [[buffer(1)]],
                        uint t [[thread_position_in_threadgroup]]) {
  y[t] = x[t];  // @device_flag_write
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] += y[t ^ 1];  // @device_flag_read
}

kernel void counts_plainly(device atomic_uint *n [[buffer(0)]],
                           device uint *out [[buffer(1)]],
                           uint i [[thread_position_in_grid]]) {
  atomic_fetch_add_explicit(n, 1, memory_order_relaxed);  // @counts_plainly_add
  if (i == 255) {
    out[0] = *(device uint *)n;  // @counts_plainly_read
  }
}

kernel void same_group_counts(device uint *out [[buffer(0)]],
                              uint t [[thread_position_in_threadgroup]]) {
  threadgroup atomic_uint n;
  if (t == 0) {
    atomic_store_explicit(&n, 0, memory_order_relaxed);
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  atomic_fetch_add_explicit(&n, t, memory_order_relaxed);  // @same_group_counts_add
  if (t == 63) {
    out[0] = *(threadgroup uint *)&n;  // @same_group_counts_read
  }
}

kernel void last_step(device const float *x [[buffer(0)]],
                      device float *y [[buffer(1)]],
                      uint t [[thread_position_in_threadgroup]],
                      uint g [[threadgroup_position_in_grid]]) {
  threadgroup float part[64];
  part[t] = x[g * 64 + t];
  for (uint step = 32; step > 0; step /= 2) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (t < step) {
      part[t] += part[t + step];  // @last_step_write
    }
  }
  if (t == 63) {
    y[g] = part[0];  // @last_step_read
  }
}

kernel void next_tile(device const float *x [[buffer(0)]],
                      device float *y [[buffer(1)]],
                      uint t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[64];
  float sum = 0;
  for (uint k = 0; k < 4; ++k) {
    tile[t] = x[k * 64 + t];  // @next_tile_write
    threadgroup_barrier(mem_flags::mem_threadgroup);
    sum += tile[63 - t];  // @next_tile_read
  }
  y[t] = sum;
}

kernel void one_lane(device const int *x [[buffer(0)]],
                     device int *y [[buffer(1)]],
                     uint t [[thread_position_in_threadgroup]]) {
  int value;
  if (t != 17) {
    value = x[t];
  }
  y[t] = value;  // @one_lane
}

kernel void in_a_loop(device const int *x [[buffer(0)]],
                      device int *y [[buffer(1)]],
                      uint i [[thread_position_in_grid]]) {
  int window[4];
  for (uint k = 0; k < 3; ++k) {
    window[k] = x[(i + k) % 8];
  }
  int sum = 0;
  for (uint k = 0; k < 4; ++k) {
    sum += window[k];
  }
  y[i] = sum;  // @in_a_loop
}

struct ray {
  float3 origin;
  float length;
};
static ray make_ray(float x) {
  ray r;
  r.origin = float3(x, 0, 1);
  return r;
}
kernel void member_left_out(device float *y [[buffer(0)]],
                            uint i [[thread_position_in_grid]]) {
  const ray r = make_ray(i);
  y[i] = r.origin.x + r.length;  // @member_left_out
}

kernel void last_row(device const float *x [[buffer(0)]],
                     device float *y [[buffer(1)]],
                     uint t [[thread_position_in_threadgroup]]) {
  threadgroup float values[64];
  values[t] = x[t];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = values[63 - t];  // @last_row
}

kernel void in_one_branch(device int *y [[buffer(0)]],
                          uint t [[thread_position_in_threadgroup]]) {
  y[t] = t;
  if (t < 32) {
    threadgroup_barrier(mem_flags::mem_device);  // @in_one_branch
  }
}

kernel void uneven_turns(device int *y [[buffer(0)]],
                         uint t [[thread_position_in_threadgroup]]) {
  for (uint k = 0; k < (t < 40 ? 2u : 3u); ++k) {
    y[t] += k;
    threadgroup_barrier(mem_flags::mem_none);  // @uneven_turns
  }
}

static void wait_for_all() {
  threadgroup_barrier(mem_flags::mem_threadgroup);  // @in_a_function
}
kernel void in_a_function(device int *y [[buffer(0)]],
                          uint t [[thread_position_in_threadgroup]]) {
  y[t] = t;
  if (t >= 90) {
    return;
  }
  wait_for_all();
  y[t] += 1;
}

kernel void down_past_the_end(device const float *x [[buffer(0)]],
                              device float *y [[buffer(1)]],
                              uint t [[thread_position_in_threadgroup]]) {
  y[t] = x[t] + simd_shuffle_down(x[t], 4);  // @down_past_the_end
}

kernel void broadcast_from_none(device const int *x [[buffer(0)]],
                                device int *y [[buffer(1)]],
                                uint t [[thread_position_in_threadgroup]]) {
  y[t] = 0;
  if (t & 1) {
    y[t] = simd_broadcast(x[t], 0);  // @broadcast_from_none
  }
}

kernel void shifted_int2(device const int *x [[buffer(0)]],
                         device int *y [[buffer(1)]],
                         uint i [[thread_position_in_grid]]) {
  const int2 pair = *(device const int2 *)(x + 1 + 2 * i);  // @shifted_int2
  y[2 * i] = pair.x;
  y[2 * i + 1] = pair.y;
}
