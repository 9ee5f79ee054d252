// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// load_store.h: loads and stores of 32 threads.
#ifndef MTLC_LOAD_STORE_H
#define MTLC_LOAD_STORE_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>

#include "compiler/vectorize/emit/address/access.h"
#include "compiler/vectorize/emit/values/emitter.h"

// Loads or stores values, of which store says which: in one way
// where the stride of a conditional address holds, in another where not. What
// the second gathers is not reported.
typedef void lanes_access_way(lanes_emitter *e, const lanes_access *a,
                              bool store, LLVMValueRef *values);

// load_store.c
void lanes_emit_load(lanes_emitter *e, LLVMValueRef load);
void lanes_emit_store(lanes_emitter *e, LLVMValueRef store);
LLVMValueRef lanes_masked_load(lanes_emitter *e, LLVMTypeRef type,
                               LLVMValueRef pointer, uint32_t alignment,
                               LLVMValueRef mask);
// True if an access is to a worker's own memory, around which there is
// enough of it.
bool lanes_is_own_memory(const lanes_emitter *e, const lanes_access *a);
// True if what is around an element that is wanted may be written as well,
// as it is: no other worker has a part in it. Machines' masked stores of 32
// bytes take as long as several whole ones.
bool lanes_is_workers_own(const lanes_emitter *e, const lanes_access *a);
// A part of what an access stores.
void lanes_masked_store(lanes_emitter *e, const lanes_access *a,
                        LLVMValueRef value, LLVMValueRef pointer,
                        uint32_t alignment, LLVMValueRef mask);
// Describes an access; refuses what is no scalar or vector.
lanes_access lanes_access_of(lanes_emitter *e, LLVMValueRef instruction,
                             LLVMValueRef pointer, LLVMTypeRef value_type);
void lanes_access_conditionally(lanes_emitter *e, const lanes_access *a,
                                lanes_access_way *then[2], bool store,
                                uint32_t count, LLVMValueRef *values);
// Components where it does not hold.
void lanes_access_wrapped(lanes_emitter *e, const lanes_access *a, bool store,
                          LLVMValueRef *components);
// The same of an access, which may know it.
LLVMValueRef lanes_access_begin(lanes_emitter *e, const lanes_access *a);

#endif
