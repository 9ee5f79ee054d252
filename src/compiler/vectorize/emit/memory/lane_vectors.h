// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// lane_vectors.h: what lanes that may be anywhere in memory each have side by side
// there, in several loads or stores of a block.
#ifndef MTLC_LANE_VECTORS_H
#define MTLC_LANE_VECTORS_H

#include "compiler/vectorize/emit/memory/accesses.h"

enum {
  LANES_UNIT_BYTES = 16,  // of one lane
  LANES_WORD_BYTES = 4,
  LANES_UNIT_WORDS = LANES_UNIT_BYTES / LANES_WORD_BYTES,
  LANES_ROW_BYTES = 32,  // at a time: eight words of 32 lanes are 16 registers
  LANES_ROW_WORDS = LANES_ROW_BYTES / LANES_WORD_BYTES,
  LANES_ROW_MEMBERS = LANES_ROW_BYTES,
};

typedef struct lanes_row_member {
  lanes_access access;
  int64_t start;     // bytes behind the first one's, then behind the row's
  int64_t constant;  // of its place
  int64_t bytes;     // of its place
} lanes_row_member;

// What each lane reads or writes, a part of it for each member.
typedef struct lanes_row {
  lanes_linear at;  // of the row: its constant is the least of the members'
  int64_t most_constant;
  lanes_row_member members[LANES_ROW_MEMBERS];
  uint32_t member_count;
  uint32_t bytes;  // whole words
  uint32_t alignment;
} lanes_row;

// lane_vectors.c: adds an access, a load or a store of a value of that type, if it
// lies near the first, whose place row->at is. Returns whether it does.
bool lanes_row_add(lanes_emitter *e, lanes_row *row, LLVMValueRef instruction,
                   LLVMValueRef pointer, LLVMTypeRef type);
// Leaves the members that lie in one row with the first: all bytes of it are
// some member's.
void lanes_row_choose(lanes_row *row);

// The units of one half of the lanes, 0 or 1, of which each of four vectors
// <32 x i32> has a word: out_units[MOST_LANES / 2], <4 x i32>.
void lanes_make_units(lanes_emitter *e, LLVMValueRef *words, uint32_t half,
                      LLVMValueRef *out_units);

// lane_vector_addresses.c
// Where lanes' rows are. Either what differs between lanes apart from what does
// not, so that in a loop along rows the first stays; or, of lanes that are a
// stride apart, the first of each run; or, of lanes that are constants apart,
// lane 0's.
typedef struct lanes_row_places {
  LLVMValueRef lanes;          // <32 x ptr>
  LLVMValueRef offset;         // i64, of all lanes
  LLVMValueRef holds;          // i1: all that may be read so
  const lanes_shape *strided;  // or NULL
  bool has_pattern;
  lanes_pattern pattern;
  LLVMValueRef firsts[MOST_LANES];  // [LANES / strided->row], or one
} lanes_row_places;

// own: a member whose address is there; whole: where not all lanes run, another
// way is taken.
lanes_row_places lanes_row_places_of(lanes_emitter *e, const lanes_row *row,
                                     const lanes_row_member *own, bool whole);
// Says whether rows lie one behind the other, as far as only their own index
// can tell, and where they are then.
bool lanes_row_is_dense(const lanes_emitter *e, const lanes_row *row);
lanes_row_places lanes_row_dense_places(lanes_emitter *e, const lanes_row *row);
// A lane's address, offset bytes into its row.
LLVMValueRef lanes_row_address(lanes_emitter *e, const lanes_row_places *where,
                               uint32_t lane, uint64_t offset);
// A member's own addresses: of the terms alone, for what is behind the first
// access in the block may not be computed yet.
LLVMValueRef lanes_row_member_places(lanes_emitter *e, const lanes_row *row,
                                     const lanes_row_member *m);
// Puts an element, a whole one or a part, into a row's words, zero before.
void lanes_row_put(lanes_emitter *e, LLVMValueRef *words, uint64_t offset,
                   const lanes_access *a, LLVMValueRef value);

#endif
