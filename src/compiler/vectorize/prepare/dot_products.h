// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// dot_products.h: finds sums of products of bytes and 16-bit integers, for two
// products in one instruction.
#ifndef MTLC_DOT_PRODUCTS_H
#define MTLC_DOT_PRODUCTS_H

#include <llvm-c/Core.h>
#include <stdbool.h>

#include "compiler/ir/kernel/kernel.h"
#include "compiler/vectorize/analysis/uniformity.h"

// Finds such sums in a function, on machines with an instruction for them.
// values: the function's; NULL if it loads no single bytes. True if there were
// any; the old operands stay, unused.
bool lanes_find_dot_products(mtlc_kernel *kernel, LLVMValueRef function,
                      const lanes_values *values);

#endif
