// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// affine.h: addresses as sums of terms, which tell how far apart two addresses
// are.
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
  LLVMValueRef sum;        // the index before its extension; NULL for none
  LLVMTypeRef index_type;  // of the sum; NULL without an index
  bool is_extended;        // the sum is extended from index_type to 64 bits
  bool is_signed;          // by a sign extension
  bool is_unwrapped;       // the sum does not wrap (no_wrap.h)
  LLVMValueRef terms[LANES_MOST_TERMS];  // [term_count]; a wider one is
                                         // truncated to index_type
  uint32_t term_count;
  int64_t constant;   // added to the terms; may wrap at the sum's width
  bool is_carryless;  // constant shares no bit with the sum of the terms
  int64_t bytes;
} lanes_affine;

// True if an address is a getelementptr whose indices are not scaled for
// interleaved private memory.
bool lanes_is_plain_step(const lanes_values *values, LLVMValueRef address);
// Writes an address as a sum. Where nothing is known of it, it is its own base,
// without an index.
void lanes_affine_find(const lanes_values *values, LLVMValueRef pointer,
                       lanes_affine *out_linear);
// Writes an integer as a sum of its own width. False if it has too many terms.
bool lanes_affine_find_number(LLVMValueRef number, lanes_affine *out_affine);
// True if two addresses differ only in constant and bytes.
bool lanes_affine_like(const lanes_affine *a, const lanes_affine *b);
// Returns how many bytes b lies after a, for two such addresses, if no index
// wraps between them.
int64_t lanes_affine_distance(const lanes_affine *a, const lanes_affine *b);
// True if an index narrower than 64 bits could wrap between two such addresses.
bool lanes_affine_may_wrap(const lanes_values *values, const lanes_affine *a,
                           const lanes_affine *b);

#endif
