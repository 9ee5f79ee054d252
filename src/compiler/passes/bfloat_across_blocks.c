// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// bfloat_across_blocks.c: passes bfloat values from block to block as integers.
// LLVM keeps a vector of bfloat that crosses blocks as float on machines
// without bfloat registers, and calls a function for each element that is not
// there (__truncsfbf2).
//
// Requires  a module whose blocks nothing changes any more
// Leaves    no phi of bfloat, and no bfloat that another block uses
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "compiler/ir/kernel/kernel.h"
#include "compiler/ir/llvm/instructions.h"
#include "compiler/ir/llvm/types.h"
#include "compiler/ir/llvm/value_list.h"
#include "compiler/passes/passes.h"

typedef struct crossing {
  LLVMBuilderRef builder;
  LLVMTypeRef bfloat;
  LLVMTypeRef i16;
  mtlc_values phis;
  mtlc_values others;
} crossing;

// True if a value is a bfloat or a vector of them.
static bool is_bfloat(const crossing *c, LLVMValueRef value) {
  return mtlc_element_of(LLVMTypeOf(value)) == c->bfloat;
}

static LLVMTypeRef integers_like(const crossing *c, LLVMValueRef value) {
  LLVMTypeRef type = LLVMTypeOf(value);
  return type == c->bfloat ? c->i16
                           : LLVMVectorType(c->i16, LLVMGetVectorSize(type));
}

// Returns the integers of phi's value from block `index`. Edges from one block
// must have one value.
static LLVMValueRef incoming_integers(crossing *c, LLVMValueRef phi,
                                      LLVMValueRef integers, unsigned index) {
  LLVMBasicBlockRef from = LLVMGetIncomingBlock(phi, index);
  for (unsigned i = 0; i < index; i++) {
    if (LLVMGetIncomingBlock(phi, i) == from) {
      return LLVMGetIncomingValue(integers, i);
    }
  }
  LLVMPositionBuilderBefore(c->builder, LLVMGetBasicBlockTerminator(from));
  return LLVMBuildBitCast(c->builder, LLVMGetIncomingValue(phi, index),
                          LLVMTypeOf(integers), "");
}

static void replace_phi(crossing *c, LLVMValueRef phi) {
  LLVMPositionBuilderBefore(c->builder, phi);
  LLVMValueRef integers = LLVMBuildPhi(c->builder, integers_like(c, phi), "");
  for (unsigned i = 0; i < LLVMCountIncoming(phi); i++) {
    LLVMValueRef value = incoming_integers(c, phi, integers, i);
    LLVMBasicBlockRef from = LLVMGetIncomingBlock(phi, i);
    LLVMAddIncoming(integers, &value, &from, 1);
  }
  mtlc_position_behind_phis(c->builder, phi);
  LLVMValueRef value =
      LLVMBuildBitCast(c->builder, integers, LLVMTypeOf(phi), "");
  mtlc_values_add(&c->others, value);
  mtlc_replace(phi, value);
}

// Returns the integers that a value is made of, or makes them behind it.
static LLVMValueRef integers_of(crossing *c, LLVMValueRef value) {
  LLVMTypeRef type = integers_like(c, value);
  if (LLVMIsABitCastInst(value) &&
      LLVMTypeOf(LLVMGetOperand(value, 0)) == type) {
    return LLVMGetOperand(value, 0);
  }
  LLVMPositionBuilderBefore(c->builder, LLVMGetNextInstruction(value));
  return LLVMBuildBitCast(c->builder, value, type, "");
}

static void convert_in_other_blocks(crossing *c, LLVMValueRef value) {
  LLVMBasicBlockRef block = LLVMGetInstructionParent(value);
  LLVMValueRef integers = NULL;
  LLVMUseRef next = NULL;
  for (LLVMUseRef use = LLVMGetFirstUse(value); use; use = next) {
    next = LLVMGetNextUse(use);
    LLVMValueRef user = LLVMGetUser(use);
    if (LLVMGetInstructionParent(user) == block) {
      continue;
    }
    integers = integers ? integers : integers_of(c, value);
    LLVMPositionBuilderBefore(c->builder, user);
    LLVMValueRef again =
        LLVMBuildBitCast(c->builder, integers, LLVMTypeOf(value), "");
    for (int i = 0; i < LLVMGetNumOperands(user); i++) {
      if (LLVMGetOperand(user, (unsigned)i) == value) {
        LLVMSetOperand(user, (unsigned)i, again);
        break;
      }
    }
  }
}

static void collect(LLVMValueRef instruction, void *context) {
  crossing *c = context;
  if (is_bfloat(c, instruction)) {
    mtlc_values_add(LLVMIsAPHINode(instruction) ? &c->phis : &c->others,
                    instruction);
  }
}

mtl_status mtlc_bfloat_across_blocks(mtlc_kernel *kernel) {
  crossing c = {.builder = LLVMCreateBuilderInContext(kernel->context),
                .bfloat = LLVMBFloatTypeInContext(kernel->context),
                .i16 = LLVMInt16TypeInContext(kernel->context)};
  mtlc_for_each_in_module(kernel->module, collect, &c);
  for (size_t i = 0; i < c.phis.count; i++) {
    replace_phi(&c, c.phis.items[i]);
  }
  for (size_t i = 0; i < c.others.count; i++) {
    convert_in_other_blocks(&c, c.others.items[i]);
  }
  free(c.phis.items);
  free(c.others.items);
  LLVMDisposeBuilder(c.builder);
  return MTL_OK;
}
