// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// masks.h: the mask of the node being emitted, and which lanes may reach it.
#ifndef MTLC_MASKS_H
#define MTLC_MASKS_H

#include <stdbool.h>
#include <stdint.h>

#include "compiler/vectorize/emit/values/emitter.h"

// Sets the mask of the node being emitted, in a new block of it.
void lanes_load_mask(lanes_emitter *e);
// Returns the lanes that may reach the node, if that is at most one in each of
// a few segments: all bits if it is not known which; 0 if more may.
uint32_t lanes_few_active(const lanes_emitter *e);
// True if the mask has at least one lane.
bool lanes_has_thread(const lanes_emitter *e);
// Returns the only branch that leads to a node, if it runs once each time that
// the node does; else NULL.
LLVMValueRef lanes_only_branch(const lanes_emitter *e, uint32_t n);

#endif
