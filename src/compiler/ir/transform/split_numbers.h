// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// split_numbers.h: integer vectors of a thread, component by component.
#ifndef MTLC_SPLIT_NUMBERS_H
#define MTLC_SPLIT_NUMBERS_H

#include <llvm-c/Core.h>
#include <stdbool.h>

#include "compiler/ir/kernel/kernel.h"

// Splits what a function computes with vectors of two to four integers of 16
// bits and more: a position in the grid is the same for all threads of a row
// in one component and not in the other. True if there was any.
bool mtlc_split_numbers(mtlc_kernel *kernel, LLVMValueRef function);

#endif
