// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bugs of every kind in the shapes that real kernels have.
// checks: all
// run: tile_columns --grid 16,16 --group 16,16 0=iota:f32:256 1=zeros:f32:256
// find: race.threadgroup @tile_columns_write,@tile_columns_read
// run: halo_2d --grid 16,16 --group 8,8 0=iota:f32:256 1=zeros:f32:256
// find: init.threadgroup @halo_2d
// run: depth_3d --grid 4,4,4 --group 4,4,4 0=iota:f32:64 1=zeros:f32:64
// find: bounds.device @depth_3d
// run: struct_of_arrays --grid 32 --group 32 0=zeros:f32:32
// find: race.threadgroup @struct_of_arrays_write,@struct_of_arrays_read
// run: matrix_columns --grid 8 --group 8 0=iota:f32:16 1=zeros:f32:32
// find: bounds.device @matrix_columns
// run: packed_tail --grid 4 --group 4 0=iota:f32:11 1=zeros:f32:4
// find: bounds.device @packed_tail
// run: packed_as_float4 --grid 4 --group 4 0=iota:f32:17 1=zeros:f32:4
// find: align @packed_as_float4
// run: vector_element_race --grid 64 --group 64 0=zeros:f32:4
// find: race.device @vector_element_race
// run: vector_dynamic --grid 8 --group 8 0=iota:f32:32 1=zeros:f32:8
// find: init.private @vector_dynamic
// run: non_atomic_add --grid 64 --group 32 0=zeros:u32:1
// find: race.device @non_atomic_add
// run: mixed_atomic --grid 64 --group 32 0=zeros:u32:1 1=zeros:u32:1
// find: race.device @mixed_store,@mixed_add
// run: load_then_store --grid 64 --group 64 0=zeros:u32:4
// find: init.threadgroup @load_then_store
// run: ticket --grid 64 --group 64 0=iota:u32:64 1=zeros:u32:64
// find: race.threadgroup @ticket_write,@ticket_read
// run: wrong_flag_tg --grid 64 --group 64 0=iota:f32:64 1=zeros:f32:64
// find: race.threadgroup @wrong_flag_tg_write,@wrong_flag_tg_read
// run: simd_barrier_only --grid 64 --group 64 0=iota:f32:64 1=zeros:f32:64
// find: race.threadgroup @simd_barrier_only_write,@simd_barrier_only_read
// run: simd_no_barrier --grid 32 --group 32 0=iota:f32:32 1=zeros:f32:32
// find: race.threadgroup @simd_no_barrier_write,@simd_no_barrier_read
// run: short_argument --grid 64 --group 64 tg0=128 0=zeros:f32:64
// find: bounds.threadgroup @short_argument
// run: loop_exit --grid 64 --group 64 0=iota:i32:64 1=zeros:i32:64
// find: sync.barrier @loop_exit
// run: nested_return --grid 64 --group 64 0=iota:i32:64 1=zeros:i32:64
// find: sync.barrier @nested_return
// run: ternary_helper --grid 32 --group 32 0=iota:i32:32 1=zeros:i32:32
// find: sync.simdgroup @ternary_helper
// run: xor_inactive --grid 32 --group 32 0=iota:i32:32 1=zeros:i32:32
// find: sync.simdgroup @xor_inactive
// run: uninit_atomic --grid 32 --group 32 0=zeros:u32:1
// find: init.private @uninit_atomic
// run: uninit_index --grid 32 --group 32 0=iota:f32:32 1=zeros:f32:32
// find: init.private @uninit_index
// run: uninit_in_template --grid 32 --group 32 0=iota:f32:32 1=zeros:f32:32
// find: init.private @uninit_in_template
// run: uninit_switch --grid 32 --group 32 0=iota:i32:32 1=zeros:i32:32
// find: init.private @uninit_switch
// run: uninit_loop_bound --grid 8 --group 8 0=iota:i32:8 1=zeros:i32:8
// find: init.private @uninit_loop_bound
// run: uninit_pointer_out --grid 8 --group 8 0=iota:i32:8 1=zeros:i32:8
// find: init.private @uninit_pointer_out
// run: uninit_simd --grid 32 --group 32 0=iota:i32:32 1=zeros:i32:32
// find: init.private @uninit_simd
// run: modulo_zero --grid 8 --group 8 0=iota:u32:8 1=zeros:u32:8
// find: integer.division @modulo_zero
// run: vector_divide --grid 8 --group 8 0=iota:i32:32 1=zeros:i32:32
// find: integer.division @vector_divide
// run: shift_64 --grid 8 --group 8 0=iota:u32:8 1=zeros:u32:16
// find: integer.shift @shift_64
// run: divide_in_function --grid 8 --group 8 0=iota:i32:8 1=zeros:i32:8
// find: integer.division @divide_in_function
// run: least_by_minus_one --grid 8 --group 8 0=-2147483648,1,2,3,4,5,6,7 1=zeros:i32:8
// find: integer.overflow @least_by_minus_one
// run: log_of_zero --grid 8 --group 8 0=iota:f32:8 1=zeros:f32:8
// find: nan @log_of_zero
// run: exp_overflow --grid 8 --group 8 0=100,200,1,2,3,4,5,6 1=zeros:f32:8
// find: nan @exp_overflow
// run: root_of_negative --grid 8 --group 8 0=-1.5,2,1,2,3,4,5,6 1=zeros:f32:8
// find: nan @root_of_negative
// run: half_overflow --grid 8 --group 8 0=100000,2,1,2,3,4,5,6 1=zeros:f16:8
// find: nan @half_overflow
// run: softmax_of_nothing --grid 32 --group 32 0=zeros:f32:32 1=zeros:f32:32
// find: nan @softmax_of_nothing
// run: nan_through_tg --grid 32 --group 32 0=zeros:f32:32 1=zeros:f32:32
// find: nan @nan_through_tg
// run: rsqrt_zero --grid 8 --group 8 0=iota:f32:8 1=zeros:f32:8
// find: nan @rsqrt_zero
// run: given_by_value --grid 32 --group 32 0=zeros:f32:32
// find: init.threadgroup @given_by_value
// run: through_shared --grid 32 --group 32 0=zeros:i32:32
// find: init.private @through_shared
#include <metal_stdlib>
using namespace metal;

