// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// access.h: a load or store of 32 lanes.
#ifndef MTLC_ACCESS_H
#define MTLC_ACCESS_H

#include <llvm-c/Core.h>
#include <stdint.h>

#include "compiler/vectorize/analysis/shape.h"

typedef struct lanes_access {
  LLVMValueRef instruction;
  LLVMValueRef pointer;  // operand, or NULL: only what is given counts
  lanes_shape shape;     // of the pointer
  LLVMTypeRef element;   // as it is in memory: whole bytes
  LLVMTypeRef type;      // of a component of the value
  uint32_t count;        // components
  uint64_t size_bytes;   // of an element
  uint64_t pitch_bytes;  // from one component to the next
  uint32_t alignment;
  LLVMValueRef first;     // lane 0's address if it is not the pointer's
  LLVMValueRef *firsts;   // [LANES / shape.row] each row's, or NULL
  const struct lanes_stride_factors *factors;  // of its index, or NULL
  LLVMValueRef places;    // in windows: each lane's, in elements from its first
  LLVMValueRef lanes[2];  // the lane at each place of a window's halves
} lanes_access;

#endif
