// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// permute_window.h: loads and stores whose lanes are in no order that the
// compiler knows but turn out to be near each other.
#ifndef MTLC_PERMUTE_WINDOW_H
#define MTLC_PERMUTE_WINDOW_H

#include <llvm-c/Core.h>
#include <stdbool.h>

#include "compiler/vectorize/emit/values/emitter.h"
#include "compiler/vectorize/plan/access/access.h"
#include "compiler/vectorize/plan/access/access_plan.h"

// Loads, or stores, one component a lane of lanes that may well turn out to be
// near each other. Those that are not go the choice's other way. What no lane
// stores to stays.
void lanes_access_window(lanes_emitter *e, const lanes_choice *choice,
                         const lanes_access *a, bool store,
                         LLVMValueRef *component);
// Returns i1: a table may be read whole. Sets the access's places and first
// addresses.
LLVMValueRef lanes_check_table(lanes_emitter *e, lanes_access *a,
                            LLVMValueRef *out_firsts);
LLVMValueRef lanes_load_table(lanes_emitter *e, const lanes_access *a);

#endif