kernel void tile_columns(device const float *x [[buffer(0)]],
                         device float *y [[buffer(1)]],
                         uint2 t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[16][17];
  tile[t.y][t.x] = x[t.y * 16 + t.x];  // @tile_columns_write
  simdgroup_barrier(mem_flags::mem_threadgroup);
  y[t.y * 16 + t.x] = tile[t.x][t.y];  // @tile_columns_read
}

kernel void halo_2d(device const float *x [[buffer(0)]],
                    device float *y [[buffer(1)]],
                    uint2 p [[thread_position_in_grid]],
                    uint2 t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[10][10];
  tile[t.y + 1][t.x + 1] = x[p.y * 16 + p.x];
  if (t.x == 0) tile[t.y + 1][0] = p.x ? x[p.y * 16 + p.x - 1] : 0;
  if (t.x == 7) tile[t.y + 1][9] = p.x < 15 ? x[p.y * 16 + p.x + 1] : 0;
  if (t.y == 0) tile[0][t.x + 1] = p.y ? x[p.y * 16 - 16 + p.x] : 0;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[p.y * 16 + p.x] = tile[t.y][t.x + 1] + tile[t.y + 2][t.x + 1];  // @halo_2d
}

kernel void depth_3d(device const float *x [[buffer(0)]],
                     device float *y [[buffer(1)]],
                     uint3 p [[thread_position_in_grid]]) {
  uint at = (p.z * 4 + p.y) * 4 + p.x;
  y[at] = x[at] - x[at + 16];  // @depth_3d
}

struct shared_state {
  float sum[32];
  float largest[32];
};
static void reduce(threadgroup shared_state &s, uint t) {
  s.largest[t] = max(s.sum[t], s.sum[t ^ 16]);  // @struct_of_arrays_read
}
kernel void struct_of_arrays(device float *y [[buffer(0)]],
                             uint t [[thread_index_in_threadgroup]]) {
  threadgroup shared_state s;
  s.sum[t] = t;  // @struct_of_arrays_write
  reduce(s, t);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = s.largest[t];
}

