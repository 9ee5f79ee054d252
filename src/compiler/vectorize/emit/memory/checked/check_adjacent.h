// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// check_adjacent.h: tests at run time whether addresses are adjacent.
#ifndef MTLC_CHECK_ADJACENT_H
#define MTLC_CHECK_ADJACENT_H

#include <llvm-c/Core.h>
#include <stdbool.h>

#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/emit/values/emitter.h"
#include "compiler/vectorize/plan/access/access.h"

// Returns an i1: the lanes that run have adjacent addresses, segment by
// segment. Sets the first address of each segment.
LLVMValueRef lanes_check_adjacent(lanes_emitter *e, const lanes_access *a,
                            lanes_shape shape, LLVMValueRef *out_firsts);
// Returns an i1: all lanes that run have the same address. At least one runs.
LLVMValueRef lanes_check_equal(lanes_emitter *e, const lanes_access *a,
                            LLVMValueRef *out_address);

#endif
