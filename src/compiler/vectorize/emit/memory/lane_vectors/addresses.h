// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// addresses.h: the addresses of lanes' vectors that may be anywhere in memory,
// and the words that a vector is made of.
#ifndef MTLC_LANE_VECTOR_ADDRESSES_H
#define MTLC_LANE_VECTOR_ADDRESSES_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>

#include "compiler/vectorize/analysis/addresses/lane_bits.h"
#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/emit/values/emitter.h"
#include "compiler/vectorize/plan/access/access.h"
#include "compiler/vectorize/plan/access/forms/lane_vectors.h"

// The addresses of lanes' vectors, in one of three ways. In general: what
// differs between lanes, apart from what does not, so that a loop along the
// vectors keeps the first. For lanes a stride apart: the first address of each
// run. For lanes that are constants apart: lane 0's address.
typedef struct lanes_lane_vector_addresses {
  LLVMValueRef lanes;          // <32 x ptr>
  LLVMValueRef offset;         // i64, added for all lanes
  LLVMValueRef holds;          // i1: the addresses are right
  const lanes_shape *strided;  // or NULL
  bool has_pattern;
  lanes_pattern pattern;
  LLVMValueRef firsts[MOST_LANES];  // [lanes / strided->row], or one
} lanes_lane_vector_addresses;
lanes_lane_vector_addresses lanes_lane_vector_addresses_of(
    lanes_emitter *e, const lanes_lane_vector *row);
// Returns the same for adjacent vectors, unless their own index wraps.
lanes_lane_vector_addresses lanes_lane_vector_dense_addresses(lanes_emitter *e, const lanes_lane_vector *row);
// Returns a lane's address, offset bytes into its vector.
LLVMValueRef lanes_lane_vector_address(lanes_emitter *e, const lanes_lane_vector_addresses *where,
                               uint32_t lane, uint64_t offset);
// Returns the addresses of one member, from its own terms only: a value behind
// the first access of the block may not be computed yet.
LLVMValueRef lanes_lane_vector_member_addresses(lanes_emitter *e, const lanes_lane_vector *row,
                                     const lanes_lane_vector_member *m);
// Puts an element, or a part of one, into a vector's words, which are zero
// before.
void lanes_lane_vector_put(lanes_emitter *e, LLVMValueRef *words, uint64_t offset,
                   const lanes_access *a, LLVMValueRef value);

#endif
