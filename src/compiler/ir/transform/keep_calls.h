// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// keep_calls.h: functions that stay calls in a long kernel.
#ifndef MTLC_KEEP_CALLS_H
#define MTLC_KEEP_CALLS_H

#include <llvm-c/Core.h>
#include <stdbool.h>

#include "compiler/ir/kernel/kernel.h"

// Prefix of such functions, followed by the function's name, or by that with a
// number.
#define MTLC_CALLED_PREFIX "mettle.called."

// LLVM's passes that simplify functions one by one, callees first, so that
// callers see the simplified callee.
#define MTLC_PIECEWISE                                              \
  "cgscc(inline<only-mandatory>,function(mem2reg,sroa<modify-cfg>," \
  "early-cse<memssa>,simplifycfg,instcombine<no-verify-fixpoint>))"

// True if a function stays a call: it takes values and returns a structure of
// values, without other effects.
bool mtlc_is_called(LLVMValueRef function);

// True if the thread is so long, with what it calls, that some functions
// had better stay: these lose the mark alwaysinline.
bool mtlc_may_keep_calls(mtlc_kernel *kernel);

// Makes such functions of those without the mark, where it can; all else is
// inlined. out_any: there are some.
mtl_status mtlc_keep_calls(mtlc_kernel *kernel, bool *out_any);

// After all functions are simplified: marks those alwaysinline that are too
// short to call. False if none is left, or the kernel is too short for calls to
// pay.
bool mtlc_settle_calls(mtlc_kernel *kernel);

#endif
