// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// items.h: the instructions of a tiled loop.
#ifndef MTLC_TILING_ITEMS_H
#define MTLC_TILING_ITEMS_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/memory/arena.h"
#include "compiler/ir/kernel/kernel.h"
#include "compiler/vectorize/base/tables.h"
#include "compiler/vectorize/finish/tiling/register_tiling.h"
#include "compiler/vectorize/target/machine.h"

// Returns the loop's record of an instruction; NULL if it is not in the loop.
lanes_item *lanes_item_of(const lanes_region *l, LLVMValueRef value);

// Returns the lanes of a vector; 1 for any other value.
uint32_t lanes_in(LLVMValueRef value);

bool lanes_is_lanewise_call(LLVMValueRef call);

// True if an instruction computes each lane from the same lanes of its
// operands.
bool lanes_is_lanewise(LLVMValueRef i);

bool lanes_is_prefetch(LLVMValueRef i);

// Return a phi's start value, and its next value.
LLVMValueRef lanes_start_of(const lanes_region *l, uint32_t phi);

LLVMValueRef lanes_next_of(const lanes_region *l, uint32_t phi);

// Collects the next values of a bundle's phis.
void lanes_nexts_of(const lanes_region *l, const lanes_bundle *b,
                    LLVMValueRef *out);

// Returns how many units from one on share a loop.
uint32_t lanes_units_together(const lanes_region *l, uint32_t from);

#endif
