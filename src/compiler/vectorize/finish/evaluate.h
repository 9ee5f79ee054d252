// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// evaluate.h: evaluates integers and addresses for a known simdgroup of a known
// threadgroup.
#ifndef MTLC_EVALUATE_H
#define MTLC_EVALUATE_H

#include <llvm-c/Core.h>
#include <llvm-c/Target.h>
#include <stdbool.h>
#include <stdint.h>

// A simdgroup of a threadgroup with one layer in z.
typedef struct lanes_known_place {
  LLVMValueRef function;  // mettle.simdgroup.<row>; in another function only
                          // constants are known
  LLVMTargetDataRef data;
  uint64_t first;      // index of its first thread
  uint64_t threads;    // of the threadgroup; 0 if it is not known
  uint64_t row;        // threads in a row, as in threads
  uint64_t *patience;  // operations left for all evaluations
} lanes_known_place;

// Evaluates an integer, or one lane of a vector. False if it depends on more
// than the place, or takes too many operations.
bool lanes_evaluate(const lanes_known_place *place, LLVMValueRef value,
                    uint32_t lane, uint64_t *out);

// Evaluates how many bytes an address, or a lane's address, is after root.
bool lanes_offset_at(const lanes_known_place *place, LLVMValueRef address,
                     uint32_t lane, LLVMValueRef root, int64_t *out);

#endif
