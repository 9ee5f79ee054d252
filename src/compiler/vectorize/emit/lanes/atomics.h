// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// atomics.h: read-modify-write operations of all threads on one address.
#ifndef MTLC_ATOMICS_H
#define MTLC_ATOMICS_H

#include <llvm-c/Core.h>
#include <stdbool.h>

#include "compiler/vectorize/emit/values/emitter.h"

// Atomicrmw
void lanes_emit_atomic(lanes_emitter *e, LLVMValueRef atomic);

#endif
