// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// masked.h: vectors loaded and stored under a mask.
#ifndef MTLC_MASKED_H
#define MTLC_MASKED_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>

#include "compiler/vectorize/emit/values/emitter.h"
#include "compiler/vectorize/plan/access/access.h"
#include "compiler/vectorize/plan/access/access_plan.h"

LLVMValueRef lanes_masked_load(lanes_emitter *e, LLVMTypeRef type,
                               LLVMValueRef pointer, uint32_t alignment,
                               LLVMValueRef mask);

// Stores a part of the elements of an access.
void lanes_masked_store(lanes_emitter *e, const lanes_access *a,
                        LLVMValueRef value, LLVMValueRef pointer,
                        uint32_t alignment, LLVMValueRef mask);

#endif
