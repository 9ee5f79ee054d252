// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// scalarise.h: runs an instruction without a vector form once for each active
// thread, in the order of lanes.
#ifndef MTLC_SCALARISE_H
#define MTLC_SCALARISE_H

#include <llvm-c/Core.h>
#include <stdbool.h>

#include "compiler/vectorize/emit/values/emitter.h"

// Emits such an instruction: an atomic, an unknown call.
void lanes_scalarise(lanes_emitter *e, LLVMValueRef instruction);
// Returns an array for the lanes' values, [32] of a type, valid until the end
// of the instruction.
LLVMValueRef lanes_array_of(lanes_emitter *e, LLVMTypeRef type);
LLVMValueRef lanes_element_at(lanes_emitter *e, LLVMTypeRef type,
                              LLVMValueRef array, LLVMValueRef lane);
// The first returns such an array of a vector's elements, bools excepted; the
// second, a lane's element of it.
LLVMValueRef lanes_array_from(lanes_emitter *e, LLVMValueRef vector);
LLVMValueRef lanes_element_of(lanes_emitter *e, LLVMTypeRef type,
                              LLVMValueRef array, LLVMValueRef lane);

// Runs a body for each live lane, in the order of lanes, and continues in
// `done`.
typedef void lanes_lane_body(lanes_emitter *e, void *context,
                             LLVMValueRef lane);
void lanes_loop_over_lanes(lanes_emitter *e, lanes_lane_body *body, void *context,
                LLVMBasicBlockRef done);

#endif
