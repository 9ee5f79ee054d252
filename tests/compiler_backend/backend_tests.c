// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// backend_tests.c: kernels whose threads do not wait, positions, arithmetic,
// constants, errors.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/test.h"
#include "rig.h"

static const rig_kernel saxpy = {
    0, "buffer buffer buffer thread_position_in_grid:1", NULL, NULL, 0};

TEST(lanes, saxpy_over_an_uneven_grid) {
  for (rig_way way = 0; way < RIG_WAYS; ++way) {
    rig_code code = rig_compile(&saxpy, way);
    float x[1000];
    float y[1001];
    float a = 2.0f;
    for (int i = 0; i < 1000; ++i) {
      x[i] = (float)i;
      y[i] = 1.0f;
    }
    y[1000] = -1.0f;
    rig_run(&code, &(rig_launch){{1000, 1, 1}, {64, 1, 1}, {x, y, &a}, 0});
    for (int i = 0; i < 1000; ++i) {
      CHECK(y[i] == 2.0f * (float)i + 1.0f);
    }
    CHECK(y[1000] == -1.0f);
    printf("way %d: passes %.1f ms, code %.1f ms\n%s", way,
           (double)code.pass_ns / 1e6, (double)code.emit_ns / 1e6, code.report);
    rig_clear(&code);
  }
}

// --- positions ---------------------------------------------------------------

static const rig_kernel positions = {
    1,
    "buffer thread_position_in_grid:3 threads_per_grid:3 "
    "thread_position_in_grid:3 thread_position_in_threadgroup:3 "
    "threadgroup_position_in_grid:3 threads_per_threadgroup:3 "
    "dispatch_threads_per_threadgroup:3 threads_per_grid:3 "
    "threadgroups_per_grid:3 grid_origin:3 grid_size:3 "
    "thread_index_in_threadgroup:1 thread_index_in_simdgroup:1 "
    "thread_index_in_quadgroup:1 simdgroup_index_in_threadgroup:1 "
    "quadgroup_index_in_threadgroup:1 simdgroups_per_threadgroup:1 "
    "quadgroups_per_threadgroup:1 dispatch_simdgroups_per_threadgroup:1 "
    "dispatch_quadgroups_per_threadgroup:1 threads_per_simdgroup:1",
    NULL, NULL, 0};

static void check_vector(const uint32_t *actual, uint32_t x, uint32_t y,
                         uint32_t z) {
  CHECK_EQUAL(actual[0], x);
  CHECK_EQUAL(actual[1], y);
  CHECK_EQUAL(actual[2], z);
}

// The definitions of the MSL specification, for one thread of a grid of
// 13 x 7 x 3 in threadgroups of 5 x 4 x 2.
static void check_positions(const uint32_t *row, uint32_t x, uint32_t y,
                            uint32_t z) {
  const uint32_t group[3] = {x / 5, y / 4, z / 2};
  const uint32_t size[3] = {group[0] == 2 ? 3 : 5, group[1] == 1 ? 3 : 4,
                            group[2] == 1 ? 1 : 2};
  const uint32_t threads = size[0] * size[1] * size[2];
  const uint32_t index =
      x % 5 + size[0] * (y % 4) + size[0] * size[1] * (z % 2);
  check_vector(row, x, y, z);
  check_vector(row + 3, x % 5, y % 4, z % 2);
  check_vector(row + 6, group[0], group[1], group[2]);
  check_vector(row + 9, size[0], size[1], size[2]);
  check_vector(row + 12, 5, 4, 2);
  check_vector(row + 15, 13, 7, 3);
  check_vector(row + 18, 3, 2, 2);
  check_vector(row + 21, 0, 0, 0);
  check_vector(row + 24, 13, 7, 3);
  CHECK_EQUAL(row[27], index);
  CHECK_EQUAL(row[30], index % 32);
  CHECK_EQUAL(row[33], index % 4);
  CHECK_EQUAL(row[36], index / 32);
  CHECK_EQUAL(row[39], index / 4);
  CHECK_EQUAL(row[42], (threads + 31) / 32);
  CHECK_EQUAL(row[45], (threads + 3) / 4);
  CHECK_EQUAL(row[48], 2);
  CHECK_EQUAL(row[51], 10);
  CHECK_EQUAL(row[54], 32);
}

