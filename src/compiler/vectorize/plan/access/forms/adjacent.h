// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// adjacent.h: finds addresses that are probably adjacent at run time.
#ifndef MTLC_ADJACENT_H
#define MTLC_ADJACENT_H

#include <stdbool.h>

#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/plan/access/access.h"
#include "compiler/vectorize/plan/access/planning.h"

// True if an address that analysis cannot describe is probably adjacent or
// uniform at run time; returns the shape to check for.
bool lanes_may_be_adjacent(const lanes_planning *p, const lanes_access *a,
                           lanes_shape *out_shape, bool *out_may_be_same);

#endif
