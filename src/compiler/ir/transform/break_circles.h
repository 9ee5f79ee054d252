// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// break_circles.h: breaks up functions that call each other recursively by name
// only, when no run-time value closes the recursion.
#ifndef MTLC_BREAK_CIRCLES_H
#define MTLC_BREAK_CIRCLES_H

#include <llvm-c/Core.h>

#include "compiler/ir/kernel/kernel.h"

// Inlines the callees and callers of function, and drops calls whose condition
// cannot hold then. The functions of kernel may change.
mtl_status mtlc_break_circle(mtlc_kernel *kernel, LLVMValueRef function);

#endif
