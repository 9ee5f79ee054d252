// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// saxpy.c: streaming; bound by memory.
#include "kernel.h"
#include "lanes.h"

#define COUNT 16777216

static const char msl[] = TEXT(kernel void k(
    device const float *x [[buffer(0)]], device float *y [[buffer(1)]],
    uint i [[thread_position_in_grid]]) { y[i] = 0.5f * x[i] + y[i]; });
static const char opencl[] =
    TEXT(kernel void k(global const float *x, global float *y) {
      uint i = get_global_id(0);
      y[i] = 0.5f * x[i] + y[i];
    });

static void plain_c(void *const *buffers) {
  const float *restrict x = buffers[0];
  float *restrict y = buffers[1];
#pragma omp parallel for simd schedule(static)
  for (int i = 0; i < COUNT; i++) {
    y[i] = 0.5f * x[i] + y[i];
  }
}

static void lanes_c(void *const *buffers) {
  const float *restrict x = buffers[0];
  float *restrict y = buffers[1];
#pragma omp parallel for schedule(static)
  for (int i = 0; i < COUNT; i += 32) {
    lanes_store(y + i, 0.5f * lanes_load(x + i) + lanes_load(y + i));
  }
}

static double reference(void *const *buffers, size_t i) {
  const float *x = buffers[0], *y = buffers[1];
  return 0.5 * x[i] + y[i];
}

const kernel_case saxpy = {
    .name = "saxpy of 16 M",
    .work = 12.0 * COUNT,
    .unit = "GB/s",
    .msl = msl,
    .opencl = opencl,
    .plain_c = plain_c,
    .lanes_c = lanes_c,
    .reference = reference,
    .buffers = {{COUNT * 4, FILL_SIGNED}, {COUNT * 4, FILL_SIGNED}},
    .grid = {COUNT, 1, 1},
    .group = {256, 1, 1},
    .output = 1,
    .tolerance = 1e-6,
};
