// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// coroutine_tests.c: barriers, and which threads carry out a simdgroup
// function together.
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "harness/test.h"
#include "rig.h"

static const rig_kernel reversal = {
    2,
    "buffer thread_index_in_threadgroup:1 threads_per_threadgroup:1 "
    "thread_position_in_grid:1",
    NULL, NULL, 0};

// The kernel takes its position for that of the threadgroup's first thread, so
// the grid is one threadgroup.
TEST(barriers, threadgroup_memory_is_shared) {
  for (rig_way way = 0; way < RIG_WAYS; ++way) {
    rig_code code = rig_compile(&reversal, way);
    CHECK_EQUAL(code.static_threadgroup_bytes, 1024);
    for (uint32_t n = 1; n <= 256; n += 51) {
      float x[512] = {0};
      for (uint32_t i = 0; i < n; ++i) {
        x[2 * i] = (float)i;
      }
      rig_run(&code, &(rig_launch){{n, 1, 1}, {n, 1, 1}, {x}, 0});
      for (uint32_t i = 0; i < n; ++i) {
        CHECK(x[2 * i] == (float)(n - 1 - i));
      }
    }
    rig_clear(&code);
  }
}

static const rig_kernel tree = {
    3,
    "buffer buffer threadgroup thread_index_in_threadgroup:1 "
    "threads_per_threadgroup:1 threadgroup_position_in_grid:1",
    NULL, NULL, 0};

TEST(barriers, inside_a_loop) {
  for (rig_way way = 0; way < RIG_WAYS; ++way) {
    rig_code code = rig_compile(&tree, way);
    float x[1024];
    float out[4];
    for (int i = 0; i < 1024; ++i) {
      x[i] = (float)(i % 17);
    }
    rig_run(&code, &(rig_launch){{1024, 1, 1},
                                 {256, 1, 1},
                                 {x, out, (void *)(uintptr_t)64},
                                 64 + 1024});
    for (int g = 0; g < 4; ++g) {
      float expected = 0.0f;
      for (int i = 0; i < 256; ++i) {
        expected += x[256 * g + i];
      }
      CHECK(out[g] == expected);
    }
    rig_clear(&code);
  }
}

static const rig_kernel early_return = {
    11, "buffer thread_index_in_threadgroup:1 threads_per_threadgroup:1", NULL,
    NULL, 0};

TEST(barriers, returned_threads_do_not_count) {
  for (rig_way way = 0; way < RIG_WAYS; ++way) {
    rig_code code = rig_compile(&early_return, way);
    uint32_t x[64] = {0};
    rig_run(&code, &(rig_launch){{64, 1, 1}, {64, 1, 1}, {x}, 0});
    for (uint32_t i = 0; i < 40; ++i) {
      CHECK_EQUAL(x[i], (i + 2) % 40);
    }
    CHECK_EQUAL(x[40], 0);
    rig_clear(&code);
  }
}

static const rig_kernel private_memory = {
    13, "buffer thread_position_in_grid:1", NULL, NULL, 0};

TEST(barriers, private_memory_lives_across) {
  for (rig_way way = 0; way < RIG_WAYS; ++way) {
    rig_code code = rig_compile(&private_memory, way);
    uint32_t out[50];
    rig_run(&code, &(rig_launch){{50, 1, 1}, {32, 1, 1}, {out}, 0});
    for (uint32_t i = 0; i < 50; ++i) {
      uint32_t total = 0;
      for (uint32_t k = 0; k < 100; ++k) {
        const uint32_t word = (k + i) % 100;
        total += (word == i ? 7 : i + word) * k;
      }
      CHECK_EQUAL(out[i], total);
    }
    rig_clear(&code);
  }
}

// --- simdgroup functions -----------------------------------------------------

// docs/ir.md: thread i with i + 16, then + 8, + 4, + 2, + 1.
static float tree_sum(const float *values, uint32_t mask, bool is_half) {
  float tree_values[32];
  for (int i = 0; i < 32; ++i) {
    tree_values[i] = mask >> i & 1 ? values[i] : -0.0f;
  }
  for (int half = 16; half > 0; half /= 2) {
    for (int i = 0; i < half; ++i) {
      tree_values[i] += tree_values[i + half];
      if (is_half) {
        tree_values[i] = (float)(_Float16)tree_values[i];
      }
    }
  }
  return tree_values[0];
}

