// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// check_strides.h: addresses whose stride from lane to lane is a number of the
// program's, as in tensors with strides.
#ifndef MTLC_CHECK_STRIDES_H
#define MTLC_CHECK_STRIDES_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>

#include "compiler/vectorize/emit/values/emitter.h"
#include "compiler/vectorize/plan/access/access.h"
#include "compiler/vectorize/plan/access/forms/stride_factors.h"

// The first address of each row.
void lanes_firsts_by_strides(lanes_emitter *e, const lanes_access *a,
                             const lanes_stride_factors *factors,
                             LLVMValueRef *out_firsts);
// Returns i1: all factors are one and no index wraps; some factor is none.
LLVMValueRef lanes_check_stride_one(lanes_emitter *e, const lanes_stride_factors *f);
LLVMValueRef lanes_check_stride_zero(lanes_emitter *e, const lanes_stride_factors *f);

#endif
