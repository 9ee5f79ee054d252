// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// wrap_checks.h: addresses whose stride holds unless an index wraps around in
// its narrow type between two lanes, or is cut off by a minimum or maximum.
#ifndef MTLC_WRAP_CHECKS_H
#define MTLC_WRAP_CHECKS_H

#include <llvm-c/Core.h>

#include "compiler/vectorize/emit/values/emitter.h"

// Returns i1: the stride of a conditional address holds.
LLVMValueRef lanes_stride_holds(lanes_emitter *e, LLVMValueRef address);
// Where one index alone may wrap, once (lanes_find_wrap): returns the lanes
// before the one that does, and by how many bytes those from there on are off
// the stride.
LLVMValueRef lanes_before_wrap(lanes_emitter *e, LLVMValueRef address,
                               LLVMValueRef *out_jump_bytes);

#endif
