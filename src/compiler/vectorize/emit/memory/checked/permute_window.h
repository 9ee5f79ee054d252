// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// permute_window.h: loads and stores of lanes that are near each other, in an
// order found at run time.
#ifndef MTLC_PERMUTE_WINDOW_H
#define MTLC_PERMUTE_WINDOW_H

#include <llvm-c/Core.h>
#include <stdbool.h>

#include "compiler/vectorize/emit/values/emitter.h"
#include "compiler/vectorize/plan/access/access.h"
#include "compiler/vectorize/plan/access/access_plan.h"

// Loads or stores one component a lane, where lanes are probably near each
// other. If they are not, emits the choice's other form. Elements of no lane
// stay as they are.
void lanes_access_window(lanes_emitter *e, const lanes_choice *choice,
                         const lanes_access *a, bool store,
                         LLVMValueRef *component);
// Returns an i1: a table may be read whole. Sets the access's positions and
// first addresses.
LLVMValueRef lanes_check_table(lanes_emitter *e, lanes_access *a,
                            LLVMValueRef *out_firsts);
LLVMValueRef lanes_load_table(lanes_emitter *e, const lanes_access *a);

#endif
