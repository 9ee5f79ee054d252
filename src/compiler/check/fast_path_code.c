// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// fast_path_code.c: loads, comparisons and blocks of a fast path.
#include "compiler/check/fast_path.h"

LLVMValueRef mtlc_fast_parameter(const mtlc_fast_path_code *e, unsigned which) {
  return LLVMGetParam(e->function, which);
}

LLVMValueRef mtlc_fast_i64(const mtlc_fast_path_code *e, uint64_t value) {
  return mtlc_i64(e->kernel->context, value);
}

LLVMValueRef mtlc_fast_at(const mtlc_fast_path_code *e, LLVMValueRef base,
                          uint64_t offset) {
  return mtlc_offset(e->builder, base, offset);
}

LLVMValueRef mtlc_fast_at_number(const mtlc_fast_path_code *e,
                                 LLVMValueRef base, LLVMValueRef offset) {
  return LLVMBuildGEP2(e->builder, e->types.i8, base, &offset, 1, "");
}

LLVMValueRef mtlc_fast_load(const mtlc_fast_path_code *e, LLVMTypeRef type,
                            LLVMValueRef base, uint64_t offset) {
  return LLVMBuildLoad2(e->builder, type, mtlc_fast_at(e, base, offset), "");
}

LLVMValueRef mtlc_fast_load_fixed(const mtlc_fast_path_code *e,
                                  LLVMTypeRef type, LLVMValueRef base,
                                  uint64_t offset) {
  LLVMValueRef value = mtlc_fast_load(e, type, base, offset);
  mtlc_mark_invariant(value);
  return value;
}

LLVMBasicBlockRef mtlc_fast_add_block(const mtlc_fast_path_code *e) {
  return LLVMAppendBasicBlockInContext(e->kernel->context, e->function, "");
}

LLVMValueRef mtlc_fast_compare(const mtlc_fast_path_code *e,
                               LLVMIntPredicate how, LLVMValueRef a,
                               LLVMValueRef b) {
  return LLVMBuildICmp(e->builder, how, a, b, "");
}

LLVMValueRef mtlc_fast_and(const mtlc_fast_path_code *e, LLVMValueRef a,
                           LLVMValueRef b) {
  return LLVMBuildAnd(e->builder, a, b, "");
}

bool mtlc_fast_wants(const mtlc_fast_path_code *e, unsigned checks) {
  return (e->kernel->checks & checks) != 0;
}

void mtlc_fast_go_on_if(const mtlc_fast_path_code *e, LLVMValueRef holds,
                        LLVMBasicBlockRef otherwise) {
  LLVMBasicBlockRef next = mtlc_fast_add_block(e);
  LLVMBuildCondBr(e->builder, holds, next, otherwise);
  LLVMPositionBuilderAtEnd(e->builder, next);
}

void mtlc_fast_must(const mtlc_fast_path_code *e, LLVMValueRef holds) {
  mtlc_fast_go_on_if(e, holds, e->slow);
}
