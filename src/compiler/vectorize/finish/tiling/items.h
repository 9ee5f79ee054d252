// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// items.h: the instructions of a loop in parts.
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

// The loop's own record of an instruction, NULL of what is not in it.
lanes_item *lanes_item_of(const lanes_region *l, LLVMValueRef value);

// Lanes of a vector; 1 of another value.
uint32_t lanes_in(LLVMValueRef value);

bool lanes_is_lanewise_call(LLVMValueRef call);

// True if an instruction computes each lane of its operands' same one.
bool lanes_is_lanewise(LLVMValueRef i);

bool lanes_is_prefetch(LLVMValueRef i);

// What a phi, by its number, begins with and comes to next.
LLVMValueRef lanes_start_of(const lanes_region *l, uint32_t phi);

LLVMValueRef lanes_next_of(const lanes_region *l, uint32_t phi);

// What each of a bundle's phis comes to next.
void lanes_nexts_of(const lanes_region *l, const lanes_bundle *b,
                    LLVMValueRef *out);

// How many units from one on go round together.
uint32_t lanes_units_together(const lanes_region *l, uint32_t from);

#endif
