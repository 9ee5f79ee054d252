// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// base_index.h: addresses as one base and a 32-bit index for each lane.
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
  LLVMValueRef source;  // the index in the thread function; NULL if unknown
  bool is_signed;       // the index
  uint64_t size_bytes;
} lanes_base_index;

// False if a value is no address of that form.
bool lanes_base_index_find(lanes_emitter *e, LLVMValueRef address,
                      lanes_base_index *out_place);
LLVMValueRef lanes_base_index_lane(lanes_emitter *e, const lanes_base_index *place,
                                 LLVMValueRef index);
// Returns an i1: the indices in memory are the right ones. Test it before
// lanes_indices_begin.
LLVMValueRef lanes_indices_hold(lanes_emitter *e, const lanes_base_index *place,
                                LLVMValueRef user);

// The lanes' indices one by one, for code that is emitted once for each lane.
typedef struct lanes_indices {
  const lanes_base_index *place;
  bool are_in_memory;         // they are read from memory again
  LLVMValueRef taken[MOST_LANES];  // otherwise the extracted ones
} lanes_indices;
void lanes_indices_begin(lanes_emitter *e, const lanes_base_index *place,
                         LLVMValueRef user, lanes_indices *out_indices);
// Returns the index of lane first + lane. first is an i64, and is 0 unless the
// indices are in memory.
LLVMValueRef lanes_indices_at(lanes_emitter *e, const lanes_indices *indices,
                              LLVMValueRef first, uint32_t lane);
// Extracts all elements of a vector, two words at a time: extraction from
// vector registers is slow.
void lanes_take_all(lanes_emitter *e, LLVMValueRef vector,
                    LLVMValueRef out_elements[MOST_LANES]);
// Extracts all elements of an operand with one component.
void lanes_take_operand(lanes_emitter *e, LLVMValueRef operand,
                        LLVMValueRef out_elements[MOST_LANES]);

#endif
