// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// inlined_size.h: how long a thread is going to be.
#ifndef MTLC_INLINED_SIZE_H
#define MTLC_INLINED_SIZE_H

#include <stdint.h>

#include "compiler/ir/kernel/kernel.h"

// Returns how many instructions the thread has after inlining all functions
// that are marked for it. A recursive function is not.
uint64_t mtlc_inlined_size(const mtlc_kernel *kernel);

#endif
