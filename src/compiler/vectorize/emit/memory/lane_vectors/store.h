// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// store.h: stores of several adjacent components a lane, for lanes that may be
// anywhere in memory.
#ifndef MTLC_LANE_VECTOR_STORE_H
#define MTLC_LANE_VECTOR_STORE_H

#include <llvm-c/Core.h>
#include <stdbool.h>

#include "compiler/vectorize/emit/values/emitter.h"
#include "compiler/vectorize/plan/access/access.h"

// Stores several adjacent components a lane (lanes_is_row_of_words); 16 bytes
// of a lane at once if by_units.
void lanes_store_lane_vectors(lanes_emitter *e, const lanes_access *a,
                              bool by_units, LLVMValueRef *components);

#endif
