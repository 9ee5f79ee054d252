// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tile_values.h: tiles as vectors of 64 elements, and their quarters.
#ifndef MTLC_TILE_VALUES_H
#define MTLC_TILE_VALUES_H

#include <llvm-c/Core.h>
#include <stdint.h>

#include "compiler/vectorize/emit/values/emitter.h"

// Returns an operand as <64 x element>.
LLVMValueRef lanes_tile_of(lanes_emitter *e, LLVMValueRef operand,
                           LLVMTypeRef element);

// Sets a call's result from a vector of 64.
void lanes_set_tile(lanes_emitter *e, LLVMValueRef call, LLVMValueRef tile);

LLVMValueRef lanes_block_of_tile(lanes_emitter *e, LLVMValueRef tile, int row,
                                 int column);

LLVMValueRef lanes_tile_of_blocks(lanes_emitter *e, LLVMValueRef *blocks);

// Makes columns of eight rows of eight.
void lanes_turn_rows(lanes_emitter *e, LLVMValueRef *rows);

#endif
