// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// unroll_arrays.h: marks the loops of a thread that LLVM should unroll in full.
#ifndef MTLC_UNROLL_ARRAYS_H
#define MTLC_UNROLL_ARRAYS_H

#include <llvm-c/Core.h>

#include "compiler/ir/kernel/kernel.h"

// Marks in kernel->thread the loops whose counters index private arrays of at
// most 1 KiB, unless the source says otherwise or they would become too large.
// Whether a loop can be unrolled, LLVM finds out.
void mtlc_unroll_arrays(mtlc_kernel *kernel, LLVMValueRef function);

#endif
