// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// addresses.h: where the rows of lanes are that may be anywhere in
// memory, and the words that they are made of.
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

// lane_vectors/addresses.c
// Where lanes' rows are. Either what differs between lanes apart from what does
// not, so that in a loop along rows the first stays; or, of lanes that are a
// stride apart, the first of each run; or, of lanes that are constants apart,
// lane 0's.
typedef struct lanes_lane_vector_addresses {
  LLVMValueRef lanes;          // <32 x ptr>
  LLVMValueRef offset;         // i64, of all lanes
  LLVMValueRef holds;          // i1: all that may be read so
  const lanes_shape *strided;  // or NULL
  bool has_pattern;
  lanes_pattern pattern;
  LLVMValueRef firsts[MOST_LANES];  // [lanes / strided->row], or one
} lanes_lane_vector_addresses;
lanes_lane_vector_addresses lanes_lane_vector_addresses_of(
    lanes_emitter *e, const lanes_lane_vector *row);
// The same of rows that lie one behind the other, as far as only their own
// index can tell.
lanes_lane_vector_addresses lanes_lane_vector_dense_addresses(lanes_emitter *e, const lanes_lane_vector *row);
// A lane's address, offset bytes into its row.
LLVMValueRef lanes_lane_vector_address(lanes_emitter *e, const lanes_lane_vector_addresses *where,
                               uint32_t lane, uint64_t offset);
// A member's own addresses: of the terms alone, for what is behind the first
// access in the block may not be computed yet.
LLVMValueRef lanes_lane_vector_member_addresses(lanes_emitter *e, const lanes_lane_vector *row,
                                     const lanes_lane_vector_member *m);
// Puts an element, a whole one or a part, into a row's words, zero before.
void lanes_lane_vector_put(lanes_emitter *e, LLVMValueRef *words, uint64_t offset,
                   const lanes_access *a, LLVMValueRef value);

#endif
