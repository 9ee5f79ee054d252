// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// checker.metal: the kernels of checker.py; checker.cl has them in OpenCL.
#include <metal_stdlib>
using namespace metal;

kernel void scale_add(device const float *x [[buffer(0)]],
                      device float *y [[buffer(1)]],
                      constant float &a [[buffer(2)]],
                      uint i [[thread_position_in_grid]]) {
  y[i] += a * x[i];
}

kernel void tree(device const float *x [[buffer(0)]],
                 device float *sums [[buffer(1)]],
                 uint i [[thread_position_in_grid]],
                 uint t [[thread_position_in_threadgroup]],
                 uint g [[threadgroup_position_in_grid]]) {
  threadgroup float part[256];
  part[t] = x[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint step = 128; step; step >>= 1) {
    if (t < step) part[t] += part[t + step];
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  if (t == 0) sums[g] = part[0];
}

kernel void tiles(device const float *a [[buffer(0)]],
                  device const float *b [[buffer(1)]],
                  device float *c [[buffer(2)]],
                  uint2 p [[thread_position_in_grid]],
                  uint2 t [[thread_position_in_threadgroup]]) {
  threadgroup float left[16][16];
  threadgroup float right[16][16];
  float sum = 0;
  for (uint k = 0; k < 64; k += 16) {
    left[t.y][t.x] = a[64 * p.y + k + t.x];
    right[t.y][t.x] = b[64 * (k + t.y) + p.x];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint j = 0; j < 16; ++j) sum += left[t.y][j] * right[j][t.x];
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  c[64 * p.y + p.x] = sum;
}
