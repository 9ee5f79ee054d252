// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// reversed.h: loads and stores of lanes in reverse order.
#ifndef MTLC_REVERSED_H
#define MTLC_REVERSED_H

#include <llvm-c/Core.h>
#include <stdbool.h>

#include "compiler/vectorize/emit/values/emitter.h"
#include "compiler/vectorize/plan/access/access.h"
#include "compiler/vectorize/plan/access/access_plan.h"

// Emits the choice's inner form from the last lane of each segment to the
// first.
void lanes_access_reversed(lanes_emitter *e, const lanes_choice *choice,
                           const lanes_access *a, bool store,
                           LLVMValueRef *components);

#endif
