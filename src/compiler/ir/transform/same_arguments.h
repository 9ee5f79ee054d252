// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// same_arguments.h: functions for calls that give the same values twice.
#ifndef MTLC_SAME_ARGUMENTS_H
#define MTLC_SAME_ARGUMENTS_H

#include <llvm-c/Core.h>

#include "compiler/ir/kernel/kernel.h"

// Gives calls of a function with the same values in several
// places one of their own, into which it is to be inlined, and marks those with
// many constants to be inlined themselves.
void mtlc_share_arguments(mtlc_kernel *kernel, LLVMValueRef function);

#endif
