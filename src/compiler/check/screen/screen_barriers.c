// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// screen_barriers.c: screens barriers, to which all threads of a threadgroup
// come, and shuffles and the simdgroup's barriers, which all its lanes run.
#include "compiler/check/screen/screening.h"

_Static_assert(offsetof(mtli_check, arrived) == 172, "check_abi.h");

enum { FLAG_THREADGROUP = 2, MOST_WEIGHT = 8 };

// Returns an i32 with the bit of each lane that runs this.
static LLVMValueRef active_threads(mtlc_screening *s) {
  LLVMTypeRef i1 = s->types.i1;
  LLVMValueRef yes = LLVMConstInt(i1, 1, false);
  LLVMValueRef function =
      mtlc_screen_declare(s, "mettle.simd.ballot", s->types.i32, &i1, 1);
  mtlc_set_attribute(function, "convergent", 0);
  mtlc_set_attribute(function, "nounwind", 0);
  return mtlc_call(s->builder, function, &yes, 1);
}

// Counts arrivals at barriers in mtli_check.arrived. A thread that leaves a
// barrier finds all threads of its threadgroup counted, or it stops. Barriers
// have different weights: where threads wait at two, those at the heavier one
// find too little.
void mtlc_screen_barrier(mtlc_screening *s, LLVMValueRef barrier) {
  LLVMTypeRef i32 = s->types.i32;
  LLVMValueRef flags = LLVMGetOperand(barrier, 0);
  if (!LLVMIsAConstantInt(flags)) {
    mtlc_screen_refuse(s, "a barrier whose flags are computed");
    return;
  }
  mtlc_screen_go_before(s, barrier);
  mtlc_screen_flush(s);
  LLVMValueRef mask = active_threads(s);
  LLVMValueRef weight =
      mtlc_screen_i32(s, 1 + s->barrier_count++ % MOST_WEIGHT);
  LLVMValueRef count = LLVMBuildMul(
      s->builder,
      mtlc_call_intrinsic(s->builder, "llvm.ctpop", &i32, 1, &mask, 1), weight,
      "");
  const size_t arrived = offsetof(mtli_check, arrived);
  LLVMBuildStore(
      s->builder,
      LLVMBuildAdd(s->builder,
                   mtlc_screen_load(s, i32, s->check, arrived, false), count,
                   ""),
      mtlc_offset(s->builder, s->check, arrived));
  mtlc_screen_go_before(s, LLVMGetNextInstruction(barrier));
  LLVMValueRef passed =
      LLVMBuildAdd(s->builder, LLVMBuildLoad2(s->builder, i32, s->passed, ""),
                   LLVMBuildMul(s->builder, s->group_threads, weight, ""), "");
  LLVMBuildStore(s->builder, passed, s->passed);
  if (LLVMConstIntGetZExtValue(flags) & FLAG_THREADGROUP) {
    LLVMBuildStore(s->builder, passed, s->epoch);
  }
  mtlc_screen_must(
      s, LLVMBuildICmp(s->builder, LLVMIntUGE,
                       mtlc_screen_load(s, i32, s->check, arrived, false),
                       passed, ""));
}

void mtlc_screen_all_lanes(mtlc_screening *s, LLVMValueRef call) {
  mtlc_screen_go_before(s, call);
  LLVMValueRef mask = active_threads(s);
  mtlc_screen_must_later(s, LLVMBuildICmp(s->builder, LLVMIntEQ, mask,
                                          mtlc_screen_i32(s, UINT32_MAX), ""));
}
