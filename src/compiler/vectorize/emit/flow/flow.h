// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// flow.h: writes the function of one simdgroup.
#ifndef MTLC_FLOW_H
#define MTLC_FLOW_H

#include <llvm-c/Core.h>

#include "compiler/vectorize/emit/values/emitter.h"

// Writes the function for one row length (lanes_values.row). Returns NULL with
// e->refusal set if it cannot.
LLVMValueRef lanes_emit(lanes_emitter *e, const char *name);

#endif
