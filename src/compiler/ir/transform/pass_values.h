// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// pass_values.h: replaces functions that take addresses of variables by
// functions that take and return values.
#ifndef MTLC_PASS_VALUES_H
#define MTLC_PASS_VALUES_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>

#include "compiler/ir/kernel/kernel.h"

// Gives each call of a function that only computes another callee, called prefix
// and the function's name: it loads from the variables before the call and
// stores to them behind it. The new function calls the old one, which is to be
// inlined. Leaves calls where it cannot tell the variables apart, or there is
// too much of them. Returns how many calls it has changed.
uint32_t mtlc_pass_values(mtlc_kernel *kernel, LLVMValueRef function,
                          const char *prefix);

#endif
