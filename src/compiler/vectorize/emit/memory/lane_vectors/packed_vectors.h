// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// packed_vectors.h: short vectors of the kernel, such as half4, that registers
// hold in the order of memory.
#ifndef MTLC_PACKED_VECTORS_H
#define MTLC_PACKED_VECTORS_H

#include <llvm-c/Core.h>
#include <stdbool.h>

#include "compiler/vectorize/emit/values/emitter.h"

// The first makes the memory of packed vectors. The second emits one; false if
// the instruction is none.
void lanes_packed_begin(lanes_emitter *e);
bool lanes_emit_packed(lanes_emitter *e, LLVMValueRef instruction);
// Stores an edge's incoming value of a packed phi. False if the phi is not
// packed.
bool lanes_pass_packed(lanes_emitter *e, LLVMValueRef phi, LLVMValueRef value);

#endif
