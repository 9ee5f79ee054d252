// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// break_circles.h: takes functions apart that call each other in a circle,
// where it closes for no value that occurs.
#ifndef MTLC_BREAK_CIRCLES_H
#define MTLC_BREAK_CIRCLES_H

#include <llvm-c/Core.h>

#include "compiler/ir/kernel/kernel.h"

// Inlines what function calls and is called by, and drops calls
// whose condition cannot hold then. The functions of kernel may change.
mtl_status mtlc_break_circle(mtlc_kernel *kernel, LLVMValueRef function);

#endif
