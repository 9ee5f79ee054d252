// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// invocation.h: NSInvocation for our own C code.
#ifndef METTLE_OBJC_INVOCATION_H
#define METTLE_OBJC_INVOCATION_H

#include "objc/runtime/abi.h"

// Returns the selector of an NSInvocation.
SEL invocation_get_selector(id of);
// Calls imp with an NSInvocation's arguments.
void invocation_call(id of, IMP imp);

#endif
