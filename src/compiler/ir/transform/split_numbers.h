// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// split_numbers.h: scalarises a thread's integer vectors.
#ifndef MTLC_SPLIT_NUMBERS_H
#define MTLC_SPLIT_NUMBERS_H

#include <llvm-c/Core.h>
#include <stdbool.h>

#include "compiler/ir/kernel/kernel.h"

// Splits a function's vectors of two to four integers of 16 bits and more into
// components, since one component of a position may be the same for all threads
// of a row where another is not. True if there were any.
bool mtlc_split_numbers(mtlc_kernel *kernel, LLVMValueRef function);

#endif
