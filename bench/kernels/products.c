// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// products.c: the product of two matrices: each thread alone, by tiles in
// threadgroup memory, and by the simdgroup's 8 x 8 matrices.
#include "kernel.h"
#include "lanes.h"

#define N 512
#define MATRIX {N * N * 4, FILL_SIGNED}

// --- Each thread alone -------------------------------------------------------

#define NAIVE                                  \
  float sum = 0;                               \
  for (uint i = 0; i < n; i++) {               \
    sum += a[row * n + i] * b[i * n + column]; \
  }                                            \
  c[row * n + column] = sum

static const char naive_msl[] = TEXT(kernel void k(
    device const float *a [[buffer(0)]], device const float *b [[buffer(1)]],
    device float *c [[buffer(2)]], uint2 p [[thread_position_in_grid]],
    uint2 size [[threads_per_grid]]) {
  const uint column = p.x;
  const uint row = p.y;
  const uint n = size.x;
  NAIVE;
});
static const char naive_opencl[] = TEXT(kernel void k(
    global const float *a, global const float *b, global float *c) {
  const uint column = get_global_id(0);
  const uint row = get_global_id(1);
  const uint n = get_global_size(0);
  NAIVE;
});

// --- By tiles of 16 x 16 -----------------------------------------------------

#define TILED(barrier)                           \
  float sum = 0;                                 \
  for (uint first = 0; first < n; first += 16) { \
    ta[y][x] = a[row * n + first + x];           \
    tb[y][x] = b[(first + y) * n + column];      \
    barrier;                                     \
    for (uint i = 0; i < 16; i++) {              \
      sum += ta[y][i] * tb[i][x];                \
    }                                            \
    barrier;                                     \
  }                                              \
  c[row * n + column] = sum

static const char tiled_msl[] = TEXT(kernel void k(
    device const float *a [[buffer(0)]], device const float *b [[buffer(1)]],
    device float *c [[buffer(2)]], uint2 p [[thread_position_in_grid]],
    uint2 local [[thread_position_in_threadgroup]],
    uint2 size [[threads_per_grid]]) {
  threadgroup float ta[16][16];
  threadgroup float tb[16][16];
  const uint column = p.x;
  const uint row = p.y;
  const uint n = size.x;
  const uint x = local.x;
  const uint y = local.y;
  TILED(MSL_BARRIER);
});
static const char tiled_opencl[] = TEXT(kernel void k(
    global const float *a, global const float *b, global float *c) {
  local float ta[16][16];
  local float tb[16][16];
  const uint column = get_global_id(0);
  const uint row = get_global_id(1);
  const uint n = get_global_size(0);
  const uint x = get_local_id(0);
  const uint y = get_local_id(1);
  TILED(OPENCL_BARRIER);
});

// --- By the simdgroup's matrices, 32 x 32 for each simdgroup -----------------

static const char tile_msl[] = TEXT(kernel void k(
    device const float *a [[buffer(0)]], device const float *b [[buffer(1)]],
    device float *c [[buffer(2)]], uint2 group [[threadgroup_position_in_grid]],
    uint simdgroup [[simdgroup_index_in_threadgroup]]) {
  const uint row = group.y * 64 + simdgroup / 2 * 32;
  const uint column = group.x * 64 + simdgroup % 2 * 32;
  simdgroup_float8x8 sums[4][4];
  for (uint y = 0; y < 4; y++) {
    for (uint x = 0; x < 4; x++) {
      sums[y][x] = make_filled_simdgroup_matrix<float, 8, 8>(0);
    }
  }
  for (uint i = 0; i < N; i += 8) {
    simdgroup_float8x8 left[4];
    simdgroup_float8x8 right[4];
    for (uint t = 0; t < 4; t++) {
      simdgroup_load(left[t], a + (row + t * 8) * N + i, N);
      simdgroup_load(right[t], b + i * N + column + t * 8, N);
    }
    for (uint y = 0; y < 4; y++) {
      for (uint x = 0; x < 4; x++) {
        simdgroup_multiply_accumulate(sums[y][x], left[y], right[x],
                                      sums[y][x]);
      }
    }
  }
  for (uint y = 0; y < 4; y++) {
    for (uint x = 0; x < 4; x++) {
      simdgroup_store(sums[y][x], c + (row + y * 8) * N + column + x * 8, N);
    }
  }
});
// OpenCL has no such thing: a thread has 4 x 8 elements of its own.
static const char tile_opencl[] = TEXT(kernel void k(
    global const float *a, global const float *b, global float *c) {
  const uint l = get_local_id(0);
  const uint row = get_group_id(1) * 64 + l / 8 * 4;
  const uint column = get_group_id(0) * 64 + l % 8 * 8;
  float8 sums[4] = {0, 0, 0, 0};
  for (uint i = 0; i < N; i++) {
    const float8 right = vload8(0, b + i * N + column);
    for (uint y = 0; y < 4; y++) {
      sums[y] += a[(row + y) * N + i] * right;
    }
  }
  for (uint y = 0; y < 4; y++) {
    vstore8(sums[y], 0, c + (row + y) * N + column);
  }
});

