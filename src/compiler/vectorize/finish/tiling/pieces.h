// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// pieces.h: a register's lanes of what a loop in parts computes
// (register_tiling.c).
#ifndef MTLC_TILING_PIECES_H
#define MTLC_TILING_PIECES_H

#include <llvm-c/Core.h>
#include <stdint.h>

#include "compiler/vectorize/finish/tiling/register_tiling.h"

// Copies at the builder, for the loop and the piece being made.
void lanes_take_line(lanes_region *l, LLVMValueRef i);
// A value as it is.
LLVMValueRef lanes_copy_whole(lanes_region *l, LLVMValueRef value);
// As many lanes of a vector as a piece has.
LLVMValueRef lanes_copy_piece(lanes_region *l, LLVMValueRef value,
                              uint32_t first);
// Register k of what a bundle's phis, or what is computed from them, come to.
LLVMValueRef lanes_copy_register(lanes_region *l, const lanes_bundle *b,
                                 LLVMValueRef *values, uint32_t k);
// The same lanes at a builder of something from outside.
LLVMValueRef lanes_cut(lanes_region *l, LLVMBuilderRef builder,
                       LLVMValueRef value, uint32_t first);
// Vectors one behind the other, a power of two of them.
LLVMValueRef lanes_joined_pieces(lanes_region *l, LLVMBuilderRef builder,
                                 LLVMValueRef *vectors, uint32_t count);
// What lanes have in count registers, put as it lies in memory, and taken
// apart.
void lanes_interleave_registers(lanes_region *l, LLVMBuilderRef builder,
                                LLVMValueRef *registers, uint32_t count);
void lanes_take_apart_registers(lanes_region *l, LLVMBuilderRef builder,
                                LLVMValueRef *registers, uint32_t count);

#endif
