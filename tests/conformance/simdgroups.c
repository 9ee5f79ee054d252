// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// simdgroups.c: the exchange of values between the 32 threads of a simdgroup.
#include "conformance.h"

static const char simdgroup_kernels[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "kernel void reductions(device const uint *in [[buffer(0)]],\n"
    "                       device uint *out [[buffer(1)]],\n"
    "                       uint i [[thread_position_in_grid]],\n"
    "                       uint n [[threads_per_grid]]) {\n"
    "  uint v = in[i];\n"
    "  out[0 * n + i] = simd_sum(v);\n"
    "  out[1 * n + i] = simd_min(v);\n"
    "  out[2 * n + i] = simd_max(v);\n"
    "  out[3 * n + i] = simd_or(v);\n"
    "  out[4 * n + i] = simd_and(v);\n"
    "  out[5 * n + i] = simd_xor(v);\n"
    "  out[6 * n + i] = simd_prefix_inclusive_sum(v);\n"
    "  out[7 * n + i] = simd_prefix_exclusive_sum(v);\n"
    "}\n"
    "kernel void shuffles(device uint *out [[buffer(0)]],\n"
    "                     uint i [[thread_position_in_grid]],\n"
    "                     uint lane [[thread_index_in_simdgroup]],\n"
    "                     uint n [[threads_per_grid]]) {\n"
    "  uint v = i + 1000;\n"
    "  out[0 * n + i] = simd_shuffle(v, ushort((lane + 5) % 32));\n"
    "  out[1 * n + i] = simd_shuffle_xor(v, ushort(3));\n"
    "  out[2 * n + i] = simd_broadcast(v, ushort(7));\n"
    "  out[3 * n + i] = simd_broadcast_first(v);\n"
    "  out[4 * n + i] = simd_shuffle_rotate_down(v, ushort(1));\n"
    "  out[5 * n + i] = simd_shuffle_rotate_up(v, ushort(1));\n"
    "  uint down = simd_shuffle_down(v, ushort(2));\n"
    "  out[6 * n + i] = lane < 30 ? down : 0;\n"
    "  uint up = simd_shuffle_up(v, ushort(2));\n"
    "  out[7 * n + i] = lane >= 2 ? up : 0;\n"
    "}\n"
    "kernel void votes(device uint *out [[buffer(0)]],\n"
    "                  uint i [[thread_position_in_grid]],\n"
    "                  uint lane [[thread_index_in_simdgroup]],\n"
    "                  uint n [[threads_per_grid]]) {\n"
    "  out[0 * n + i] = uint(ulong(simd_vote::vote_t(\n"
    "      simd_ballot(lane % 3 == 0))));\n"
    "  out[1 * n + i] = simd_all(lane < 32);\n"
    "  out[2 * n + i] = simd_all(lane != 4);\n"
    "  out[3 * n + i] = simd_any(lane == 4);\n"
    "  out[4 * n + i] = simd_is_first();\n"
    "  out[5 * n + i] = uint(ulong(simd_vote::vote_t(\n"
    "      simd_active_threads_mask())));\n"
    "}\n"
    "kernel void divergent(device uint *out [[buffer(0)]],\n"
    "                      uint i [[thread_position_in_grid]],\n"
    "                      uint lane [[thread_index_in_simdgroup]]) {\n"
    "  uint sum = 0;\n"
    "  if (lane % 2 == 0) {\n"
    "    sum = simd_sum(lane);\n"
    "  } else if (lane < 8) {\n"
    "    sum = simd_sum(lane) + 5000;\n"
    "  } else {\n"
    "    sum = simd_sum(1u) + 9000;\n"
    "  }\n"
    "  out[i] = sum;\n"
    "}\n"
    "kernel void float_sum(device const float *in [[buffer(0)]],\n"
    "                      device float *out [[buffer(1)]],\n"
    "                      uint i [[thread_position_in_grid]],\n"
    "                      uint group [[threadgroup_position_in_grid]],\n"
    "                      uint lane [[thread_index_in_simdgroup]],\n"
    "                      uint simdgroup\n"
    "                          [[simdgroup_index_in_threadgroup]],\n"
    "                      uint count [[simdgroups_per_threadgroup]]) {\n"
    "  threadgroup float partial[32];\n"
    "  float sum = simd_sum(in[i]);\n"
    "  if (lane == 0) { partial[simdgroup] = sum; }\n"
    "  threadgroup_barrier(mem_flags::mem_threadgroup);\n"
    "  if (simdgroup == 0) {\n"
    "    sum = simd_sum(lane < count ? partial[lane] : 0.0f);\n"
    "    if (lane == 0) { out[group] = sum; }\n"
    "  }\n"
    "}\n"
    "kernel void quads(device uint *out [[buffer(0)]],\n"
    "                  uint i [[thread_position_in_grid]],\n"
    "                  uint n [[threads_per_grid]],\n"
    "                  uint lane [[thread_index_in_quadgroup]]) {\n"
    "  out[0 * n + i] = quad_sum(i);\n"
    "  out[1 * n + i] = quad_shuffle_xor(i, ushort(1));\n"
    "  out[2 * n + i] = quad_broadcast(i, ushort(2));\n"
    "  out[3 * n + i] = lane;\n"
    "}\n";

static uint32_t mixed(uint32_t i) {
  return (i * 2654435761u) >> 7;
}

// Checks reductions in groups of `group` threads: simdgroups are counted
// inside each, and the last may be partial.
static void check_reductions(uint32_t n, uint32_t group) {
  mtl_buffer *in = new_buffer(n * 4);
  mtl_buffer *out = new_buffer(n * 8 * 4);
  for (uint32_t i = 0; i < n; i++) {
    words(in)[i] = mixed(i);
  }
  RUN(new_pipeline(simdgroup_kernels, "reductions"), size_of(n, 1, 1),
      size_of(group, 1, 1), in, out);
  const uint32_t *got = words(out);
  for (uint32_t first = 0; first < n;) {
    const uint32_t in_group = first % group;
    uint32_t count = group - in_group < 32 ? group - in_group : 32;
    count = n - first < count ? n - first : count;
    uint32_t sum = 0, least = UINT32_MAX, most = 0, any = 0, all = UINT32_MAX;
    uint32_t odd = 0;
    for (uint32_t i = first; i < first + count; i++) {
      const uint32_t v = mixed(i);
      CHECK_EQUAL(got[7 * n + i], sum);
      sum += v;
      CHECK_EQUAL(got[6 * n + i], sum);
      least = v < least ? v : least;
      most = v > most ? v : most;
      any |= v;
      all &= v;
      odd ^= v;
    }
    for (uint32_t i = first; i < first + count; i++) {
      CHECK_EQUAL(got[0 * n + i], sum);
      CHECK_EQUAL(got[1 * n + i], least);
      CHECK_EQUAL(got[2 * n + i], most);
      CHECK_EQUAL(got[3 * n + i], any);
      CHECK_EQUAL(got[4 * n + i], all);
      CHECK_EQUAL(got[5 * n + i], odd);
    }
    first += count;
  }
}

TEST(simdgroups, reduce_whole_simdgroups) {
  check_reductions(256, 64);
}

TEST(simdgroups, reduce_partial_simdgroups) {
  check_reductions(100, 50);
  check_reductions(45, 45);
  check_reductions(20, 7);
}

TEST(simdgroups, shuffle_in_every_direction) {
  enum { N = 64 };
  mtl_buffer *out = new_buffer(N * 8 * 4);
  RUN(new_pipeline(simdgroup_kernels, "shuffles"), size_of(N, 1, 1),
      size_of(N, 1, 1), out);
  const uint32_t *got = words(out);
  for (uint32_t i = 0; i < N; i++) {
    const uint32_t lane = i % 32, base = i - lane + 1000;
    CHECK_EQUAL(got[0 * N + i], base + (lane + 5) % 32);
    CHECK_EQUAL(got[1 * N + i], base + (lane ^ 3));
    CHECK_EQUAL(got[2 * N + i], base + 7);
    CHECK_EQUAL(got[3 * N + i], base);
    CHECK_EQUAL(got[4 * N + i], base + (lane + 1) % 32);
    CHECK_EQUAL(got[5 * N + i], base + (lane + 31) % 32);
    CHECK_EQUAL(got[6 * N + i], lane < 30 ? base + lane + 2 : 0);
    CHECK_EQUAL(got[7 * N + i], lane >= 2 ? base + lane - 2 : 0);
  }
}

TEST(simdgroups, vote) {
  enum { N = 64 };
  mtl_buffer *out = new_buffer(N * 6 * 4);
  RUN(new_pipeline(simdgroup_kernels, "votes"), size_of(N, 1, 1),
      size_of(N, 1, 1), out);
  const uint32_t *got = words(out);
  for (uint32_t i = 0; i < N; i++) {
    CHECK_EQUAL(got[0 * N + i], 0x49249249);
    CHECK_EQUAL(got[1 * N + i], 1);
    CHECK_EQUAL(got[2 * N + i], 0);
    CHECK_EQUAL(got[3 * N + i], 1);
    CHECK_EQUAL(got[4 * N + i], i % 32 == 0);
    CHECK_EQUAL(got[5 * N + i], 0xFFFFFFFF);
  }
}

TEST(simdgroups, active_mask_of_a_partial_simdgroup) {
  enum { N = 13 };
  mtl_buffer *out = new_buffer(N * 6 * 4);
  RUN(new_pipeline(simdgroup_kernels, "votes"), size_of(N, 1, 1),
      size_of(N, 1, 1), out);
  for (uint32_t i = 0; i < N; i++) {
    CHECK_EQUAL(words(out)[5 * N + i], 0x1FFF);
    CHECK_EQUAL(words(out)[0 * N + i], 0x1249);
  }
}

TEST(simdgroups, divergent_branches_reduce_over_their_own_threads) {
  enum { N = 96 };
  mtl_buffer *out = new_buffer(N * 4);
  RUN(new_pipeline(simdgroup_kernels, "divergent"), size_of(N, 1, 1),
      size_of(N, 1, 1), out);
  for (uint32_t i = 0; i < N; i++) {
    const uint32_t lane = i % 32;
    const uint32_t expected = lane % 2 == 0 ? 240   // 0 + 2 + ... + 30
                              : lane < 8    ? 5016  // 1 + 3 + 5 + 7
                                            : 9012;    // 12 odd lanes from 9 on
    CHECK_EQUAL(words(out)[i], expected);
  }
}

TEST(simdgroups, two_level_float_sum) {
  enum { GROUPS = 3, SIZE = 512 };
  mtl_buffer *in = new_buffer(GROUPS * SIZE * 4);
  mtl_buffer *out = new_buffer(GROUPS * 4);
  for (uint32_t i = 0; i < GROUPS * SIZE; i++) {
    floats(in)[i] = (float)(i % SIZE) * 0.5f;  // exact in any order
  }
  RUN(new_pipeline(simdgroup_kernels, "float_sum"),
      size_of(GROUPS * SIZE, 1, 1), size_of(SIZE, 1, 1), in, out);
  for (uint32_t group = 0; group < GROUPS; group++) {
    CHECK(floats(out)[group] == 65408.0f);  // 511 * 512 / 2 * 0.5
  }
}

TEST(simdgroups, quads_are_four_neighbours) {
  enum { N = 64 };
  mtl_buffer *out = new_buffer(N * 4 * 4);
  RUN(new_pipeline(simdgroup_kernels, "quads"), size_of(N, 1, 1),
      size_of(N, 1, 1), out);
  const uint32_t *got = words(out);
  for (uint32_t i = 0; i < N; i++) {
    const uint32_t first = i / 4 * 4;
    CHECK_EQUAL(got[0 * N + i], first * 4 + 6);
    CHECK_EQUAL(got[1 * N + i], i ^ 1);
    CHECK_EQUAL(got[2 * N + i], first + 2);
    CHECK_EQUAL(got[3 * N + i], i % 4);
  }
}
