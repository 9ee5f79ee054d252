// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// scalarise.h: runs an instruction that has no vector form once for each thread
// that is active, by rising lane.
#ifndef MTLC_SCALARISE_H
#define MTLC_SCALARISE_H

#include <llvm-c/Core.h>
#include <stdbool.h>

#include "compiler/vectorize/emit/values/emitter.h"

// Atomics, unknown calls
void lanes_scalarise(lanes_emitter *e, LLVMValueRef instruction);
// Memory for one lane's values after another's: [32] of a type, until
// the end of the instruction.
LLVMValueRef lanes_array_of(lanes_emitter *e, LLVMTypeRef type);
LLVMValueRef lanes_element_at(lanes_emitter *e, LLVMTypeRef type,
                              LLVMValueRef array, LLVMValueRef lane);
// Such an array, of a vector's elements but bool, and what a lane has in it.
LLVMValueRef lanes_array_from(lanes_emitter *e, LLVMValueRef vector);
LLVMValueRef lanes_element_of(lanes_emitter *e, LLVMTypeRef type,
                              LLVMValueRef array, LLVMValueRef lane);

// Runs a body for each lane that is live, by rising lane, and goes on in done.
typedef void lanes_lane_body(lanes_emitter *e, void *context,
                             LLVMValueRef lane);
void lanes_loop_over_lanes(lanes_emitter *e, lanes_lane_body *body, void *context,
                LLVMBasicBlockRef done);

#endif
