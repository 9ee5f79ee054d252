// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// mandelbrot.c: a loop that threads leave one by one.
#include "kernel.h"
#include "lanes.h"

#define SIDE 1024
#define LIMIT 256

#define BODY                                             \
  const float cr = -2.0f + 2.5f * (float)px / (float)n;  \
  const float ci = -1.25f + 2.5f * (float)py / (float)n; \
  float zr = 0;                                          \
  float zi = 0;                                          \
  uint32_t count = 0;                                    \
  while (count < LIMIT && zr * zr + zi * zi < 4.0f) {    \
    const float next = zr * zr - zi * zi + cr;           \
    zi = 2.0f * zr * zi + ci;                            \
    zr = next;                                           \
    count++;                                             \
  }                                                      \
  out[py * n + px] = count

static const char msl[] = TEXT(kernel void k(
    device uint *out [[buffer(0)]], uint2 p [[thread_position_in_grid]],
    uint2 size [[threads_per_grid]]) {
  const uint px = p.x;
  const uint py = p.y;
  const uint n = size.x;
  BODY;
});
static const char opencl[] =
    TEXT(typedef uint uint32_t; kernel void k(global uint *out) {
      const uint px = get_global_id(0);
      const uint py = get_global_id(1);
      const uint n = get_global_size(0);
      BODY;
    });

static void plain_c(void *const *buffers) {
  uint32_t *restrict out = buffers[0];
  const uint32_t n = SIDE;
#pragma omp parallel for schedule(dynamic, 8)
  for (uint32_t py = 0; py < n; py++) {
    for (uint32_t px = 0; px < n; px++) {
      BODY;
    }
  }
}

static lanes_int count_32(lanes cr, float ci) {
  lanes zr = {0}, zi = {0};
  lanes_int count = {0};
  for (int i = 0; i < LIMIT; i++) {
    const lanes_int inside = zr * zr + zi * zi < 4.0f;
    int any = 0;
    for (int l = 0; l < 32; l++) {
      any |= inside[l];
    }
    if (!any) {
      break;
    }
    const lanes next = zr * zr - zi * zi + cr;
    zi = 2.0f * zr * zi + ci;
    zr = next;
    count -= inside;  // once outside, they stay there or are NaN
  }
  return count;
}

static void lanes_c(void *const *buffers) {
  uint32_t *restrict out = buffers[0];
  const int n = SIDE;
  lanes steps;
  for (int l = 0; l < 32; l++) {
    steps[l] = (float)l;
  }
#pragma omp parallel for schedule(dynamic, 8)
  for (int py = 0; py < n; py++) {
    const float ci = -1.25f + 2.5f * (float)py / (float)n;
    for (int px = 0; px < n; px += 32) {
      const lanes_int counts =
          count_32(-2.0f + 2.5f * ((float)px + steps) / (float)n, ci);
      memcpy(out + py * n + px, &counts, sizeof counts);
    }
  }
}

static double reference(void *const *buffers, size_t i) {
  (void)buffers;
  const float cr = -2.0f + 2.5f * (float)(i % SIDE) / SIDE;
  const float ci = -1.25f + 2.5f * (float)(i / SIDE) / SIDE;
  double zr = 0, zi = 0;
  int count = 0;
  while (count < LIMIT && zr * zr + zi * zi < 4) {
    const double next = zr * zr - zi * zi + cr;
    zi = 2 * zr * zi + ci;
    zr = next;
    count++;
  }
  return count;
}

const kernel_case mandelbrot = {
    .name = "Mandelbrot 1024 x 1024",
    .is_bound_by_cores = true,
    .msl = msl,
    .opencl = opencl,
    .plain_c = plain_c,
    .lanes_c = lanes_c,
    .reference = reference,
    .buffers = {{SIDE * SIDE * 4, FILL_ZERO}},
    .grid = {SIDE, SIDE, 1},
    .group = {32, 8, 1},
    .output = 0,
    .is_integer = true,
    .may_differ = 0.02,  // counts close to the border, by fused operations
};
