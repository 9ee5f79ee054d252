// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// transcendental.c: an elementwise kernel bound by exp, sin and log.
#include <math.h>

#include "kernel.h"

#define COUNT 2097152

#define BODY                   \
  const float v = 4.0f * x[i]; \
  y[i] = exp(-v * v) * sin(3.0f * v) + log(1.0f + v * v)

static const char msl[] = TEXT(kernel void k(
    device const float *x [[buffer(0)]], device float *y [[buffer(1)]],
    uint i [[thread_position_in_grid]]) { BODY; });
static const char opencl[] =
    TEXT(kernel void k(global const float *x, global float *y) {
      uint i = get_global_id(0);
      BODY;
    });

static void plain_c(void *const *buffers) {
  const float *restrict x = buffers[0];
  float *restrict y = buffers[1];
#pragma omp parallel for schedule(static)
  for (int i = 0; i < COUNT; i++) {
    const float v = 4.0f * x[i];
    y[i] = expf(-v * v) * sinf(3.0f * v) + logf(1.0f + v * v);
  }
}

static double reference(void *const *buffers, size_t i) {
  const float *x = buffers[0];
  const double v = 4.0 * x[i];
  return exp(-v * v) * sin(3 * v) + log(1 + v * v);
}

const kernel_case transcendental = {
    .name = "exp, sin and log of 2 M",
    .is_bound_by_cores = true,
    .msl = msl,
    .opencl = opencl,
    .plain_c = plain_c,
    .reference = reference,
    .buffers = {{COUNT * 4, FILL_SIGNED}, {COUNT * 4, FILL_ZERO}},
    .grid = {COUNT, 1, 1},
    .group = {256, 1, 1},
    .output = 1,
    .tolerance = 3e-6,  // the fast variants of MSL
};
