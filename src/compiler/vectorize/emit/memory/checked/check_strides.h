// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// check_strides.h: tests at run time whether a stride that the kernel computes,
// such as a tensor's, is one or zero.
#ifndef MTLC_CHECK_STRIDES_H
#define MTLC_CHECK_STRIDES_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>

#include "compiler/vectorize/emit/values/emitter.h"
#include "compiler/vectorize/plan/access/access.h"
#include "compiler/vectorize/plan/access/forms/stride_factors.h"

// Sets the first address of each segment.
void lanes_firsts_by_strides(lanes_emitter *e, const lanes_access *a,
                             const lanes_stride_factors *factors,
                             LLVMValueRef *out_firsts);
// The first returns an i1: all factors are 1 and no index wraps. The second:
// some factor is 0.
LLVMValueRef lanes_check_stride_one(lanes_emitter *e, const lanes_stride_factors *f);
LLVMValueRef lanes_check_stride_zero(lanes_emitter *e, const lanes_stride_factors *f);

#endif
