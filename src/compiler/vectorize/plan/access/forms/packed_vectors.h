// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// packed_vectors.h: vectors of the program that stay as they lie in memory.
#ifndef MTLC_PLAN_PACKED_VECTORS_H
#define MTLC_PLAN_PACKED_VECTORS_H

#include <stdbool.h>
#include <stdint.h>

#include "compiler/vectorize/plan/access/planning.h"

// By number of an instruction (lanes_values.numbers).
typedef struct lanes_packed {
  uint32_t segment;  // of its block, between waits; 0 if it is no candidate
  uint32_t group;    // of those that work on each other's results
  bool is_in;        // is kept whole, or stores what is
  bool is_apart;     // and its components are asked for, too
} lanes_packed;

// Returns [values->count]. copied: what is part of a copy of rows, which is not
// looked at.
lanes_packed *lanes_find_packed(const lanes_planning *planning,
                                const bool *copied);

#endif
