// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// check_adjacent.h: addresses of which the compiler knows nothing and that are,
// most of the time, one behind the other all the same.
#ifndef MTLC_CHECK_ADJACENT_H
#define MTLC_CHECK_ADJACENT_H

#include <llvm-c/Core.h>
#include <stdbool.h>

#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/emit/values/emitter.h"
#include "compiler/vectorize/plan/access/access.h"

// Returns i1: that is so for the lanes that run. Sets the first address of each
// row.
LLVMValueRef lanes_check_adjacent(lanes_emitter *e, const lanes_access *a,
                            lanes_shape shape, LLVMValueRef *out_firsts);
// Returns i1: lanes that run, of which there are some, have the same address.
LLVMValueRef lanes_check_equal(lanes_emitter *e, const lanes_access *a,
                            LLVMValueRef *out_address);

#endif