// --- In C --------------------------------------------------------------------

// Rows of b are walked in order, so that the compiler vectorises columns.
static void plain_c(void *const *buffers) {
  const float *restrict a = buffers[0];
  const float *restrict b = buffers[1];
  float *restrict c = buffers[2];
#pragma omp parallel for schedule(static)
  for (int row = 0; row < N; row++) {
    for (int column = 0; column < N; column++) {
      c[row * N + column] = 0;
    }
    for (int i = 0; i < N; i++) {
      const float factor = a[row * N + i];
      for (int column = 0; column < N; column++) {
        c[row * N + column] += factor * b[i * N + column];
      }
    }
  }
}

static void lanes_c(void *const *buffers) {
  const float *restrict a = buffers[0];
  const float *restrict b = buffers[1];
  float *restrict c = buffers[2];
#pragma omp parallel for schedule(static)
  for (int first = 0; first < N; first += 8) {
    for (int column = 0; column < N; column += 32) {
      for (int row = first; row < first + 8; row++) {
        lanes sum = {0};
        for (int i = 0; i < N; i++) {
          sum += a[row * N + i] * lanes_load(b + i * N + column);
        }
        lanes_store(c + row * N + column, sum);
      }
    }
  }
}

// The threadgroup's tiles as in the kernel; a lane is an element of two rows.
static void tiled_lanes_c(void *const *buffers) {
  const float *restrict a = buffers[0];
  const float *restrict b = buffers[1];
  float *restrict c = buffers[2];
#pragma omp parallel for schedule(static) collapse(2)
  for (int row = 0; row < N; row += 16) {
    for (int column = 0; column < N; column += 16) {
      float ta[16][16], tb[16][16];
      lanes sums[8] = {0};
      for (int first = 0; first < N; first += 16) {
        for (int y = 0; y < 16; y++) {
          memcpy(ta[y], a + (row + y) * N + first, sizeof ta[y]);
          memcpy(tb[y], b + (first + y) * N + column, sizeof tb[y]);
        }
        for (int y = 0; y < 8; y++) {
          for (int i = 0; i < 16; i++) {
            float both[2][16];
            memcpy(both[0], tb[i], sizeof tb[i]);
            memcpy(both[1], tb[i], sizeof tb[i]);
            lanes left, right;
            memcpy(&right, both, sizeof right);
            for (int l = 0; l < 32; l++) {
              left[l] = ta[2 * y + l / 16][i];
            }
            sums[y] += left * right;
          }
        }
      }
      for (int y = 0; y < 16; y++) {
        memcpy(c + (row + y) * N + column, (float *)&sums[y / 2] + y % 2 * 16,
               64);
      }
    }
  }
}

static double reference(void *const *buffers, size_t i) {
  const float *a = buffers[0], *b = buffers[1];
  double sum = 0;
  for (size_t k = 0; k < N; k++) {
    sum += (double)a[i / N * N + k] * b[k * N + i % N];
  }
  return sum;
}

#define PRODUCT                                                             \
  .work = 2.0 * N * N * N, .unit = "GFLOP/s", .plain_c = plain_c,           \
  .reference = reference, .buffers = {MATRIX, MATRIX, MATRIX}, .output = 2, \
  .tolerance = 1e-4

const kernel_case naive_product = {
    .name = "naive product of 512 x 512",
    .is_bound_by_cores = true,
    .msl = naive_msl,
    .opencl = naive_opencl,
    .lanes_c = lanes_c,
    .grid = {N, N, 1},
    .group = {32, 8, 1},
    PRODUCT,
};
const kernel_case tiled_product = {
    .name = "tiled product of 512 x 512",
    .is_bound_by_cores = true,
    .msl = tiled_msl,
    .opencl = tiled_opencl,
    .lanes_c = tiled_lanes_c,
    .grid = {N, N, 1},
    .group = {16, 16, 1},
    PRODUCT,
};
const kernel_case tile_product = {
    .name = "simdgroup_matrix product of 512 x 512",
    .is_bound_by_cores = true,
    .msl = tile_msl,
    .opencl = tile_opencl,
    .grid = {N / 64 * 128, N / 64, 1},
    .group = {128, 1, 1},
    PRODUCT,
};
