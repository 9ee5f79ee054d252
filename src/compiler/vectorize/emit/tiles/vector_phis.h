// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// vector_phis.h: vectors of several tiles' pairs that a loop carries.
#ifndef MTLC_VECTOR_PHIS_H
#define MTLC_VECTOR_PHIS_H

#include <llvm-c/Core.h>
#include <stdbool.h>

// Parts phis of vectors that tiles come in by into phis of pairs of floats, one
// for each tile. Returns whether there were any.
bool lanes_part_vector_phis(LLVMContextRef context, LLVMValueRef function);

#endif
