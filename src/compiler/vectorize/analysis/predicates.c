// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// predicates.c: algebra of integer predicates.
#include "compiler/vectorize/analysis/predicates.h"

typedef LLVMIntPredicate predicate_pair[2];

// Returns the other predicate of a pair; a predicate of no pair stays.
static LLVMIntPredicate other_of(const predicate_pair *pairs, uint32_t count,
                                 LLVMIntPredicate predicate) {
  for (uint32_t i = 0; i < count; i++) {
    if (predicate == pairs[i][0] || predicate == pairs[i][1]) {
      return pairs[i][predicate == pairs[i][0]];
    }
  }
  return predicate;
}

LLVMIntPredicate lanes_inverse_predicate(LLVMIntPredicate predicate) {
  static const predicate_pair inverses[] = {{LLVMIntUGE, LLVMIntULT},
                                            {LLVMIntUGT, LLVMIntULE},
                                            {LLVMIntSGE, LLVMIntSLT},
                                            {LLVMIntSGT, LLVMIntSLE},
                                            {LLVMIntNE, LLVMIntEQ}};
  return other_of(inverses, sizeof inverses / sizeof *inverses, predicate);
}

LLVMIntPredicate lanes_swapped_predicate(LLVMIntPredicate predicate) {
  static const predicate_pair pairs[] = {{LLVMIntUGE, LLVMIntULE},
                                         {LLVMIntUGT, LLVMIntULT},
                                         {LLVMIntSGE, LLVMIntSLE},
                                         {LLVMIntSGT, LLVMIntSLT}};
  return other_of(pairs, sizeof pairs / sizeof *pairs, predicate);
}

bool lanes_is_signed_predicate(LLVMIntPredicate predicate) {
  return predicate == LLVMIntSLT || predicate == LLVMIntSLE ||
         predicate == LLVMIntSGT || predicate == LLVMIntSGE;
}

bool lanes_is_less_predicate(LLVMIntPredicate predicate) {
  return predicate == LLVMIntULT || predicate == LLVMIntULE ||
         predicate == LLVMIntSLT || predicate == LLVMIntSLE;
}
