// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// window_loads.h: where lanes' windows are, and loads from them.
#ifndef MTLC_WINDOW_LOADS_H
#define MTLC_WINDOW_LOADS_H

#include <llvm-c/Core.h>

#include "compiler/vectorize/emit/values/emitter.h"
#include "compiler/vectorize/plan/access/access.h"

// An access's indices, in 32 bits. What is added to those of all lanes is left
// out: several accesses that differ in nothing else share what is found out
// about the rest.
typedef struct lanes_window_indices {
  LLVMValueRef index;  // the thread function's
  LLVMValueRef added;  // i32, or NULL
  bool is_signed;      // all and added together, as they become an address
} lanes_window_indices;

// A window can be read whole if it does not leave the page, nor may an index
// wrap within it. Around a worker's own memory there is enough of it, and an
// index that wraps is no index into it.
LLVMValueRef lanes_window_is_there(lanes_emitter *e, LLVMValueRef begin,
                                   LLVMValueRef address, bool is_signed);
// Takes what is added to all lanes' out.
void lanes_window_part_indices(lanes_emitter *e, lanes_window_indices *indices);
LLVMValueRef lanes_window_load_half(lanes_emitter *e, const lanes_access *a,
                                    uint32_t window, uint32_t half);
lanes_window_indices lanes_window_indices_of(const lanes_access *a);
// All registers', their windows' first halves or picked from both.
LLVMValueRef lanes_window_load(lanes_emitter *e, const lanes_access *a,
                               bool in_order);
void lanes_window_add_to_all(lanes_emitter *e, lanes_window_indices *indices,
                             LLVMValueRef number);
// True if each register's lanes lie one behind the other where its window
// begins.
LLVMValueRef lanes_window_are_in_order(lanes_emitter *e, LLVMValueRef places);
// Each lane's place in its register's window, if it has one.
LLVMValueRef lanes_window_places_in(lanes_emitter *e, LLVMValueRef all,
                                    LLVMValueRef *out_begins);
LLVMValueRef lanes_window_half_of(lanes_emitter *e, const lanes_access *a,
                                  uint32_t window, uint32_t half);
// The address at which a window begins, given where without what is added, and
// the index with it.
LLVMValueRef lanes_window_address_in(lanes_emitter *e, const lanes_access *a,
                                     const lanes_window_indices *indices,
                                     LLVMValueRef begin, bool is_signed,
                                     LLVMValueRef *out_begin);
LLVMValueRef lanes_window_are_inside(lanes_emitter *e, LLVMValueRef places);
// True if words of AVX2's registers have bits in common with none of a
// pattern's: one instruction, where the registers are joined.
LLVMValueRef lanes_window_have_no_bits(lanes_emitter *e, LLVMValueRef words,
                                       uint32_t pattern);

#endif
