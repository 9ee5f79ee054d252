// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// induction.h: by how much values and addresses rise with each turn of a loop.
#ifndef MTLC_INDUCTION_H
#define MTLC_INDUCTION_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>

#include "compiler/vectorize/analysis/uniformity.h"

// By how much a value rises with each turn of a loop: by a known number, by so
// many times a value from outside the loop, by a number that is the same in all
// turns, or by what nobody knows.
typedef struct lanes_induction_step {
  enum {
    LANES_STEP_KNOWN,
    LANES_STEP_TIMES,
    LANES_STEP_SAME,
    LANES_STEP_UNKNOWN
  } kind;
  uint64_t by;  // wraps, as what it stands for does
  LLVMValueRef factor;
} lanes_induction_step;

// What each turn of a loop adds to a value; of an address, in bytes.
lanes_induction_step lanes_step_of(const lanes_values *values, LLVMValueRef value,
                              uint32_t loop);
// The same of a phi in that loop's header, or in that of one inside it.
lanes_induction_step lanes_step_of_phi(const lanes_values *values, LLVMValueRef phi,
                                  uint32_t loop);
// What a phi in a loop's header begins with.
LLVMValueRef lanes_begin_of(const lanes_values *values, LLVMValueRef phi,
                            uint32_t loop);
// True if a value is from outside a loop.
bool lanes_is_from_outside(const lanes_values *values, LLVMValueRef value,
                           uint32_t loop);

// True if a value is a thread's index in its threadgroup, in any
// dimension or in all; or how many threads that has.
bool lanes_is_thread_index(LLVMValueRef value);
bool lanes_is_threadgroup_size(LLVMValueRef value);
// True if an address depends on where in the grid a thread is; what does
// not is loaded by all threadgroups, and is there.
bool lanes_moves_with_grid(const lanes_values *values, LLVMValueRef address);

#endif
