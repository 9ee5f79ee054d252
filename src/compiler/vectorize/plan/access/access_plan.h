// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// access_plan.h: how each load and store of 32 lanes is done. The plan is made
// before emission, which reads it and never changes it.
#ifndef MTLC_ACCESS_PLAN_H
#define MTLC_ACCESS_PLAN_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>

#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/analysis/uniformity.h"
#include "compiler/vectorize/base/debug_lines.h"
#include "compiler/vectorize/plan/access/forms/bit_runs.h"
#include "compiler/vectorize/plan/access/forms/interleave_groups.h"
#include "compiler/vectorize/plan/access/forms/lane_vectors.h"
#include "compiler/vectorize/plan/access/forms/packed_vectors.h"
#include "compiler/vectorize/plan/access/forms/stride_factors.h"
#include "compiler/vectorize/plan/access/planning.h"

// The forms, the best roughly first. access_plan.c has their order of
// preference, print_plan.c their names, emit/memory/load_store.c the code of
// each.
typedef enum lanes_form {
  LANES_NO_FORM,           // no form takes it; why has the reason
  LANES_SCALARISED,        // volatile or atomic: one instruction for each lane
  LANES_UNIFORM,           // one scalar for all lanes
  LANES_SEGMENT_FIRSTS,    // one scalar for each segment of lanes
  LANES_PRIVATE_VECTOR,    // interleaved private memory, one index
  LANES_PRIVATE_GATHER,    // the same, with an index for each lane
  LANES_CONTIGUOUS,        // one vector
  LANES_INTERLEAVED,       // vectors with gaps, or several components
  LANES_REVERSED,          // one of these forms, from the last lane to the
                           // first
  LANES_WORDS,             // a word for each lane, of which some bytes are used
  LANES_INTERLEAVE_GROUP,  // vectors for several loads of the block
  LANES_LOADED_AHEAD,      // a later load of such a group
  LANES_SEGMENT_VECTORS,   // a vector for each segment of lanes
  LANES_STRIDED_SEGMENTS,  // vectors with gaps for each segment
  LANES_LANE_VECTORS,      // 4 to 32 adjacent bytes for each lane, transposed
  LANES_STORE_GROUP,       // the same for several stores of the block
  LANES_BIT_PERMUTED,      // vectors, permuted as known at compile time
  LANES_TABLE,             // permuted from registers that hold a whole table
  LANES_WINDOW,            // a register of lanes, permuted from two registers
  LANES_BROADCAST,         // one scalar for each segment
  LANES_GATHER,            // an address for each lane
  LANES_SCATTER,
  LANES_SCATTER_VECTORS,  // 16 bytes, or words, for each lane
  LANES_IN_LINE,          // lane by lane if all lanes run, else scattered
  LANES_EACH,             // lane by lane
  LANES_LANE_LOOP,        // a loop over the lanes that run
  LANES_SPLIT_AT_WRAP,    // the lanes before an index wraps, and the others
  LANES_ROW_COPY,         // one vector for each lane, from its load to its
                          // store
  LANES_PACKED,           // a vector of the program, in memory order
  LANES_FORMS,
} lanes_form;

// The run-time check that chooses between two forms.
typedef enum lanes_access_check {
  LANES_CHECK_NONE,
  LANES_CHECK_NO_WRAP,      // no index wraps between the lanes
  LANES_CHECK_STRIDE_ONE,   // the program's stride factors are all 1
  LANES_CHECK_STRIDE_ZERO,  // one of them is 0
  LANES_CHECK_ADJACENT,     // lanes are a small stride apart
  LANES_CHECK_EQUAL,        // lanes have the same address
  LANES_CHECK_IN_TABLE,     // a table may be read whole
  LANES_CHECK_IN_WINDOW,    // each register's lanes are within two registers of
                            // memory
  LANES_CHECK_ALL_LANES,    // all lanes run
  LANES_CHECK_READABLE,     // all lanes run, or the gaps are readable
  LANES_CHECKS,
} lanes_access_check;

// A node of a decision tree: a form, or a check with two arms.
typedef struct lanes_choice {
  lanes_form form;  // if check is LANES_CHECK_NONE
  lanes_access_check check;
  const struct lanes_choice *then;       // if the check holds
  const struct lanes_choice *otherwise;  // if it fails
  const char *why;
  uint32_t cost;    // cycles for 32 lanes, by the likely arm (target/costs.h)
  bool is_nested;   // behind a check: its results are not kept for later code
  uint32_t stride;  // elements from lane to lane; for private memory, its unit
  lanes_shape shape;                    // the shape that the check tests for
  const lanes_stride_factors *factors;  // the factors that it tests
  const lanes_pattern_runs *runs;       // for LANES_BIT_PERMUTED
  const lanes_interleave_group *group;  // for LANES_INTERLEAVE_GROUP; or
                                        // adjacent loads that are not one; or
                                        // NULL
  const lanes_lane_vector *vectors;     // for LANES_LANE_VECTORS, _STORE_GROUP
} lanes_choice;

typedef struct lanes_access_plan {
  const lanes_choice **of;  // [values->count] of loads and stores, or NULL
  bool *copied;             // [values->count] it is a part of a LANES_ROW_COPY
  lanes_packed *packed;     // [values->count]
  lanes_lines gathers;      // for the report, accesses that a person could make
                            // faster:
  lanes_lines scatters;
  lanes_lines checked;  // and accesses that are vectors only if a check holds
} lanes_access_plan;

// Decides for all loads and stores of the thread function, in the order of
// emission.
void lanes_plan_accesses(lanes_planning *p, lanes_access_plan *out_plan);

// Returns the plan as text, a line for each access; yours to free.
char *lanes_access_plan_text(const lanes_values *values,
                             const lanes_access_plan *plan);

#endif