kernel void matrix_columns(device const float4x4 *m [[buffer(0)]],
                           device float4 *y [[buffer(1)]],
                           uint i [[thread_position_in_grid]]) {
  y[i] = m[i / 4][i % 4];  // @matrix_columns
}

kernel void packed_tail(device const packed_float3 *x [[buffer(0)]],
                        device float *y [[buffer(1)]],
                        uint i [[thread_position_in_grid]]) {
  y[i] = dot(float3(x[i]), float3(1));  // @packed_tail
}

kernel void packed_as_float4(device const float *x [[buffer(0)]],
                             device float *y [[buffer(1)]],
                             uint i [[thread_position_in_grid]]) {
  y[i] = (*(device const float4 *)(x + 3 * i)).x;  // @packed_as_float4
}

kernel void vector_element_race(device float4 *y [[buffer(0)]],
                                uint i [[thread_position_in_grid]]) {
  y[0][i & 3] += 1;  // @vector_element_race
}

kernel void vector_dynamic(device const float *x [[buffer(0)]],
                           device float *y [[buffer(1)]],
                           uint i [[thread_position_in_grid]]) {
  float4 v;
  v.x = x[i];
  v.y = x[i + 1];
  v.w = 2;
  y[i] = v[i & 3];  // @vector_dynamic
}

kernel void non_atomic_add(device uint *n [[buffer(0)]]) {
  *n += 1;  // @non_atomic_add
}

kernel void mixed_atomic(device atomic_uint *n [[buffer(0)]],
                         device uint *out [[buffer(1)]],
                         uint i [[thread_position_in_grid]]) {
  if (i == 0) {
    *(device uint *)n = 0;  // @mixed_store
  }
  threadgroup_barrier(mem_flags::mem_device);
  atomic_fetch_add_explicit(n, 1u, memory_order_relaxed);  // @mixed_add
}

