// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// affine.h: addresses as sums, so that it is seen which lie beside each other.
#ifndef MTLC_AFFINE_H
#define MTLC_AFFINE_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>

#include "compiler/vectorize/analysis/uniformity.h"

enum { LANES_MOST_TERMS = 4 };

// An address: base + scale * (extended sum of terms and constant) + bytes.
typedef struct lanes_affine {
  LLVMValueRef base;
  uint64_t scale;
  LLVMValueRef sum;        // the index before it is extended; NULL for none
  LLVMTypeRef index_type;  // of the sum; NULL without an index
  bool is_extended;        // from index_type to 64 bits, behind the sum
  bool is_signed;          // where extended
  bool is_unwrapped;       // the sum does not wrap (no_wrap.h)
  LLVMValueRef terms[LANES_MOST_TERMS];  // [term_count], to be cut to
                                         // index_type if wider
  uint32_t term_count;
  int64_t constant;   // it may wrap at the sum's width, unless
  bool is_carryless;  // it is all of bits that the terms' sum does not have
  int64_t bytes;
} lanes_affine;

// True if an address is a getelementptr whose indices count what they say.
bool lanes_is_plain_step(const lanes_values *values, LLVMValueRef address);
// Every address is one: with no index, if nothing is known of it.
void lanes_affine_find(const lanes_values *values, LLVMValueRef pointer,
                       lanes_affine *out_linear);
// The same of an integer, as a sum of its own width; false if it is one of too
// many terms.
bool lanes_affine_find_number(LLVMValueRef number, lanes_affine *out_affine);
// True if two differ only by constant and bytes.
bool lanes_affine_like(const lanes_affine *a, const lanes_affine *b);
// By how many bytes the second of two such is behind the first, if no index
// wraps between them.
int64_t lanes_affine_distance(const lanes_affine *a, const lanes_affine *b);
// True if an index narrower than addresses could wrap between two such.
bool lanes_affine_may_wrap(const lanes_values *values, const lanes_affine *a,
                           const lanes_affine *b);

#endif
