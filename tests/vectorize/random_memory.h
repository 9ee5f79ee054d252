// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// random_memory.h: the grids on which random kernels run and the memory that they
// find, for run_random.c and for kernels that the host's compiler made
// (host_metal.h). C and C++.
#ifndef METTLE_TESTS_RANDOM_MEMORY_H
#define METTLE_TESTS_RANDOM_MEMORY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
  INPUT_WORDS = 1 << 12,
  OUTPUT_WORDS = 1 << 17,
  SHARED_WORDS = 80,
  UNIFORM_WORDS = 16,
  THREADGROUP_BYTES = 2048,
};

typedef struct shape {
  uint32_t grid[3], group[3];
} shape;

static const shape shapes[] = {
    // The first WHOLE_COUNT have nothing but whole simdgroups.
    {{256, 1, 1}, {64, 1, 1}},    // whole simdgroups
    {{64, 8, 1}, {32, 4, 1}},     // rows of 32
    {{24, 16, 1}, {8, 8, 1}},     // rows of 8
    {{32, 32, 1}, {16, 16, 1}},   // rows of 16
    {{300, 1, 1}, {128, 1, 1}},   // a last threadgroup cut off
    {{77, 1, 1}, {77, 1, 1}},     // a last simdgroup cut off
    {{5, 1, 1}, {32, 1, 1}},      // less than a simdgroup
    {{100, 1, 1}, {50, 1, 1}},    // rows that do not fill simdgroups
    {{70, 9, 1}, {32, 4, 1}},     // rows of 32 with uneven edges
    {{29, 13, 1}, {8, 8, 1}},     // rows of 8 with uneven edges
    {{12, 10, 3}, {4, 4, 2}},     // rows of 4, three dimensions
    {{15, 14, 2}, {5, 7, 1}},     // odd rows
    {{1, 70, 1}, {1, 70, 1}},     // a column
    {{2, 33, 3}, {2, 3, 3}},      // rows of 2
};
enum { SHAPE_COUNT = sizeof shapes / sizeof *shapes, WHOLE_COUNT = 4 };

static uint32_t next_random(uint32_t *state) {
  *state ^= *state << 13;
  *state ^= *state >> 17;
  *state ^= *state << 5;
  return *state;
}

// Floats in [-2, 2); small integers among large ones; bytes.
static void fill_inputs(float *x, uint32_t *n, uint32_t *bytes) {
  uint32_t state = 2463534242u;
  for (uint32_t i = 0; i < INPUT_WORDS; i++) {
    x[i] = (float)(int32_t)next_random(&state) / 1073741824.0f;
    const uint32_t any = next_random(&state);
    n[i] = any % 3 ? any >> 22 : any;
    bytes[i] = next_random(&state);
  }
}

// Fills a kernel's output, shared words and uniforms.
static void fill(const shape *s, uint32_t *output, uint32_t *shared,
                 uint32_t *uniforms) {
  for (uint32_t i = 0; i < OUTPUT_WORDS; i++) {
    output[i] = i * 2654435761u >> 12;
  }
  for (uint32_t i = 0; i < SHARED_WORDS; i++) {
    shared[i] = i < 16 ? 0 : i * 77;
  }
  const float scales[4] = {0.5f, -3.0f, 1e-3f, 7.0f};
  const uint32_t words[12] = {
      s->grid[0] * s->grid[1] * s->grid[2], s->grid[0], 5, 3, 0x80000000u, 17,
      0, 0xffffffffu};
  memcpy(uniforms, words, sizeof words);
  memcpy(uniforms + 8, scales, sizeof scales);
}

static uint64_t hash(uint64_t state, const uint32_t *output,
                     const uint32_t *shared) {
  for (size_t i = 0; i < OUTPUT_WORDS; i++) {
    state = (state ^ output[i]) * 0x9e3779b97f4a7c15u;
    state ^= state >> 29;
  }
  for (size_t i = 0; i < SHARED_WORDS; i++) {
    state = (state ^ shared[i]) * 0x9e3779b97f4a7c15u;
    state ^= state >> 29;
  }
  return state;
}

// Whether a kernel runs on a grid: its name chooses where not all are to run.
static bool is_wanted(const char *kernel, uint32_t number) {
  const bool whole = strstr(kernel, "whole");
  const char *text = getenv("METTLE_RANDOM_GRIDS");
  const uint32_t count = whole ? WHOLE_COUNT : SHAPE_COUNT;
  const uint32_t wanted = text ? (uint32_t)atoi(text) : count;
  uint32_t first = 0;
  for (const char *c = kernel; *c; c++) {
    first = first * 31 + (uint32_t)*c;
  }
  return number < count && (number + count - first % count) % count < wanted;
}

#endif
