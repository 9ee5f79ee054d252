// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// interior_limits.h: finds clamps and bounds tests of indices at edges.
#ifndef MTLC_INTERIOR_LIMITS_H
#define MTLC_INTERIOR_LIMITS_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>

#include "compiler/vectorize/analysis/addresses/trip_counts.h"
#include "compiler/vectorize/prepare/versions/clone_region.h"
#include "compiler/vectorize/prepare/versions/hoist_checks.h"
#include "compiler/vectorize/prepare/versions/version_row.h"

enum {
  LEAST_ACCESSES = 3,  // the fewest accesses at clamped indices that are worth
                       // a version
  LEAST_BRANCHES = 2,  // the fewest branches around out-of-bounds code
  LEAST_BOUND = 16,    // larger constants may be an image's end
  MOST_LIMITS = 64,
  MOST_INDICES = 4,  // whose signs one comparison of their `or` tests
  MOST_CONDITIONS = 24,
  MOST_DEPTH = 8,  // operations in a condition's operands
};

// A minimum or maximum that may clamp an index, or a bounds test of one.
typedef struct limit {
  LLVMValueRef value;
  LLVMValueRef indices[MOST_INDICES];  // [index_count] compared with the bound
  uint32_t index_count;
  LLVMValueRef bound;
  LLVMIntPredicate predicate;  // the condition that each index satisfies in the
                               // interior
  LLVMValueRef within;         // a bounds test's result in the interior; NULL:
                               // the index
} lanes_index_limit;

// A condition on an index plus a constant, for all indices that differ only in
// the constant: it is at least, or at most, a bound.
typedef struct condition {
  LLVMValueRef root;
  LLVMValueRef index;  // root plus constant
  LLVMValueRef bound;
  int64_t constant;
  LLVMIntPredicate predicate;
  // The covered indices with the lowest and the highest constant.
  LLVMValueRef first;
  int64_t smallest, largest;
  lanes_counter counter;  // a loop counter that the root is a sum with; phi is
                          // NULL for none
} lanes_edge_condition;

typedef struct lanes_interior {
  lanes_clone part;
  lanes_index_limit limits[MOST_LIMITS];  // [limit_count]
  uint32_t limit_count;
  lanes_edge_condition conditions[MOST_CONDITIONS];  // [condition_count]
  uint32_t condition_count;
  lanes_quotients quotients;
  lanes_hoisted front;
} lanes_interior;

void lanes_find_limits(lanes_interior *s);
// Finds conditions for all limits; drops limits that cannot be tested before
// the region.
bool lanes_find_conditions(lanes_interior *s);
// Returns an index's value in the interior.
LLVMValueRef lanes_uncut(const lanes_interior *s, LLVMValueRef value);
// True if the interior version saves enough.
bool lanes_has_reason(const lanes_interior *s);
// Returns whether a condition, if there is one, holds and no limit has an
// effect.
LLVMValueRef lanes_all_hold(lanes_interior *s, LLVMValueRef passes);

#endif
