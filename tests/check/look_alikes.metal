// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What looks like a bug and is none.
// run: guarded --grid 64 --group 64 0=iota:f32:61 1=zeros:f32:61 2=u32:61
// run: components --grid 64 --group 64 0=zeros:f32:64
// expect: 0: 0 1 2 3 4 5 6 7
// run: pairs --grid 64 --group 64 0=zeros:f32:64
// expect: 0: 0 0 1 1 2 2 3 3
// run: halves_side_by_side --grid 64 --group 64 0=zeros:f16:64
// expect: 0: 0 1 2 3
// run: bytes_in_place --grid 64 --group 64 0=iota:u8:64
// expect: 0: 1 2 3 4
// run: half_in_place --grid 64 --group 64 0=zeros:f16:64
// expect: 0: 1 1 1 1
// run: own_elements --grid 64 --group 64 0=iota:f32:64
// expect: 0: 1 3 5 7
// run: padded --grid 8 --group 8 0=zeros:f32:64 1=zeros:f32:64
// run: copies --grid 8 --group 8 0=zeros:f32:64 1=zeros:f32:64
// run: all_but_one --grid 32 --group 32 0=iota:i32:32 1=zeros:i32:32
// run: partly_set --grid 8 --group 8 0=zeros:u32:8
// expect: 0: 7 7 7 7
// run: device_barrier --grid 64 --group 64 0=iota:i32:64 1=zeros:i32:64
// expect: 1: 1 1 5 5
// run: both_flags --grid 64 --group 64 0=iota:i32:64 1=zeros:i32:64
// run: counts_then_reads --grid 64 --group 64 0=zeros:u32:1
// expect: 0: 2016
// run: uniform_branch --grid 128 --group 64 0=zeros:i32:128 1=i32:1
// run: whole_loop --grid 128 --group 64 0=zeros:i32:128
// run: shuffle_in_halves --grid 64 --group 64 0=iota:f32:64 1=zeros:f32:64
// run: shuffle_down_guarded --grid 24 --group 24 0=iota:f32:24 1=zeros:f32:24
// run: ping_pong --grid 64 --group 64 0=iota:f32:256 1=zeros:f32:64
// expect: 1: 636 636 636
// run: packed_rows --grid 8 --group 8 0=iota:f32:25 1=zeros:f32:24
// run: simd_tree --grid 64 --group 64 0=ones:f32:64 1=zeros:f32:1
// expect: 1: 64
// run: writes_through --grid 64 --group 32 0=zeros:i32:64
// expect: 0: 0 1 2 3
// run: union_of_floats --grid 8 --group 8 0=zeros:u32:8
#include <metal_stdlib>
using namespace metal;

kernel void guarded(device const float *x [[buffer(0)]],
                    device float *y [[buffer(1)]],
                    constant uint &n [[buffer(2)]],
                    uint i [[thread_position_in_grid]]) {
  if (i < n) {
    y[i] = x[i] + (i + 1 < n ? x[i + 1] : 0) + (i > 0 ? x[i - 1] : 0);
  }
}

kernel void components(device float4 *v [[buffer(0)]],
                       uint i [[thread_position_in_grid]]) {
  switch (i % 4) {
    case 0: v[i / 4].x = i; break;
    case 1: v[i / 4].y = i; break;
    case 2: v[i / 4].z = i; break;
    default: v[i / 4][3] = i; break;
  }
}

kernel void pairs(device float4 *v [[buffer(0)]],
                  uint i [[thread_position_in_grid]]) {
  if (i < 32) {
    if (i % 2) {
      v[i / 2].zw = float2(i, i);
    } else {
      v[i / 2].xy = float2(i);
    }
  }
}

kernel void halves_side_by_side(device half *x [[buffer(0)]],
                                uint i [[thread_position_in_grid]]) {
  x[i] = half(i);
}

kernel void bytes_in_place(device uchar *x [[buffer(0)]],
                           uint i [[thread_position_in_grid]]) {
  x[i] = x[i] + 1;
}

kernel void half_in_place(device half *x [[buffer(0)]],
                          uint i [[thread_position_in_grid]]) {
  x[i] = x[i] + half(1);
}

kernel void own_elements(device float *x [[buffer(0)]],
                         uint i [[thread_position_in_grid]]) {
  x[i] = 2 * x[i];
  x[i] += 1;
}

struct padded_one {
  float3 place;
  uchar kind;
};
kernel void padded(device const float *x [[buffer(0)]],
                   device padded_one *y [[buffer(1)]],
                   uint i [[thread_position_in_grid]]) {
  padded_one one;
  one.place = float3(x[i], 1, 2);
  one.kind = 3;
  y[i] = one;
}

kernel void copies(device const padded_one *x [[buffer(0)]],
                   device padded_one *y [[buffer(1)]],
                   uint i [[thread_position_in_grid]]) {
  padded_one here[2];
  here[1] = x[i];
  here[0] = here[1];
  y[i] = here[0];
}

