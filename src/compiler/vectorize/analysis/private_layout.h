// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// private_layout.h: private memory.
#ifndef MTLC_PRIVATE_LAYOUT_H
#define MTLC_PRIVATE_LAYOUT_H

#include <stdbool.h>

#include "compiler/vectorize/analysis/uniformity.h"

// Finds the thread function's allocas and lays them out.
void lanes_privates_find(lanes_values *values);
// Shares what, by the shapes found, all threads keep the same in. Returns
// whether there is any that was not: more may be uniform then.
bool lanes_privates_share(lanes_values *values);

#endif
