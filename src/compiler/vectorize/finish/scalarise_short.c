// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// scalarise_short.c: scalarises vectors of two or four elements that are only
// taken apart in the end. A simdgroup of two or four rows computes such vectors
// once for each row, mostly for addresses. Scalars are faster: as a vector a
// 32-bit multiplication is two instructions, and extracting an element is two
// more.
#include "compiler/vectorize/finish/scalarise_short.h"

#include <llvm-c/DebugInfo.h>
#include <stddef.h>
#include <string.h>

#include "compiler/ir/llvm/instructions.h"
#include "compiler/ir/llvm/marks.h"
#include "compiler/vectorize/base/tables.h"

enum {
  MOST_ROWS = 4,
  MOST_INDICES = 8,  // of an address
};

typedef struct rows {
  mtli_arena arena;
  LLVMBuilderRef builder;
  LLVMValueRef *vectors;                // [count] in program order
  LLVMValueRef (*elements)[MOST_ROWS];  // [count] the scalars that replace them
  uint32_t count, capacity;
  lanes_map numbers;
} rows;

// --- Which vectors -----------------------------------------------------------

static uint32_t row_count(LLVMValueRef value) {
  LLVMTypeRef type = LLVMTypeOf(value);
  if (LLVMGetTypeKind(type) != LLVMVectorTypeKind) {
    return 0;
  }
  const LLVMTypeKind kind = LLVMGetTypeKind(LLVMGetElementType(type));
  const uint32_t count = LLVMGetVectorSize(type);
  return count <= MOST_ROWS &&
                 (kind == LLVMPointerTypeKind ||
                  (kind == LLVMIntegerTypeKind &&
                   LLVMGetIntTypeWidth(LLVMGetElementType(type)) > 1))
             ? count
             : 0;
}

static bool is_number(LLVMValueRef value) {
  return LLVMIsAConstantInt(value) != NULL;
}

// True for a shuffle that repeats the first element of its first operand.
static bool repeats_first(LLVMValueRef i) {
  for (unsigned k = 0; k < LLVMGetNumMaskElements(i); k++) {
    if (LLVMGetMaskValue(i, k) != 0) {
      return false;
    }
  }
  return row_count(LLVMGetOperand(i, 0)) != 0;
}

static bool has_scalar_form(LLVMValueRef i) {
  switch (LLVMGetInstructionOpcode(i)) {
    case LLVMZExt:
    case LLVMSExt:
    case LLVMTrunc: return true;
    case LLVMGetElementPtr: return LLVMGetNumOperands(i) - 1 <= MOST_INDICES;
    case LLVMInsertElement: return is_number(LLVMGetOperand(i, 2));
    case LLVMShuffleVector: return repeats_first(i);
    default: return mtlc_is_plain_arithmetic(LLVMGetInstructionOpcode(i));
  }
}

static void collect(rows *r, LLVMValueRef function) {
  for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block;
       block = LLVMGetNextBasicBlock(block)) {
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i;
         i = LLVMGetNextInstruction(i)) {
      if (row_count(i) && has_scalar_form(i)) {
        r->vectors = lanes_make_room(&r->arena, r->vectors, r->count,
                                     &r->capacity, 64, sizeof *r->vectors);
        lanes_map_set(&r->arena, &r->numbers, i, r->count);
        r->vectors[r->count++] = i;
      }
    }
  }
}

static bool is_chosen(const rows *r, LLVMValueRef value) {
  const uint32_t number = lanes_map_get(&r->numbers, value);
  return number != LANES_NONE && r->vectors[number];
}

// True if a vector and all values connected to it are chosen or scalars.
static bool stays_chosen(const rows *r, LLVMValueRef vector) {
  const int count = LLVMGetNumOperands(vector);
  for (int k = 0; k < count; k++) {
    LLVMValueRef operand = LLVMGetOperand(vector, (unsigned)k);
    if (LLVMGetTypeKind(LLVMTypeOf(operand)) == LLVMVectorTypeKind &&
        !LLVMIsConstant(operand) && !is_chosen(r, operand)) {
      return false;
    }
  }
  bool any = false;
  for (LLVMUseRef use = LLVMGetFirstUse(vector); use;
       use = LLVMGetNextUse(use)) {
    LLVMValueRef user = LLVMGetUser(use);
    any = true;
    if (!is_chosen(r, user) && !(LLVMIsAExtractElementInst(user) &&
                                 is_number(LLVMGetOperand(user, 1)))) {
      return false;
    }
  }
  return any;
}

