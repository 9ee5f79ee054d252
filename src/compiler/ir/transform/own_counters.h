// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// own_counters.h: keeps loop counters that differ between threads at 32 bits.
#ifndef MTLC_OWN_COUNTERS_H
#define MTLC_OWN_COUNTERS_H

#include <llvm-c/Core.h>
#include <stdbool.h>

#include "compiler/ir/kernel/kernel.h"

// Keeps LLVM from making such counters as wide as the addresses that they lead
// to, until mtlc_release_held. True if there are any.
bool mtlc_hold_own_counters(mtlc_kernel *kernel, LLVMValueRef function);

#endif
