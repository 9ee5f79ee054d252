// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// packed_vectors.h: finds short vectors of the kernel, such as half4, that can
// stay packed as in memory.
#ifndef MTLC_PLAN_PACKED_VECTORS_H
#define MTLC_PLAN_PACKED_VECTORS_H

#include <stdbool.h>
#include <stdint.h>

#include "compiler/vectorize/plan/access/planning.h"

// by an instruction's number (lanes_values.numbers)
typedef struct lanes_packed {
  uint32_t segment;  // number of the code between barriers in its block; 0 if
                     // it cannot be packed
  uint32_t group;    // instructions that use each other's results
  bool is_in;        // stays packed, or stores a packed value
  bool is_apart;     // its components are also used by themselves
} lanes_packed;

// Returns [values->count]. `copied` marks parts of row copies, which are left
// out.
lanes_packed *lanes_find_packed(const lanes_planning *planning,
                                const bool *copied);

#endif
