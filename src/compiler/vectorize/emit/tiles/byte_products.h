// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// byte_products.h: products of words of four bytes, summed.
#ifndef MTLC_BYTE_PRODUCTS_H
#define MTLC_BYTE_PRODUCTS_H

#include <llvm-c/Core.h>

#include "compiler/vectorize/emit/values/emitter.h"

// Returns sum + a * b by words of 32 bits, all given and returned as vectors of
// floats: the four products of a word's bytes are added to it modulo 2^32.
//
//   product   mettle.tile.dot.su or .us, which says whose bytes have a sign
LLVMValueRef lanes_add_byte_products(lanes_emitter *e, LLVMValueRef product,
                                     LLVMValueRef a, LLVMValueRef b,
                                     LLVMValueRef sum);

#endif
