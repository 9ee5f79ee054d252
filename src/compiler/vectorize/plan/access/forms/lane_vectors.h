// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// lane_vectors.h: finds several loads or stores of a block that access adjacent
// elements for each lane.
#ifndef MTLC_PLAN_LANE_VECTORS_H
#define MTLC_PLAN_LANE_VECTORS_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>

#include "compiler/vectorize/analysis/addresses/affine.h"
#include "compiler/vectorize/analysis/addresses/lane_bits.h"
#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/plan/access/access.h"
#include "compiler/vectorize/plan/access/forms/interleave_groups.h"
#include "compiler/vectorize/plan/access/planning.h"

enum {
  LANES_UNIT_BYTES = 16,  // of one lane
  LANES_UNIT_WORDS = LANES_UNIT_BYTES / LANES_WORD_BYTES,
  LANES_LANE_VECTOR_BYTES =
      32,  // at once: eight words of 32 lanes fill 16 registers
  LANES_LANE_VECTOR_WORDS = LANES_LANE_VECTOR_BYTES / LANES_WORD_BYTES,
  LANES_LANE_VECTOR_MEMBERS = LANES_LANE_VECTOR_BYTES,
};

typedef struct lanes_lane_vector_member {
  lanes_access access;
  int64_t start;     // bytes from the first member, then from the vector's
                     // start
  int64_t constant;  // constant of its address
  int64_t bytes;     // bytes of its address
} lanes_lane_vector_member;

// The layout of lanes' vectors: a stride apart over runs of lanes, constants
// apart, or anywhere.
typedef enum lanes_rows {
  LANES_ROWS_ANYWHERE,
  LANES_ROWS_STRIDED,
  LANES_ROWS_IN_PATTERN,
} lanes_rows;

// The adjacent elements that each lane reads or writes; each member is a part.
typedef struct lanes_lane_vector {
  lanes_affine at;  // address of the vector: its constant is the lowest of the
                    // members'
  int64_t most_constant;
  lanes_lane_vector_member members[LANES_LANE_VECTOR_MEMBERS];
  uint32_t member_count;
  uint32_t bytes;  // size, in whole words
  uint32_t alignment;
  uint32_t own;  // the member with the lowest address
  lanes_rows lie;
  bool is_dense;          // stores: lanes' vectors are adjacent
  lanes_pattern pattern;  // of LANES_ROWS_IN_PATTERN
  uint64_t pattern_span;  // how much the index rises from the first lane to the
                          // last
} lanes_lane_vector;

// Finds the loads of a block around a load's address that read all bytes of one
// vector, up to the next write; NULL if gathers are as good.
const lanes_lane_vector *lanes_find_lane_vectors(lanes_planning *p,
                                                 const lanes_access *a);
// Finds the group of stores that begins with a store: all are done at the last
// of them. NULL if there is none.
const lanes_lane_vector *lanes_find_store_group(lanes_planning *p,
                                                const lanes_access *a);

// Returns the largest value of an index before its extension.
uint64_t lanes_last_index(const lanes_affine *at);
// Returns how much an index rises over a run of lanes a stride apart.
uint64_t lanes_lane_vector_span(const lanes_lane_vector *row,
                                const lanes_shape *shape);
// True if an extended index may wrap.
bool lanes_lane_vector_may_wrap(const lanes_lane_vector *row);

#endif
