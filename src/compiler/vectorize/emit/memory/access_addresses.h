// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// access_addresses.h: the address of an access and of each of its segments.
#ifndef MTLC_ACCESS_ADDRESSES_H
#define MTLC_ACCESS_ADDRESSES_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>

#include "compiler/vectorize/emit/values/emitter.h"
#include "compiler/vectorize/plan/access/access.h"
#include "compiler/vectorize/plan/access/access_plan.h"

// Returns lane 0's address, which the access may have already.
LLVMValueRef lanes_access_begin(lanes_emitter *e, const lanes_access *a);

// Returns the address of a segment's first element.
LLVMValueRef lanes_access_segment_address(lanes_emitter *e, const lanes_access *a,
                                  uint32_t row);

#endif
