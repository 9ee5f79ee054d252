// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// evaluate.h: what integers and addresses are where it is known which
// simdgroup of which threadgroup is at work.
#ifndef MTLC_EVALUATE_H
#define MTLC_EVALUATE_H

#include <llvm-c/Core.h>
#include <llvm-c/Target.h>
#include <stdbool.h>
#include <stdint.h>

// A simdgroup of a threadgroup of one plane.
typedef struct lanes_known_place {
  LLVMValueRef function;  // mettle.simdgroup.<row>; of another, constants alone
  LLVMTargetDataRef data;
  uint64_t first;      // index of its first thread
  uint64_t threads;    // of the threadgroup; 0 if it is not known
  uint64_t row;        // of these, in a row; as threads
  uint64_t *patience;  // steps that may still be taken, for all questions
} lanes_known_place;

// Finds an integer, or a lane's of a vector of them. False if it hangs on more
// than the place, or is not found soon.
bool lanes_evaluate(const lanes_known_place *place, LLVMValueRef value,
                    uint32_t lane, uint64_t *out);

// Finds how many bytes an address, or a lane's of a vector of them, lies behind
// root.
bool lanes_offset_at(const lanes_known_place *place, LLVMValueRef address,
                     uint32_t lane, LLVMValueRef root, int64_t *out);

#endif