// docs/ir.md: for d = 1, 2, 4, 8, 16, thread i - d with thread i.
static void scan_sum(const float *values, uint32_t mask, bool is_exclusive,
                     float out[32]) {
  float now[33];
  for (int i = 0; i < 32; ++i) {
    now[i + is_exclusive] = mask >> i & 1 ? values[i] : -0.0f;
  }
  if (is_exclusive) {
    now[0] = 0.0f;
  }
  for (int d = 1; d < 32; d *= 2) {
    float next[32];
    for (int i = 0; i < 32; ++i) {
      next[i] = i >= d ? now[i - d] + now[i] : now[i];
    }
    memcpy(now, next, sizeof next);
  }
  memcpy(out, now, 32 * sizeof out[0]);
}

static float largest(const float *values, uint32_t mask) {
  float result = __builtin_nanf("");
  for (int i = 0; i < 32; ++i) {
    result = mask >> i & 1 ? fmaxf(result, values[i]) : result;
  }
  return result;
}

static const rig_kernel functions = {
    4, "buffer buffer thread_position_in_grid:1", NULL, NULL, 0};

static void check_simdgroup(const float *x, const float (*out)[16],
                            uint32_t lanes) {
  const uint32_t all = lanes == 32 ? UINT32_MAX : (1u << lanes) - 1;
  const uint32_t thirds[3] = {all & 0x49249249u, all & 0x92492492u,
                              all & 0x24924924u};
  float inclusive[2][32];
  float exclusive[2][32];
  float halves[32];
  float smallest[2] = {1e9f, 1e9f};
  scan_sum(x, all, false, inclusive[0]);
  scan_sum(x, thirds[0], false, inclusive[1]);
  scan_sum(x, all, true, exclusive[0]);
  scan_sum(x, thirds[0], true, exclusive[1]);
  for (uint32_t i = 0; i < lanes; ++i) {
    halves[i] = (float)(_Float16)x[i];
    smallest[0] = fminf(smallest[0], truncf(x[i]));
    smallest[1] = i % 3 ? fminf(smallest[1], truncf(x[i])) : smallest[1];
  }
  for (uint32_t i = 0; i < lanes; ++i) {
    CHECK(out[i][0] == tree_sum(x, all, false));
    CHECK(out[i][1] == largest(x, all));
    CHECK(out[i][2] == smallest[0]);
    CHECK(out[i][3] == inclusive[0][i]);
    CHECK(out[i][4] == exclusive[0][i]);
    CHECK(out[i][5] == (float)all);
    if ((i ^ 1) < lanes) {
      CHECK(fmodf(out[i][6], 32.0f) == (float)(i ^ 1));
    }
    CHECK(out[i][7] == tree_sum(halves, all, true));
    if (i % 3 == 0) {
      CHECK(out[i][8] == tree_sum(x, thirds[0], false));
      CHECK(out[i][9] == inclusive[1][i]);
      CHECK(out[i][10] == exclusive[1][i]);
    } else {
      CHECK(out[i][8] == -tree_sum(x, thirds[1] | thirds[2], false));
      CHECK(i % 3 == 2 || out[i][9] == largest(x, thirds[1]));
      CHECK(out[i][10] == smallest[1]);
    }
    CHECK(out[i][11] == (float)(all & 0x55555555u));
    if (31 - i < lanes) {
      CHECK(fmodf(roundf(out[i][12]), 32.0f) == (float)(31 - i));
    }
  }
}

TEST(simdgroups, functions_over_all_and_some_threads) {
  // Six whole simdgroups, then one of 8 threads.
  float x[200];
  for (int i = 0; i < 200; ++i) {
    x[i] = (float)((i * 7919) % 1000) / 7.0f - 60.0f;
  }
  for (rig_way way = 0; way < RIG_WAYS; ++way) {
    rig_code code = rig_compile(&functions, way);
    float(*out)[16] = calloc(200, sizeof out[0]);
    rig_run(&code, &(rig_launch){{200, 1, 1}, {200, 1, 1}, {x, out}, 0});
    for (int i = 0; i < 200; i += 32) {
      check_simdgroup(x + i, (const float(*)[16])out + i,
                      i + 32 <= 200 ? 32 : 200 - i);
    }
    free(out);
    rig_clear(&code);
  }
}

// --- who is active -----------------------------------------------------------

static const rig_kernel turns = {5, "buffer thread_position_in_grid:1", NULL,
                                 NULL, 0};

