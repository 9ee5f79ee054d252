// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// wrap_checks.h: tests at run time whether a conditional stride holds.
#ifndef MTLC_WRAP_CHECKS_H
#define MTLC_WRAP_CHECKS_H

#include <llvm-c/Core.h>

#include "compiler/vectorize/emit/values/emitter.h"

// Returns an i1: the stride of a conditional address holds.
LLVMValueRef lanes_stride_holds(lanes_emitter *e, LLVMValueRef address);
// For one index that wraps at most once (lanes_find_wrap): returns the mask of
// lanes before the wrap, and how many bytes the later lanes' addresses differ
// from the stride's.
LLVMValueRef lanes_before_wrap(lanes_emitter *e, LLVMValueRef address,
                               LLVMValueRef *out_jump_bytes);

#endif
