// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// row_copies.h: copies of adjacent elements, a vector for each thread, between
// buffers and threadgroup memory.
#ifndef MTLC_ROW_COPIES_H
#define MTLC_ROW_COPIES_H

#include <llvm-c/Core.h>

#include "compiler/vectorize/emit/values/emitter.h"

// Emits the store that ends a copy, with its load and the conversions between.
void lanes_emit_row_copy(lanes_emitter *e, LLVMValueRef store);

#endif
