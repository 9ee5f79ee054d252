// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// kernels_c.c: the kernels of the benchmark as loops with OpenMP, compiled for
// this machine with everything the compiler has (CMakeLists.txt).
#include <math.h>

#include "kernels.h"

void saxpy_c(void *const *buffers) {
  const float *restrict x = buffers[0];
  float *restrict y = buffers[1];
#pragma omp parallel for simd schedule(static)
  for (int i = 0; i < SAXPY_COUNT; i++) {
    y[i] = 0.5f * x[i] + y[i];
  }
}

void mandelbrot_c(void *const *buffers) {
  uint32_t *restrict out = buffers[0];
  const int n = MANDELBROT_SIDE;
#pragma omp parallel for schedule(dynamic, 8)
  for (int py = 0; py < n; py++) {
    for (int px = 0; px < n; px++) {
      const float cr = -2.0f + 2.5f * (float)px / (float)n;
      const float ci = -1.25f + 2.5f * (float)py / (float)n;
      float zr = 0, zi = 0;
      uint32_t count = 0;
      while (count < MANDELBROT_LIMIT && zr * zr + zi * zi < 4.0f) {
        const float next = zr * zr - zi * zi + cr;
        zi = 2.0f * zr * zi + ci;
        zr = next;
        count++;
      }
      out[py * n + px] = count;
    }
  }
}

// Rows of b are walked in order, so that the compiler vectorises columns.
void product_c(void *const *buffers) {
  const float *restrict a = buffers[0];
  const float *restrict b = buffers[1];
  float *restrict c = buffers[2];
  const int n = PRODUCT_SIDE;
#pragma omp parallel for schedule(static)
  for (int row = 0; row < n; row++) {
    for (int column = 0; column < n; column++) {
      c[row * n + column] = 0;
    }
    for (int i = 0; i < n; i++) {
      const float factor = a[row * n + i];
      for (int column = 0; column < n; column++) {
        c[row * n + column] += factor * b[i * n + column];
      }
    }
  }
}

void tree_sum_c(void *const *buffers) {
  const float *restrict in = buffers[0];
  float *restrict out = buffers[1];
#pragma omp parallel for schedule(static)
  for (int group = 0; group < SUM_COUNT / 256; group++) {
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int i = 0; i < 256; i++) {
      sum += in[group * 256 + i];
    }
    out[group] = sum;
  }
}

void softmax_c(void *const *buffers) {
  const float *restrict in = buffers[0];
  float *restrict out = buffers[1];
  const int n = SOFTMAX_COLUMNS;
#pragma omp parallel for schedule(static)
  for (int row = 0; row < SOFTMAX_ROWS; row++) {
    const float *restrict from = in + (size_t)row * n;
    float *restrict to = out + (size_t)row * n;
    float most = -INFINITY, sum = 0;
#pragma omp simd reduction(max : most)
    for (int i = 0; i < n; i++) {
      most = from[i] > most ? from[i] : most;
    }
#pragma omp simd reduction(+ : sum)
    for (int i = 0; i < n; i++) {
      to[i] = expf(from[i] - most);
      sum += to[i];
    }
    for (int i = 0; i < n; i++) {
      to[i] /= sum;
    }
  }
}

// Each thread counts for itself.
void histogram_c(void *const *buffers) {
  const uint32_t *restrict in = buffers[0];
  uint32_t *restrict bins = buffers[1];
#pragma omp parallel
  {
    uint32_t own[256] = {0};
#pragma omp for schedule(static) nowait
    for (int i = 0; i < HISTOGRAM_COUNT; i++) {
      own[in[i] & 255]++;
    }
#pragma omp critical
    for (int bin = 0; bin < 256; bin++) {
      bins[bin] += own[bin];
    }
  }
}
