// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// sums.c: reductions by a tree in threadgroup memory and by the simdgroup, and
// the prefix sums of threadgroups.
#include "kernel.h"
#include "lanes.h"

#define COUNT 16777216
#define GROUP 256

// --- Sums of 256 by a tree ---------------------------------------------------

#define TREE(barrier)                                \
  sums[l] = in[i];                                   \
  for (uint stride = 128; stride > 0; stride /= 2) { \
    barrier;                                         \
    if (l < stride) {                                \
      sums[l] += sums[l + stride];                   \
    }                                                \
  }                                                  \
  if (l == 0) {                                      \
    out[g] = sums[0];                                \
  }

static const char tree_msl[] = TEXT(kernel void k(
    device const float *in [[buffer(0)]], device float *out [[buffer(1)]],
    uint i [[thread_position_in_grid]], uint l [[thread_index_in_threadgroup]],
    uint g [[threadgroup_position_in_grid]]) {
  threadgroup float sums[256];
  TREE(MSL_BARRIER)
});
static const char tree_opencl[] =
    TEXT(kernel void k(global const float *in, global float *out) {
      local float sums[256];
      const uint i = get_global_id(0);
      const uint l = get_local_id(0);
      const uint g = get_group_id(0);
      TREE(OPENCL_BARRIER)
    });

static inline float sum_of(const float *restrict in, int count) {
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int i = 0; i < count; i++) {
    sum += in[i];
  }
  return sum;
}

static void tree_c(void *const *buffers) {
  const float *restrict in = buffers[0];
  float *restrict out = buffers[1];
#pragma omp parallel for schedule(static)
  for (int group = 0; group < COUNT / GROUP; group++) {
    out[group] = sum_of(in + group * GROUP, GROUP);
  }
}

static void tree_lanes_c(void *const *buffers) {
  const float *restrict in = buffers[0];
  float *restrict out = buffers[1];
#pragma omp parallel for schedule(static)
  for (int group = 0; group < COUNT / GROUP; group++) {
    lanes sums[8];
    memcpy(sums, in + group * GROUP, sizeof sums);
    for (int half = 4; half > 0; half /= 2) {
      for (int l = 0; l < half; l++) {
        sums[l] += sums[l + half];
      }
    }
    out[group] = lanes_sum(sums[0]);
  }
}

static double tree_reference(void *const *buffers, size_t i) {
  const float *in = buffers[0];
  double sum = 0;
  for (size_t k = 0; k < GROUP; k++) {
    sum += in[i * GROUP + k];
  }
  return sum;
}

const kernel_case tree_sums = {
    .name = "tree sums of 256 over 16 M",
    .work = 4.0 * COUNT,
    .unit = "GB/s",
    .msl = tree_msl,
    .opencl = tree_opencl,
    .plain_c = tree_c,
    .lanes_c = tree_lanes_c,
    .reference = tree_reference,
    .buffers = {{COUNT * 4, FILL_SIGNED}, {COUNT / GROUP * 4, FILL_ZERO}},
    .grid = {COUNT, 1, 1},
    .group = {GROUP, 1, 1},
    .output = 1,
    .tolerance = 1e-5,
};

// --- Sums of 4096 by simdgroups ----------------------------------------------

#define ROW 4096

static const char simd_msl[] = TEXT(kernel void k(
    device const float *in [[buffer(0)]], device float *out [[buffer(1)]],
    uint l [[thread_index_in_threadgroup]],
    uint lane [[thread_index_in_simdgroup]],
    uint simdgroup [[simdgroup_index_in_threadgroup]],
    uint g [[threadgroup_position_in_grid]]) {
  threadgroup float parts[32];
  float sum = 0;
  for (uint i = l; i < ROW; i += 256) {
    sum += in[g * ROW + i];
  }
  sum = simd_sum(sum);
  if (lane == 0) {
    parts[simdgroup] = sum;
  }
  MSL_BARRIER;
  if (simdgroup == 0) {
    sum = simd_sum(lane < 8 ? parts[lane] : 0.0f);
    if (lane == 0) {
      out[g] = sum;
    }
  }
});
static const char simd_opencl[] =
    TEXT(kernel void k(global const float *in, global float *out) {
      local float sums[256];
      const uint l = get_local_id(0);
      const uint g = get_group_id(0);
      float sum = 0;
      for (uint i = l; i < ROW; i += 256) {
        sum += in[g * ROW + i];
      }
      sums[l] = sum;
      for (uint stride = 128; stride > 0; stride /= 2) {
        OPENCL_BARRIER;
        if (l < stride) {
          sums[l] += sums[l + stride];
        }
      }
      if (l == 0) {
        out[g] = sums[0];
      }
    });

