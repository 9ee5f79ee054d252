// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// base_index.h: addresses as one base and an index of 32 bits for each lane,
// and what is done to them lane by lane without a loop.
#ifndef MTLC_BASE_INDEX_H
#define MTLC_BASE_INDEX_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>

#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/emit/values/emitter.h"

// The address of a lane is base + index * size_bytes.
typedef struct lanes_base_index {
  LLVMValueRef base;
  LLVMValueRef index;   // <32 x i32>
  LLVMValueRef source;  // what the thread function calls it; may be NULL
  bool is_signed;       // the index
  uint64_t size_bytes;
} lanes_base_index;

// Returns false if a value is no address of that form.
bool lanes_base_index_find(lanes_emitter *e, LLVMValueRef address,
                      lanes_base_index *out_place);
LLVMValueRef lanes_base_index_lane(lanes_emitter *e, const lanes_base_index *place,
                                 LLVMValueRef index);
// Returns i1: the indices are where they are read from, which is to be asked
// before they are taken.
LLVMValueRef lanes_indices_hold(lanes_emitter *e, const lanes_base_index *place,
                                LLVMValueRef user);

// The indices one by one, for a user that all lanes run in turn.
typedef struct lanes_indices {
  const lanes_base_index *place;
  bool are_in_memory;         // read again from where they came from
  LLVMValueRef taken[MOST_LANES];  // else
} lanes_indices;
void lanes_indices_begin(lanes_emitter *e, const lanes_base_index *place,
                         LLVMValueRef user, lanes_indices *out_indices);
// The lane's that is so many behind first, an i64 which only those in memory
// may have other than zero.
LLVMValueRef lanes_indices_at(lanes_emitter *e, const lanes_indices *indices,
                              LLVMValueRef first, uint32_t lane);
// Takes a vector apart; two words at a time, for a machine's registers of
// vectors are slow to part with what they hold.
void lanes_take_all(lanes_emitter *e, LLVMValueRef vector,
                    LLVMValueRef out_elements[MOST_LANES]);
// The same of an operand with one component as lanes_take_all of a vector.
void lanes_take_operand(lanes_emitter *e, LLVMValueRef operand,
                        LLVMValueRef out_elements[MOST_LANES]);

#endif
