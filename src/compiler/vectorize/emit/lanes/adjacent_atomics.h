// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// adjacent_atomics.h: read-modify-write operations on words that lanes have
// side by side, as where rows are added to those of a table.
#ifndef MTLC_ADJACENT_ATOMICS_H
#define MTLC_ADJACENT_ATOMICS_H

#include <llvm-c/Core.h>
#include <stdbool.h>

#include "compiler/vectorize/emit/values/emitter.h"

// Emits one on words that lie side by side. Returns false
// if it does not.
bool lanes_emit_adjacent_atomic(lanes_emitter *e, LLVMValueRef atomic);

#endif
