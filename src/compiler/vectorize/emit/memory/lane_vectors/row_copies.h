// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// row_copies.h: rows of threads' own that are copied from the kernel's buffers
// to threadgroup memory or back, as where a threadgroup brings tiles in.
#ifndef MTLC_ROW_COPIES_H
#define MTLC_ROW_COPIES_H

#include <llvm-c/Core.h>

#include "compiler/vectorize/emit/values/emitter.h"

// Emits a store that ends a copy, its load and what is between them.
void lanes_emit_row_copy(lanes_emitter *e, LLVMValueRef store);

#endif
