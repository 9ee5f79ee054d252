// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// dot_calls.h: emits the calls that prepare/dot_products.c makes.
#ifndef MTLC_DOT_CALLS_H
#define MTLC_DOT_CALLS_H

#include <llvm-c/Core.h>
#include <stdbool.h>

#include "compiler/vectorize/emit/values/emitter.h"

// True for calls of mettle.pairs.even, .odd and .dot
// (src/compiler/ir/text/pairs.ll).
bool lanes_is_dot(LLVMValueRef call);
void lanes_emit_dot(lanes_emitter *e, LLVMValueRef call);

#endif
