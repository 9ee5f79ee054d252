// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// forward.h: forwards stored values to loads in unoptimised code.
#ifndef MTLC_FORWARD_H
#define MTLC_FORWARD_H

#include <llvm-c/Core.h>

// Returns the value that a load must have: what was last stored to the same
// private memory, if the store is in the load's block and nothing between can
// write there; through copies and further loads, as far as that goes. The
// result has the load's size in bytes, but perhaps another type. Returns value
// itself if it is no load, or if nothing is known.
LLVMValueRef mtlc_forward(LLVMModuleRef module, LLVMValueRef value);

#endif
