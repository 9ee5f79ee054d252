// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// store_group.h: stores of lanes that are anywhere in memory, where a block
// stores several elements side by side for each lane, one after the other.
#ifndef MTLC_STORE_GROUP_H
#define MTLC_STORE_GROUP_H

#include <stdbool.h>

#include "compiler/vectorize/emit/address/access.h"
#include "compiler/vectorize/emit/values/emitter.h"

// Stores an element or a vector together with what the block
// stores beside it later, when it comes to the last of them. Returns false if
// there is nothing.
bool lanes_store_group(lanes_emitter *e, const lanes_access *a);

#endif
