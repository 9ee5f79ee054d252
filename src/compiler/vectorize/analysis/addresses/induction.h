// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// induction.h: the amount that each iteration of a loop adds to values and
// addresses.
#ifndef MTLC_INDUCTION_H
#define MTLC_INDUCTION_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>

#include "compiler/vectorize/analysis/uniformity.h"

// What each iteration of a loop adds to a value: a constant, a constant times a
// value from outside the loop, an unknown number that is the same in all
// iterations, or nothing known.
typedef struct lanes_induction_step {
  enum {
    LANES_STEP_KNOWN,
    LANES_STEP_TIMES,
    LANES_STEP_SAME,
    LANES_STEP_UNKNOWN
  } kind;
  uint64_t by;  // may wrap, as the value itself does
  LLVMValueRef factor;
} lanes_induction_step;

// Returns what each iteration of a loop adds to a value; for an address, in
// bytes.
lanes_induction_step lanes_step_of(const lanes_values *values, LLVMValueRef value,
                              uint32_t loop);
// Returns the same of a phi in the header of that loop or of an inner one.
lanes_induction_step lanes_step_of_phi(const lanes_values *values, LLVMValueRef phi,
                                  uint32_t loop);
// Returns the start value of a phi in a loop's header.
LLVMValueRef lanes_begin_of(const lanes_values *values, LLVMValueRef phi,
                            uint32_t loop);
// True if a value is defined outside a loop.
bool lanes_is_from_outside(const lanes_values *values, LLVMValueRef value,
                           uint32_t loop);

// True if a value is a thread's index in its threadgroup, in one dimension or
// linear, or the count of threads there.
bool lanes_is_thread_index(LLVMValueRef value);
bool lanes_is_threadgroup_size(LLVMValueRef value);
// True if an address depends on the thread's position in the grid. Any other
// address is loaded by every threadgroup, and so is in the cache.
bool lanes_moves_with_grid(const lanes_values *values, LLVMValueRef address);
// True if an address changes from one threadgroup to the next along x.
bool lanes_moves_along_grid(const lanes_values *values, LLVMValueRef address);

#endif