kernel void all_but_one(device const int *x [[buffer(0)]],
                        device int *y [[buffer(1)]],
                        uint t [[thread_position_in_threadgroup]]) {
  int value;
  if (t != 17) {
    value = x[t];
  }
  if (t != 17) {
    y[t] = value;
  }
}

kernel void partly_set(device uint *y [[buffer(0)]],
                       uint i [[thread_position_in_grid]]) {
  uint bits;
  bits &= ~0xfu;
  bits |= 7;
  y[i] = bits & 0xf;
}

kernel void device_barrier(device const int *x [[buffer(0)]],
                           device int *y [[buffer(1)]],
                           uint t [[thread_position_in_threadgroup]]) {
  y[t] = x[t];
  threadgroup_barrier(mem_flags::mem_device);
  const int other = y[t ^ 1];
  threadgroup_barrier(mem_flags::mem_device);
  y[t] += other;
}

kernel void both_flags(device const int *x [[buffer(0)]],
                       device int *y [[buffer(1)]],
                       uint t [[thread_position_in_threadgroup]]) {
  threadgroup int values[64];
  values[t] = x[t];
  y[t] = x[t];
  threadgroup_barrier(mem_flags::mem_threadgroup | mem_flags::mem_device);
  const int sum = values[63 - t] + y[63 - t];
  threadgroup_barrier(mem_flags::mem_device);
  y[t] = sum;
}

kernel void counts_then_reads(device uint *out [[buffer(0)]],
                              uint t [[thread_position_in_threadgroup]]) {
  threadgroup atomic_uint n;
  if (t == 0) {
    atomic_store_explicit(&n, 0, memory_order_relaxed);
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  atomic_fetch_add_explicit(&n, t, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (t == 63) {
    out[0] = *(threadgroup uint *)&n;
  }
}

kernel void uniform_branch(device int *y [[buffer(0)]],
                           constant int &way [[buffer(1)]],
                           uint i [[thread_position_in_grid]],
                           uint g [[threadgroup_position_in_grid]]) {
  if (way == int(g)) {
    y[i] = 1;
    threadgroup_barrier(mem_flags::mem_device);
    y[i] = 2;
  } else {
    threadgroup_barrier(mem_flags::mem_device);
  }
}

kernel void whole_loop(device int *y [[buffer(0)]],
                       uint i [[thread_position_in_grid]],
                       uint g [[threadgroup_position_in_grid]]) {
  for (uint k = 0; k < 2 + g; ++k) {
    y[i] += k;
    threadgroup_barrier(mem_flags::mem_none);
  }
}

kernel void shuffle_in_halves(device const float *x [[buffer(0)]],
                              device float *y [[buffer(1)]],
                              uint t [[thread_position_in_threadgroup]],
                              uint lane [[thread_index_in_simdgroup]]) {
  y[t] = 0;
  if (lane < 16) {
    y[t] = simd_shuffle_xor(x[t], 8);
  }
}

kernel void shuffle_down_guarded(device const float *x [[buffer(0)]],
                                 device float *y [[buffer(1)]],
                                 uint t [[thread_position_in_threadgroup]]) {
  const float other = simd_shuffle_down(x[t], 4);
  y[t] = x[t] + (t + 4 < 24 ? other : 0);
}

kernel void ping_pong(device const float *x [[buffer(0)]],
                      device float *y [[buffer(1)]],
                      uint t [[thread_position_in_threadgroup]]) {
  threadgroup float tile[2][64];
  float sum = 0;
  tile[0][t] = x[t];
  for (uint k = 0; k < 4; ++k) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (k < 3) {
      tile[(k + 1) & 1][t] = x[(k + 1) * 64 + t];
    }
    sum += tile[k & 1][63];
  }
  y[t] = sum;
}

kernel void packed_rows(device const float *x [[buffer(0)]],
                        device packed_float3 *y [[buffer(1)]],
                        uint i [[thread_position_in_grid]]) {
  y[i] = *(device const packed_float3 *)(x + 1 + 3 * i);
}

kernel void simd_tree(device const float *x [[buffer(0)]],
                      device float *y [[buffer(1)]],
                      uint t [[thread_position_in_threadgroup]],
                      uint lane [[thread_index_in_simdgroup]],
                      uint group [[simdgroup_index_in_threadgroup]]) {
  threadgroup float sums[2];
  const float sum = simd_sum(x[t]);
  if (lane == 0) {
    sums[group] = sum;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (t == 0) {
    y[0] = sums[0] + sums[1];
  }
}

static void put(device int *x, thread const int &value, uint i) {
  x[i] = value;
}
kernel void writes_through(device int *x [[buffer(0)]],
                           uint i [[thread_position_in_grid]]) {
  const int value = i;
  put(x, value, i);
}

kernel void union_of_floats(device uint *y [[buffer(0)]],
                            uint i [[thread_position_in_grid]]) {
  union {
    float number;
    uint bits;
  } both;
  both.number = i;
  y[i] = both.bits;
}
