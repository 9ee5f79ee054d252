// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// divisions.h: quotients and remainders of integers, for which machines have no
// vector instruction.
#ifndef MTLC_DIVISIONS_H
#define MTLC_DIVISIONS_H

#include <llvm-c/Core.h>
#include <stdbool.h>

#include "compiler/vectorize/emit/values/emitter.h"

// The quotient or remainder of two vectors.
bool lanes_is_division(LLVMOpcode opcode);
LLVMValueRef lanes_divide(lanes_emitter *e, LLVMValueRef instruction,
                          LLVMValueRef a, LLVMValueRef b);

#endif
