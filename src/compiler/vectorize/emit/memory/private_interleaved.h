// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// private_interleaved.h: loads and stores of interleaved private memory.
#ifndef MTLC_PRIVATE_INTERLEAVED_H
#define MTLC_PRIVATE_INTERLEAVED_H

#include <llvm-c/Core.h>
#include <stdint.h>

#include "compiler/vectorize/emit/values/emitter.h"
#include "compiler/vectorize/plan/access/access.h"
#include "compiler/vectorize/plan/access/access_plan.h"

void lanes_load_private(lanes_emitter *e, const lanes_access *a,
                        const lanes_choice *choice,
                        LLVMValueRef *out_components);
void lanes_store_private(lanes_emitter *e, const lanes_access *a,
                        const lanes_choice *choice,
                         LLVMValueRef *components);

#endif