TEST(positions, every_input_in_uneven_threadgroups) {
  for (rig_way way = 0; way < RIG_WAYS; ++way) {
    rig_code code = rig_compile(&positions, way);
    uint32_t *rows = calloc(13 * 7 * 3 * 64, sizeof rows[0]);
    rig_run(&code, &(rig_launch){{13, 7, 3}, {5, 4, 2}, {rows}, 0});
    for (uint32_t i = 0; i < 13 * 7 * 3; ++i) {
      check_positions(rows + 64 * i, i % 13, i / 13 % 7, i / 13 / 7);
    }
    free(rows);
    rig_clear(&code);
  }
}

TEST(positions, a_threadgroup_larger_than_the_grid) {
  rig_code code = rig_compile(&positions, RIG_T1);
  uint32_t rows[2 * 64] = {0};
  rig_run(&code, &(rig_launch){{2, 1, 1}, {64, 8, 1}, {rows}, 0});
  check_vector(rows + 64 + 9, 2, 1, 1);
  check_vector(rows + 64 + 12, 64, 8, 1);
  rig_clear(&code);
}

// --- arithmetic --------------------------------------------------------------

static const rig_kernel undefined = {
    6, "buffer buffer buffer buffer thread_position_in_grid:1", NULL, NULL, 0};

TEST(arithmetic, what_cpp_leaves_undefined_has_a_value) {
  int32_t a[] = {7, INT32_MIN, -7, 5, 1};
  int32_t b[] = {0, -1, 2, 33, -1};
  float f[] = {3e9f, -3e9f, 0.0f / 0.0f * 0.0f, 70000.0f, -1.5f};
  f[2] = __builtin_nanf("");
  static const int32_t expected[5][12] = {
      // 7, 0, 3e9: division by zero is 0; 3e9 saturates but for uint
      {0, 0, 0, 0, 7, 7, 7, INT32_MAX, (int32_t)3000000000u, 32767, 255, 1},
      // the smallest integer and -1
      {INT32_MIN, 0, 0, INT32_MIN, 0, -1, 1, INT32_MIN, 0, -32768, 0,
       INT32_MIN / 7},
      // -7, 2, NaN
      {-3, -1, 2147483644, 1, -28, -2, 1073741822, 0, 0, 0, 0, -1},
      // a shift by 33 is one by 1
      {0, 5, 0, 5, 10, 2, 2, 70000, 70000, 32767, 255, 0},
      {-1, 0, 0, 1, INT32_MIN, 0, 0, -1, 0, -1, 0, 0},
  };
  for (rig_way way = 0; way < RIG_WAYS; ++way) {
    rig_code code = rig_compile(&undefined, way);
    int32_t out[5][12] = {{0}};
    rig_run(&code, &(rig_launch){{5, 1, 1}, {5, 1, 1}, {a, b, f, out}, 0});
    for (int i = 0; i < 5 * 12; ++i) {
      if (out[i / 12][i % 12] != expected[i / 12][i % 12]) {
        test_fail(__FILE__, __LINE__, "way %d, thread %d, result %d: %d not %d",
                  way, i / 12, i % 12, out[i / 12][i % 12],
                  expected[i / 12][i % 12]);
      }
    }
    rig_clear(&code);
  }
}

static const rig_kernel products = {
    12, "buffer buffer buffer buffer thread_position_in_grid:1", NULL, NULL, 0};

TEST(arithmetic, products_and_sums_are_fused_in_every_tier) {
  // 1 + 2^-12 squared is 1 + 2^-11 + 2^-24, whose last bit a product rounds
  // away and a fused operation keeps.
  const float x = 1.0f + 1.0f / 4096.0f;
  float a[4] = {x, x, x, x};
  float b[4] = {x, x, x, x};
  float c[4] = {-1.0f, -1.0f, -1.0f, -1.0f};
  float d[4] = {1.0f, 1.0f, 1.0f, 1.0f};
  const float rest = 0.00048828125f + 1.0f / 16777216.0f;
  for (rig_way way = 0; way < RIG_WAYS; ++way) {
    rig_code code = rig_compile(&products, way);
    float out[4];
    rig_run(&code, &(rig_launch){{1, 1, 1}, {1, 1, 1}, {a, b, c, out}, 0});
    CHECK(out[0] == rest);
    CHECK(out[3] == rest);
    rig_run(&code, &(rig_launch){{1, 1, 1}, {1, 1, 1}, {a, b, d, out}, 0});
    CHECK(out[1] == rest);
    CHECK(out[2] == -rest);
    rig_clear(&code);
  }
}

