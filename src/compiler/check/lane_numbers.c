// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// lane_numbers.c: keeps the numbers of threads that shuffles read from as the
// program gives them, before __mettle::lane_number (mettle/simd.h) takes them
// modulo the width of the simdgroup or quad.
//
// Requires  calls of the library's functions
// Leaves    calls of LANE_MARK, if MTLI_CHECK_SYNC asks, for the tests of
//           shuffles
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "compiler/check/check.h"

#define LANE_NUMBER "_ZN8__mettle11lane_numberEjj"
#define LANE_MARK "mettle.marked.lane"  // i32(i32 lane, i32 width)
enum { MOST_DEPTH = 3 };                // of the expression around it

static LLVMValueRef declare_mark(mtlc_kernel *kernel) {
  const mtlc_types types = mtlc_types_of(kernel->context);
  LLVMTypeRef parameters[] = {types.i32, types.i32};
  LLVMValueRef mark =
      mtlc_declare(kernel->module, LANE_MARK,
                   LLVMFunctionType(types.i32, parameters, 2, false));
  mtlc_set_attribute(mark, "nounwind", 0);
  mtlc_set_attribute(mark, "willreturn", 0);
  mtlc_set_attribute(mark, "memory", 0);  // it accesses none
  return mark;
}

mtl_status mtlc_mark_lanes(mtlc_kernel *kernel) {
  if (!(kernel->checks & MTLI_CHECK_SYNC)) {
    return MTL_OK;
  }
  mtlc_values calls = {0};
  mtlc_collect_calls(kernel->module, LANE_NUMBER, &calls);
  LLVMValueRef mark = calls.count ? declare_mark(kernel) : NULL;
  LLVMBuilderRef builder = LLVMCreateBuilderInContext(kernel->context);
  for (size_t i = 0; i < calls.count; ++i) {
    LLVMValueRef call = calls.items[i];
    LLVMValueRef arguments[] = {LLVMGetOperand(call, 0),
                                LLVMGetOperand(call, 1)};
    LLVMPositionBuilderBefore(builder, call);
    LLVMReplaceAllUsesWith(call, mtlc_call(builder, mark, arguments, 2));
    LLVMInstructionEraseFromParent(call);
  }
  LLVMDisposeBuilder(builder);
  free(calls.items);
  return MTL_OK;
}

static LLVMValueRef find_mark(LLVMValueRef value, unsigned depth) {
  if (!LLVMIsAInstruction(value) || depth == MOST_DEPTH) {
    return NULL;
  }
  LLVMValueRef callee = mtlc_callee(value);
  if (callee) {
    return strcmp(mtlc_name(callee), LANE_MARK) == 0 ? value : NULL;
  }
  LLVMValueRef found = NULL;
  for (unsigned i = 0; LLVMIsABinaryOperator(value) && i < 2 && !found; ++i) {
    found = find_mark(LLVMGetOperand(value, i), depth + 1);
  }
  return found;
}

LLVMValueRef mtlc_lane_is_there(LLVMBuilderRef builder, LLVMValueRef shuffle) {
  LLVMValueRef mark = find_mark(LLVMGetOperand(shuffle, 1), 0);
  return mark ? LLVMBuildICmp(builder, LLVMIntULT, LLVMGetOperand(mark, 0),
                              LLVMGetOperand(mark, 1), "")
              : NULL;
}

void mtlc_drop_lane_marks(mtlc_kernel *kernel) {
  mtlc_values calls = {0};
  mtlc_collect_calls(kernel->module, LANE_MARK, &calls);
  LLVMBuilderRef builder = LLVMCreateBuilderInContext(kernel->context);
  for (size_t i = 0; i < calls.count; ++i) {
    LLVMValueRef call = calls.items[i];
    LLVMPositionBuilderBefore(builder, call);
    LLVMValueRef last = LLVMBuildSub(builder, LLVMGetOperand(call, 1),
                                     mtlc_i32(kernel->context, 1), "");
    LLVMReplaceAllUsesWith(
        call, LLVMBuildAnd(builder, LLVMGetOperand(call, 0), last, ""));
    LLVMInstructionEraseFromParent(call);
  }
  LLVMDisposeBuilder(builder);
  free(calls.items);
}
