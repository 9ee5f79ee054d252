// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// builtin_calls.h: calls of the functions of docs/ir.md and of LLVM's
// intrinsics.
#ifndef MTLC_BUILTIN_CALLS_H
#define MTLC_BUILTIN_CALLS_H

#include <llvm-c/Core.h>

#include "compiler/vectorize/emit/values/emitter.h"

// Emits a call of a function of docs/ir.md, or of an intrinsic.
void lanes_emit_call(lanes_emitter *e, LLVMValueRef call);

#endif
