// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// quantised.c: a matrix of 8-bit or 4-bit weights with a scale for each 32,
// times a vector. A simdgroup has a row.
#include "kernel.h"
#include "lanes.h"

#define ROWS 4096
#define COLUMNS 4096
#define SCALES (COLUMNS / 32)

// --- 8 bits ------------------------------------------------------------------

static const char int8_msl[] = TEXT(kernel void k(
    device const char4 *weights [[buffer(0)]],
    device const float *scales [[buffer(1)]],
    device const float4 *x [[buffer(2)]], device float *y [[buffer(3)]],
    uint lane [[thread_index_in_simdgroup]],
    uint simdgroup [[simdgroup_index_in_threadgroup]],
    uint group [[threadgroup_position_in_grid]]) {
  const uint row = group * 8 + simdgroup;
  float sum = 0;
  for (uint i = lane; i < COLUMNS / 4; i += 32) {
    const float4 w = float4(weights[row * (COLUMNS / 4) + i]);
    sum += scales[row * SCALES + i / 8] * dot(w, x[i]);
  }
  sum = simd_sum(sum);
  if (lane == 0) {
    y[row] = sum;
  }
});
static const char int8_opencl[] =
    TEXT(kernel void k(global const char4 *weights, global const float *scales,
                       global const float4 *x, global float *y) {
      local float sums[8][32];
      const uint lane = get_local_id(0) % 32;
      const uint own = get_local_id(0) / 32;
      const uint row = get_group_id(0) * 8 + own;
      float sum = 0;
      for (uint i = lane; i < COLUMNS / 4; i += 32) {
        const float4 w = convert_float4(weights[row * (COLUMNS / 4) + i]);
        sum += scales[row * SCALES + i / 8] * dot(w, x[i]);
      }
      sums[own][lane] = sum;
      for (uint stride = 16; stride > 0; stride /= 2) {
        OPENCL_BARRIER;
        if (lane < stride) {
          sums[own][lane] += sums[own][lane + stride];
        }
      }
      if (lane == 0) {
        y[row] = sums[own][0];
      }
    });

static void int8_c(void *const *buffers) {
  const int8_t *restrict weights = buffers[0];
  const float *restrict scales = buffers[1];
  const float *restrict x = buffers[2];
  float *restrict y = buffers[3];
#pragma omp parallel for schedule(static)
  for (int row = 0; row < ROWS; row++) {
    float sum = 0;
    for (int s = 0; s < SCALES; s++) {
      const int8_t *restrict w = weights + row * COLUMNS + s * 32;
      float part = 0;
#pragma omp simd reduction(+ : part)
      for (int i = 0; i < 32; i++) {
        part += w[i] * x[s * 32 + i];
      }
      sum += scales[row * SCALES + s] * part;
    }
    y[row] = sum;
  }
}

static void int8_lanes_c(void *const *buffers) {
  const int8_t *restrict weights = buffers[0];
  const float *restrict scales = buffers[1];
  const float *restrict x = buffers[2];
  float *restrict y = buffers[3];
#pragma omp parallel for schedule(static)
  for (int row = 0; row < ROWS; row++) {
    lanes sum = {0};
    for (int s = 0; s < SCALES; s++) {
      lanes_byte w;
      memcpy(&w, weights + row * COLUMNS + s * 32, sizeof w);
      sum += __builtin_convertvector(w, lanes) * lanes_load(x + s * 32) *
             scales[row * SCALES + s];
    }
    y[row] = lanes_sum(sum);
  }
}

static double int8_reference(void *const *buffers, size_t row) {
  const int8_t *weights = buffers[0];
  const float *scales = buffers[1], *x = buffers[2];
  double sum = 0;
  for (size_t i = 0; i < COLUMNS; i++) {
    sum += (double)weights[row * COLUMNS + i] * x[i] *
           scales[row * SCALES + i / 32];
  }
  return sum;
}

const kernel_case int8_product = {
    .name = "int8 matrix times vector, 4096 x 4096",
    .work = 1.125 * ROWS * COLUMNS,
    .unit = "GB/s",
    .msl = int8_msl,
    .opencl = int8_opencl,
    .plain_c = int8_c,
    .lanes_c = int8_lanes_c,
    .reference = int8_reference,
    .buffers = {{ROWS * COLUMNS, FILL_BITS},
                {ROWS * SCALES * 4, FILL_UNIT},
                {COLUMNS * 4, FILL_SIGNED},
                {ROWS * 4, FILL_ZERO}},
    .grid = {ROWS * 32, 1, 1},
    .group = {256, 1, 1},
    .output = 3,
    .tolerance = 3e-3,  // terms up to 200 cancel
};

