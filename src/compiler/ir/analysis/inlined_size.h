// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// inlined_size.h: how long a thread is going to be.
#ifndef MTLC_INLINED_SIZE_H
#define MTLC_INLINED_SIZE_H

#include <stdint.h>

#include "compiler/ir/kernel/kernel.h"

// How many instructions the thread has when all is inlined that is marked to
// be. A circle of calls has a function that is not.
uint64_t mtlc_inlined_size(const mtlc_kernel *kernel);

#endif
