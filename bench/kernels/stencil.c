// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// stencil.c: a step of heat diffusion on a plane whose border stays.
#include "kernel.h"
#include "lanes.h"

#define SIDE 2048

#define BODY                                                        \
  const uint i = y * SIDE + x;                                      \
  if (x == 0 || y == 0 || x == SIDE - 1 || y == SIDE - 1) {         \
    out[i] = in[i];                                                 \
  } else {                                                          \
    out[i] = in[i] + 0.2f * (in[i - 1] + in[i + 1] + in[i - SIDE] + \
                             in[i + SIDE] - 4.0f * in[i]);          \
  }

static const char msl[] = TEXT(kernel void k(
    device const float *in [[buffer(0)]], device float *out [[buffer(1)]],
    uint2 p [[thread_position_in_grid]]) {
  const uint x = p.x;
  const uint y = p.y;
  BODY
});
static const char opencl[] =
    TEXT(kernel void k(global const float *in, global float *out) {
      const uint x = get_global_id(0);
      const uint y = get_global_id(1);
      BODY
    });

static void plain_c(void *const *buffers) {
  const float *restrict in = buffers[0];
  float *restrict out = buffers[1];
  memcpy(out, in, SIDE * 4);
  memcpy(out + SIDE * (SIDE - 1), in + SIDE * (SIDE - 1), SIDE * 4);
#pragma omp parallel for schedule(static)
  for (int y = 1; y < SIDE - 1; y++) {
    out[y * SIDE] = in[y * SIDE];
    for (int i = y * SIDE + 1; i < y * SIDE + SIDE - 1; i++) {
      out[i] = in[i] + 0.2f * (in[i - 1] + in[i + 1] + in[i - SIDE] +
                               in[i + SIDE] - 4.0f * in[i]);
    }
    out[y * SIDE + SIDE - 1] = in[y * SIDE + SIDE - 1];
  }
}

static void lanes_c(void *const *buffers) {
  const float *restrict in = buffers[0];
  float *restrict out = buffers[1];
  memcpy(out, in, SIDE * 4);
  memcpy(out + SIDE * (SIDE - 1), in + SIDE * (SIDE - 1), SIDE * 4);
#pragma omp parallel for schedule(static)
  for (int y = 1; y < SIDE - 1; y++) {
    for (int i = y * SIDE; i < y * SIDE + SIDE; i += 32) {
      const lanes centre = lanes_load(in + i);
      lanes_store(
          out + i,
          centre + 0.2f * (lanes_load(in + i - 1) + lanes_load(in + i + 1) +
                           lanes_load(in + i - SIDE) +
                           lanes_load(in + i + SIDE) - 4.0f * centre));
    }
    out[y * SIDE] = in[y * SIDE];
    out[y * SIDE + SIDE - 1] = in[y * SIDE + SIDE - 1];
  }
}

static double reference(void *const *buffers, size_t i) {
  const float *in = buffers[0];
  const size_t x = i % SIDE, y = i / SIDE;
  if (x == 0 || y == 0 || x == SIDE - 1 || y == SIDE - 1) {
    return in[i];
  }
  return in[i] + 0.2 * ((double)in[i - 1] + in[i + 1] + in[i - SIDE] +
                        in[i + SIDE] - 4.0 * in[i]);
}

const kernel_case stencil = {
    .name = "stencil of 5 points, 2048 x 2048",
    .work = 8.0 * SIDE * SIDE,
    .unit = "GB/s",
    .msl = msl,
    .opencl = opencl,
    .plain_c = plain_c,
    .lanes_c = lanes_c,
    .reference = reference,
    .buffers = {{SIDE * SIDE * 4, FILL_SIGNED}, {SIDE * SIDE * 4, FILL_ZERO}},
    .grid = {SIDE, SIDE, 1},
    .group = {32, 8, 1},
    .output = 1,
    .tolerance = 1e-6,
};
