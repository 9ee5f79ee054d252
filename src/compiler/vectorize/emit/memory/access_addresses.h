// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// access_addresses.h: where an access begins, and where each row of it does.
#ifndef MTLC_ACCESS_ADDRESSES_H
#define MTLC_ACCESS_ADDRESSES_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>

#include "compiler/vectorize/emit/values/emitter.h"
#include "compiler/vectorize/plan/access/access.h"
#include "compiler/vectorize/plan/access/access_plan.h"

// Lane 0's address, which an access may know.
LLVMValueRef lanes_access_begin(lanes_emitter *e, const lanes_access *a);

// The address of a row's first element.
LLVMValueRef lanes_access_segment_address(lanes_emitter *e, const lanes_access *a,
                                  uint32_t row);

#endif
