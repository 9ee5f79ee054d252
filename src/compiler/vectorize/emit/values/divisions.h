// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// divisions.h: emits quotients and remainders of integers.
#ifndef MTLC_DIVISIONS_H
#define MTLC_DIVISIONS_H

#include <llvm-c/Core.h>
#include <stdbool.h>

#include "compiler/vectorize/emit/values/emitter.h"

// The first is true for an integer division's opcode. The second emits one.
bool lanes_is_division(LLVMOpcode opcode);
LLVMValueRef lanes_divide(lanes_emitter *e, LLVMValueRef instruction,
                          LLVMValueRef a, LLVMValueRef b);

#endif
