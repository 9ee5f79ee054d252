// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// show_variables.h: threadgroup variables in the debugger.
#ifndef MTLC_SHOW_VARIABLES_H
#define MTLC_SHOW_VARIABLES_H

#include <llvm-c/Core.h>

#include "compiler/ir/kernel/kernel.h"

// Describes a threadgroup variable that is about to stop being a global to the
// debugger: its address is in `slot`, a variable of mettle.thread. Each
// function of the source that has the variable gets the description. Does
// nothing without debug information of the variable.
void mtlc_show_variable(mtlc_kernel *kernel, LLVMValueRef global,
                        LLVMValueRef slot);

#endif
