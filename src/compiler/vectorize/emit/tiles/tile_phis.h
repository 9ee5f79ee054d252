// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tile_phis.h: tiles that a loop carries.
#ifndef MTLC_TILE_PHIS_H
#define MTLC_TILE_PHIS_H

#include <llvm-c/Core.h>
#include <stdbool.h>

// Makes phis of tiles taken apart phis of tiles. Returns whether
// there were any; what took them apart stays, unused.
bool lanes_carry_tiles(LLVMContextRef context, LLVMValueRef function);

#endif
