// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// predicates.h: algebra of integer predicates.
#ifndef MTLC_PREDICATES_H
#define MTLC_PREDICATES_H

#include <llvm-c/Core.h>
#include <stdbool.h>

LLVMIntPredicate lanes_inverse_predicate(LLVMIntPredicate predicate);
// Returns the predicate for swapped operands.
LLVMIntPredicate lanes_swapped_predicate(LLVMIntPredicate predicate);
bool lanes_is_signed_predicate(LLVMIntPredicate predicate);
// True for "less than" and "less than or equal".
bool lanes_is_less_predicate(LLVMIntPredicate predicate);

#endif
