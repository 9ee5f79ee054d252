// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// atomics.h: atomic read-modify-writes of all threads on one address.
#ifndef MTLC_ATOMICS_H
#define MTLC_ATOMICS_H

#include <llvm-c/Core.h>
#include <stdbool.h>

#include "compiler/vectorize/emit/values/emitter.h"

// Emits an atomicrmw.
void lanes_emit_atomic(lanes_emitter *e, LLVMValueRef atomic);

#endif
