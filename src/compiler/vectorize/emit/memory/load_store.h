// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// load_store.h: loads and stores of 32 threads.
#ifndef MTLC_LOAD_STORE_H
#define MTLC_LOAD_STORE_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>

#include "compiler/vectorize/emit/values/emitter.h"
#include "compiler/vectorize/plan/access/access.h"
#include "compiler/vectorize/plan/access/access_plan.h"

// Emits a load or a store, as is_store says, of components or of another value
// that a form has.
typedef void lanes_emit_way(lanes_emitter *e, const lanes_choice *choice,
                            const lanes_access *a, bool store,
                            LLVMValueRef *values);
// Emits the chosen form, or its check and both arms.
lanes_emit_way lanes_emit_choice;
// Emits a branch on an i1 between a choice's two arms, each with its own copy
// of the access.
void lanes_emit_either(lanes_emitter *e, LLVMValueRef holds,
                       const lanes_choice *choice, const lanes_access *ways[2],
                       lanes_emit_way *emit[2], bool store, uint32_t count,
                       LLVMValueRef *values);
// Returns the access plan's decision for a load or a store.
const lanes_choice *lanes_choice_of(const lanes_emitter *e,
                                    LLVMValueRef access);

void lanes_emit_load(lanes_emitter *e, LLVMValueRef load);
void lanes_emit_store(lanes_emitter *e, LLVMValueRef store);

#endif
