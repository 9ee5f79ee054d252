// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// vectorize.h: turns what one thread does into code that runs 32 of them, one
// simdgroup, as one vector, and the loops over simdgroups and threadgroups
// around it.
#ifndef MTLC_VECTORIZE_H
#define MTLC_VECTORIZE_H

#include "compiler/ir/kernel.h"

// Requires kernel->thread as simplify_thread leaves it, threadgroup
// variables still globals in their section. Leaves the code of
// code/cpu_abi.h in the module and the thread function unused; works for
// threadgroups of kernel->group_class, which is set to what the code is good
// for, with depends_on_row, depends_on_uneven and depends_on_single.
//
// On MTL_UNSUPPORTED the thread function is still whole (though simplified),
// nothing else is left behind, and the caller runs it by coroutines. Either
// outcome adds its lines to kernel->report.
//
// Errors  MTL_UNSUPPORTED  the kernel cannot be vectorised; the text says why
mtl_status mtlc_vectorize(mtlc_kernel *kernel);

#endif
