// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// adjacent_atomics.h: atomic read-modify-writes of words that lanes have side
// by side.
#ifndef MTLC_ADJACENT_ATOMICS_H
#define MTLC_ADJACENT_ATOMICS_H

#include <llvm-c/Core.h>
#include <stdbool.h>

#include "compiler/vectorize/emit/values/emitter.h"

// Emits such an operation. False if the words are not side by side.
bool lanes_emit_adjacent_atomic(lanes_emitter *e, LLVMValueRef atomic);

#endif
