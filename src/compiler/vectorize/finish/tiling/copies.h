// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// copies.h: makes the loops that a tiled loop becomes (register_tiling.c).
#ifndef MTLC_TILING_COPIES_H
#define MTLC_TILING_COPIES_H

#include <stdbool.h>

#include "compiler/vectorize/finish/tiling/register_tiling.h"

// True if all values used after the loop can be made there.
bool lanes_may_be_left(const lanes_region *l);
void lanes_make_loops(lanes_region *l);

#endif
