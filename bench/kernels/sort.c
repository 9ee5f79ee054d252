// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// sort.c: sorts blocks of 512 numbers by a bitonic network, a threadgroup of
// 256 for each.
#include "kernel.h"

#define COUNT 1048576
#define BLOCK 512

#define SORT(barrier)                                       \
  keys[l] = in[g * BLOCK + l];                              \
  keys[l + 256] = in[g * BLOCK + l + 256];                  \
  for (uint size = 2; size <= BLOCK; size *= 2) {           \
    for (uint stride = size / 2; stride > 0; stride /= 2) { \
      barrier;                                              \
      const uint low = 2 * l - (l & (stride - 1));          \
      const uint high = low + stride;                       \
      const uint a = keys[low];                             \
      const uint b = keys[high];                            \
      if ((a > b) == ((low & size) == 0)) {                 \
        keys[low] = b;                                      \
        keys[high] = a;                                     \
      }                                                     \
    }                                                       \
  }                                                         \
  barrier;                                                  \
  out[g * BLOCK + l] = keys[l];                             \
  out[g * BLOCK + l + 256] = keys[l + 256]

static const char msl[] = TEXT(kernel void k(
    device const uint *in [[buffer(0)]], device uint *out [[buffer(1)]],
    uint l [[thread_index_in_threadgroup]],
    uint g [[threadgroup_position_in_grid]]) {
  threadgroup uint keys[BLOCK];
  SORT(MSL_BARRIER);
});
static const char opencl[] =
    TEXT(kernel void k(global const uint *in, global uint *out) {
      local uint keys[BLOCK];
      const uint l = get_local_id(0);
      const uint g = get_group_id(0);
      SORT(OPENCL_BARRIER);
    });

// The same network, its inner loop over neighbours, in both directions.
static void sort_block(uint32_t *restrict keys) {
  for (int size = 2; size <= BLOCK; size *= 2) {
    for (int stride = size / 2; stride > 0; stride /= 2) {
      for (int first = 0; first < BLOCK; first += 2 * stride) {
        uint32_t *restrict low = keys + first;
        uint32_t *restrict high = keys + first + stride;
        const int up = (first & size) == 0;
        for (int i = 0; i < stride; i++) {
          const uint32_t a = low[i], b = high[i];
          const uint32_t smaller = a < b ? a : b, larger = a < b ? b : a;
          low[i] = up ? smaller : larger;
          high[i] = up ? larger : smaller;
        }
      }
    }
  }
}

static void plain_c(void *const *buffers) {
  const uint32_t *restrict in = buffers[0];
  uint32_t *restrict out = buffers[1];
#pragma omp parallel for schedule(static)
  for (int first = 0; first < COUNT; first += BLOCK) {
    memcpy(out + first, in + first, BLOCK * 4);
    sort_block(out + first);
  }
}

// The element of its block with as many smaller ones (of equals, earlier ones)
// as its place says.
static double reference(void *const *buffers, size_t i) {
  const uint32_t *block = (const uint32_t *)buffers[0] + i / BLOCK * BLOCK;
  for (size_t c = 0; c < BLOCK; c++) {
    size_t below = 0;
    for (size_t k = 0; k < BLOCK; k++) {
      below += block[k] < block[c] || (block[k] == block[c] && k < c);
    }
    if (below == i % BLOCK) {
      return block[c];
    }
  }
  return -1;
}

const kernel_case bitonic_sort = {
    .name = "bitonic sort of 512 over 1 M",
    .is_bound_by_cores = true,
    .msl = msl,
    .opencl = opencl,
    .plain_c = plain_c,
    .reference = reference,
    .buffers = {{COUNT * 4, FILL_BITS}, {COUNT * 4, FILL_ZERO}},
    .grid = {COUNT / 2, 1, 1},
    .group = {256, 1, 1},
    .output = 1,
    .is_integer = true,
};
