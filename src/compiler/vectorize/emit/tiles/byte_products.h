// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// byte_products.h: products of words of four bytes, summed.
#ifndef MTLC_BYTE_PRODUCTS_H
#define MTLC_BYTE_PRODUCTS_H

#include <llvm-c/Core.h>
#include <stdbool.h>

#include "compiler/vectorize/emit/values/emitter.h"

// Returns sum + a * b by words of 32 bits, all given and returned as vectors of
// floats: the four products of a word's bytes are added to it modulo 2^32.
//
//   product   mettle.tile.dot.su or .us, which says whose bytes have a sign
LLVMValueRef lanes_add_byte_products(lanes_emitter *e, LLVMValueRef product,
                                     LLVMValueRef a, LLVMValueRef b,
                                     LLVMValueRef sum);

// True if bytes of a product's sides become numbers of 16 bits before it: a
// side's element serves several products.
bool lanes_splits_bytes(const lanes_emitter *e, LLVMValueRef product);
// True if a product's left side has the signed bytes; the other one has not.
bool lanes_is_left_signed(LLVMValueRef product);
// Returns the even or the odd bytes of <n x i32> as <n x i32> of two numbers.
LLVMValueRef lanes_split_bytes(lanes_emitter *e, LLVMValueRef words,
                               bool is_signed, unsigned odd);
// Returns sum + a * b as lanes_add_byte_products, of such even or odd bytes.
LLVMValueRef lanes_add_split_products(lanes_emitter *e, LLVMValueRef a,
                                      LLVMValueRef b, LLVMValueRef sum);

#endif
