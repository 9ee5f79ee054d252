// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// windows.c: loads whose lanes are in no order that the compiler knows but turn
// out to be near each other: the halves that a step of a sort or of a Fourier
// transform compares, positions divided or with bits exchanged. Where all are
// within 64 elements, those are loaded and picked from; a gather takes four
// times as long.
#include "compiler/vectorize/accesses.h"

enum {
  WINDOW = 64,  // elements
  WINDOW_BYTES = 4 * WINDOW,
  MOST_STEPS = 12,
};

static bool is_near(const lanes_emitter *e, LLVMValueRef value, uint32_t steps);

static bool are_near(const lanes_emitter *e, LLVMValueRef value, unsigned from,
                     unsigned count, uint32_t steps) {
  for (unsigned i = from; i < count; i++) {
    if (!is_near(e, LLVMGetOperand(value, i), steps)) {
      return false;
    }
  }
  return true;
}

static bool is_at_most(LLVMValueRef value, uint64_t most) {
  return LLVMIsAConstantInt(value) && LLVMConstIntGetZExtValue(value) <= most;
}

// Says whether all lanes' values may well lie close together: not if memory has
// a part in them, nor if they are multiples of what nobody knows.
static bool is_near(const lanes_emitter *e, LLVMValueRef value,
                    uint32_t steps) {
  const lanes_shape shape = lanes_shape_of(e->values, value);
  if (shape.row == LANES) {
    return shape.stride >= -2 && shape.stride <= 2;
  }
  if (!LLVMIsAInstruction(value) || steps == 0) {
    return false;
  }
  switch (LLVMGetInstructionOpcode(value)) {
    case LLVMAdd:
    case LLVMSub:
    case LLVMAnd:
    case LLVMOr:
    case LLVMXor: return are_near(e, value, 0, 2, steps - 1);
    case LLVMZExt:
    case LLVMSExt:
    case LLVMTrunc:
    case LLVMFreeze:
    case LLVMLShr:
    case LLVMAShr:
    case LLVMUDiv:
    case LLVMSDiv:
    case LLVMURem:
    case LLVMSRem: return are_near(e, value, 0, 1, steps - 1);
    case LLVMShl:
      return is_at_most(LLVMGetOperand(value, 1), 1) &&
             are_near(e, value, 0, 1, steps - 1);
    case LLVMMul:
      return is_at_most(LLVMGetOperand(value, 1), 2) &&
             are_near(e, value, 0, 1, steps - 1);
    case LLVMSelect: return are_near(e, value, 1, 3, steps - 1);
    default: return false;
  }
}

bool lanes_may_be_in_window(const lanes_emitter *e, const lanes_access *a) {
  LLVMTypeRef type = a->pointer ? lanes_type_indexed(e, a->pointer) : NULL;
  if (type == NULL || e->uncached || a->count != 1 || a->size_bytes != 4 ||
      LLVMABISizeOfType(e->values->data, type) != 4 || !e->machine.has_avx512) {
    return false;
  }
  const unsigned last = (unsigned)LLVMGetNumOperands(a->pointer) - 1;
  LLVMValueRef index = LLVMGetOperand(a->pointer, last);
  return (LLVMIsAZExtInst(index) || LLVMIsASExtInst(index)) &&
         LLVMTypeOf(LLVMGetOperand(index, 0)) == e->types.i32 &&
         is_near(e, index, MOST_STEPS);
}

// The window begins at lane 0's element or up to 31 before it, at an index that
// is a multiple of 32. It can be read whole if lane 0 runs and it does not
// leave the page.
LLVMValueRef lanes_is_in_window(lanes_emitter *e, lanes_access *a) {
  LLVMBuilderRef b = e->builder;
  const unsigned last = (unsigned)LLVMGetNumOperands(a->pointer) - 1;
  LLVMValueRef index = LLVMGetOperand(a->pointer, last);
  const bool is_signed = LLVMIsASExtInst(index) != NULL;
  // Lanes that do not run may hold poison, which must not spread.
  LLVMValueRef narrow =
      LLVMBuildFreeze(b, lanes_vector(e, LLVMGetOperand(index, 0), 0), "");
  LLVMValueRef begin = LLVMBuildAnd(
      b, LLVMBuildExtractElement(b, narrow, mtlc_i32(e->context, 0), ""),
      mtlc_i32(e->context, ~(uint32_t)(LANES - 1)), "");
  a->places = LLVMBuildSub(b, narrow, lanes_splat(e, b, begin), "");
  LLVMValueRef outside = LLVMBuildICmp(
      b, LLVMIntUGE, a->places, lanes_steps(e->types.i32, WINDOW, 0), "");
  outside = LLVMBuildSelect(b, e->mask, outside,
                            LLVMConstNull(LLVMTypeOf(outside)), "");
  // Nor may an index wrap within it.
  LLVMValueRef end =
      mtlc_i32(e->context, (is_signed ? INT32_MAX : UINT32_MAX) - (WINDOW - 1));
  LLVMValueRef holds =
      LLVMBuildICmp(b, is_signed ? LLVMIntSLE : LLVMIntULE, begin, end, "");
  LLVMValueRef wide = LLVMBuildIntCast2(b, begin, e->types.i64, is_signed, "");
  a->first = LLVMBuildGEP2(b, e->types.i32, lanes_base_indexed(e, a->pointer),
                           &wide, 1, "");
  holds =
      LLVMBuildAnd(b, holds, lanes_is_in_page(e, a->first, WINDOW_BYTES), "");
  holds = LLVMBuildAnd(
      b, holds,
      LLVMBuildExtractElement(b, e->mask, mtlc_i32(e->context, 0), ""), "");
  return LLVMBuildAnd(b, holds,
                      LLVMBuildICmp(b, LLVMIntEQ, lanes_bits(e, outside),
                                    mtlc_i32(e->context, 0), ""),
                      "");
}

LLVMValueRef lanes_load_window(lanes_emitter *e, const lanes_access *a) {
  LLVMTypeRef words = lanes_vector_of(e->types.i32);
  LLVMValueRef parts[2];
  for (uint32_t i = 0; i < 2; i++) {
    LLVMValueRef part = LLVMBuildLoad2(
        e->builder, words,
        lanes_address_at(e, a->first, i * (WINDOW_BYTES / 2)), "");
    LLVMSetAlignment(part, lanes_common_alignment(a->alignment, 4));
    parts[i] = lanes_permute_words(e, part, a->places);
  }
  LLVMValueRef is_low = LLVMBuildICmp(e->builder, LLVMIntULT, a->places,
                                      lanes_steps(e->types.i32, LANES, 0), "");
  return LLVMBuildBitCast(
      e->builder, LLVMBuildSelect(e->builder, is_low, parts[0], parts[1], ""),
      lanes_vector_of(a->element), "");
}