static void choose(rows *r) {
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t n = 0; n < r->count; n++) {
      if (r->vectors[n] && !stays_chosen(r, r->vectors[n])) {
        r->vectors[n] = NULL;
        changed = true;
      }
    }
  }
}

// --- Their elements ----------------------------------------------------------

static void part(rows *r, uint32_t number);

static LLVMValueRef element_of(rows *r, LLVMValueRef value, uint32_t row) {
  if (LLVMGetTypeKind(LLVMTypeOf(value)) != LLVMVectorTypeKind) {
    return value;
  }
  if (LLVMIsConstant(value)) {
    return LLVMGetAggregateElement(value, row);
  }
  const uint32_t number = lanes_map_get(&r->numbers, value);
  part(r, number);
  return r->elements[number][row];
}

static LLVMValueRef address_of(rows *r, LLVMValueRef i, uint32_t row) {
  LLVMValueRef indices[MOST_INDICES];
  const unsigned count = (unsigned)LLVMGetNumOperands(i) - 1;
  for (unsigned k = 0; k < count; k++) {
    indices[k] = element_of(r, LLVMGetOperand(i, k + 1), row);
  }
  return LLVMBuildGEPWithNoWrapFlags(r->builder, LLVMGetGEPSourceElementType(i),
                                     element_of(r, LLVMGetOperand(i, 0), row),
                                     indices, count, "",
                                     LLVMGEPGetNoWrapFlags(i));
}

static LLVMValueRef make_element(rows *r, LLVMValueRef i, uint32_t row) {
  const LLVMOpcode opcode = LLVMGetInstructionOpcode(i);
  LLVMValueRef first = LLVMGetOperand(i, 0);
  switch (opcode) {
    case LLVMInsertElement:
      return LLVMConstIntGetZExtValue(LLVMGetOperand(i, 2)) == row
                 ? LLVMGetOperand(i, 1)
                 : element_of(r, first, row);
    case LLVMShuffleVector: return element_of(r, first, 0);
    case LLVMGetElementPtr: return address_of(r, i, row);
    case LLVMZExt:
    case LLVMSExt:
    case LLVMTrunc:
      return LLVMBuildCast(r->builder, opcode, element_of(r, first, row),
                           LLVMGetElementType(LLVMTypeOf(i)), "");
    default:
      return LLVMBuildBinOp(r->builder, opcode, element_of(r, first, row),
                            element_of(r, LLVMGetOperand(i, 1), row), "");
  }
}

// Makes the scalars of a vector, once; first those of its operands.
static void part(rows *r, uint32_t number) {
  LLVMValueRef i = r->vectors[number];
  if (r->elements[number][0]) {
    return;
  }
  LLVMValueRef made[MOST_ROWS];
  for (int k = 0; k < LLVMGetNumOperands(i); k++) {
    element_of(r, LLVMGetOperand(i, (unsigned)k), 0);
  }
  LLVMPositionBuilderBefore(r->builder, i);
  LLVMSetCurrentDebugLocation2(r->builder, LLVMInstructionGetDebugLoc(i));
  for (uint32_t row = 0; row < row_count(i); row++) {
    made[row] = make_element(r, i, row);
    mtlc_keep_flags(i, made[row]);
  }
  memcpy(r->elements[number], made, row_count(i) * sizeof *made);
}

static void take_elements(const rows *r, uint32_t number) {
  LLVMUseRef next = NULL;
  for (LLVMUseRef use = LLVMGetFirstUse(r->vectors[number]); use; use = next) {
    LLVMValueRef user = LLVMGetUser(use);
    next = LLVMGetNextUse(use);
    if (LLVMIsAExtractElementInst(user)) {
      const uint64_t row = LLVMConstIntGetZExtValue(LLVMGetOperand(user, 1));
      mtlc_replace(user, r->elements[number][row]);
    }
  }
}

bool lanes_scalarise_short(LLVMValueRef function) {
  rows r = {.builder = LLVMCreateBuilderInContext(
                LLVMGetTypeContext(LLVMTypeOf(function)))};
  bool any = false;
  collect(&r, function);
  choose(&r);
  r.elements = lanes_allocate(&r.arena, r.count, sizeof *r.elements);
  for (uint32_t n = 0; n < r.count; n++) {
    if (r.vectors[n]) {
      part(&r, n);
      any = true;
    }
  }
  for (uint32_t n = 0; n < r.count; n++) {
    if (r.vectors[n]) {
      take_elements(&r, n);
    }
  }
  LLVMDisposeBuilder(r.builder);
  mtli_arena_clear(&r.arena);
  return any;
}
