// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tiles.h: what the files of products of tiles share: multiply_tiles.c,
// narrow_tiles.c, unroll_products.c, load_tiles.c, load_matrices.c.
#ifndef MTLC_PTX_TILES_H
#define MTLC_PTX_TILES_H

#include <stdbool.h>

#include "compiler/ir/kernel/kernel.h"

enum {
  MTLC_PTX_MOST_LOADS = 32,        // of tiles that are loaded together
  MTLC_PTX_MATRIX_ROW_BYTES = 16,  // of ldmatrix: its addresses' alignment
};

// Operands of mettle.tile.load.*; a row's length is in elements.
enum { MTLC_PTX_SOURCE = 0, MTLC_PTX_ROW = 1, MTLC_PTX_TRANSPOSED = 2 };

// Operands of mettle.tile.multiply_add.
enum { MTLC_PTX_LEFT = 0, MTLC_PTX_RIGHT = 1, MTLC_PTX_SUM = 2 };

// True if an instruction is a call of mettle.tile.multiply_add.
bool mtlc_ptx_is_product(LLVMValueRef instruction);
// True if a product is one of halves or of bfloats.
bool mtlc_ptx_is_narrow_product(LLVMValueRef product);

// Returns the next product of a block, from an instruction or NULL on; NULL if
// none.
LLVMValueRef mtlc_ptx_next_product(LLVMValueRef from);
// Returns the tile that the machine multiplies: of 16 bits as it was before it
// was widened.
LLVMValueRef mtlc_ptx_factor(LLVMValueRef product, unsigned side);
// Finds up to four products that are one for the machine: [0] and [1] of one
// right side, [2] and [3] those that add to them; NULL for none. Returns the
// last of them: its place is the result's.
LLVMValueRef mtlc_ptx_find_products(LLVMValueRef first, LLVMValueRef calls[4]);

// Returns a tile of 16-bit elements with rows and columns exchanged.
LLVMValueRef mtlc_ptx_turn(LLVMContextRef context, LLVMBuilderRef builder,
                           LLVMValueRef tile);

// Returns the tile, an i64 or i32, of a thread's two elements.
LLVMValueRef mtlc_ptx_join(LLVMContextRef context, LLVMBuilderRef builder,
                           const LLVMValueRef elements[2], LLVMTypeRef tile);

// True if an instruction writes no memory, as far as is known of it.
bool mtlc_ptx_leaves_memory(LLVMValueRef instruction);

// Returns an address as a number, in parts, so that LLVM sees which of its low
// bits a loop leaves alone, and how far it is from another.
LLVMValueRef mtlc_ptx_address_number(LLVMBuilderRef builder, LLVMTypeRef i64,
                                     LLVMValueRef pointer);

// The steps of multiply_tiles that these files tell of.
mtl_status mtlc_ptx_narrow_tiles(mtlc_kernel *kernel);
mtl_status mtlc_ptx_unroll_products(mtlc_kernel *kernel);
void mtlc_ptx_load_tiles(mtlc_kernel *kernel);

// True if ldmatrix may load what a call of mettle.tile.load.* does, where all
// threads are and rows are multiples of 16 bytes.
bool mtlc_ptx_is_matrix(LLVMValueRef load);
// Loads such tiles, in the order given, with rows and columns exchanged if
// is_transposed, whatever the calls say.
void mtlc_ptx_load_matrices(mtlc_kernel *kernel, LLVMBuilderRef builder,
                            const LLVMValueRef *loads, size_t count,
                            bool is_transposed, LLVMValueRef *made);

#endif
