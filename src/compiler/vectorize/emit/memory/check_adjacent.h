// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// check_adjacent.h: addresses of which the compiler knows nothing and that are,
// most of the time, one behind the other all the same.
#ifndef MTLC_CHECK_ADJACENT_H
#define MTLC_CHECK_ADJACENT_H

#include <llvm-c/Core.h>
#include <stdbool.h>

#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/emit/address/access.h"
#include "compiler/vectorize/emit/values/emitter.h"

// True if a value is the same for all lanes of a row.
bool lanes_is_same_in_segments(const lanes_emitter *e, LLVMValueRef value);
// True if lanes of an address of which nothing is known may well
// turn out to be neighbours, the shape that they would have then, and whether
// they may as well have the same address.
bool lanes_may_be_adjacent(const lanes_emitter *e, const lanes_access *a,
                       lanes_shape *out_shape, bool *out_may_be_same);
// Returns i1: that is so for the lanes that run. Sets the first address of each
// row.
LLVMValueRef lanes_check_adjacent(lanes_emitter *e, const lanes_access *a,
                            lanes_shape shape, LLVMValueRef *out_firsts);
// Returns i1: lanes that run, of which there are some, have the same address.
LLVMValueRef lanes_check_equal(lanes_emitter *e, const lanes_access *a,
                            LLVMValueRef *out_address);

#endif
