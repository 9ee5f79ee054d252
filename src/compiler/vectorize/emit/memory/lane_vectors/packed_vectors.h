// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// packed_vectors.h: vectors of the program, such as half4, that stay as they
// lie in memory.
#ifndef MTLC_PACKED_VECTORS_H
#define MTLC_PACKED_VECTORS_H

#include <llvm-c/Core.h>
#include <stdbool.h>

#include "compiler/vectorize/emit/values/emitter.h"

// Makes the memory of vectors that are kept whole; emits one. Returns
// false if it is not one.
void lanes_packed_begin(lanes_emitter *e);
bool lanes_emit_packed(lanes_emitter *e, LLVMValueRef instruction);
// Leaves what an edge brings to a phi that is one. Returns false if it is none.
bool lanes_pass_packed(lanes_emitter *e, LLVMValueRef phi, LLVMValueRef value);

#endif
