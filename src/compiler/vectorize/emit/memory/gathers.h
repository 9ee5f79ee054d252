// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// gathers.h: gathers and scatters.
#ifndef MTLC_GATHERS_H
#define MTLC_GATHERS_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>

#include "compiler/vectorize/emit/values/emitter.h"
#include "compiler/vectorize/plan/access/access.h"

// Loads each lane's element offset bytes after its pointer.
LLVMValueRef lanes_gather(lanes_emitter *e, const lanes_access *a,
                          LLVMValueRef pointers, uint64_t offset);
void lanes_scatter(lanes_emitter *e, const lanes_access *a,
                   LLVMValueRef pointers, uint64_t offset, LLVMValueRef value);
// True if lanes_scatter emits one instruction for it.
bool lanes_has_scatter(const lanes_emitter *e, const lanes_access *a);
LLVMValueRef lanes_base_indexed(lanes_emitter *e, LLVMValueRef address);

#endif
