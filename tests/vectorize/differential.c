// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// differential.c: tier 1 against tier 0 over many grids.
#include "differential.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/test.h"
#include "rig.h"

const char differential_parameters[] =
    "buffer buffer buffer buffer buffer thread_position_in_grid:3 "
    "thread_position_in_threadgroup:3 thread_index_in_threadgroup:1 "
    "thread_index_in_simdgroup:1 simdgroup_index_in_threadgroup:1 "
    "threads_per_threadgroup:3 threadgroup_position_in_grid:3 "
    "threads_per_grid:3";

typedef struct shape {
  uint32_t grid[3];
  uint32_t group[3];
} shape;

static const shape shapes[] = {
    {{256, 1, 1}, {64, 1, 1}},   // whole simdgroups
    {{300, 1, 1}, {128, 1, 1}},  // a last threadgroup cut off
    {{77, 1, 1}, {77, 1, 1}},    // a last simdgroup cut off
    {{5, 1, 1}, {32, 1, 1}},     // less than a simdgroup
    {{100, 1, 1}, {50, 1, 1}},   // rows that do not fill simdgroups
    {{64, 8, 1}, {32, 4, 1}},    // rows of 32
    {{70, 9, 1}, {32, 4, 1}},    // the same with uneven edges
    {{24, 16, 1}, {8, 8, 1}},    // rows of 8
    {{32, 32, 1}, {16, 16, 1}},  // rows of 16
    {{29, 13, 1}, {8, 8, 1}},    // uneven edges
    {{12, 10, 3}, {4, 4, 2}},    // rows of 4, three dimensions
    {{15, 14, 2}, {5, 7, 1}},    // odd rows
    {{1, 70, 1}, {1, 70, 1}},    // a column
};
enum { SHAPE_COUNT = sizeof shapes / sizeof *shapes };

enum {
  WORDS = 1 << 16,  // of each buffer; beyond the elements that threads address
                    // lies a margin
  BUFFERS = 5,
  UNIFORM_WORDS = 8,
};

typedef struct memory {
  uint32_t words[BUFFERS][WORDS];
} memory;

static uint32_t next_random(uint32_t *state) {
  *state ^= *state << 13;
  *state ^= *state >> 17;
  *state ^= *state << 5;
  return *state;
}

// Inputs in [-2, 2), small integers among large ones, outputs with garbage.
static void fill(memory *m, const shape *s, uint32_t seed) {
  uint32_t state = seed * 2654435761u + 1;
  for (uint32_t i = 0; i < WORDS; i++) {
    const float value = (float)(int32_t)next_random(&state) / 1073741824.0f;
    memcpy(&m->words[0][i], &value, 4);
    const uint32_t any = next_random(&state);
    m->words[1][i] = any % 3 ? any >> 22 : any;
    m->words[2][i] = m->words[0][i] ^ 0x100;
    m->words[3][i] = any ^ 0x5555;
  }
  const uint32_t uniform[UNIFORM_WORDS] = {s->grid[0] * s->grid[1] * s->grid[2],
                                           s->grid[0], seed % 2 ? 5 : 2, 3};
  memcpy(m->words[4], uniform, sizeof uniform);
}

static void run(const rig_code *code, const shape *s, memory *m) {
  rig_launch launch = {.arguments = {m->words[0], m->words[1], m->words[2],
                                     m->words[3], m->words[4]}};
  memcpy(launch.grid, s->grid, sizeof launch.grid);
  memcpy(launch.group, s->group, sizeof launch.group);
  rig_run(code, &launch);
}

static void compare(unsigned kernel, const shape *s, const memory *expected,
                    const memory *actual) {
  for (uint32_t b = 0; b < BUFFERS; b++) {
    for (uint32_t i = 0; i < WORDS; i++) {
      if (expected->words[b][i] != actual->words[b][i]) {
        test_fail(__FILE__, __LINE__,
                  "kernel %u, grid %u %u %u, group %u %u %u: buffer %u, word "
                  "%u: tier 0 has %08x, tier 1 %08x",
                  kernel, s->grid[0], s->grid[1], s->grid[2], s->group[0],
                  s->group[1], s->group[2], b, i, expected->words[b][i],
                  actual->words[b][i]);
      }
    }
  }
}

void differential_check(unsigned number, const char *target,
                        uint32_t seed_count) {
  static memory expected;
  static memory actual;
  const rig_kernel kernel = {number, differential_parameters, NULL, NULL, 0};
  rig_code t0 = rig_compile(&kernel, RIG_T0);
  rig_code t1;
  CHECK_OK(rig_try(&kernel, RIG_T1, target, &t1));
  printf("kernel %u: passes %.1f ms, code %.1f ms\n%s", number,
         (double)t1.pass_ns / 1e6, (double)t1.emit_ns / 1e6, t1.report);
  fflush(stdout);
  CHECK_CONTAINS(t1.report, "vectorised for");
  for (uint32_t i = 0; i < SHAPE_COUNT; i++) {
    for (uint32_t seed = 1; seed <= seed_count; seed++) {
      fill(&expected, &shapes[i], seed + i);
      memcpy(&actual, &expected, sizeof actual);
      run(&t0, &shapes[i], &expected);
      run(&t1, &shapes[i], &actual);
      compare(number, &shapes[i], &expected, &actual);
    }
  }
  rig_clear(&t0);
  rig_clear(&t1);
}
