// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The shapes of bugs that published kernels have had, and the same without
// them. unmodified.py has them run by programs that know nothing of checks.
// run: scan_in_rounds --grid 128 --group 128 0=iota:f32:512 1=zeros:f32:512
// find: race.threadgroup @scan_read,@scan_write
// run: scan_in_rounds_mended --grid 128 --group 128 0=iota:f32:512 1=zeros:f32:512
// run: max_then_sum --grid 128 --group 128 0=iota:f32:512 1=zeros:f32:512
// find: race.threadgroup @max_read,@sum_write
// run: max_then_sum_mended --grid 128 --group 128 0=iota:f32:512 1=zeros:f32:512
// run: product_by_tiles --grid 128 --group 128 0=iota:f32:512 1=zeros:f32:512
// find: race.threadgroup @tile_read,@tile_write
// run: product_by_tiles_mended --grid 128 --group 128 0=iota:f32:512 1=zeros:f32:512
// run: norm_of_rows --grid 128 --group 128 0=iota:f32:512 1=zeros:f32:512
// find: race.threadgroup @norm_write,@norm_read
// run: norm_of_rows_mended --grid 128 --group 128 0=iota:f32:512 1=zeros:f32:512
// run: shift_in_place --grid 128 --group 128 0=iota:f32:512 1=zeros:f32:512
// find: race.device @shift
// run: one_word_from_all --grid 128 --group 128 0=iota:f32:512 1=zeros:f32:512
// find: race.device @one_word
#include <metal_stdlib>
using namespace metal;
#define ARGUMENTS                                                            \
  device float *x [[buffer(0)]], device float *y [[buffer(1)]],              \
      uint t [[thread_index_in_threadgroup]],                                \
      uint lane [[thread_index_in_simdgroup]],                               \
      uint row [[simdgroup_index_in_threadgroup]]

// A scan in rounds: the next round's sums are written before all threads have
// read the last round's.
template <bool is_mended>
static void scan(device float *x, device float *y, threadgroup float *sums,
                 uint t, uint lane, uint row) {
  float before = 0;
  for (uint k = 0; k < 512; k += 128) {
    const float own = simd_prefix_inclusive_sum(x[k + t]);
    if (lane == 31) {
      sums[row] = own;  // @scan_write
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    float below = before;
    for (uint i = 0; i < row; ++i) {
      below += sums[i];
    }
    y[k + t] = below + own;
    for (uint i = 0; i < 4; ++i) {
      before += sums[i];  // @scan_read
    }
    if (is_mended) {
      threadgroup_barrier(mem_flags::mem_threadgroup);
    }
  }
}
kernel void scan_in_rounds(ARGUMENTS) {
  threadgroup float room[128];
  scan<false>(x, y, room, t, lane, row);
}
kernel void scan_in_rounds_mended(ARGUMENTS) {
  threadgroup float room[128];
  scan<true>(x, y, room, t, lane, row);
}

// The greatest value of a row, then the sum, through one piece of memory.
template <bool is_mended>
static void largest(device float *x, device float *y, threadgroup float *part,
                    uint t, uint lane, uint row) {
  const float own = simd_max(x[t]);
  if (lane == 0) {
    part[row] = own;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const float all = max(max(part[0], part[1]), max(part[2], part[3]));  // @max_read
  if (is_mended) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
  } else {
    threadgroup_barrier(mem_flags::mem_none);
  }
  const float sum = simd_sum(exp(x[t] - all));
  if (lane == 0) {
    part[row] = sum;  // @sum_write
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = all + log(part[0] + part[1] + part[2] + part[3]);
}
kernel void max_then_sum(ARGUMENTS) {
  threadgroup float room[128];
  largest<false>(x, y, room, t, lane, row);
}
kernel void max_then_sum_mended(ARGUMENTS) {
  threadgroup float room[128];
  largest<true>(x, y, room, t, lane, row);
}

// Tiles of a product: the next tile comes while the last one is read.
template <bool is_mended>
static void product(device float *x, device float *y, threadgroup float *tile,
                    uint t) {
  float sum = 0;
  for (uint k = 0; k < 512; k += 128) {
    tile[t] = x[k + t];  // @tile_write
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint i = 0; i < 8; ++i) {
      sum += tile[(t * 8 + i) & 127] * x[i];  // @tile_read
    }
    if (is_mended) {
      threadgroup_barrier(mem_flags::mem_threadgroup);
    }
  }
  y[t] = sum;
}
kernel void product_by_tiles(ARGUMENTS) {
  threadgroup float room[128];
  product<false>(x, y, room, t);
}
kernel void product_by_tiles_mended(ARGUMENTS) {
  threadgroup float room[128];
  product<true>(x, y, room, t);
}

// A mean that thread 0 stores for all threads, and some read before that.
template <bool is_mended>
static void norm(device float *x, device float *y, threadgroup float *sums,
                 uint t, uint lane, uint row) {
  const float own = simd_sum(x[t] * x[t]);
  if (lane == 0) {
    sums[row] = own;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (t == 0) {
    sums[0] = (sums[0] + sums[1] + sums[2] + sums[3]) / 128;  // @norm_write
  }
  if (is_mended) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  y[t] = x[t] * rsqrt(sums[0] + 1e-5f);  // @norm_read
}
kernel void norm_of_rows(ARGUMENTS) {
  threadgroup float room[128];
  norm<false>(x, y, room, t, lane, row);
}
kernel void norm_of_rows_mended(ARGUMENTS) {
  threadgroup float room[128];
  norm<true>(x, y, room, t, lane, row);
}

kernel void shift_in_place(ARGUMENTS) {
  x[t + 1] = x[t] + 1;  // @shift
}
kernel void one_word_from_all(ARGUMENTS) {
  y[0] = t;  // @one_word
}

// One after the other in a concurrent encoder, with nothing between them.
kernel void make(ARGUMENTS) {
  x[t] = t;  // @make
}
kernel void take(ARGUMENTS) {
  y[t] = x[127 - t];  // @take
}
