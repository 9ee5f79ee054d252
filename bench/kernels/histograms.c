// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// histograms.c: counts in 256 bins, by atomics on device memory and by atomics
// on threadgroup memory first.
#include "kernel.h"

#define COUNT 4194304
#define BINS 256
#define OF_A_GROUP 4096

static const char device_msl[] = TEXT(kernel void k(
    device const uint *in [[buffer(0)]], device atomic_uint *bins [[buffer(1)]],
    uint i [[thread_position_in_grid]]) {
  atomic_fetch_add_explicit(&bins[in[i] & 255], 1, memory_order_relaxed);
});
static const char device_opencl[] =
    TEXT(kernel void k(global const uint *in, global volatile uint *bins) {
      atomic_inc(&bins[in[get_global_id(0)] & 255]);
    });

static const char group_msl[] = TEXT(kernel void k(
    device const uint *in [[buffer(0)]], device atomic_uint *bins [[buffer(1)]],
    uint l [[thread_index_in_threadgroup]],
    uint g [[threadgroup_position_in_grid]]) {
  threadgroup atomic_uint own[BINS];
  atomic_store_explicit(&own[l], 0, memory_order_relaxed);
  MSL_BARRIER;
  for (uint i = l; i < OF_A_GROUP; i += 256) {
    atomic_fetch_add_explicit(&own[in[g * OF_A_GROUP + i] & 255], 1,
                              memory_order_relaxed);
  }
  MSL_BARRIER;
  atomic_fetch_add_explicit(&bins[l],
                            atomic_load_explicit(&own[l], memory_order_relaxed),
                            memory_order_relaxed);
});
static const char group_opencl[] =
    TEXT(kernel void k(global const uint *in, global volatile uint *bins) {
      local uint own[BINS];
      const uint l = get_local_id(0);
      const uint g = get_group_id(0);
      own[l] = 0;
      OPENCL_BARRIER;
      for (uint i = l; i < OF_A_GROUP; i += 256) {
        atomic_inc(&own[in[g * OF_A_GROUP + i] & 255]);
      }
      OPENCL_BARRIER;
      atomic_add(&bins[l], own[l]);
    });

// Each thread counts for itself.
static void plain_c(void *const *buffers) {
  const uint32_t *restrict in = buffers[0];
  uint32_t *restrict bins = buffers[1];
#pragma omp parallel
  {
    uint32_t own[BINS] = {0};
#pragma omp for schedule(static) nowait
    for (int i = 0; i < COUNT; i++) {
      own[in[i] & 255]++;
    }
#pragma omp critical
    for (int bin = 0; bin < BINS; bin++) {
      bins[bin] += own[bin];
    }
  }
}

static double reference(void *const *buffers, size_t bin) {
  const uint32_t *in = buffers[0];
  size_t count = 0;
  for (size_t i = 0; i < COUNT; i++) {
    count += (in[i] & 255) == bin;
  }
  return (double)count;
}

#define HISTOGRAM                                             \
  .plain_c = plain_c, .reference = reference,                 \
  .buffers = {{COUNT * 4, FILL_BITS}, {BINS * 4, FILL_ZERO}}, \
  .group = {256, 1, 1}, .output = 1, .is_integer = true

const kernel_case device_histogram = {
    .name = "histogram of 4 M in 256 device atomics",
    .msl = device_msl,
    .opencl = device_opencl,
    .grid = {COUNT, 1, 1},
    HISTOGRAM,
};
const kernel_case group_histogram = {
    .name = "histogram of 4 M in threadgroup atomics",
    .msl = group_msl,
    .opencl = group_opencl,
    .grid = {COUNT / OF_A_GROUP * 256, 1, 1},
    HISTOGRAM,
};
