// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// vectorize.h: turns what one thread does into code that runs 32 of them, one
// simdgroup, as one vector, and the loops over simdgroups and threadgroups
// around it.
#ifndef MTLC_VECTORIZE_H
#define MTLC_VECTORIZE_H

#include <stdbool.h>
#include <stddef.h>

#include "compiler/ir/kernel/kernel.h"

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

// Versions loops that accumulate in memory: the second version keeps the sum in
// a register (prepare/versions/version_apart.h). Requires kernel->thread as
// simplify_thread leaves it; of any target.
mtl_status mtlc_version_apart(mtlc_kernel *kernel);

// Returns the name of a step, "vectorize.split_exits"; NULL behind the last.
const char *mtlc_vectorize_step(size_t index);
// True if a kernel can be vectorised without the step of that name.
bool mtlc_vectorize_can_leave_out(const char *name);

#endif
