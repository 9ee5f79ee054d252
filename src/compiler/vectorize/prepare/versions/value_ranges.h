// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// value_ranges.h: emits code that computes the range of values and addresses
// over all threads of a dispatch and all loop iterations.
#ifndef MTLC_VALUE_RANGES_H
#define MTLC_VALUE_RANGES_H

#include <llvm-c/Core.h>
#include <llvm-c/Target.h>
#include <stdbool.h>
#include <stdint.h>

#include "compiler/ir/kernel/kernel.h"
#include "compiler/vectorize/analysis/graph.h"
#include "compiler/vectorize/base/tables.h"

// The least and the greatest of a number's values, both numbers of 64 bits with
// a sign. Of a number of fewer bits they tell it modulo 2^width: what is added
// and multiplied may leave its width for a while.
typedef struct lanes_range {
  LLVMValueRef least;
  LLVMValueRef greatest;
  uint32_t bits;           // both are between -2^bits and 2^bits
  bool is_negative_never;  // least is known to be 0 or more
} lanes_range;

// Ranges that are computed at one place of the thread function.
typedef struct lanes_ranges {
  const lanes_graph *graph;
  LLVMTargetDataRef data;
  LLVMContextRef context;
  LLVMModuleRef module;
  LLVMBuilderRef builder;  // writes into a block that stands nowhere yet
  uint32_t place;          // the node that will lead to it
  // An i1: true at run time if all ranges hold: no number has overflowed its
  // type.
  LLVMValueRef holds;
  lanes_map numbers;  // a value to its range
  lanes_range *made;  // [numbers.count]
  uint32_t capacity;
} lanes_ranges;

// Finds a number's range; false if nothing is known of it.
bool lanes_range_of(lanes_ranges *ranges, LLVMValueRef number,
                    lanes_range *out_range);
// Finds an address's root, and the range of bytes from there to it; false if
// the root is not the same for all threads and there at the place already.
bool lanes_range_of_address(lanes_ranges *ranges, LLVMValueRef address,
                            LLVMValueRef *out_root, lanes_range *out_bytes);
// Returns the smaller of two least values and the greater of two greatest.
lanes_range lanes_range_union(lanes_ranges *ranges, lanes_range a,
                              lanes_range b);

#endif
