// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// segment_addresses.h: addresses of runs of lanes, each computed on its own
// from the terms of its sum.
#ifndef MTLC_SEGMENT_ADDRESSES_H
#define MTLC_SEGMENT_ADDRESSES_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>

#include "compiler/vectorize/analysis/addresses/affine.h"
#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/emit/values/emitter.h"

// The first value of one of the runs that an operand has at a
// width.
LLVMValueRef lanes_segment_first(lanes_emitter *e, LLVMValueRef operand,
                                uint32_t width, uint32_t run);
LLVMValueRef lanes_segment_index(lanes_emitter *e, const lanes_affine *at,
                                uint32_t width, uint32_t run);
LLVMValueRef lanes_segment_address(lanes_emitter *e, const lanes_affine *at,
                                  uint32_t width, uint32_t run);
// Lane 0's address.
LLVMValueRef lanes_first_address(lanes_emitter *e, LLVMValueRef pointer);
// Each lane's, where all run: lane 0's and so many bytes, if these are known.
void lanes_take_addresses(lanes_emitter *e, LLVMValueRef pointer,
                          LLVMValueRef out_addresses[MOST_LANES]);
// All of them, where a run in which no lane lives has the address of another in
// which one does: live is [width] i1, not all false.
void lanes_live_segment_addresses(lanes_emitter *e, const lanes_affine *at,
                                  uint32_t width, LLVMValueRef *live,
                                  LLVMValueRef *out_addresses);

#endif
