// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// masks.h: the mask of the node being emitted, and what is known of the lanes
// that come there.
#ifndef MTLC_MASKS_H
#define MTLC_MASKS_H

#include <stdbool.h>
#include <stdint.h>

#include "compiler/vectorize/emit/values/emitter.h"

// Sets the mask of the node being emitted, in a new block of it.
void lanes_load_mask(lanes_emitter *e);
// The lanes that may come to the node, if one of each of a few rows does at the
// most: all bits if it is not known which; 0 if there may be more.
uint32_t lanes_few_active(const lanes_emitter *e);
// True if the mask is of one thread at least.
bool lanes_has_thread(const lanes_emitter *e);
// The one branch that leads to a node, once each time that the node comes by;
// or NULL.
LLVMValueRef lanes_only_branch(const lanes_emitter *e, uint32_t n);

#endif