// --- 4 bits, eight to a word, minus 8 ----------------------------------------

static const char int4_msl[] = TEXT(kernel void k(
    device const uint *weights [[buffer(0)]],
    device const float *scales [[buffer(1)]],
    device const float *x [[buffer(2)]], device float *y [[buffer(3)]],
    uint lane [[thread_index_in_simdgroup]],
    uint simdgroup [[simdgroup_index_in_threadgroup]],
    uint group [[threadgroup_position_in_grid]]) {
  const uint row = group * 8 + simdgroup;
  float sum = 0;
  for (uint i = lane; i < COLUMNS / 8; i += 32) {
    const uint word = weights[row * (COLUMNS / 8) + i];
    float part = 0;
    for (uint j = 0; j < 8; j++) {
      part += float(int(word >> (4 * j) & 15) - 8) * x[i * 8 + j];
    }
    sum += scales[row * SCALES + i / 4] * part;
  }
  sum = simd_sum(sum);
  if (lane == 0) {
    y[row] = sum;
  }
});
static const char int4_opencl[] =
    TEXT(kernel void k(global const uint *weights, global const float *scales,
                       global const float *x, global float *y) {
      local float sums[8][32];
      const uint lane = get_local_id(0) % 32;
      const uint own = get_local_id(0) / 32;
      const uint row = get_group_id(0) * 8 + own;
      float sum = 0;
      for (uint i = lane; i < COLUMNS / 8; i += 32) {
        const uint word = weights[row * (COLUMNS / 8) + i];
        float part = 0;
        for (uint j = 0; j < 8; j++) {
          part += (float)((int)(word >> (4 * j) & 15) - 8) * x[i * 8 + j];
        }
        sum += scales[row * SCALES + i / 4] * part;
      }
      sums[own][lane] = sum;
      for (uint stride = 16; stride > 0; stride /= 2) {
        OPENCL_BARRIER;
        if (lane < stride) {
          sums[own][lane] += sums[own][lane + stride];
        }
      }
      if (lane == 0) {
        y[row] = sums[own][0];
      }
    });

static void int4_c(void *const *buffers) {
  const uint32_t *restrict weights = buffers[0];
  const float *restrict scales = buffers[1];
  const float *restrict x = buffers[2];
  float *restrict y = buffers[3];
#pragma omp parallel for schedule(static)
  for (int row = 0; row < ROWS; row++) {
    float sum = 0;
    for (int s = 0; s < SCALES; s++) {
      const uint32_t *restrict w = weights + row * (COLUMNS / 8) + s * 4;
      float part = 0;
#pragma omp simd reduction(+ : part)
      for (int i = 0; i < 32; i++) {
        part +=
            (float)((int)(w[i / 8] >> (i % 8 * 4) & 15) - 8) * x[s * 32 + i];
      }
      sum += scales[row * SCALES + s] * part;
    }
    y[row] = sum;
  }
}

static double int4_reference(void *const *buffers, size_t row) {
  const uint32_t *weights = buffers[0];
  const float *scales = buffers[1], *x = buffers[2];
  double sum = 0;
  for (size_t i = 0; i < COLUMNS; i++) {
    const uint32_t word = weights[(row * COLUMNS + i) / 8];
    sum += ((double)(word >> i % 8 * 4 & 15) - 8) * x[i] *
           scales[row * SCALES + i / 32];
  }
  return sum;
}

const kernel_case int4_product = {
    .name = "int4 matrix times vector, 4096 x 4096",
    .work = 0.625 * ROWS * COLUMNS,
    .unit = "GB/s",
    .msl = int4_msl,
    .opencl = int4_opencl,
    .plain_c = int4_c,
    .reference = int4_reference,
    .buffers = {{ROWS * COLUMNS / 2, FILL_BITS},
                {ROWS * SCALES * 4, FILL_UNIT},
                {COLUMNS * 4, FILL_SIGNED},
                {ROWS * 4, FILL_ZERO}},
    .grid = {ROWS * 32, 1, 1},
    .group = {256, 1, 1},
    .output = 3,
    .tolerance = 1e-3,
};
