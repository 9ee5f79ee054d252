// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// keep_calls.h: functions that a long kernel goes on calling.
#ifndef MTLC_KEEP_CALLS_H
#define MTLC_KEEP_CALLS_H

#include <llvm-c/Core.h>
#include <stdbool.h>

#include "compiler/ir/kernel/kernel.h"

// What follows is the function's own name, or that with a number.
#define MTLC_CALLED_PREFIX "mettle.called."

// LLVM's passes that simplify functions one by one, callees first: what each
// has become is what its callers get.
#define MTLC_PIECEWISE                                              \
  "cgscc(inline<only-mandatory>,function(mem2reg,sroa<modify-cfg>," \
  "early-cse<memssa>,simplifycfg,instcombine<no-verify-fixpoint>))"

// Whether a function is one that is called: values in, a structure of values
// out, its only effect; no thread's business but the caller's.
bool mtlc_is_called(LLVMValueRef function);

// True if the thread is so long, with what it calls, that some functions
// had better stay: these lose the mark alwaysinline.
bool mtlc_may_keep_calls(mtlc_kernel *kernel);

// Makes such functions of those without the mark, where it can; all else is
// inlined. out_any: there are some.
mtl_status mtlc_keep_calls(mtlc_kernel *kernel, bool *out_any);

// Once all functions are simplified: marks those alwaysinline that are too
// short to call. Returns false if none is left or the kernel is not so long
// that there is a point in calls.
bool mtlc_settle_calls(mtlc_kernel *kernel);

#endif
