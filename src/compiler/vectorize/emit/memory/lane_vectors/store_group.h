// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// store_group.h: stores of several adjacent elements a lane, which a block
// makes one after the other.
#ifndef MTLC_STORE_GROUP_H
#define MTLC_STORE_GROUP_H

#include <stdbool.h>

#include "compiler/vectorize/emit/values/emitter.h"
#include "compiler/vectorize/plan/access/forms/lane_vectors.h"

// Stores all members of a group, at the last of them.
void lanes_store_group(lanes_emitter *e, LLVMValueRef store,
                       const lanes_lane_vector *row);

#endif
