// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// same_arguments.h: specialises functions for calls that pass the same value
// for several parameters.
#ifndef MTLC_SAME_ARGUMENTS_H
#define MTLC_SAME_ARGUMENTS_H

#include <llvm-c/Core.h>

#include "compiler/ir/kernel/kernel.h"

// Gives each call that passes one value for several parameters a version of the
// function for that, into which the function is to be inlined. Marks calls that
// pass many constants to be inlined themselves.
void mtlc_share_arguments(mtlc_kernel *kernel, LLVMValueRef function);

#endif
