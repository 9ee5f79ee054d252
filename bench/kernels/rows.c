// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rows.c: softmax and layer normalisation, a threadgroup of 256 for each row.
#include <math.h>

#include "kernel.h"
#include "lanes.h"

#define ROWS 4096
#define COLUMNS 1024

// --- Softmax, with trees in threadgroup memory -------------------------------

#define SOFTMAX(barrier)                                  \
  const uint n = COLUMNS;                                 \
  float most = -3e38f;                                    \
  for (uint c = l; c < n; c += 256) {                     \
    most = fmax(most, in[row * n + c]);                   \
  }                                                       \
  shared[l] = most;                                       \
  for (uint stride = 128; stride > 0; stride /= 2) {      \
    barrier;                                              \
    if (l < stride) {                                     \
      shared[l] = fmax(shared[l], shared[l + stride]);    \
    }                                                     \
  }                                                       \
  barrier;                                                \
  most = shared[0];                                       \
  barrier;                                                \
  float sum = 0;                                          \
  for (uint c = l; c < n; c += 256) {                     \
    sum += exp(in[row * n + c] - most);                   \
  }                                                       \
  shared[l] = sum;                                        \
  for (uint stride = 128; stride > 0; stride /= 2) {      \
    barrier;                                              \
    if (l < stride) {                                     \
      shared[l] += shared[l + stride];                    \
    }                                                     \
  }                                                       \
  barrier;                                                \
  sum = shared[0];                                        \
  for (uint c = l; c < n; c += 256) {                     \
    out[row * n + c] = exp(in[row * n + c] - most) / sum; \
  }

static const char softmax_msl[] = TEXT(kernel void k(
    device const float *in [[buffer(0)]], device float *out [[buffer(1)]],
    uint l [[thread_index_in_threadgroup]],
    uint row [[threadgroup_position_in_grid]]) {
  threadgroup float shared[256];
  SOFTMAX(MSL_BARRIER)
});
static const char softmax_opencl[] =
    TEXT(kernel void k(global const float *in, global float *out) {
      local float shared[256];
      const uint l = get_local_id(0);
      const uint row = get_group_id(0);
      SOFTMAX(OPENCL_BARRIER)
    });

static void softmax_c(void *const *buffers) {
  const float *restrict in = buffers[0];
  float *restrict out = buffers[1];
#pragma omp parallel for schedule(static)
  for (int row = 0; row < ROWS; row++) {
    const float *restrict from = in + row * COLUMNS;
    float *restrict to = out + row * COLUMNS;
    float most = from[0], sum = 0;
#pragma omp simd reduction(max : most)
    for (int i = 0; i < COLUMNS; i++) {
      most = from[i] > most ? from[i] : most;
    }
#pragma omp simd reduction(+ : sum)
    for (int i = 0; i < COLUMNS; i++) {
      to[i] = expf(from[i] - most);
      sum += to[i];
    }
    for (int i = 0; i < COLUMNS; i++) {
      to[i] /= sum;
    }
  }
}

// As the kernel does it, exponentials twice.
static void softmax_lanes_c(void *const *buffers) {
  const float *restrict in = buffers[0];
  float *restrict out = buffers[1];
#pragma omp parallel for schedule(static)
  for (int row = 0; row < ROWS; row++) {
    const float *restrict from = in + row * COLUMNS;
    float *restrict to = out + row * COLUMNS;
    lanes most = lanes_load(from), sum = {0};
    for (int i = 32; i < COLUMNS; i += 32) {
      most = lanes_larger(most, lanes_load(from + i));
    }
    most = lanes_all(lanes_largest(most));
    for (int i = 0; i < COLUMNS; i += 32) {
      sum += lanes_exp(lanes_load(from + i) - most);
    }
    const float total = lanes_sum(sum);
    for (int i = 0; i < COLUMNS; i += 32) {
      lanes_store(to + i, lanes_exp(lanes_load(from + i) - most) / total);
    }
  }
}

static double softmax_reference(void *const *buffers, size_t i) {
  const float *row = (const float *)buffers[0] + i / COLUMNS * COLUMNS;
  double sum = 0;
  for (int c = 0; c < COLUMNS; c++) {
    sum += exp(row[c]);
  }
  return exp(row[i % COLUMNS]) / sum;
}

const kernel_case softmax = {
    .name = "softmax of 4096 rows of 1024",
    .msl = softmax_msl,
    .opencl = softmax_opencl,
    .plain_c = softmax_c,
    .lanes_c = softmax_lanes_c,
    .reference = softmax_reference,
    .buffers = {{ROWS * COLUMNS * 4, FILL_SIGNED},
                {ROWS * COLUMNS * 4, FILL_ZERO}},
    .grid = {ROWS * 256, 1, 1},
    .group = {256, 1, 1},
    .output = 1,
    .tolerance = 1e-8,  // elements are about 1e-3
};

// --- Layer normalisation, with sums over simdgroups --------------------------

