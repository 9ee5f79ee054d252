// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// group_class.h: classes of threadgroups, for each of which one machine code is
// best. A simdgroup is 32 threads in the order x, y, z, so its accesses are
// contiguous along the threadgroup's rows.
#ifndef MTLI_GROUP_CLASS_H
#define MTLI_GROUP_CLASS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct mtli_group_class {
  // 32, 16, 8, 4: the threadgroup's rows are multiples of this; 32, too, if it
  // is one row. 1: any rows. 0: not known; the code must be good for all.
  uint32_t row;
  // The rows are just that long, and there is one plane of them: row number i
  // begins with thread i * row. Never set for 32, 1 and 0.
  bool is_exact;
  bool is_single;  // at most 32 threads: one simdgroup, which waits for nobody
  // Several threadgroups of one row each, whose length is no multiple of 32:
  // their simdgroups begin anywhere along x. Otherwise rows begin at multiples
  // of their length in the grid.
  bool is_uneven;
  bool is_whole;  // each simdgroup has 32 threads
  bool is_far;    // of MTLI_FAR_BYTES or more is a buffer that they are given
  // One row, or rows that are just so long, of so many whole simdgroups, 2 to
  // MTLI_MOST_SIMDGROUPS; 0: not that, or not known.
  uint32_t simdgroups;
  // The dimension that a row runs along. 0 is x; 1 is y, for threadgroups of
  // one thread along x; 2 is z, for those of one thread along x and y. For 1
  // and 2 the launch's dimensions are rotated by as many
  // (mtli_cpu_launch.turn), and the fields above describe the rotated
  // threadgroup.
  uint32_t row_dimension;
} mtli_group_class;

enum {
  MTLI_LONGEST_ROW = 32,
  MTLI_SHORTEST_ROW = 4,
  MTLI_MOST_SIMDGROUPS = 32,
  // Code for whole rows counts positions along x in 31 bits.
  MTLI_ROW_GRID_LIMIT = INT32_MAX,
};

// Buffers with fewer bytes behind the place where they are bound have no
// element number 2^31, by far: something may be added that leads back.
#define MTLI_FAR_BYTES (UINT64_C(1) << 30)

// Returns the dimension along which rows of threadgroups of that size lie.
static inline uint32_t mtli_row_dimension(const uint32_t size[3]) {
  return size[0] != 1 ? 0 : size[1] != 1 ? 1 : size[2] != 1 ? 2 : 0;
}

// Turns sizes or positions by so many dimensions: out_turned[0] is
// sides[dimensions]. Threads keep their order in a threadgroup whose rows come
// to lie along x by that.
static inline void mtli_turn(const uint32_t sides[3], uint32_t dimensions,
                             uint32_t out_turned[3]) {
  for (uint32_t i = 0; i < 3; i++) {
    out_turned[i] = sides[(i + dimensions) % 3];
  }
}

// Returns the class of threadgroups of size threads along each side, in a grid
// of grid_x threads along x, 0 if that is not known.
static inline mtli_group_class mtli_group_class_of(const uint32_t size[3],
                                                   uint32_t grid_x) {
  const uint64_t threads = (uint64_t)size[0] * size[1] * size[2];
  mtli_group_class result = {.row = MTLI_LONGEST_ROW,
                             .is_single = threads <= MTLI_LONGEST_ROW,
                             .is_whole = threads % MTLI_LONGEST_ROW == 0};
  if (grid_x > MTLI_ROW_GRID_LIMIT) {
    result.row = 1;
  } else if (size[1] != 1 || size[2] != 1) {
    while (result.row > 1 && size[0] % result.row) {
      result.row = result.row > MTLI_SHORTEST_ROW ? result.row / 2 : 1;
    }
    result.is_exact = result.row > 1 && result.row < MTLI_LONGEST_ROW &&
                      size[0] == result.row && size[2] == 1;
  } else {
    result.is_uneven = size[0] % MTLI_LONGEST_ROW && grid_x != size[0];
  }
  const bool is_row = size[1] == 1 && size[2] == 1;
  if (result.is_whole && !result.is_single && (is_row || result.is_exact) &&
      threads <= MTLI_MOST_SIMDGROUPS * MTLI_LONGEST_ROW) {
    result.simdgroups = (uint32_t)threads / MTLI_LONGEST_ROW;
  }
  return result;
}

#endif
