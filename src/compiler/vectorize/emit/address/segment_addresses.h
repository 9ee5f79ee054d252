// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// segment_addresses.h: computes the address of each segment of lanes on its
// own.
#ifndef MTLC_SEGMENT_ADDRESSES_H
#define MTLC_SEGMENT_ADDRESSES_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>

#include "compiler/vectorize/analysis/addresses/affine.h"
#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/emit/values/emitter.h"

// Returns the first value of a segment; an operand has as many at a width.
LLVMValueRef lanes_segment_first(lanes_emitter *e, LLVMValueRef operand,
                                uint32_t width, uint32_t run);
LLVMValueRef lanes_segment_index(lanes_emitter *e, const lanes_affine *at,
                                uint32_t width, uint32_t run);
LLVMValueRef lanes_segment_address(lanes_emitter *e, const lanes_affine *at,
                                  uint32_t width, uint32_t run);
// Returns lane 0's address.
LLVMValueRef lanes_first_address(lanes_emitter *e, LLVMValueRef pointer);
// Sets each lane's address, where all lanes run: lane 0's plus known offsets
// if there are such.
void lanes_take_addresses(lanes_emitter *e, LLVMValueRef pointer,
                          LLVMValueRef out_addresses[MOST_LANES]);
// Sets all segments' addresses. A segment without a running lane gets the
// address of one with a running lane: live is [width] i1, not all false.
void lanes_live_segment_addresses(lanes_emitter *e, const lanes_affine *at,
                                  uint32_t width, LLVMValueRef *live,
                                  LLVMValueRef *out_addresses);

#endif
