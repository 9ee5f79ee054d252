// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tile_phis.h: keeps tiles that a loop carries as tiles.
#ifndef MTLC_TILE_PHIS_H
#define MTLC_TILE_PHIS_H

#include <llvm-c/Core.h>
#include <stdbool.h>

// Replaces phis of tiles' elements by phis of tiles. True if there were any;
// the users of the elements stay, unused.
bool lanes_carry_tiles(LLVMContextRef context, LLVMValueRef function);

#endif
