// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// masked.c: masked loads and stores of vectors, by the means of the machine.
#include "compiler/vectorize/emit/memory/masked.h"

#include <llvm-c/Target.h>
#include <stddef.h>

#include "compiler/ir/llvm/types.h"
#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/base/alignment.h"
#include "compiler/vectorize/emit/lanes/collectives.h"
#include "compiler/vectorize/emit/memory/masked_emulation.h"
#include "compiler/vectorize/emit/values/builder.h"
#include "compiler/vectorize/emit/values/check_arms.h"
#include "compiler/vectorize/emit/values/emitter.h"
#include "compiler/vectorize/emit/values/masks.h"
#include "compiler/vectorize/plan/access/access.h"

enum { SHORT_VECTOR = 4 };  // a branch for each element of this few is no more
                            // code

static LLVMValueRef load_masked(lanes_emitter *e, LLVMTypeRef type,
                                LLVMValueRef pointer, uint32_t alignment,
                                LLVMValueRef mask) {
  LLVMValueRef arguments[] = {pointer, mtlc_i32(e->context, alignment), mask,
                              LLVMGetPoison(type)};
  LLVMTypeRef overloads[] = {type, e->types.pointer};
  return lanes_intrinsic(e, "llvm.masked.load", overloads, 2, arguments, 4);
}

LLVMValueRef lanes_masked_load(lanes_emitter *e, LLVMTypeRef type,
                               LLVMValueRef pointer, uint32_t alignment,
                               LLVMValueRef mask) {
  if (LLVMIsConstant(mask) ||
      lanes_has_masks_for(e->planning, LLVMGetElementType(type))) {
    return load_masked(e, type, pointer, alignment, mask);
  }
  const bool is_short = LLVMGetVectorSize(type) <= SHORT_VECTOR;
  const lanes_check question =
      is_short
          ? lanes_begin_full_check(e, mask)
          : lanes_begin_check(e, lanes_may_load_whole(e, type, pointer, mask));
  LLVMValueRef values[2];
  values[0] = LLVMBuildLoad2(e->builder, type, pointer, "");
  LLVMSetAlignment(values[0], alignment);
  lanes_end_check_arm(e, &question, question.some);
  values[1] = (is_short ? load_masked : lanes_load_emulated)(e, type, pointer,
                                                             alignment, mask);
  LLVMBasicBlockRef from[] = {question.all, LLVMGetInsertBlock(e->builder)};
  lanes_end_check_arm(e, &question, question.done);
  LLVMValueRef loaded = LLVMBuildPhi(e->builder, type, "");
  LLVMAddIncoming(loaded, values, from, 2);
  return loaded;
}

static void store_masked(lanes_emitter *e, LLVMValueRef value,
                         LLVMValueRef pointer, uint32_t alignment,
                         LLVMValueRef mask) {
  LLVMValueRef arguments[] = {value, pointer, mtlc_i32(e->context, alignment),
                              mask};
  LLVMTypeRef overloads[] = {LLVMTypeOf(value), e->types.pointer};
  lanes_intrinsic(e, "llvm.masked.store", overloads, 2, arguments, 4);
}

static void store_among(lanes_emitter *e, const lanes_access *a,
                        LLVMValueRef value, LLVMValueRef pointer,
                        uint32_t alignment, LLVMValueRef mask) {
  // The address may be anything if no lane runs.
  const bool is_there = lanes_has_thread(e) && a->shape.row == e->lanes;
  LLVMBasicBlockRef stored = is_there ? NULL : lanes_block(e, "stored");
  if (stored) {
    LLVMBasicBlockRef some = lanes_block(e, "some");
    LLVMBuildCondBr(e->builder, lanes_any(e, mask), some, stored);
    LLVMPositionBuilderAtEnd(e->builder, some);
  }
  LLVMValueRef old = LLVMBuildLoad2(e->builder, LLVMTypeOf(value), pointer, "");
  LLVMSetAlignment(old, alignment);
  LLVMValueRef both = LLVMBuildSelect(e->builder, mask, value, old, "");
  LLVMSetAlignment(LLVMBuildStore(e->builder, both, pointer), alignment);
  if (stored) {
    LLVMBuildBr(e->builder, stored);
    LLVMPositionBuilderAtEnd(e->builder, stored);
  }
}

// Stores register by register: on some machines without AVX-512 a masked store
// takes 12 cycles, and at an edge most registers need no mask.
static void store_by_registers(lanes_emitter *e, LLVMValueRef value,
                               LLVMValueRef pointer, uint32_t alignment,
                               LLVMValueRef mask) {
  const uint32_t each = lanes_register_words(e);
  for (uint32_t i = 0; i < LLVMGetVectorSize(LLVMTypeOf(value)); i += each) {
    LLVMValueRef own = lanes_subvector(e, value, i, each);
    LLVMValueRef own_mask = lanes_subvector(e, mask, i, each);
    LLVMValueRef to = lanes_address_at(e, pointer, i * sizeof(float));
    const uint32_t own_alignment =
        lanes_common_alignment(alignment, i * sizeof(float));
    const lanes_check question = lanes_begin_full_check(e, own_mask);
    LLVMSetAlignment(LLVMBuildStore(e->builder, own, to), own_alignment);
    lanes_end_check_arm(e, &question, question.some);
    store_masked(e, own, to, own_alignment, own_mask);
    lanes_end_check_arm(e, &question, question.done);
  }
}

static bool splits_by_registers(const lanes_emitter *e, LLVMTypeRef type,
                              LLVMValueRef mask) {
  const uint32_t each = e->machine.has_masks ? 0 : lanes_register_words(e);
  return each && !e->is_at_once && !LLVMIsConstant(mask) &&
         LLVMGetVectorSize(type) > each &&
         LLVMSizeOfTypeInBits(e->values->data, LLVMGetElementType(type)) == 32;
}

void lanes_masked_store(lanes_emitter *e, const lanes_access *a,
                        LLVMValueRef value, LLVMValueRef pointer,
                        uint32_t alignment, LLVMValueRef mask) {
  const bool has_masks =
      lanes_has_masks_for(e->planning, LLVMGetElementType(LLVMTypeOf(value)));
  if (!LLVMIsConstant(mask) && lanes_is_workers_own(e->planning, a) &&
      (a->shape.row == e->lanes || !has_masks)) {
    store_among(e, a, value, pointer, alignment, mask);
    return;
  }
  if (has_masks && splits_by_registers(e, LLVMTypeOf(value), mask)) {
    store_by_registers(e, value, pointer, alignment, mask);
    return;
  }
  if (LLVMIsConstant(mask) || has_masks) {
    store_masked(e, value, pointer, alignment, mask);
    return;
  }
  const lanes_check question = lanes_begin_full_check(e, mask);
  LLVMSetAlignment(LLVMBuildStore(e->builder, value, pointer), alignment);
  lanes_end_check_arm(e, &question, question.some);
  const bool is_short = LLVMGetVectorSize(LLVMTypeOf(value)) <= SHORT_VECTOR;
  (is_short ? store_masked : lanes_store_emulated)(e, value, pointer, alignment,
                                                   mask);
  lanes_end_check_arm(e, &question, question.done);
}
