// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// lane_vectors.h: what lanes that may be anywhere in memory each have side by side
// there, in several loads or stores of a block.
#ifndef MTLC_LANE_VECTORS_H
#define MTLC_LANE_VECTORS_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>

#include "compiler/vectorize/analysis/affine.h"
#include "compiler/vectorize/emit/address/access.h"
#include "compiler/vectorize/emit/values/emitter.h"

enum {
  LANES_UNIT_BYTES = 16,  // of one lane
  LANES_WORD_BYTES = 4,
  LANES_UNIT_WORDS = LANES_UNIT_BYTES / LANES_WORD_BYTES,
  LANES_LANE_VECTOR_BYTES = 32,  // at a time: eight words of 32 lanes are 16 registers
  LANES_LANE_VECTOR_WORDS = LANES_LANE_VECTOR_BYTES / LANES_WORD_BYTES,
  LANES_LANE_VECTOR_MEMBERS = LANES_LANE_VECTOR_BYTES,
};

typedef struct lanes_lane_vector_member {
  lanes_access access;
  int64_t start;     // bytes behind the first one's, then behind the row's
  int64_t constant;  // of its place
  int64_t bytes;     // of its place
} lanes_lane_vector_member;

// What each lane reads or writes, a part of it for each member.
typedef struct lanes_lane_vector {
  lanes_affine at;  // of the row: its constant is the least of the members'
  int64_t most_constant;
  lanes_lane_vector_member members[LANES_LANE_VECTOR_MEMBERS];
  uint32_t member_count;
  uint32_t bytes;  // whole words
  uint32_t alignment;
} lanes_lane_vector;

// lane_vectors.c: adds an access, a load or a store of a value of that type, if it
// lies near the first, whose place row->at is. Returns whether it does.
bool lanes_lane_vector_add(lanes_emitter *e, lanes_lane_vector *row, LLVMValueRef instruction,
                   LLVMValueRef pointer, LLVMTypeRef type);
// Leaves the members that lie in one row with the first: all bytes of it are
// some member's.
void lanes_lane_vector_choose(lanes_lane_vector *row);

// The units of one half of the lanes, 0 or 1, of which each of four vectors
// <32 x i32> has a word: out_units[MOST_LANES / 2], <4 x i32>.
void lanes_make_units(lanes_emitter *e, LLVMValueRef *words, uint32_t half,
                      LLVMValueRef *out_units);

// The same where lanes may be anywhere, for an element or a vector
// of them.
bool lanes_load_lane_vectors(lanes_emitter *e, const lanes_access *a);
// Words of 16 lanes, lane by lane, from four vectors of four lanes' units,
// those of lanes 4 apart in one; and back. Of 8 lanes from vectors of two.
void lanes_transpose(lanes_emitter *e, LLVMValueRef parts[4],
                     LLVMValueRef out_words[4]);

#endif