static const rig_kernel conversions = {
    14,
    "buffer buffer buffer buffer buffer buffer buffer buffer "
    "thread_position_in_grid:1",
    NULL, NULL, 0};

static float from_bits(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static uint32_t to_bits(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

// To nearest even, by the definition; a NaN stays one.
static float rounded_to_bfloat(float value) {
  const uint32_t bits = to_bits(value);
  const uint32_t low = bits & 0xffff;
  uint32_t upper = bits >> 16;
  if (value != value) {
    upper |= 0x40;
  } else if (low > 0x8000 || (low == 0x8000 && (upper & 1))) {
    ++upper;
  }
  return from_bits(upper << 16);
}

static bool same(float a, float b) {
  return to_bits(a) == to_bits(b) || (a != a && b != b);
}

enum { SAMPLES = 4096 };

static void fill_samples(float *x, uint32_t seed) {
  static const uint32_t edges[] = {
      0,          0x80000000, 1,          0x007fffff, 0x7f800000, 0xff800000,
      0x7fc00000, 0x3f800000, 0x3f801000, 0x33000000, 0x33000001, 0x33800000,
      0x387fc000, 0x387fe000, 0x38800000, 0x477fe000, 0x477fefff, 0x477ff000,
      0x3f808000, 0x3f818000, 0x7f7fffff, 0x00800000};
  for (uint32_t i = 0; i < SAMPLES; ++i) {
    seed = seed * 1664525u + 1013904223u;
    // Half of them near 1, where sums cancel.
    const uint32_t near_one = (seed >> 9) | (120 + (seed & 15)) << 23;
    x[i] = from_bits(i % 2 ? seed : near_one);
  }
  for (uint32_t i = 0; i < 22; ++i) {
    x[(i * 37 + seed) % SAMPLES] = from_bits(edges[i]);
  }
}

static void check_conversions(const char *target, rig_way way) {
  rig_code code;
  CHECK_OK(rig_try(&conversions, way, target, &code));
  static float in[3][SAMPLES];
  static float fused[SAMPLES], multiplied[SAMPLES], bfloats[SAMPLES];
  static _Float16 halves[SAMPLES];
  static uint16_t rounded[SAMPLES];
  for (uint32_t i = 0; i < 3; ++i) {
    fill_samples(in[i], i + 1);
  }
  rig_run(&code, &(rig_launch){{SAMPLES, 1, 1},
                               {100, 1, 1},
                               {in[0], in[1], in[2], fused, halves, rounded,
                                multiplied, bfloats},
                               0});
  for (uint32_t i = 0; i < SAMPLES; ++i) {
    const float x = in[0][i], y = in[1][i], z = in[2][i];
    const float p = rounded_to_bfloat(x), q = rounded_to_bfloat(z);
    CHECK(same(fused[i], fmaf(x, y, z)));
    if (!same((float)halves[i], (float)(_Float16)x)) {
      test_fail(__FILE__, __LINE__, "%s: half of %a is %a", target, x,
                (float)halves[i]);
    }
    CHECK(same(from_bits((uint32_t)rounded[i] << 16), rounded_to_bfloat(y)));
    CHECK(same(multiplied[i], (float)(_Float16)x * (float)(_Float16)y));
    CHECK(same(bfloats[i], rounded_to_bfloat(p * q) + (p < q ? 1.0f : 0.0f)));
  }
  rig_clear(&code);
}

TEST(arithmetic, fused_operations_halves_and_bfloats_on_any_machine) {
  for (rig_way way = 0; way < RIG_WAYS; ++way) {
    check_conversions(NULL, way);
    check_conversions("x86_64 x86-64-v2", way);
    check_conversions("x86_64 x86-64-v3", way);
  }
}

// --- constants and errors ----------------------------------------------------

static mtli_constant constants[] = {
    {.info = {"scale", 0, MTL_TYPE_INT, 1, true}, .symbol = "constant.scale"},
    {.info = {"flag", 1, MTL_TYPE_BOOL, 1, false}, .symbol = "constant.flag"},
    {.info = {"vector3", 2, MTL_TYPE_FLOAT, 3, true},
     .symbol = "constant.vector3"},
};

static void run_constants(const mtli_constant_value *values, int32_t out[4]) {
  const rig_kernel kernel = {7, "buffer thread_position_in_grid:1", constants,
                             values, 3};
  for (rig_way way = 0; way < RIG_WAYS; ++way) {
    rig_code code = rig_compile(&kernel, way);
    rig_run(&code, &(rig_launch){{4, 1, 1}, {4, 1, 1}, {out}, 0});
    rig_clear(&code);
  }
}

static void set_value(mtli_constant_value *value, const void *bytes,
                      size_t size) {
  value->is_set = true;
  memcpy(value->bytes, bytes, size);
}

TEST(constants, values_reach_the_code) {
  mtli_constant_value values[3] = {{0}};
  const int32_t scale = 10;
  const float vector[3] = {1.0f, 2.0f, 3000.0f};
  const bool no = false;
  int32_t out[4];
  set_value(&values[0], &scale, sizeof scale);
  set_value(&values[2], vector, sizeof vector);
  run_constants(values, out);
  CHECK_EQUAL(out[2], 20 + 300 + 3000);
  set_value(&values[1], &no, sizeof no);
  run_constants(values, out);
  CHECK_EQUAL(out[3], 30 + 200 + 3000);
}

TEST(constants, computed_from_others) {
  static mtli_constant base = {.info = {"base", 0, MTL_TYPE_INT, 1, true},
                               .symbol = "constant.base"};
  mtli_constant_value value = {0};
  const rig_kernel kernel = {15, "buffer thread_position_in_grid:1", &base,
                             &value, 1};
  const int32_t five = 5;
  set_value(&value, &five, sizeof five);
  for (rig_way way = 0; way < RIG_WAYS; ++way) {
    rig_code code = rig_compile(&kernel, way);
    int32_t out[4];
    rig_run(&code, &(rig_launch){{4, 1, 1}, {4, 1, 1}, {out}, 0});
    CHECK_EQUAL(out[3], 22 + 3);
    rig_clear(&code);
  }
}

TEST(constants, a_missing_one_is_named) {
  mtli_constant_value values[3] = {{0}};
  const rig_kernel kernel = {7, "buffer thread_position_in_grid:1", constants,
                             values, 3};
  rig_code code;
  CHECK_ERROR(rig_try(&kernel, RIG_T0, NULL, &code), MTL_INVALID_ARGUMENT,
              "function constant scale (index 0) has no value");
}

TEST(errors, recursion_is_named) {
  const rig_kernel kernel = {8, "buffer", NULL, NULL, 0};
  rig_code code;
  CHECK_ERROR(rig_try(&kernel, RIG_T1, NULL, &code), MTL_UNSUPPORTED,
              "function deep calls itself");
}

TEST(functions, a_tail_call_to_itself_is_a_loop) {
  const rig_kernel kernel = {17, "buffer thread_position_in_grid:1", NULL, NULL,
                             0};
  for (rig_way way = 0; way < RIG_WAYS; ++way) {
    rig_code code = rig_compile(&kernel, way);
    uint32_t sums[40] = {0};
    rig_run(&code, &(rig_launch){{40, 1, 1}, {32, 1, 1}, {sums}, 0});
    for (uint32_t i = 0; i < 40; ++i) {
      CHECK_EQUAL(sums[i], i * (i + 1) / 2);
    }
    rig_clear(&code);
  }
}

TEST(errors, an_unknown_function_is_named) {
  const rig_kernel kernel = {9, "buffer", NULL, NULL, 0};
  rig_code code;
  CHECK_ERROR(rig_try(&kernel, RIG_T1, NULL, &code), MTL_UNSUPPORTED,
              "mettle.unheard_of");
}

TEST(targets, code_for_other_machines) {
  static const char *const targets[] = {"x86_64 x86-64-v2", "x86_64 x86-64-v3",
                                        "x86_64 x86-64-v4", "aarch64 generic",
                                        "aarch64 neoverse-v1 +sve"};
  for (size_t i = 0; i < sizeof targets / sizeof targets[0]; ++i) {
    rig_code code;
    CHECK_OK(rig_try(&saxpy, RIG_T1, targets[i], &code));
    CHECK_OK(rig_try(&positions, RIG_T0, targets[i], &code));
  }
}

TEST(targets, an_unknown_one_is_named) {
  rig_code code;
  CHECK_ERROR(rig_try(&saxpy, RIG_T1, "sparc v9", &code), MTL_UNSUPPORTED,
              "sparc v9");
}
