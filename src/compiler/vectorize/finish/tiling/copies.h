// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// copies.h: the loops that a loop in parts becomes (register_tiling.c),
// one behind the other, each with memory for what the others keep in registers.
#ifndef MTLC_TILING_COPIES_H
#define MTLC_TILING_COPIES_H

#include <stdbool.h>

#include "compiler/vectorize/finish/tiling/register_tiling.h"

// True if what is used behind the loop can be made there.
bool lanes_may_be_left(const lanes_region *l);
void lanes_make_loops(lanes_region *l);

#endif
