// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// window_loads.h: finds the windows of memory that lanes lie in, and loads from
// them.
#ifndef MTLC_WINDOW_LOADS_H
#define MTLC_WINDOW_LOADS_H

#include <llvm-c/Core.h>

#include "compiler/vectorize/emit/values/emitter.h"
#include "compiler/vectorize/plan/access/access.h"

// An access's 32-bit indices. A constant added to those of all lanes is kept
// separate, so that accesses that differ only in it share the test of the rest.
typedef struct lanes_window_indices {
  LLVMValueRef index;  // as in the thread function
  LLVMValueRef added;  // i32, or NULL
  bool is_signed;      // the sum of both is sign-extended to an address
} lanes_window_indices;

// Returns an i1: a window can be read whole. It must not leave its page, nor
// may an index wrap within it. A worker's own memory has padding around it, and
// an index that wraps never leads into it.
LLVMValueRef lanes_window_is_there(lanes_emitter *e, LLVMValueRef begin,
                                   LLVMValueRef address, bool is_signed);
// Splits off the constant added to all lanes' indices.
void lanes_window_part_indices(lanes_emitter *e, lanes_window_indices *indices);
LLVMValueRef lanes_window_load_half(lanes_emitter *e, const lanes_access *a,
                                    uint32_t window, uint32_t half);
lanes_window_indices lanes_window_indices_of(const lanes_access *a);
// Loads all registers: the first halves of their windows, or elements picked
// from both halves.
LLVMValueRef lanes_window_load(lanes_emitter *e, const lanes_access *a,
                               bool in_order);
void lanes_window_add_to_all(lanes_emitter *e, lanes_window_indices *indices,
                             LLVMValueRef number);
// Returns an i1: each register's lanes are adjacent, from where its window
// begins.
LLVMValueRef lanes_window_are_in_order(lanes_emitter *e, LLVMValueRef places);
// Returns each lane's position in its register's window, if it is inside.
LLVMValueRef lanes_window_places_in(lanes_emitter *e, LLVMValueRef all,
                                    LLVMValueRef *out_begins);
LLVMValueRef lanes_window_half_of(lanes_emitter *e, const lanes_access *a,
                                  uint32_t window, uint32_t half);
// Returns the address at which a window begins, from its index without the
// added part, and the full index with it.
LLVMValueRef lanes_window_address_in(lanes_emitter *e, const lanes_access *a,
                                     const lanes_window_indices *indices,
                                     LLVMValueRef begin, bool is_signed,
                                     LLVMValueRef *out_begin);
LLVMValueRef lanes_window_are_inside(lanes_emitter *e, LLVMValueRef places);
// Returns an i1: true if no word of the registers shares a bit with the
// pattern. AVX2 has one instruction for that on a joined register.
LLVMValueRef lanes_window_have_no_bits(lanes_emitter *e, LLVMValueRef words,
                                       uint32_t pattern);

#endif