kernel void load_then_store(device uint *out [[buffer(0)]],
                            uint t [[thread_index_in_threadgroup]]) {
  threadgroup atomic_uint bins[4];
  atomic_fetch_add_explicit(&bins[t & 3], 1u, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (t < 4) {
    out[t] = atomic_load_explicit(&bins[t], memory_order_relaxed);  // @load_then_store
  }
}

kernel void ticket(device const uint *x [[buffer(0)]],
                   device uint *y [[buffer(1)]],
                   uint t [[thread_index_in_threadgroup]]) {
  threadgroup atomic_uint count;
  threadgroup uint items[64];
  if (t == 0) atomic_store_explicit(&count, 0u, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  uint at = atomic_fetch_add_explicit(&count, 1u, memory_order_relaxed);
  items[at] = x[t];  // @ticket_write
  y[t] = items[63 - at];  // @ticket_read
}

kernel void wrong_flag_tg(device const float *x [[buffer(0)]],
                          device float *y [[buffer(1)]],
                          uint t [[thread_index_in_threadgroup]]) {
  threadgroup float part[64];
  part[t] = x[t];  // @wrong_flag_tg_write
  threadgroup_barrier(mem_flags::mem_none);
  y[t] = part[63 - t];  // @wrong_flag_tg_read
}

kernel void simd_barrier_only(device const float *x [[buffer(0)]],
                              device float *y [[buffer(1)]],
                              uint t [[thread_index_in_threadgroup]]) {
  threadgroup float part[64];
  part[t] = x[t];  // @simd_barrier_only_write
  simdgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = part[(t + 32) % 64];  // @simd_barrier_only_read
}

kernel void simd_no_barrier(device const float *x [[buffer(0)]],
                            device float *y [[buffer(1)]],
                            uint t [[thread_index_in_threadgroup]]) {
  threadgroup float part[32];
  part[t] = simd_sum(x[t]);  // @simd_no_barrier_write
  y[t] = part[31 - t];  // @simd_no_barrier_read
}

kernel void short_argument(device float *y [[buffer(0)]],
                           threadgroup float *part [[threadgroup(0)]],
                           uint t [[thread_index_in_threadgroup]]) {
  part[t] = t;  // @short_argument
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = part[t];
}

kernel void loop_exit(device const int *x [[buffer(0)]],
                      device int *y [[buffer(1)]],
                      uint t [[thread_index_in_threadgroup]]) {
  for (int k = 0; k < 8; ++k) {
    if (x[t] + k > 66) break;
    threadgroup_barrier(mem_flags::mem_threadgroup);  // @loop_exit
    y[t] += k;
  }
}

static bool step(device int *y, uint t, int k) {
  if (t == 13 && k == 2) return false;
  threadgroup_barrier(mem_flags::mem_device);  // @nested_return
  y[t] = k;
  return true;
}
kernel void nested_return(device const int *x [[buffer(0)]],
                          device int *y [[buffer(1)]],
                          uint t [[thread_index_in_threadgroup]]) {
  for (int k = 0; k < 4; ++k) {
    if (!step(y, t, k)) return;
  }
}

static int neighbour(int value) {
  return simd_shuffle(value, 31);  // @ternary_helper
}
kernel void ternary_helper(device const int *x [[buffer(0)]],
                           device int *y [[buffer(1)]],
                           uint t [[thread_index_in_threadgroup]]) {
  y[t] = t < 31 ? neighbour(x[t]) : 0;
}

kernel void xor_inactive(device const int *x [[buffer(0)]],
                         device int *y [[buffer(1)]],
                         uint t [[thread_index_in_threadgroup]]) {
  if (t % 3 == 0) {
    y[t] = simd_shuffle_xor(x[t], 1);  // @xor_inactive
  }
}

kernel void uninit_atomic(device atomic_uint *n [[buffer(0)]],
                          uint t [[thread_index_in_threadgroup]]) {
  uint own;
  if (t > 3) own = t;
  atomic_fetch_add_explicit(n, own, memory_order_relaxed);  // @uninit_atomic
}

kernel void uninit_index(device const float *x [[buffer(0)]],
                         device float *y [[buffer(1)]],
                         uint t [[thread_index_in_threadgroup]]) {
  uint order[4];
  for (uint k = 0; k < 3; ++k) order[k] = (t + k) & 31;
  y[t] = x[order[t & 3] & 31];  // @uninit_index
}

template <typename T, int N>
struct window_of {
  T items[N];
  T sum() {
    T all = 0;
    for (int k = 0; k < N; ++k) all += items[k];
    return all;
  }
};
kernel void uninit_in_template(device const float *x [[buffer(0)]],
                               device float *y [[buffer(1)]],
                               uint t [[thread_index_in_threadgroup]]) {
  window_of<float, 4> w;
  for (int k = 0; k < 4; ++k)
    if (t + k < 32) w.items[k] = x[t + k];
  y[t] = w.sum();  // @uninit_in_template
}

kernel void uninit_switch(device const int *x [[buffer(0)]],
                          device int *y [[buffer(1)]],
                          uint t [[thread_index_in_threadgroup]]) {
  int mode;
  if (x[t] < 30) mode = x[t] % 3;
  switch (mode) {  // @uninit_switch
    case 0: y[t] = 1; break;
    case 1: y[t] = 5; break;
    case 2: y[t] = x[t]; break;
    default: y[t] = -1; break;
  }
}

kernel void uninit_loop_bound(device const int *x [[buffer(0)]],
                              device int *y [[buffer(1)]],
                              uint t [[thread_index_in_threadgroup]]) {
  int n;
  if (x[t] > 0) n = x[t];
  int sum = 0;
  for (int k = 0; k < (n & 7); ++k) sum += k;  // @uninit_loop_bound
  y[t] = sum;
}

static void split_of(int x, thread int &high, thread int &low) {
  if (x > 3) high = x / 4;
  low = x % 4;
}
kernel void uninit_pointer_out(device const int *x [[buffer(0)]],
                               device int *y [[buffer(1)]],
                               uint t [[thread_index_in_threadgroup]]) {
  int high, low;
  split_of(x[t], high, low);
  y[t] = high * 10 + low;  // @uninit_pointer_out
}

kernel void uninit_simd(device const int *x [[buffer(0)]],
                        device int *y [[buffer(1)]],
                        uint t [[thread_index_in_threadgroup]]) {
  int own;
  if (t != 9) own = x[t];
  y[t] = simd_sum(own);  // @uninit_simd
}

kernel void modulo_zero(device const uint *x [[buffer(0)]],
                        device uint *y [[buffer(1)]],
                        uint t [[thread_index_in_threadgroup]]) {
  y[t] = 7 % x[t];  // @modulo_zero
}

kernel void vector_divide(device const int4 *x [[buffer(0)]],
                          device int4 *y [[buffer(1)]],
                          uint t [[thread_index_in_threadgroup]]) {
  y[t] = int4(100) / x[t];  // @vector_divide
}

kernel void shift_64(device const uint *x [[buffer(0)]],
                     device ulong *y [[buffer(1)]],
                     uint t [[thread_index_in_threadgroup]]) {
  y[t] = 1ul << (x[t] * 10);  // @shift_64
}

static int mean(int sum, int count) { return sum / count; }  // @divide_in_function
kernel void divide_in_function(device const int *x [[buffer(0)]],
                               device int *y [[buffer(1)]],
                               uint t [[thread_index_in_threadgroup]]) {
  y[t] = mean(x[t], int(t) - 3);
}

kernel void least_by_minus_one(device const int *x [[buffer(0)]],
                               device int *y [[buffer(1)]],
                               uint t [[thread_index_in_threadgroup]]) {
  y[t] = x[t] / (int(t) - 1 ? -1 : 1);  // @least_by_minus_one
}


kernel void log_of_zero(device const float *x [[buffer(0)]],
                        device float *y [[buffer(1)]],
                        uint t [[thread_index_in_threadgroup]]) {
  const float l = log(x[t]);  // @log_of_zero
  y[t] = l;
}
kernel void exp_overflow(device const float *x [[buffer(0)]],
                         device float *y [[buffer(1)]],
                         uint t [[thread_index_in_threadgroup]]) {
  y[t] = exp(x[t]);  // @exp_overflow
}
kernel void root_of_negative(device const float *x [[buffer(0)]],
                             device float *y [[buffer(1)]],
                             uint t [[thread_index_in_threadgroup]]) {
  y[t] = sqrt(x[t]) + 1;  // @root_of_negative
}
kernel void half_overflow(device const float *x [[buffer(0)]],
                          device half *y [[buffer(1)]],
                          uint t [[thread_index_in_threadgroup]]) {
  y[t] = half(x[t]);  // @half_overflow
}
kernel void softmax_of_nothing(device const float *x [[buffer(0)]],
                               device float *y [[buffer(1)]],
                               uint t [[thread_index_in_threadgroup]]) {
  const float score = x[t] > 0 ? x[t] : -INFINITY;
  const float largest = simd_max(score);
  y[t] = exp(score - largest);  // @softmax_of_nothing
}
kernel void nan_through_tg(device const float *x [[buffer(0)]],
                           device float *y [[buffer(1)]],
                           uint t [[thread_index_in_threadgroup]]) {
  threadgroup float part[32];
  part[t] = 1 / x[t];  // @nan_through_tg
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = part[31 - t];
}
kernel void rsqrt_zero(device const float *x [[buffer(0)]],
                       device float *y [[buffer(1)]],
                       uint t [[thread_index_in_threadgroup]]) {
  y[t] = rsqrt(x[t]) * 3;  // @rsqrt_zero
}

struct two_values {
  float values[2];
  float sum(uint first) { return values[first] + values[1 - first]; }
};
static float sum_of(two_values two, uint first) {
  return two.sum(first);
}
kernel void given_by_value(device float *y [[buffer(0)]],
                           uint t [[thread_index_in_threadgroup]]) {
  threadgroup two_values all[32];
  all[t].values[0] = t;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = sum_of(all[31 - t], t & 1);  // @given_by_value
}

kernel void through_shared(device int *y [[buffer(0)]],
                           uint t [[thread_index_in_threadgroup]]) {
  threadgroup int all[32];
  int own;
  if (t != 5) own = t;
  all[t] = own;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = all[31 - t];  // @through_shared
}
