// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// product_halves.c: the loop over the steps of a product.
#include "compiler/vectorize/emit/tiles/product_halves.h"

#include "compiler/ir/llvm/types.h"
#include "compiler/vectorize/base/tables.h"
#include "compiler/vectorize/emit/values/builder.h"
#include "compiler/vectorize/emit/values/emitter.h"

lanes_halves lanes_begin_halves(lanes_emitter *e, LLVMValueRef *values,
                                uint32_t count) {
  lanes_halves halves = {
      .before = LLVMGetInsertBlock(e->builder),
      .body = lanes_block(e, "products"),
      .phis = lanes_allocate(e->arena, count, sizeof(LLVMValueRef)),
      .count = count};
  LLVMBuildBr(e->builder, halves.body);
  LLVMPositionBuilderAtEnd(e->builder, halves.body);
  halves.half = LLVMBuildPhi(e->builder, e->types.i64, "");
  for (uint32_t i = 0; i < count; i++) {
    halves.phis[i] = LLVMBuildPhi(e->builder, LLVMTypeOf(values[i]), "");
    LLVMAddIncoming(halves.phis[i], &values[i], &halves.before, 1);
    values[i] = halves.phis[i];
  }
  return halves;
}

void lanes_end_halves(lanes_emitter *e, lanes_halves *halves,
                      LLVMValueRef *values, uint32_t turns) {
  LLVMBasicBlockRef after = lanes_block(e, "multiplied");
  LLVMValueRef first = mtlc_i64(e->context, 0);
  LLVMValueRef next =
      LLVMBuildAdd(e->builder, halves->half, mtlc_i64(e->context, 1), "");
  LLVMAddIncoming(halves->half, &first, &halves->before, 1);
  LLVMAddIncoming(halves->half, &next, &halves->body, 1);
  for (uint32_t i = 0; i < halves->count; i++) {
    LLVMAddIncoming(halves->phis[i], &values[i], &halves->body, 1);
  }
  LLVMValueRef again = LLVMBuildICmp(e->builder, LLVMIntULT, next,
                                     mtlc_i64(e->context, turns), "");
  lanes_keep_loop(LLVMBuildCondBr(e->builder, again, halves->body, after));
  LLVMPositionBuilderAtEnd(e->builder, after);
}
