// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// adjacent.h: addresses that are one behind the other though nobody knows.
#ifndef MTLC_ADJACENT_H
#define MTLC_ADJACENT_H

#include <stdbool.h>

#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/plan/access/access.h"
#include "compiler/vectorize/plan/access/planning.h"

// True if an address that analysis cannot describe is probably contiguous at
// run time, or uniform; out: the shape to check for.
bool lanes_may_be_adjacent(const lanes_planning *p, const lanes_access *a,
                           lanes_shape *out_shape, bool *out_may_be_same);

#endif
