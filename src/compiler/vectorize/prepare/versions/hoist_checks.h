// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hoist_checks.h: computes values of a region once more before the region, for
// its versioning check.
#ifndef MTLC_HOIST_CHECKS_H
#define MTLC_HOIST_CHECKS_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>

#include "compiler/vectorize/base/tables.h"
#include "compiler/vectorize/prepare/versions/clone_region.h"

typedef struct lanes_hoisted {
  const lanes_clone *part;
  lanes_map made;
  LLVMValueRef *values;  // [instructions of the region]
} lanes_hoisted;

// True if a value is available before the region, or can be computed there in
// at most that many steps.
bool lanes_hoist_can(const lanes_clone *part, LLVMValueRef value,
                     uint32_t depth);
// Call it once the region has been surveyed.
lanes_hoisted lanes_hoist_begin(const lanes_clone *part);
// Returns a value that is available at the region's builder, or computes it
// there.
LLVMValueRef lanes_hoist_make(lanes_hoisted *front, LLVMValueRef value);

#endif
