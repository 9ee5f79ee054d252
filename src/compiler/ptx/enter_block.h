// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// enter_block.h: the kernel that enter_block makes, for the files that fill it.
#ifndef MTLC_PTX_ENTER_BLOCK_H
#define MTLC_PTX_ENTER_BLOCK_H

#include "compiler/ir/kernel/kernel.h"
#include "compiler/ir/llvm/types.h"

// Parameters of a kernel before its arguments; see code/ptx_abi.h.
enum {
  MTLC_PTX_GRID = 0,
  MTLC_PTX_COUNT = 3,
  MTLC_PTX_FIRST = 6,
  MTLC_PTX_LOG = 8,
  MTLC_PTX_FAULT = 9,
  MTLC_PTX_RANGES = 10,
  MTLC_PTX_FIXED = 11,
};

// Values at the kernel's entry; a dimension each.
typedef struct mtlc_ptx_positions {
  LLVMValueRef group[3];   // the threadgroup's position
  LLVMValueRef full[3];    // threads of a full one along each side
  LLVMValueRef sides[3];   // of this one
  LLVMValueRef thread[3];  // position in it
  LLVMValueRef index;
} mtlc_ptx_positions;

typedef struct mtlc_ptx_entry {
  mtlc_kernel *kernel;
  mtlc_types types;
  LLVMBuilderRef builder;
  LLVMValueRef function;
  LLVMValueRef shared;  // the memory's first byte
  mtlc_ptx_positions at;
  LLVMBasicBlockRef home;  // the block where positions are computed; values
                           // made at its end are available everywhere after it
} mtlc_ptx_entry;

LLVMValueRef mtlc_ptx_i32(const mtlc_ptx_entry *e, uint32_t value);
LLVMValueRef mtlc_ptx_add(const mtlc_ptx_entry *e, LLVMValueRef a,
                          LLVMValueRef b);
// Puts the builder at the end of e->home.
void mtlc_ptx_go_to_entry(const mtlc_ptx_entry *e);
// Returns a pointer parameter as a generic address.
LLVMValueRef mtlc_ptx_generic(const mtlc_ptx_entry *e, unsigned parameter);

// traps.c: replaces mettle.trap and MTLC_PTX_ASK.
mtl_status mtlc_ptx_replace_traps(mtlc_ptx_entry *e);

#endif