static void simd_c(void *const *buffers) {
  const float *restrict in = buffers[0];
  float *restrict out = buffers[1];
#pragma omp parallel for schedule(static)
  for (int row = 0; row < COUNT / ROW; row++) {
    out[row] = sum_of(in + row * ROW, ROW);
  }
}

static void simd_lanes_c(void *const *buffers) {
  const float *restrict in = buffers[0];
  float *restrict out = buffers[1];
#pragma omp parallel for schedule(static)
  for (int row = 0; row < COUNT / ROW; row++) {
    lanes sums[4] = {0};
    for (int i = 0; i < ROW; i += 128) {
      for (int k = 0; k < 4; k++) {
        sums[k] += lanes_load(in + row * ROW + i + k * 32);
      }
    }
    out[row] = lanes_sum(sums[0] + sums[1] + sums[2] + sums[3]);
  }
}

static double simd_reference(void *const *buffers, size_t i) {
  const float *in = buffers[0];
  double sum = 0;
  for (size_t k = 0; k < ROW; k++) {
    sum += in[i * ROW + k];
  }
  return sum;
}

const kernel_case simd_sums = {
    .name = "simdgroup sums of 4096 over 16 M",
    .work = 4.0 * COUNT,
    .unit = "GB/s",
    .msl = simd_msl,
    .opencl = simd_opencl,
    .plain_c = simd_c,
    .lanes_c = simd_lanes_c,
    .reference = simd_reference,
    .buffers = {{COUNT * 4, FILL_SIGNED}, {COUNT / ROW * 4, FILL_ZERO}},
    .grid = {COUNT / ROW * 256, 1, 1},
    .group = {256, 1, 1},
    .output = 1,
    .tolerance = 1e-4,
};

// --- Prefix sums -------------------------------------------------------------

#define SCANNED 8388608

static const char scan_msl[] = TEXT(kernel void k(
    device const uint *in [[buffer(0)]], device uint *out [[buffer(1)]],
    uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]],
    uint simdgroup [[simdgroup_index_in_threadgroup]]) {
  threadgroup uint sums[8];
  uint sum = simd_prefix_inclusive_sum(in[i]);
  if (lane == 31) {
    sums[simdgroup] = sum;
  }
  MSL_BARRIER;
  for (uint s = 0; s < simdgroup; s++) {
    sum += sums[s];
  }
  out[i] = sum;
});
static const char scan_opencl[] =
    TEXT(kernel void k(global const uint *in, global uint *out) {
      local uint sums[2][256];
      const uint i = get_global_id(0);
      const uint l = get_local_id(0);
      uint sum = in[i];
      uint from = 0;
      for (uint distance = 1; distance < 256; distance *= 2) {
        sums[from][l] = sum;
        OPENCL_BARRIER;
        if (l >= distance) {
          sum += sums[from][l - distance];
        }
        from = 1 - from;
      }
      out[i] = sum;
    });

static void scan_c(void *const *buffers) {
  const uint32_t *restrict in = buffers[0];
  uint32_t *restrict out = buffers[1];
#pragma omp parallel for schedule(static)
  for (int first = 0; first < SCANNED; first += GROUP) {
    uint32_t sum = 0;
    for (int i = first; i < first + GROUP; i++) {
      sum += in[i];
      out[i] = sum;
    }
  }
}

static double scan_reference(void *const *buffers, size_t i) {
  const uint32_t *in = buffers[0];
  uint32_t sum = 0;
  for (size_t k = i / GROUP * GROUP; k <= i; k++) {
    sum += in[k];
  }
  return sum;
}

const kernel_case prefix_scan = {
    .name = "prefix sums of 256 over 8 M",
    .work = 8.0 * SCANNED,
    .unit = "GB/s",
    .msl = scan_msl,
    .opencl = scan_opencl,
    .plain_c = scan_c,
    .reference = scan_reference,
    .buffers = {{SCANNED * 4, FILL_BITS}, {SCANNED * 4, FILL_ZERO}},
    .grid = {SCANNED, 1, 1},
    .group = {GROUP, 1, 1},
    .output = 1,
    .is_integer = true,
};
