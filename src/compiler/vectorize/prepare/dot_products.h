// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// dot_products.h: sums of products of bytes and 16-bit integers, two in a word at a
// time.
#ifndef MTLC_DOT_PRODUCTS_H
#define MTLC_DOT_PRODUCTS_H

#include "compiler/vectorize/emit/values/emitter.h"

// Finds such sums in a function, on machines that have an instruction for them;
// values: of the function, NULL if it loads no single bytes. Returns whether
// there were any; what they were computed from stays, unused.
bool lanes_find_pairs(mtlc_kernel *kernel, LLVMValueRef function,
                      const lanes_values *values);

// Says whether a call is of one of the functions that they are made of, all of
// words: mettle.pairs.even, .odd and .dot (src/compiler/ir/text/pairs.ll).
bool lanes_is_pairs(LLVMValueRef call);
void lanes_emit_pairs(lanes_emitter *e, LLVMValueRef call);

#endif
