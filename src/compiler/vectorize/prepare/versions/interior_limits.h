// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// interior_limits.h: what cuts off indices at edges.
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
  LEAST_ACCESSES = 3,  // at indices that may be cut off
  LEAST_BRANCHES = 2,  // around what is out of bounds
  LEAST_BOUND = 16,    // greater ones may be an image's end
  MOST_LIMITS = 64,
  MOST_INDICES = 4,  // of which one comparison tells whether any is negative
  MOST_CONDITIONS = 24,
  MOST_DEPTH = 8,  // of what conditions are computed from
};

// A minimum or a maximum that may cut off lanes' index, or a comparison that
// tells whether it is within bounds.
typedef struct limit {
  LLVMValueRef value;
  LLVMValueRef indices[MOST_INDICES];  // [index_count] compared with the bound
  uint32_t index_count;
  LLVMValueRef bound;
  LLVMIntPredicate predicate;  // what holds of each away from edges
  LLVMValueRef within;         // a comparison's result then; NULL: the index
} lanes_index_limit;

// What must hold of an index that a constant is added to, of those that are
// like it but for the constant: that it is no less, or no more, than a bound.
typedef struct condition {
  LLVMValueRef root;
  LLVMValueRef index;  // the root and the constant
  LLVMValueRef bound;
  int64_t constant;
  LLVMIntPredicate predicate;
  // Of those that it stands for: the index that the smallest constant is added
  // to, and the largest.
  LLVMValueRef first;
  int64_t smallest, largest;
  lanes_counter counter;  // that the root is a sum with; phi: NULL for none
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
// Leaves out what cannot be asked in front of the part.
bool lanes_find_conditions(lanes_interior *s);
// What an index is where none is cut off.
LLVMValueRef lanes_uncut(const lanes_interior *s, LLVMValueRef value);
// True if there is enough that costs less away from edges.
bool lanes_has_reason(const lanes_interior *s);
// Whether a condition holds, if there is one, and nothing is cut off.
LLVMValueRef lanes_all_hold(lanes_interior *s, LLVMValueRef passes);

#endif
