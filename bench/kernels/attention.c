// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// attention.c: softmax(Q K^T) V for one head. A simdgroup has a query and two
// of its dimensions in each lane; it goes over the keys once, as decoders do.
#include <math.h>

#include "kernel.h"
#include "lanes.h"

#define QUERIES 512
#define KEYS 512
#define SIZE 64
#define SCALE 0.125f  // 1 / sqrt(SIZE)

static const char msl[] = TEXT(kernel void k(
    device const float *queries [[buffer(0)]],
    device const float *keys [[buffer(1)]],
    device const float *values [[buffer(2)]], device float *out [[buffer(3)]],
    uint lane [[thread_index_in_simdgroup]],
    uint simdgroup [[simdgroup_index_in_threadgroup]],
    uint group [[threadgroup_position_in_grid]]) {
  const uint query = group * 8 + simdgroup;
  const uint own = lane * 2;
  const float q0 = queries[query * SIZE + own] * SCALE;
  const float q1 = queries[query * SIZE + own + 1] * SCALE;
  float most = -3e38f;
  float sum = 0;
  float o0 = 0;
  float o1 = 0;
  for (uint key = 0; key < KEYS; key++) {
    const float score =
        simd_sum(q0 * keys[key * SIZE + own] + q1 * keys[key * SIZE + own + 1]);
    const float larger = max(most, score);
    const float old = exp(most - larger);
    const float new_one = exp(score - larger);
    most = larger;
    sum = sum * old + new_one;
    o0 = o0 * old + new_one * values[key * SIZE + own];
    o1 = o1 * old + new_one * values[key * SIZE + own + 1];
  }
  out[query * SIZE + own] = o0 / sum;
  out[query * SIZE + own + 1] = o1 / sum;
});

// A group of 32 has a query; scores are kept in local memory.
static const char opencl[] =
    TEXT(kernel void k(global const float *queries, global const float *keys,
                       global const float *values, global float *out) {
      local float scores[8][KEYS];
      const uint lane = get_local_id(0) % 32;
      const uint row = get_local_id(0) / 32;
      const uint query = get_group_id(0) * 8 + row;
      for (uint key = lane; key < KEYS; key += 32) {
        float score = 0;
        for (uint d = 0; d < SIZE; d++) {
          score += queries[query * SIZE + d] * keys[key * SIZE + d];
        }
        scores[row][key] = score * SCALE;
      }
      OPENCL_BARRIER;
      float most = -3e38f;
      for (uint key = 0; key < KEYS; key++) {
        most = fmax(most, scores[row][key]);
      }
      float sum = 0;
      float o0 = 0;
      float o1 = 0;
      for (uint key = 0; key < KEYS; key++) {
        const float p = exp(scores[row][key] - most);
        sum += p;
        o0 += p * values[key * SIZE + lane * 2];
        o1 += p * values[key * SIZE + lane * 2 + 1];
      }
      out[query * SIZE + lane * 2] = o0 / sum;
      out[query * SIZE + lane * 2 + 1] = o1 / sum;
    });

static void plain_c(void *const *buffers) {
  const float *restrict queries = buffers[0];
  const float *restrict keys = buffers[1];
  const float *restrict values = buffers[2];
  float *restrict out = buffers[3];
#pragma omp parallel for schedule(static)
  for (int query = 0; query < QUERIES; query++) {
    const float *restrict q = queries + query * SIZE;
    float scores[KEYS], result[SIZE] = {0}, most = -3e38f, sum = 0;
    for (int key = 0; key < KEYS; key++) {
      float score = 0;
#pragma omp simd reduction(+ : score)
      for (int d = 0; d < SIZE; d++) {
        score += q[d] * keys[key * SIZE + d];
      }
      scores[key] = score * SCALE;
      most = scores[key] > most ? scores[key] : most;
    }
    for (int key = 0; key < KEYS; key++) {
      const float p = expf(scores[key] - most);
      sum += p;
      for (int d = 0; d < SIZE; d++) {
        result[d] += p * values[key * SIZE + d];
      }
    }
    for (int d = 0; d < SIZE; d++) {
      out[query * SIZE + d] = result[d] / sum;
    }
  }
}

// What the kernel does, lane by lane: pairs of dimensions side by side.
static void lanes_c(void *const *buffers) {
  const float *restrict queries = buffers[0];
  const float *restrict keys = buffers[1];
  const float *restrict values = buffers[2];
  float *restrict out = buffers[3];
#pragma omp parallel for schedule(static)
  for (int query = 0; query < QUERIES; query++) {
    const lanes q0 = lanes_load(queries + query * SIZE) * SCALE;
    const lanes q1 = lanes_load(queries + query * SIZE + 32) * SCALE;
    float most = -3e38f;
    lanes sum = {0}, o0 = {0}, o1 = {0};
    for (int key = 0; key < KEYS; key++) {
      const float *restrict k = keys + key * SIZE;
      const float *restrict v = values + key * SIZE;
      const float score =
          lanes_sum(q0 * lanes_load(k) + q1 * lanes_load(k + 32));
      const float larger = score > most ? score : most;
      const lanes old = lanes_exp(lanes_all(fmaxf(most - larger, -80)));
      const lanes new = lanes_exp(lanes_all(fmaxf(score - larger, -80)));
      most = larger;
      sum = sum * old + new;
      o0 = o0 * old + new *lanes_load(v);
      o1 = o1 * old + new *lanes_load(v + 32);
    }
    lanes_store(out + query * SIZE, o0 / sum);
    lanes_store(out + query * SIZE + 32, o1 / sum);
  }
}

static double reference(void *const *buffers, size_t i) {
  const float *q = (const float *)buffers[0] + i / SIZE * SIZE;
  const float *keys = buffers[1], *values = buffers[2];
  double sum = 0, result = 0;
  for (int key = 0; key < KEYS; key++) {
    double score = 0;
    for (int d = 0; d < SIZE; d++) {
      score += (double)q[d] * keys[key * SIZE + d];
    }
    const double p = exp(score * SCALE);
    sum += p;
    result += p * values[key * SIZE + i % SIZE];
  }
  return result / sum;
}

const kernel_case attention = {
    .name = "attention, 512 queries and keys of 64",
    .is_bound_by_cores = true,
    .msl = msl,
    .opencl = opencl,
    .plain_c = plain_c,
    .lanes_c = lanes_c,
    .reference = reference,
    .buffers = {{QUERIES * SIZE * 4, FILL_SIGNED},
                {KEYS * SIZE * 4, FILL_SIGNED},
                {KEYS * SIZE * 4, FILL_SIGNED},
                {QUERIES * SIZE * 4, FILL_ZERO}},
    .grid = {QUERIES * 32, 1, 1},
    .group = {256, 1, 1},
    .output = 3,
    .tolerance = 1e-5,
};
