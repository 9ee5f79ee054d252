// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels for run_screened.py whose accesses are in counted loops, or between
// barriers that leave nothing, or something, beside them.
//
// clean: counted --grid 4 --group 4 0=iota:f32:64 1=zeros:f32:4
// expect: 1: 120 376 632 888
// clean: guarded --grid 4 --group 4 0=iota:f32:8 1=zeros:f32:4
// expect: 1: 28 28 27 25
// clean: left_early --grid 4 --group 4 0=iota:f32:8 1=zeros:f32:4 2=u32:4
// expect: 1: 6 10 14 18
// clean: signed_start --grid 4 --group 4 0=iota:f32:8 1=zeros:f32:4
// expect: 1: 3 6 10 14
// clean: only_read --grid 64 --group 64 0=iota:f32:64 1=zeros:f32:64
// expect: 1: 63 63 63
// clean: product --grid 32,32 --group 16,16 0=ones:f32:1024 1=ones:f32:1024 2=zeros:f32:1024
// expect: 2: 32 32 32
// found: counted bounds.device --grid 4 --group 4 0=iota:f32:63 1=zeros:f32:4
// found: last_turn bounds.device --grid 4 --group 4 0=iota:f32:64 1=zeros:f32:4
// found: group_row bounds.threadgroup --grid 32 --group 32 0=zeros:f32:32
// found: wraps bounds.device --grid 4 --group 4 0=iota:f32:8 1=zeros:f32:4
// found: next_turn race.threadgroup --grid 64 --group 64 0=zeros:f32:64
// found: other_flag race.threadgroup --grid 64 --group 64 0=zeros:f32:64
// found: branches race.threadgroup --grid 64 --group 64 0=zeros:f32:64
// found: half_set init.threadgroup --grid 64 --group 64 0=zeros:f32:64
#include <metal_stdlib>
using namespace metal;

#define X device const float *x [[buffer(0)]]
#define Y device float *y [[buffer(1)]]
#define I uint i [[thread_position_in_grid]]
#define OUT device float *y [[buffer(0)]]
#define T uint t [[thread_position_in_threadgroup]]

kernel void counted(X, Y, I) {
  float sum = 0;
  for (uint k = 0; k < 16; k += 4)
    for (uint j = 0; j < 4; ++j) sum += x[16 * i + k + j];
  y[i] = sum;
}

// One access too many, in the last iterations of both loops only.
kernel void last_turn(X, Y, I) {
  float sum = 0;
  for (uint k = 0; k < 4; ++k)
    for (uint j = 0; j <= 4; ++j) sum += x[16 * i + 4 * k + j];
  y[i] = sum;
}

kernel void guarded(X, Y, I) {
  float sum = 0;
  for (uint k = 0; k < 16; ++k)
    if (i + k < 8) sum += x[i + k];
  y[i] = sum;
}

kernel void left_early(X, Y, constant uint &n [[buffer(2)]], I) {
  float sum = 0;
  for (uint k = 0; k < 16; ++k) {
    if (k == n) break;
    sum += x[i + k];
  }
  y[i] = sum;
}

kernel void signed_start(X, Y, I) {
  float sum = 0;
  for (int k = 0; k < 4; ++k) sum += x[max(int(i) - 1, 0) + k] * (k < 4);
  y[i] = i == 0 ? 3 : sum;
}

// The first of thread 0 is 2^32 - 1.
kernel void wraps(X, Y, I) {
  float sum = 0;
  for (uint k = 0; k < 3; ++k) sum += x[i - 1 + k];
  y[i] = sum;
}

kernel void group_row(OUT, T) {
  threadgroup float part[4][8];
  part[t / 8][t % 8] = t;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  float sum = 0;
  for (uint k = 0; k <= 8; ++k) sum += part[t / 8][k];
  y[t] = sum;
}

kernel void only_read(X, Y, T) {
  threadgroup float part[64];
  part[t] = x[t];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  float most = 0;
  for (uint k = 0; k < 64; ++k) most = max(most, part[k]);
  y[t] = most;
}

kernel void product(device const float *a [[buffer(0)]],
                    device const float *b [[buffer(1)]],
                    device float *c [[buffer(2)]],
                    uint2 p [[thread_position_in_grid]],
                    uint2 t [[thread_position_in_threadgroup]]) {
  threadgroup float left[16][16], right[16][16];
  float sum = 0;
  for (uint k = 0; k < 32; k += 16) {
    left[t.y][t.x] = a[32 * p.y + k + t.x];
    right[t.y][t.x] = b[32 * (k + t.y) + p.x];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint j = 0; j < 16; ++j) sum += left[t.y][j] * right[j][t.x];
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  c[32 * p.y + p.x] = sum;
}

// No barrier stands between this iteration's read and the next one's write.
kernel void next_turn(OUT, T) {
  threadgroup float part[64];
  float sum = 0;
  for (uint k = 0; k < 4; ++k) {
    part[t] = k + t;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    sum += part[63 - t];
  }
  y[t] = sum;
}

kernel void other_flag(OUT, T) {
  threadgroup float part[64];
  part[t] = t;
  threadgroup_barrier(mem_flags::mem_device);
  y[t] = part[63 - t];
}

// One side writes elements that the other reads, behind the same barrier.
kernel void branches(OUT, T) {
  threadgroup float part[64];
  part[t] = t;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (t < 32) {
    part[t] = 2 * t;
  } else {
    y[t] = part[63 - t];
  }
}

kernel void half_set(OUT, T) {
  threadgroup float part[64];
  if (t % 2) part[t] = t;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  float sum = 0;
  for (uint k = 0; k < 64; ++k) sum += part[k];
  y[t] = sum;
}
