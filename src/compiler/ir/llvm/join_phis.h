// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// join_phis.h: joins phis that differ only where one has no value.
#ifndef MTLC_JOIN_PHIS_H
#define MTLC_JOIN_PHIS_H

#include <llvm-c/Core.h>

// Replaces each phi that is undefined where another phi of its block is
// constant, and is otherwise equal to it, by that other phi.
void mtlc_join_phis(LLVMValueRef function);

#endif
