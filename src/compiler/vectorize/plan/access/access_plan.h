// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// access_plan.h: how each load and store of 32 lanes is done. Made before
// anything is emitted; emission reads it and never changes it.
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

// Best first, more or less; access_plan.c has the order, print_plan.c the
// names, emit/memory/load_store.c the file of each.
typedef enum lanes_form {
  LANES_NO_FORM,           // why says what no form takes
  LANES_SCALARISED,        // volatile or atomic: an instruction a lane
  LANES_UNIFORM,           // one scalar for all lanes
  LANES_SEGMENT_FIRSTS,    // one scalar for each row of lanes
  LANES_PRIVATE_VECTOR,    // interleaved private memory, one index
  LANES_PRIVATE_GATHER,    // the same, each lane its own index
  LANES_CONTIGUOUS,        // one vector
  LANES_INTERLEAVED,       // vectors with gaps, or several components
  LANES_REVERSED,          // a form of these, from the last lane to the first
  LANES_WORDS,             // a word a lane, of which some bytes are wanted
  LANES_INTERLEAVE_GROUP,  // vectors for several loads of the block
  LANES_LOADED_AHEAD,      // one of those behind the first
  LANES_SEGMENT_VECTORS,   // a vector for each row of lanes
  LANES_STRIDED_SEGMENTS,  // vectors with gaps for each row
  LANES_LANE_VECTORS,      // 4 to 32 bytes of each lane, transposed
  LANES_STORE_GROUP,       // the same for several stores of the block
  LANES_BIT_PERMUTED,      // vectors, put in order by a known permutation
  LANES_TABLE,             // picked from registers that hold all of a table
  LANES_WINDOW,            // picked from two registers a register of lanes
  LANES_BROADCAST,         // one scalar a row, given to its lanes
  LANES_GATHER,            // each lane its own address
  LANES_SCATTER,
  LANES_SCATTER_VECTORS,  // a store's words of each lane, 16 bytes at best
  LANES_IN_LINE,          // one by one if all lanes run, or scattered
  LANES_EACH,             // one by one
  LANES_LANE_LOOP,        // a loop over the lanes that run
  LANES_SPLIT_AT_WRAP,    // the lanes before an index wraps, and the others
  LANES_ROW_COPY,         // a vector a lane from its load to its store
  LANES_PACKED,           // a vector of the program, kept as it lies
  LANES_FORMS,
} lanes_form;

// What is compared at run time to pick one of two.
typedef enum lanes_access_check {
  LANES_CHECK_NONE,
  LANES_CHECK_NO_WRAP,      // no index wraps between the lanes
  LANES_CHECK_STRIDE_ONE,   // the program's factors of the stride are one
  LANES_CHECK_STRIDE_ZERO,  // one of them is none
  LANES_CHECK_ADJACENT,     // lanes turn out to be a stride apart
  LANES_CHECK_EQUAL,        // or to have the same address
  LANES_CHECK_IN_TABLE,     // a table may be read whole
  LANES_CHECK_IN_WINDOW,    // lanes of a register lie within two registers
  LANES_CHECK_ALL_LANES,    // all run
  LANES_CHECK_READABLE,     // all run, or what lies between may be read
  LANES_CHECKS,
} lanes_access_check;

// A node of a small tree: a form, or a check that picks one of two.
typedef struct lanes_choice {
  lanes_form form;  // if check is LANES_CHECK_NONE
  lanes_access_check check;
  const struct lanes_choice *then;       // where it holds
  const struct lanes_choice *otherwise;  // and where not
  const char *why;
  uint32_t cost;   // cycles for 32 lanes, of the likely way (target/costs.h)
  bool is_nested;  // behind a check: what is computed is not kept
  uint32_t
      stride;  // elements from lane to lane; or of private memory, its unit
  lanes_shape shape;                    // that is checked
  const lanes_stride_factors *factors;  // that are
  const lanes_pattern_runs *runs;       // of LANES_BIT_PERMUTED
  const lanes_interleave_group *group;  // of LANES_INTERLEAVE_GROUP, or what
                                        // it loads beside those, or NULL
  const lanes_lane_vector *vectors;     // of LANES_LANE_VECTORS, _STORE_GROUP
} lanes_choice;

typedef struct lanes_access_plan {
  const lanes_choice **of;  // [values->count] of loads and stores, or NULL
  bool *copied;             // [values->count] a part of a LANES_ROW_COPY
  lanes_packed *packed;     // [values->count]
  lanes_lines gathers;      // what a person could make faster:
  lanes_lines scatters;
  lanes_lines checked;  // accesses that are vectors if a check holds
} lanes_access_plan;

// Decides for all loads and stores of the thread function, in the order in
// which they are emitted.
void lanes_plan_accesses(lanes_planning *p, lanes_access_plan *out_plan);

// The plan as text, a line for each access; yours, to be freed.
char *lanes_access_plan_text(const lanes_values *values,
                             const lanes_access_plan *plan);

#endif
