// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// elementwise_calls.h: intrinsics that have a vector form.
#ifndef MTLC_ELEMENTWISE_CALLS_H
#define MTLC_ELEMENTWISE_CALLS_H

#include "compiler/vectorize/emit/values/emitter.h"

void lanes_emit_elementwise(lanes_emitter *e, LLVMValueRef call);

#endif
