// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// lane_vectors.h: what lanes that may be anywhere in memory each have side by
// side there.
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
      32,  // at a time: eight words of 32 lanes are 16 registers
  LANES_LANE_VECTOR_WORDS = LANES_LANE_VECTOR_BYTES / LANES_WORD_BYTES,
  LANES_LANE_VECTOR_MEMBERS = LANES_LANE_VECTOR_BYTES,
};

typedef struct lanes_lane_vector_member {
  lanes_access access;
  int64_t start;     // bytes behind the first one's, then behind the row's
  int64_t constant;  // of its place
  int64_t bytes;     // of its place
} lanes_lane_vector_member;

// Where rows are: a stride apart over runs of lanes, constants apart, anywhere.
typedef enum lanes_rows {
  LANES_ROWS_ANYWHERE,
  LANES_ROWS_STRIDED,
  LANES_ROWS_IN_PATTERN,
} lanes_rows;

// What each lane reads or writes, a part of it for each member.
typedef struct lanes_lane_vector {
  lanes_affine at;  // of the row: its constant is the least of the members'
  int64_t most_constant;
  lanes_lane_vector_member members[LANES_LANE_VECTOR_MEMBERS];
  uint32_t member_count;
  uint32_t bytes;  // whole words
  uint32_t alignment;
  uint32_t own;  // the member whose address is there
  lanes_rows lie;
  bool is_dense;          // of stores: one behind the other
  lanes_pattern pattern;  // of LANES_ROWS_IN_PATTERN
  uint64_t pattern_span;  // of its index from the first lane to the last
} lanes_lane_vector;

// Finds what a block loads around a load's place, all bytes of one row, up to
// the next write; NULL if that is no better than gathers.
const lanes_lane_vector *lanes_find_lane_vectors(lanes_planning *p,
                                                 const lanes_access *a);
// Finds the row that begins with a store: the stores behind it wait for the
// last, and are one. NULL if there is none.
const lanes_lane_vector *lanes_find_store_group(lanes_planning *p,
                                                const lanes_access *a);

// The last value of an index before it is extended.
uint64_t lanes_last_index(const lanes_affine *at);
// From the first index of a run of lanes a stride apart to its last.
uint64_t lanes_lane_vector_span(const lanes_lane_vector *row,
                                const lanes_shape *shape);
// True if an index that is extended may wrap.
bool lanes_lane_vector_may_wrap(const lanes_lane_vector *row);

#endif
