// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// atomics.c: counters that many threads share.
#include "conformance.h"

static const char atomic_kernels[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "#define RELAXED memory_order_relaxed\n"
    "kernel void combine(device atomic_uint *u [[buffer(0)]],\n"
    "                    device atomic_int *s [[buffer(1)]],\n"
    "                    uint i [[thread_position_in_grid]]) {\n"
    "  atomic_fetch_add_explicit(&u[0], i, RELAXED);\n"
    "  atomic_fetch_sub_explicit(&u[1], 1, RELAXED);\n"
    "  atomic_fetch_max_explicit(&u[2], i, RELAXED);\n"
    "  atomic_fetch_min_explicit(&u[3], i + 5, RELAXED);\n"
    "  atomic_fetch_or_explicit(&u[4], 1u << (i % 32), RELAXED);\n"
    "  atomic_fetch_and_explicit(&u[5], ~(1u << (i % 16)), RELAXED);\n"
    "  atomic_fetch_xor_explicit(&u[6], i, RELAXED);\n"
    "  atomic_fetch_max_explicit(&s[0], int(i) - 500, RELAXED);\n"
    "  atomic_fetch_min_explicit(&s[1], -int(i), RELAXED);\n"
    "}\n"
    "kernel void tickets(device atomic_uint *next [[buffer(0)]],\n"
    "                    device uint *taken [[buffer(1)]]) {\n"
    "  uint ticket = atomic_fetch_add_explicit(next, 1, RELAXED);\n"
    "  taken[ticket] += 1;\n"
    "}\n"
    "kernel void by_exchange(device atomic_uint *u [[buffer(0)]],\n"
    "                        uint i [[thread_position_in_grid]]) {\n"
    "  uint seen = atomic_load_explicit(&u[0], RELAXED);\n"
    "  while (!atomic_compare_exchange_weak_explicit(\n"
    "      &u[0], &seen, seen + i, RELAXED, RELAXED)) {\n"
    "  }\n"
    "  atomic_exchange_explicit(&u[1], 77, RELAXED);\n"
    "  atomic_store_explicit(&u[2], 88, RELAXED);\n"
    "}\n"
    "kernel void float_adds(device atomic_float *f [[buffer(0)]]) {\n"
    "  atomic_fetch_add_explicit(f, 0.5f, RELAXED);\n"
    "}\n"
    "kernel void histogram(device const uint *in [[buffer(0)]],\n"
    "                      device atomic_uint *bins [[buffer(1)]],\n"
    "                      uint i [[thread_position_in_grid]],\n"
    "                      uint local [[thread_index_in_threadgroup]]) {\n"
    "  threadgroup atomic_uint own[16];\n"
    "  if (local < 16) { atomic_store_explicit(&own[local], 0, RELAXED); }\n"
    "  threadgroup_barrier(mem_flags::mem_threadgroup);\n"
    "  atomic_fetch_add_explicit(&own[in[i] % 16], 1, RELAXED);\n"
    "  threadgroup_barrier(mem_flags::mem_threadgroup);\n"
    "  if (local < 16) {\n"
    "    uint count = atomic_load_explicit(&own[local], RELAXED);\n"
    "    atomic_fetch_add_explicit(&bins[local], count, RELAXED);\n"
    "  }\n"
    "}\n"
    "kernel void add_then_read(device atomic_uint *sums [[buffer(0)]],\n"
    "                          device const uint *read [[buffer(1)]],\n"
    "                          device uint *out [[buffer(2)]],\n"
    "                          uint i [[thread_position_in_grid]]) {\n"
    "  atomic_fetch_add_explicit(&sums[i % 1000], 5, RELAXED);\n"
    "  out[i] = read[i % 1000];\n"
    "}\n"
    "kernel void wide(device atomic_ulong *u [[buffer(0)]],\n"
    "                 uint i [[thread_position_in_grid]]) {\n"
    "  atomic_max_explicit(&u[0], (ulong(i) << 32) | 7, RELAXED);\n"
    "}\n";

enum { THREADS = 10000 };

TEST(atomics, every_operation_combines_all_threads) {
  uint32_t start[7] = {0, THREADS, 0, UINT32_MAX, 0, UINT32_MAX, 0};
  int32_t signed_start[2] = {INT32_MIN, INT32_MAX};
  mtl_buffer *u = BUFFER_OF(start), *s = BUFFER_OF(signed_start);
  RUN(new_pipeline(atomic_kernels, "combine"), size_of(THREADS, 1, 1),
      size_of(64, 1, 1), u, s);
  CHECK_EQUAL(words(u)[0], 49995000);  // 9999 * 10000 / 2
  CHECK_EQUAL(words(u)[1], 0);
  CHECK_EQUAL(words(u)[2], 9999);
  CHECK_EQUAL(words(u)[3], 5);
  CHECK_EQUAL(words(u)[4], 0xFFFFFFFF);
  CHECK_EQUAL(words(u)[5], 0xFFFF0000);
  CHECK_EQUAL(words(u)[6], 0);  // 0 ^ 1 ^ ... ^ 9999, as 9999 % 4 == 3
  CHECK_EQUAL((int32_t)words(s)[0], 9499);
  CHECK_EQUAL((int32_t)words(s)[1], -9999);
}

TEST(atomics, fetched_values_are_distinct) {
  mtl_buffer *next = new_buffer(4), *taken = new_buffer(THREADS * 4);
  RUN(new_pipeline(atomic_kernels, "tickets"), size_of(THREADS, 1, 1),
      size_of(100, 1, 1), next, taken);
  CHECK_EQUAL(words(next)[0], THREADS);
  for (uint32_t i = 0; i < THREADS; i++) {
    CHECK_EQUAL(words(taken)[i], 1);
  }
}

TEST(atomics, compare_exchange_loops_end_and_lose_nothing) {
  mtl_buffer *u = new_buffer(12);
  RUN(new_pipeline(atomic_kernels, "by_exchange"), size_of(THREADS, 1, 1),
      size_of(128, 1, 1), u);
  CHECK_EQUAL(words(u)[0], 49995000);
  CHECK_EQUAL(words(u)[1], 77);
  CHECK_EQUAL(words(u)[2], 88);
}

TEST(atomics, float_adds) {
  enum { MANY = 40 * THREADS };  // long enough for workers to share
  mtl_buffer *f = new_buffer(4);
  RUN(new_pipeline(atomic_kernels, "float_adds"), size_of(MANY, 1, 1),
      size_of(128, 1, 1), f);
  CHECK(floats(f)[0] == MANY / 2);  // halves are exact
}

TEST(atomics, threadgroup_histogram) {
  mtl_buffer *in = new_buffer(THREADS * 4), *bins = new_buffer(64);
  uint32_t expected[16] = {0};
  for (uint32_t i = 0; i < THREADS; i++) {
    words(in)[i] = i * i / 7;
    expected[words(in)[i] % 16]++;
  }
  RUN(new_pipeline(atomic_kernels, "histogram"), size_of(THREADS, 1, 1),
      size_of(256, 1, 1), in, bins);
  for (int bin = 0; bin < 16; bin++) {
    CHECK_EQUAL(words(bins)[bin], expected[bin]);
  }
}

// The additions could be done later if the two arguments were different memory.
TEST(atomics, thread_sees_its_additions_through_another_argument) {
  mtl_buffer *sums = new_buffer(4096), *out = new_buffer(THREADS * 4);
  RUN(new_pipeline(atomic_kernels, "add_then_read"), size_of(THREADS, 1, 1),
      size_of(256, 1, 1), sums, sums, out);
  for (uint32_t i = 0; i < THREADS; i++) {
    CHECK(words(out)[i] >= 5 && words(out)[i] <= 50);
  }
  for (uint32_t i = 0; i < 1000; i++) {
    CHECK_EQUAL(words(sums)[i], 50);
  }
}

TEST(atomics, wide_maximum) {
  mtl_buffer *u = new_buffer(8);
  RUN(new_pipeline(atomic_kernels, "wide"), size_of(THREADS, 1, 1),
      size_of(64, 1, 1), u);
  CHECK_EQUAL(*(uint64_t *)mtl_buffer_contents(u), (UINT64_C(9999) << 32) | 7);
}
