// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// show_variables.h: threadgroup variables in the debugger.
#ifndef MTLC_SHOW_VARIABLES_H
#define MTLC_SHOW_VARIABLES_H

#include <llvm-c/Core.h>

#include "compiler/ir/kernel/kernel.h"

// Has the debugger find a threadgroup variable, which is about to stop being a
// global, where the address in slot leads, a variable of mettle.thread, in each
// function of the source that it belongs to. Does nothing where the module has
// no debug information of it.
void mtlc_show_variable(mtlc_kernel *kernel, LLVMValueRef global,
                        LLVMValueRef slot);

#endif
