// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// matrices.c: translates simdgroup matrices: air.simdgroup_matrix_8x8_* become
// functions of tiles (docs/ir.md). A thread's two elements are a vector in AIR
// and the bits of one integer in portable IR.
#include <string.h>

#include "compiler/air/families.h"

static LLVMTypeRef integer_of(air_translation *t, LLVMTypeRef tile) {
  const bool is_wide =
      LLVMGetTypeKind(LLVMGetElementType(tile)) == LLVMFloatTypeKind;
  return is_wide ? LLVMInt64TypeInContext(t->context)
                 : LLVMInt32TypeInContext(t->context);
}

static const char *suffix_of(LLVMTypeRef tile) {
  return LLVMGetTypeKind(LLVMGetElementType(tile)) == LLVMFloatTypeKind ? "i64"
                                                                        : "i32";
}

static LLVMValueRef bits_of(air_translation *t, LLVMValueRef tile) {
  return LLVMBuildBitCast(t->builder, tile, integer_of(t, LLVMTypeOf(tile)),
                          "");
}

static LLVMValueRef call_known(air_translation *t, const char *name,
                               LLVMTypeRef result, LLVMValueRef *arguments,
                               unsigned count) {
  LLVMTypeRef types[4];
  for (unsigned i = 0; i < count; ++i) {
    types[i] = LLVMTypeOf(arguments[i]);
  }
  LLVMTypeRef type = LLVMFunctionType(result, types, count, false);
  LLVMValueRef function = air_declare_known(t, name, type, true);
  return LLVMBuildCall2(t->builder, type, function, arguments, count, "");
}

// Returns the bits of a tile of floats.
static LLVMValueRef widened(air_translation *t, LLVMValueRef tile) {
  LLVMTypeRef i64 = LLVMInt64TypeInContext(t->context);
  LLVMValueRef bits = bits_of(t, tile);
  switch (LLVMGetTypeKind(LLVMGetElementType(LLVMTypeOf(tile)))) {
    case LLVMHalfTypeKind:
      return call_known(t, "mettle.tile.widen.f16", i64, &bits, 1);
    case LLVMBFloatTypeKind:
      return call_known(t, "mettle.tile.widen.bf16", i64, &bits, 1);
    default: return bits;
  }
}

// Multiplies and adds matrices of different types by way of floats.
static LLVMValueRef multiply_add(air_translation *t, LLVMValueRef call) {
  LLVMTypeRef result = air_type(t, LLVMTypeOf(call));
  LLVMTypeRef floats =
      LLVMVectorType(LLVMFloatTypeInContext(t->context), AIR_OWN_ELEMENTS);
  LLVMValueRef factors[3];
  for (unsigned i = 0; i < 3; ++i) {
    factors[i] = widened(t, air_operand(t, call, i));
  }
  LLVMValueRef bits = call_known(t, "mettle.tile.multiply_add",
                                 LLVMInt64TypeInContext(t->context), factors,
                                 3);
  LLVMValueRef sum = LLVMBuildBitCast(t->builder, bits, floats, "");
  return result == floats ? sum
                          : LLVMBuildFPTrunc(t->builder, sum, result, "");
}

static LLVMValueRef filled(air_translation *t, LLVMValueRef call) {
  LLVMTypeRef i32 = LLVMInt32TypeInContext(t->context);
  LLVMValueRef value = air_operand(t, call, 0);
  LLVMValueRef tile = LLVMGetPoison(air_type(t, LLVMTypeOf(call)));
  for (unsigned i = 0; i < AIR_OWN_ELEMENTS; ++i) {
    tile = LLVMBuildInsertElement(t->builder, tile, value,
                                  LLVMConstInt(i32, i, false), "");
  }
  return tile;
}

// Address, elements from row to row and whether it is transposed, from an
// address, elements to a row, the origin (x, y) and the flag.
static void place_tile(air_translation *t, LLVMValueRef call, unsigned first,
                       LLVMTypeRef element, LLVMValueRef out[3]) {
  LLVMTypeRef i32 = LLVMInt32TypeInContext(t->context);
  LLVMValueRef row = air_operand(t, call, first + 1);
  LLVMValueRef origin = air_operand(t, call, first + 2);
  LLVMValueRef x = LLVMBuildExtractElement(t->builder, origin,
                                           LLVMConstInt(i32, 0, false), "");
  LLVMValueRef y = LLVMBuildExtractElement(t->builder, origin,
                                           LLVMConstInt(i32, 1, false), "");
  LLVMValueRef offset = LLVMBuildAdd(
      t->builder, LLVMBuildMul(t->builder, y, row, ""), x, "");
  out[0] = LLVMBuildGEP2(t->builder, element, air_operand(t, call, first),
                         &offset, 1, "");
  out[1] = row;
  out[2] = air_operand(t, call, first + 3);
}

static LLVMValueRef load_tile(air_translation *t, LLVMValueRef call) {
  LLVMTypeRef tile = air_type(t, LLVMTypeOf(call));
  const bool is_wide = strcmp(suffix_of(tile), "i64") == 0;
  LLVMValueRef arguments[3];
  place_tile(t, call, 0, LLVMGetElementType(tile), arguments);
  LLVMValueRef bits = call_known(
      t, is_wide ? "mettle.tile.load.i64" : "mettle.tile.load.i32",
      integer_of(t, tile), arguments, 3);
  return LLVMBuildBitCast(t->builder, bits, tile, "");
}

static LLVMValueRef store_tile(air_translation *t, LLVMValueRef call) {
  LLVMValueRef tile = air_operand(t, call, 0);
  const bool is_wide = strcmp(suffix_of(LLVMTypeOf(tile)), "i64") == 0;
  LLVMValueRef arguments[4] = {bits_of(t, tile)};
  place_tile(t, call, 1, LLVMGetElementType(LLVMTypeOf(tile)), arguments + 1);
  return call_known(t,
                    is_wide ? "mettle.tile.store.i64" : "mettle.tile.store.i32",
                    LLVMVoidTypeInContext(t->context), arguments, 4);
}

LLVMValueRef air_call_matrix(air_translation *t, LLVMValueRef call,
                             const char *rest) {
  if (strncmp(rest, "multiply_accumulate.", 20) == 0) {
    return multiply_add(t, call);
  }
  if (strncmp(rest, "init_filled.", 12) == 0) {
    return filled(t, call);
  }
  if (strncmp(rest, "load.", 5) == 0 && LLVMGetNumArgOperands(call) == 4) {
    return load_tile(t, call);
  }
  if (strncmp(rest, "store.", 6) == 0 && LLVMGetNumArgOperands(call) == 5) {
    return store_tile(t, call);
  }
  // init_diag, for one
  char name[256] = "simdgroup_matrix_8x8_";
  strncat(name, rest, sizeof name - strlen(name) - 1);
  return air_call_library(t, call, name);
}
