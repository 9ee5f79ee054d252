// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// pieces.h: computes one piece, a register's lanes, of a tiled loop's values
// (register_tiling.c).
#ifndef MTLC_TILING_PIECES_H
#define MTLC_TILING_PIECES_H

#include <llvm-c/Core.h>
#include <stdint.h>

#include "compiler/vectorize/finish/tiling/register_tiling.h"

// Takes over the source line of an instruction for what the builder makes next.
void lanes_take_line(lanes_region *l, LLVMValueRef i);
// Copies a value that is not split into pieces.
LLVMValueRef lanes_copy_whole(lanes_region *l, LLVMValueRef value);
// Returns a piece of a vector.
LLVMValueRef lanes_copy_piece(lanes_region *l, LLVMValueRef value,
                              uint32_t first);
// Returns register k of the next values of a bundle, or of values computed from
// its phis.
LLVMValueRef lanes_copy_register(lanes_region *l, const lanes_bundle *b,
                                 LLVMValueRef *values, uint32_t k);
// Returns a piece of a value from outside the loop, at a builder.
LLVMValueRef lanes_cut(lanes_region *l, LLVMBuilderRef builder,
                       LLVMValueRef value, uint32_t first);
// Concatenates a power of two of vectors.
LLVMValueRef lanes_joined_pieces(lanes_region *l, LLVMBuilderRef builder,
                                 LLVMValueRef *vectors, uint32_t count);
// Interleave count registers, as their elements are in memory, and deinterleave
// them.
void lanes_interleave_registers(lanes_region *l, LLVMBuilderRef builder,
                                LLVMValueRef *registers, uint32_t count);
void lanes_take_apart_registers(lanes_region *l, LLVMBuilderRef builder,
                                LLVMValueRef *registers, uint32_t count);

#endif
