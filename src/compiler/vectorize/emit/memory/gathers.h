// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// gathers.h: gathers and scatters.
#ifndef MTLC_GATHERS_H
#define MTLC_GATHERS_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>

#include "compiler/vectorize/emit/address/access.h"
#include "compiler/vectorize/emit/values/emitter.h"

// Each lane's element offset bytes behind its pointer.
LLVMValueRef lanes_gather(lanes_emitter *e, const lanes_access *a,
                          LLVMValueRef pointers, uint64_t offset);
void lanes_scatter(lanes_emitter *e, const lanes_access *a,
                   LLVMValueRef pointers, uint64_t offset, LLVMValueRef value);
// True if lanes_scatter makes one instruction of it.
bool lanes_has_scatter(const lanes_emitter *e, const lanes_access *a);
// What the last index of an address counts, if all else is the same for all
// lanes, and what is indexed; NULL otherwise.
LLVMTypeRef lanes_type_indexed(const lanes_emitter *e, LLVMValueRef address);
LLVMValueRef lanes_index_of(LLVMValueRef address);
LLVMValueRef lanes_base_indexed(lanes_emitter *e, LLVMValueRef address);

#endif
