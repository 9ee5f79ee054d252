// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// forward.h: forwards stored values to loads in unoptimised code.
#ifndef MTLC_FORWARD_H
#define MTLC_FORWARD_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>

// Returns the value that a load must have: what was last stored to the same
// private memory, if the store is in the load's block and nothing between can
// write there; through copies and further loads, as far as that goes. The
// result has the load's size in bytes, but perhaps another type. Returns value
// itself if it is no load, or if nothing is known.
LLVMValueRef mtlc_forward(LLVMModuleRef module, LLVMValueRef value);

// A range of bytes in a private variable.
typedef struct mtlc_private {
  LLVMValueRef memory;  // the alloca; NULL if not known
  int64_t offset;       // of its first byte
  int64_t bytes;
} mtlc_private;

// Returns the private memory that holds a load's value where its block begins:
// through copies in the block. memory is NULL if the block stores there, or
// nothing is known.
mtlc_private mtlc_forward_memory(LLVMModuleRef module, LLVMValueRef load);

// True if an instruction may change private memory that mtlc_forward_memory
// has returned, or begins or ends the variable's life.
bool mtlc_changes(LLVMModuleRef module, LLVMValueRef instruction,
                  const mtlc_private *memory);

#endif
