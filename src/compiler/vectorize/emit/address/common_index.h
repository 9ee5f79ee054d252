// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// common_index.h: splits an index into a part that all lanes have in common and
// the rest.
#ifndef MTLC_COMMON_INDEX_H
#define MTLC_COMMON_INDEX_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>

#include "compiler/vectorize/emit/values/emitter.h"

enum { LANES_COMMON_BITS = 4 };

// A number of 32 bits: common + own, which may wrap.
typedef struct lanes_common_index_parts {
  LLVMValueRef common;  // i32, a multiple of 2^LANES_COMMON_BITS
  LLVMValueRef own;     // <lanes x i32>
  // The common part is a multiple of 2^own_bits, and the lanes' parts are below
  // that; 0 if that is not known.
  uint32_t own_bits;
} lanes_common_index_parts;

// Computes the two parts from the index's operands. False if it cannot.
bool lanes_common_index(lanes_emitter *e, LLVMValueRef index,
                      lanes_common_index_parts *out_parts);

#endif
