// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// private_layout.h: lays out private memory.
#ifndef MTLC_PRIVATE_LAYOUT_H
#define MTLC_PRIVATE_LAYOUT_H

#include <stdbool.h>

#include "compiler/vectorize/analysis/uniformity.h"

// Finds the thread function's allocas and lays them out.
void lanes_privates_find(lanes_values *values);
// Keeps one copy of each alloca in which, by the shapes found, all threads keep
// the same. True if there is a new one: more values may be uniform then.
bool lanes_privates_share(lanes_values *values);

#endif
