// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels without barriers that rely on a simdgroup running in step: scratch
// memory that is used again, sums as trees, scans, transposes, a store that
// another thread's load comes before. The tree's functions take pointers,
// which may be chosen, be members, or lie in arrays.
// checked: race.threadgroup race.device
// run: reuse --grid 40 --group 40 0=iota:i32:40 1=zeros:i32:40
// expect: 1: 496 496 496 496 496 496 496 496 496 496 496 496 496 496 496 496 496 496 496 496 496 496 496 496 496 496 496 496 496 496 496 496 284 284 284 284 284 284 284 284
// run: tree --grid 64 --group 64 0=iota:f32:64 1=zeros:f32:2
// expect: 1: 496 1520
// not on cuda: threads that no barrier orders
// run: scan --grid 32 0=ones:i32:32 1=zeros:i32:32
// expect: 1: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32
// run: turn --grid 32 0=iota:i32:32 1=zeros:i32:32
// expect: 1: 30 31 28 29 26 27 24 25 22 23 20 21 18 19 16 17 14 15 12 13 10 11 8 9 6 7 4 5 2 3 0 1
// run: chosen --grid 32 0=iota:i32:32 1=zeros:i32:32 tg0=256
// expect: 1: 1 0 3 2 5 4 7 6 9 8 11 10 13 12 15 14 17 16 19 18 21 20 23 22 25 24 27 26 29 28 31 30
// run: structures --grid 32 0=iota:i32:32 1=zeros:f32:32
// expect: 1: 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 31
#include <metal_stdlib>
using namespace metal;

// Every thread reads all elements before thread 0 overwrites the first.
kernel void reuse(device const int *x [[buffer(0)]],
                  device int *y [[buffer(1)]],
                  uint i [[thread_position_in_grid]],
                  uint lane [[thread_index_in_simdgroup]],
                  uint group [[simdgroup_index_in_threadgroup]],
                  uint threads [[threads_per_threadgroup]]) {
  threadgroup int scratch[2][32];
  const uint count = min(32u, threads - 32 * group);
  scratch[group][lane] = x[i];
  int sum = 0;
  for (uint k = 0; k < count; ++k) { sum += scratch[group][k]; }
  if (lane == 0) { scratch[group][0] = -1000; }
  y[i] = sum;
}

inline float sum_up(threadgroup float *values, uint lane) {
  for (uint half_width = 16; half_width > 0; half_width /= 2) {
    if (lane < half_width) { values[lane] += values[lane + half_width]; }
  }
  return values[0];
}

kernel void tree(device const float *x [[buffer(0)]],
                 device float *y [[buffer(1)]],
                 uint i [[thread_position_in_grid]],
                 uint lane [[thread_index_in_simdgroup]],
                 uint group [[simdgroup_index_in_threadgroup]]) {
  threadgroup float scratch[2][32];
  threadgroup float *own = scratch[group];
  own[lane] = x[i];
  const float sum = sum_up(own, lane);
  if (lane == 31) { y[group] = sum; }
}

kernel void scan(device const int *x [[buffer(0)]],
                 device int *y [[buffer(1)]],
                 uint lane [[thread_index_in_simdgroup]]) {
  volatile threadgroup int sums[32];
  sums[lane] = x[lane];
  for (uint step = 1; step < 32; step *= 2) {
    const int before = lane >= step ? sums[lane - step] : 0;
    sums[lane] += before;
  }
  y[lane] = sums[lane];
}

// Each thread reads its mirror image's element, then its neighbour's.
kernel void turn(device const int *x [[buffer(0)]],
                 device int *y [[buffer(1)]],
                 uint lane [[thread_index_in_simdgroup]]) {
  volatile threadgroup int values[32];
  values[lane] = x[lane];
  const int mirrored = values[31 - lane];
  values[lane] = mirrored;
  const int neighbour = values[lane ^ 1];
  values[lane] = neighbour;
  y[lane] = values[lane];
}

struct halves {
  threadgroup int *even;
  threadgroup int *odd;
  threadgroup int *of(uint lane) const { return lane & 1 ? odd : even; }
};

kernel void chosen(device const int *x [[buffer(0)]],
                   device int *y [[buffer(1)]],
                   threadgroup int *memory [[threadgroup(0)]],
                   uint lane [[thread_index_in_simdgroup]]) {
  halves both = {memory, memory + 32};
  threadgroup int *by_number[2] = {both.even, both.odd};
  auto put = [&](uint at, int value) { by_number[at & 1][at] = value; };
  both.of(lane)[lane] = -1;
  put(lane ^ 1, x[lane]);  // where the neighbour has just been
  y[lane] = both.of(lane)[lane];
}

struct record { int number; float4 values; };

kernel void structures(device const int *x [[buffer(0)]],
                       device float *y [[buffer(1)]],
                       uint lane [[thread_index_in_simdgroup]]) {
  threadgroup record records[32];
  const record own = {x[lane], float4(x[lane])};
  records[lane] = own;
  const record next = records[(lane + 1) % 32];
  records[lane] = next;
  threadgroup record &mine = records[lane];
  mine.values.y = 31;
  y[lane] = records[lane].number + records[(lane + 5) % 32].values.y;
}