static const char norm_msl[] = TEXT(kernel void k(
    device const float *in [[buffer(0)]],
    device const float *weight [[buffer(1)]],
    device const float *bias [[buffer(2)]], device float *out [[buffer(3)]],
    uint l [[thread_index_in_threadgroup]],
    uint lane [[thread_index_in_simdgroup]],
    uint simdgroup [[simdgroup_index_in_threadgroup]],
    uint row [[threadgroup_position_in_grid]]) {
  threadgroup float2 parts[8];
  const uint n = COLUMNS;
  float2 sums = 0;
  for (uint c = l; c < n; c += 256) {
    const float x = in[row * n + c];
    sums += float2(x, x * x);
  }
  sums = simd_sum(sums);
  if (lane == 0) {
    parts[simdgroup] = sums;
  }
  MSL_BARRIER;
  sums = 0;
  for (uint s = 0; s < 8; s++) {
    sums += parts[s];
  }
  const float mean = sums.x / n;
  const float scale = rsqrt(sums.y / n - mean * mean + 1e-5f);
  for (uint c = l; c < n; c += 256) {
    out[row * n + c] = (in[row * n + c] - mean) * scale * weight[c] + bias[c];
  }
});
static const char norm_opencl[] =
    TEXT(kernel void k(global const float *in, global const float *weight,
                       global const float *bias, global float *out) {
      local float2 parts[256];
      const uint l = get_local_id(0);
      const uint row = get_group_id(0);
      const uint n = COLUMNS;
      float2 sums = 0;
      for (uint c = l; c < n; c += 256) {
        const float x = in[row * n + c];
        sums += (float2)(x, x * x);
      }
      parts[l] = sums;
      for (uint stride = 128; stride > 0; stride /= 2) {
        OPENCL_BARRIER;
        if (l < stride) {
          parts[l] += parts[l + stride];
        }
      }
      OPENCL_BARRIER;
      sums = parts[0];
      const float mean = sums.x / n;
      const float scale = rsqrt(sums.y / n - mean * mean + 1e-5f);
      for (uint c = l; c < n; c += 256) {
        out[row * n + c] =
            (in[row * n + c] - mean) * scale * weight[c] + bias[c];
      }
    });

static void norm_c(void *const *buffers) {
  const float *restrict in = buffers[0];
  const float *restrict weight = buffers[1];
  const float *restrict bias = buffers[2];
  float *restrict out = buffers[3];
#pragma omp parallel for schedule(static)
  for (int row = 0; row < ROWS; row++) {
    const float *restrict from = in + row * COLUMNS;
    float sum = 0, squares = 0;
#pragma omp simd reduction(+ : sum, squares)
    for (int i = 0; i < COLUMNS; i++) {
      sum += from[i];
      squares += from[i] * from[i];
    }
    const float mean = sum / COLUMNS;
    const float scale = 1 / sqrtf(squares / COLUMNS - mean * mean + 1e-5f);
    for (int i = 0; i < COLUMNS; i++) {
      out[row * COLUMNS + i] = (from[i] - mean) * scale * weight[i] + bias[i];
    }
  }
}

static void norm_lanes_c(void *const *buffers) {
  const float *restrict in = buffers[0];
  const float *restrict weight = buffers[1];
  const float *restrict bias = buffers[2];
  float *restrict out = buffers[3];
#pragma omp parallel for schedule(static)
  for (int row = 0; row < ROWS; row++) {
    const float *restrict from = in + row * COLUMNS;
    lanes sum = {0}, squares = {0};
    for (int i = 0; i < COLUMNS; i += 32) {
      const lanes x = lanes_load(from + i);
      sum += x;
      squares += x * x;
    }
    const float mean = lanes_sum(sum) / COLUMNS;
    const float scale =
        1 / sqrtf(lanes_sum(squares) / COLUMNS - mean * mean + 1e-5f);
    for (int i = 0; i < COLUMNS; i += 32) {
      lanes_store(
          out + row * COLUMNS + i,
          (lanes_load(from + i) - mean) * scale * lanes_load(weight + i) +
              lanes_load(bias + i));
    }
  }
}

static double norm_reference(void *const *buffers, size_t i) {
  const float *row = (const float *)buffers[0] + i / COLUMNS * COLUMNS;
  const float *weight = buffers[1], *bias = buffers[2];
  double sum = 0, squares = 0;
  for (int c = 0; c < COLUMNS; c++) {
    sum += row[c];
    squares += (double)row[c] * row[c];
  }
  const double mean = sum / COLUMNS;
  const double scale = 1 / sqrt(squares / COLUMNS - mean * mean + 1e-5);
  const size_t c = i % COLUMNS;
  return (row[c] - mean) * scale * weight[c] + bias[c];
}

const kernel_case layer_norm = {
    .name = "layer norm of 4096 rows of 1024",
    .work = 8.0 * ROWS * COLUMNS,
    .unit = "GB/s",
    .msl = norm_msl,
    .opencl = norm_opencl,
    .plain_c = norm_c,
    .lanes_c = norm_lanes_c,
    .reference = norm_reference,
    .buffers = {{ROWS * COLUMNS * 4, FILL_SIGNED},
                {COLUMNS * 4, FILL_UNIT},
                {COLUMNS * 4, FILL_SIGNED},
                {ROWS * COLUMNS * 4, FILL_ZERO}},
    .grid = {ROWS * 256, 1, 1},
    .group = {256, 1, 1},
    .output = 3,
    .tolerance = 1e-5,
};
