// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// check_arms.c: the two arms of a run-time check, and the block where they
// join.
#include "compiler/vectorize/emit/values/check_arms.h"

#include "compiler/ir/llvm/marks.h"
#include "compiler/vectorize/emit/values/builder.h"
#include "compiler/vectorize/emit/values/emitter.h"

lanes_check lanes_begin_check(lanes_emitter *e, LLVMValueRef holds) {
  const lanes_check question = {lanes_block(e, "all"),
                                         lanes_block(e, "some"),
                                         lanes_block(e, "accessed")};
  lanes_mark_check(
      LLVMBuildCondBr(e->builder, holds, question.all, question.some));
  LLVMPositionBuilderAtEnd(e->builder, question.all);
  return question;
}

lanes_check lanes_begin_full_check(lanes_emitter *e, LLVMValueRef mask) {
  return lanes_begin_check(e, lanes_all(e, mask));
}

void lanes_end_check_arm(lanes_emitter *e, const lanes_check *question,
                    LLVMBasicBlockRef next) {
  LLVMBuildBr(e->builder, question->done);
  LLVMPositionBuilderAtEnd(e->builder, next);
}

static const char mark[] = "mettle.question";

void lanes_mark_check(LLVMValueRef branch) {
  mtlc_mark(branch, mark);
}

bool lanes_is_check(LLVMValueRef branch) {
  return mtlc_is_marked(branch, mark);
}
