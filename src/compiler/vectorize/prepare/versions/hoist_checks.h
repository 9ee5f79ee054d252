// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hoist_checks.h: values that a part of the thread function computes, computed once
// more in front of it: what is asked there decides between it and its copy.
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
  LLVMValueRef *values;  // [instructions of the part]
} lanes_hoisted;

// True if a value is there in front of the part, or can be computed there
// by no more than so many steps.
bool lanes_hoist_can(const lanes_clone *part, LLVMValueRef value,
                     uint32_t depth);
// Once the part has been surveyed.
lanes_hoisted lanes_hoist_begin(const lanes_clone *part);
// Computes a value at the part's builder, or returns it if it is there.
LLVMValueRef lanes_hoist_make(lanes_hoisted *front, LLVMValueRef value);

#endif
