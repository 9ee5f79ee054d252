// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// windows.c: loads whose lanes are in no order that the compiler knows but turn
// out to be near each other: the halves that a step of a sort or of a Fourier
// transform compares, positions divided or with bits exchanged. Where those of
// a register are within two registers, these are loaded and picked from; a
// gather takes four times as long.
#include "compiler/vectorize/accesses.h"

enum { MOST_STEPS = 12 };

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

bool lanes_may_be_near(const lanes_emitter *e, const lanes_access *a) {
  LLVMTypeRef type = a->pointer ? lanes_type_indexed(e, a->pointer) : NULL;
  if (type == NULL || e->uncached || a->count != 1 || a->size_bytes != 4 ||
      LLVMABISizeOfType(e->values->data, type) != 4 ||
      !lanes_register_words(e)) {
    return false;
  }
  const unsigned last = (unsigned)LLVMGetNumOperands(a->pointer) - 1;
  LLVMValueRef index = LLVMGetOperand(a->pointer, last);
  return (LLVMIsAZExtInst(index) || LLVMIsASExtInst(index)) &&
         LLVMTypeOf(LLVMGetOperand(index, 0)) == e->types.i32 &&
         is_near(e, index, MOST_STEPS);
}

// Every each-th element, and each of those as often.
static LLVMValueRef first_of(lanes_emitter *e, LLVMValueRef all,
                             uint32_t each) {
  int lanes[MOST_LANES];
  for (uint32_t i = 0; i < LANES / each; i++) {
    lanes[i] = (int)(i * each);
  }
  return lanes_shuffle(e, all, NULL, lanes, LANES / each);
}

static LLVMValueRef repeated(lanes_emitter *e, LLVMValueRef firsts,
                             uint32_t each) {
  int lanes[MOST_LANES];
  for (uint32_t i = 0; i < LANES; i++) {
    lanes[i] = (int)(i / each);
  }
  return lanes_shuffle(e, firsts, NULL, lanes, LANES);
}

// A window begins at its first lane's element or just before it, at an index
// that is a multiple of its lanes. It can be read whole if it does not leave
// the page.
LLVMValueRef lanes_is_in_window(lanes_emitter *e, lanes_access *a,
                                LLVMValueRef *out_firsts) {
  LLVMBuilderRef b = e->builder;
  const uint32_t each = lanes_register_words(e);
  const uint32_t count = LANES / each;
  const unsigned last = (unsigned)LLVMGetNumOperands(a->pointer) - 1;
  LLVMValueRef index = LLVMGetOperand(a->pointer, last);
  const bool is_signed = LLVMIsASExtInst(index) != NULL;
  // Lanes that do not run may hold poison, which must not spread.
  LLVMValueRef narrow = lanes_filled(
      e, LLVMBuildFreeze(b, lanes_vector(e, LLVMGetOperand(index, 0), 0), ""));
  LLVMValueRef begins = LLVMBuildAnd(
      b, first_of(e, narrow, each),
      lanes_splat_to(e, b, mtlc_i32(e->context, ~(each - 1)), count), "");
  a->places = LLVMBuildSub(b, narrow, repeated(e, begins, each), "");
  LLVMValueRef outside = LLVMBuildICmp(
      b, LLVMIntUGE, a->places, lanes_steps(e->types.i32, 2 * each, 0), "");
  outside = LLVMBuildSelect(b, e->mask, outside,
                            LLVMConstNull(LLVMTypeOf(outside)), "");
  LLVMValueRef none = mtlc_i32(e->context, 0);
  LLVMValueRef holds =
      LLVMBuildICmp(b, LLVMIntEQ, lanes_bits(e, outside), none, "");
  holds = LLVMBuildAnd(
      b, holds,
      LLVMBuildICmp(b, LLVMIntNE, lanes_bits(e, e->mask), none, ""), "");
  LLVMValueRef base = lanes_base_indexed(e, a->pointer);
  // Nor may an index wrap within it.
  LLVMValueRef end = mtlc_i32(
      e->context, (is_signed ? INT32_MAX : UINT32_MAX) - (2 * each - 1));
  for (uint32_t i = 0; i < count; i++) {
    LLVMValueRef begin =
        LLVMBuildExtractElement(b, begins, mtlc_i32(e->context, i), "");
    LLVMValueRef wide =
        LLVMBuildIntCast2(b, begin, e->types.i64, is_signed, "");
    out_firsts[i] = LLVMBuildGEP2(b, e->types.i32, base, &wide, 1, "");
    LLVMValueRef is_there =
        LLVMBuildICmp(b, is_signed ? LLVMIntSLE : LLVMIntULE, begin, end, "");
    is_there = LLVMBuildAnd(
        b, is_there, lanes_is_in_page(e, out_firsts[i], 8 * each), "");
    holds = LLVMBuildAnd(b, holds, is_there, "");
  }
  return holds;
}

LLVMValueRef lanes_load_window(lanes_emitter *e, const lanes_access *a) {
  const uint32_t each = lanes_register_words(e);
  LLVMTypeRef words = LLVMVectorType(e->types.i32, each);
  LLVMValueRef parts[MOST_LANES];
  for (uint32_t i = 0; i < LANES / each; i++) {
    LLVMValueRef halves[2];
    for (uint32_t h = 0; h < 2; h++) {
      halves[h] = LLVMBuildLoad2(
          e->builder, words,
          lanes_address_at(e, a->firsts[i], h * 4 * each), "");
      LLVMSetAlignment(halves[h], lanes_common_alignment(a->alignment, 4));
    }
    parts[i] = lanes_pick_words(e, halves, 2,
                                lanes_piece(e, a->places, i * each, each));
  }
  return LLVMBuildBitCast(e->builder,
                          lanes_concatenated(e, parts, LANES / each),
                          lanes_vector_of(a->element), "");
}
