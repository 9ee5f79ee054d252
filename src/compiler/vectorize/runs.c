// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// runs.c: addresses of which the compiler knows nothing and that are, most of
// the time, one behind the other all the same: positions clamped to an image's
// edge, wrapped around it, chosen between two. A comparison at run time costs
// a small part of what a gather does.
#include <string.h>

#include "compiler/vectorize/accesses.h"

enum { MOST_STEPS = 12 };

static bool is_run(const lanes_emitter *e, LLVMValueRef value, uint32_t steps);

static bool are_runs(const lanes_emitter *e, LLVMValueRef value, int from,
                     uint32_t steps) {
  for (int i = from; i < LLVMGetNumOperands(value); i++) {
    if (!is_run(e, LLVMGetOperand(value, (unsigned)i), steps)) {
      return false;
    }
  }
  return true;
}

// The smaller or larger of two.
static bool is_bound(LLVMValueRef call) {
  size_t length = 0;
  const char *name = LLVMGetValueName2(LLVMGetCalledValue(call), &length);
  return !strncmp(name, "llvm.smin.", 10) || !strncmp(name, "llvm.smax.", 10) ||
         !strncmp(name, "llvm.umin.", 10) || !strncmp(name, "llvm.umax.", 10);
}

// Says whether a value may go up by one from lane to lane, or stay, where no
// condition that it depends on changes: not if memory or a factor has a part
// in it.
static bool is_run(const lanes_emitter *e, LLVMValueRef value, uint32_t steps) {
  const lanes_shape shape = lanes_shape_of(e->values, value);
  if (shape.row >= e->values->row && shape.row > 1) {
    return shape.stride == 0 || shape.stride == 1;
  }
  if (!LLVMIsAInstruction(value) || steps == 0) {
    return false;
  }
  switch (LLVMGetInstructionOpcode(value)) {
    case LLVMAdd:
    case LLVMSub:
    case LLVMOr:
    case LLVMZExt:
    case LLVMSExt:
    case LLVMTrunc:
    case LLVMURem:
    case LLVMSRem:
    case LLVMAnd:
    case LLVMFreeze: return are_runs(e, value, 0, steps - 1);
    case LLVMSelect: return are_runs(e, value, 1, steps - 1);
    case LLVMCall:
      return is_bound(value) &&
             is_run(e, LLVMGetArgOperand(value, 0), steps - 1) &&
             is_run(e, LLVMGetArgOperand(value, 1), steps - 1);
    default: return false;
  }
}

bool lanes_may_be_runs(const lanes_emitter *e, const lanes_access *a,
                       lanes_shape *out_shape) {
  LLVMTypeRef type = a->pointer ? lanes_type_indexed(e, a->pointer) : NULL;
  const uint8_t row = e->values->row;
  if (type == NULL || row < 8 || e->uncached) {
    return false;
  }
  const unsigned last = (unsigned)LLVMGetNumOperands(a->pointer) - 1;
  LLVMValueRef index = LLVMGetOperand(a->pointer, last);
  *out_shape = lanes_shape_strided(
      row, (int64_t)LLVMABISizeOfType(e->values->data, type));
  return lanes_shape_of(e->values, index).row == 1 &&
         is_run(e, index, MOST_STEPS);
}

static bool is_extended(LLVMValueRef index) {
  return LLVMIsAZExtInst(index) || LLVMIsASExtInst(index);
}

static LLVMValueRef address_of_lane(lanes_emitter *e, const lanes_access *a,
                                    LLVMValueRef base, LLVMValueRef narrow,
                                    uint32_t lane) {
  const unsigned last = (unsigned)LLVMGetNumOperands(a->pointer) - 1;
  LLVMValueRef index = LLVMGetOperand(a->pointer, last);
  LLVMValueRef one = LLVMBuildExtractElement(e->builder, narrow,
                                             mtlc_i32(e->context, lane), "");
  one = LLVMIsAZExtInst(index)
            ? LLVMBuildZExt(e->builder, one, e->types.i64, "")
            : LLVMBuildSExt(e->builder, one, e->types.i64, "");
  return LLVMBuildGEP2(e->builder, lanes_type_indexed(e, a->pointer), base,
                       &one, 1, "");
}

LLVMValueRef lanes_are_runs(lanes_emitter *e, const lanes_access *a,
                            uint32_t row, LLVMValueRef *out_firsts) {
  const unsigned last = (unsigned)LLVMGetNumOperands(a->pointer) - 1;
  LLVMValueRef index = LLVMGetOperand(a->pointer, last);
  LLVMValueRef narrow = lanes_vector(
      e, is_extended(index) ? LLVMGetOperand(index, 0) : index, 0);
  LLVMTypeRef type = LLVMGetElementType(LLVMTypeOf(narrow));
  int starts[MOST_LANES];
  LLVMValueRef places[MOST_LANES];
  for (uint32_t i = 0; i < LANES; i++) {
    starts[i] = (int)(i - i % row);
    places[i] = LLVMConstInt(type, i % row, false);
  }
  LLVMValueRef first = lanes_shuffle(e, narrow, NULL, starts, LANES);
  LLVMValueRef expected =
      LLVMBuildAdd(e->builder, first, LLVMConstVector(places, LANES), "");
  LLVMValueRef apart =
      LLVMBuildICmp(e->builder, LLVMIntNE, narrow, expected, "");
  if (is_extended(index)) {
    const LLVMIntPredicate below =
        LLVMIsAZExtInst(index) ? LLVMIntULT : LLVMIntSLT;
    LLVMValueRef wraps =
        LLVMBuildICmp(e->builder, below, expected, first, "");
    apart = LLVMBuildOr(e->builder, apart, wraps, "");
  }
  // Lanes that do not run may hold poison, which must not spread.
  apart = LLVMBuildSelect(e->builder, e->mask, apart,
                          LLVMConstNull(LLVMTypeOf(apart)), "");
  LLVMValueRef base = lanes_base_indexed(e, a->pointer);
  for (uint32_t r = 0; r < LANES / row; r++) {
    out_firsts[r] = address_of_lane(e, a, base, narrow, r * row);
  }
  return LLVMBuildICmp(e->builder, LLVMIntEQ, lanes_bits(e, apart),
                       mtlc_i32(e->context, 0), "");
}