// The kernel, run for 32 threads at a time: in turn after turn, each ballot is
// of the threads that reach it in that turn.
static void expect_turns(uint32_t first, uint32_t out[32][4]) {
  memset(out, 0, 32 * sizeof out[0]);
  for (uint32_t turn = 0; turn < 4; ++turn) {
    uint32_t active = 0;
    for (uint32_t l = 0; l < 32; ++l) {
      const uint32_t i = first + l;
      active |= (uint32_t)(turn < i % 5 && (turn + i) % 2 == 0) << l;
    }
    for (uint32_t l = 0; l < 32; ++l) {
      out[l][0] = active >> l & 1 ? 31 * out[l][0] + active : out[l][0];
    }
  }
  for (uint32_t j = 0; j < 3; ++j) {
    for (uint32_t k = 0; k < 3; ++k) {
      uint32_t active = 0;
      for (uint32_t l = 0; l < 32; ++l) {
        active |= (uint32_t)(k < (first + l + j) % 4) << l;
      }
      for (uint32_t l = 0; l < 32; ++l) {
        out[l][2] = active >> l & 1 ? 17 * out[l][2] + (k % 2 == 0 ? active : 0)
                                    : out[l][2];
      }
    }
    uint32_t chosen = 0;
    for (uint32_t l = 0; l < 32; ++l) {
      chosen |= (uint32_t)(j == (first + l) % 3) << l;
    }
    for (uint32_t l = 0; l < 32; ++l) {
      out[l][2] += chosen >> l & 1 ? chosen : 0;
    }
  }
  uint32_t staying = 0;
  for (uint32_t l = 0; l < 32; ++l) {
    staying |= (uint32_t)((first + l) % 7 != 3) << l;
  }
  for (uint32_t l = 0; l < 32; ++l) {
    out[l][1] = UINT32_MAX;
    out[l][3] = staying >> l & 1 ? staying : 0;
  }
}

TEST(simdgroups, threads_meet_again_behind_branches_and_loops) {
  for (rig_way way = 0; way < RIG_WAYS; ++way) {
    rig_code code = rig_compile(&turns, way);
    uint32_t out[64][4] = {{0}};
    rig_run(&code, &(rig_launch){{64, 1, 1}, {64, 1, 1}, {out}, 0});
    for (uint32_t first = 0; first < 64; first += 32) {
      uint32_t expected[32][4];
      expect_turns(first, expected);
      for (uint32_t l = 0; l < 32 * 4; ++l) {
        if (out[first + l / 4][l % 4] != expected[l / 4][l % 4]) {
          test_fail(__FILE__, __LINE__,
                    "way %d, thread %u, result %u: %x not %x", way,
                    first + l / 4, l % 4, out[first + l / 4][l % 4],
                    expected[l / 4][l % 4]);
        }
      }
    }
    rig_clear(&code);
  }
}

// --- traps -------------------------------------------------------------------

static const rig_kernel trapping[] = {
    {16, "buffer thread_position_in_grid:1", NULL, NULL, 0},
    {10, "buffer thread_position_in_grid:1", NULL, NULL, 0}};

static sigjmp_buf after_trap;

static void catch_trap(int number) {
  (void)number;
  siglongjmp(after_trap, 1);
}

static void check_trap(rig_way way, uint32_t reason) {
  rig_code code = rig_compile(&trapping[reason], way);
  uint32_t out[32] = {0};
  _Alignas(64) uint8_t memory[4096 + 2 * MTLI_CPU_SCRATCH_MARGIN_BYTES];
  uint8_t *scratch = memory + MTLI_CPU_SCRATCH_MARGIN_BYTES;
  uint8_t *kept = scratch + sizeof(mtli_cpu_position);
  void *arguments[] = {out, NULL};
  const mtli_cpu_launch launch = {.arguments = arguments,
                                  .grid_threads = {32, 1, 1},
                                  .group_threads = {8, 1, 1},
                                  .group_count = {4, 1, 1}};
  const struct sigaction action = {.sa_handler = catch_trap};
  sigaction(SIGILL, &action, NULL);
  sigaction(SIGTRAP, &action, NULL);
  if (sigsetjmp(after_trap, 1) == 0) {
    mtli_cpu_code_run(code.code, &launch, 0, 4, scratch, kept);
    test_fail(__FILE__, __LINE__, "the kernel ran to its end");
  }
  const mtli_cpu_position *position = (const mtli_cpu_position *)scratch;
  CHECK_EQUAL(position->reserved[0], reason + 1);
  CHECK_EQUAL(position->group[0], 0);
  CHECK_EQUAL(position->thread_in_group, 5);
}

TEST(traps, the_scratch_says_why_and_where) {
  for (rig_way way = 0; way < RIG_WAYS; ++way) {
    check_trap(way, 0);
    check_trap(way, 1);
  }
}
