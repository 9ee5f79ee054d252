// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tiles.h: what multiply_tiles.c and load_tiles.c share.
#ifndef MTLC_PTX_TILES_H
#define MTLC_PTX_TILES_H

#include <stdbool.h>

#include "compiler/ir/kernel/kernel.h"

// True if an instruction is a call of mettle.tile.multiply_add.
bool mtlc_ptx_is_product(LLVMValueRef instruction);

// True if an instruction writes no memory, as far as is known of it.
bool mtlc_ptx_leaves_memory(LLVMValueRef instruction);

// The step of multiply_tiles that load_tiles.c tells of.
void mtlc_ptx_load_tiles(mtlc_kernel *kernel);

#endif
