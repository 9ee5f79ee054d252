// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// masked_emulation.c: masked loads and stores on machines without masks for
// such elements. LLVM makes a branch of each element, which for the 128 of a
// half4 is 1000 instructions. This makes a loop. A load mostly needs not even
// that: if the whole vector is in one page with a wanted element, it may be
// read whole.
#include "compiler/vectorize/emit/memory/masked_emulation.h"

#include <llvm-c/Target.h>

#include "compiler/ir/llvm/types.h"
#include "compiler/vectorize/base/alignment.h"
#include "compiler/vectorize/emit/values/builder.h"
#include "compiler/vectorize/emit/values/emitter.h"

enum { PAGE_BYTES = 4096 };  // the smallest unit in which memory is mapped

// A loop over the set elements of a mask.
typedef struct element_loop {
  LLVMBasicBlockRef header, next, done;
  LLVMValueRef index;  // i64
  uint32_t count;
} element_loop;

static LLVMValueRef element_at(lanes_emitter *e, LLVMTypeRef element,
                               LLVMValueRef first, LLVMValueRef index) {
  return LLVMBuildGEP2(e->builder, element, first, &index, 1, "");
}

// Begins the loop; the builder is then in its body.
static element_loop begin_loop(lanes_emitter *e, LLVMValueRef mask) {
  element_loop loop = {.header = lanes_block(e, "element"),
                       .next = lanes_block(e, "next"),
                       .done = lanes_block(e, "done"),
                       .count = LLVMGetVectorSize(LLVMTypeOf(mask))};
  LLVMTypeRef bytes = LLVMVectorType(e->types.i8, loop.count);
  LLVMValueRef flags = lanes_fixed_alloca(e, bytes);
  LLVMBuildStore(e->builder, LLVMBuildZExt(e->builder, mask, bytes, ""), flags);
  LLVMBasicBlockRef before = LLVMGetInsertBlock(e->builder);
  LLVMBuildBr(e->builder, loop.header);
  LLVMPositionBuilderAtEnd(e->builder, loop.header);
  loop.index = LLVMBuildPhi(e->builder, e->types.i64, "");
  LLVMValueRef zero = mtlc_i64(e->context, 0);
  LLVMAddIncoming(loop.index, &zero, &before, 1);
  LLVMValueRef flag =
      LLVMBuildLoad2(e->builder, e->types.i8,
                     element_at(e, e->types.i8, flags, loop.index), "");
  LLVMValueRef is_set = LLVMBuildICmp(e->builder, LLVMIntNE, flag,
                                      LLVMConstNull(e->types.i8), "");
  LLVMBasicBlockRef access = lanes_block(e, "access");
  LLVMBuildCondBr(e->builder, is_set, access, loop.next);
  LLVMPositionBuilderAtEnd(e->builder, access);
  return loop;
}

static void end_loop(lanes_emitter *e, const element_loop *loop) {
  LLVMBuildBr(e->builder, loop->next);
  LLVMPositionBuilderAtEnd(e->builder, loop->next);
  LLVMValueRef next =
      LLVMBuildAdd(e->builder, loop->index, mtlc_i64(e->context, 1), "");
  LLVMAddIncoming(loop->index, &next, (LLVMBasicBlockRef[]){loop->next}, 1);
  LLVMValueRef more = LLVMBuildICmp(e->builder, LLVMIntULT, next,
                                    mtlc_i64(e->context, loop->count), "");
  LLVMBuildCondBr(e->builder, more, loop->header, loop->done);
  LLVMPositionBuilderAtEnd(e->builder, loop->done);
}

// Copies a mask's elements, each aligned to its own size or to `alignment`, if
// that is less.
static void copy_elements(lanes_emitter *e, LLVMTypeRef type, LLVMValueRef from,
                          LLVMValueRef to, uint32_t alignment,
                          LLVMValueRef mask) {
  LLVMTypeRef element = LLVMGetElementType(type);
  const uint32_t own = lanes_common_alignment(
      alignment, LLVMStoreSizeOfType(e->values->data, element));
  const element_loop loop = begin_loop(e, mask);
  LLVMValueRef value = LLVMBuildLoad2(
      e->builder, element, element_at(e, element, from, loop.index), "");
  LLVMSetAlignment(value, own);
  LLVMSetAlignment(
      LLVMBuildStore(e->builder, value, element_at(e, element, to, loop.index)),
      own);
  end_loop(e, &loop);
}

LLVMValueRef lanes_load_emulated(lanes_emitter *e, LLVMTypeRef type,
                             LLVMValueRef pointer, uint32_t alignment,
                             LLVMValueRef mask) {
  LLVMValueRef loaded = lanes_fixed_alloca(e, type);
  copy_elements(e, type, pointer, loaded, alignment, mask);
  return LLVMBuildLoad2(e->builder, type, loaded, "");
}

void lanes_store_emulated(lanes_emitter *e, LLVMValueRef value,
                      LLVMValueRef pointer, uint32_t alignment,
                      LLVMValueRef mask) {
  LLVMTypeRef type = LLVMTypeOf(value);
  LLVMValueRef stored = lanes_fixed_alloca(e, type);
  LLVMBuildStore(e->builder, value, stored);
  copy_elements(e, type, stored, pointer, alignment, mask);
}

LLVMValueRef lanes_is_in_page(lanes_emitter *e, LLVMValueRef pointer,
                              uint64_t bytes) {
  LLVMValueRef in_page = LLVMBuildAnd(
      e->builder, LLVMBuildPtrToInt(e->builder, pointer, e->types.i64, ""),
      mtlc_i64(e->context, PAGE_BYTES - 1), "");
  return LLVMBuildICmp(e->builder, LLVMIntULE, in_page,
                       mtlc_i64(e->context, PAGE_BYTES - bytes), "");
}

LLVMValueRef lanes_may_load_whole(lanes_emitter *e, LLVMTypeRef type,
                                  LLVMValueRef pointer, LLVMValueRef mask) {
  const uint64_t bytes = LLVMStoreSizeOfType(e->values->data, type);
  LLVMValueRef is_there = LLVMBuildAnd(e->builder, lanes_any(e, mask),
                                       lanes_is_in_page(e, pointer, bytes), "");
  return LLVMBuildOr(e->builder, lanes_all(e, mask), is_there, "");
}
