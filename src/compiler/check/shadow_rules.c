// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// shadow_rules.c: makes an instruction's shadow out of its operands' shadows.
#include "compiler/check/shadows.h"

#include <stdio.h>
#include <stdlib.h>

// Returns the union of two shadows of one type, with the origin of the first
// that has a bit.
static mtlc_shadow either(mtlc_shadows *s, mtlc_shadow a, mtlc_shadow b) {
  if (LLVMIsNull(a.bits)) {
    return b;
  }
  if (LLVMIsNull(b.bits)) {
    return a;
  }
  return (mtlc_shadow){LLVMBuildOr(s->builder, a.bits, b.bits, ""),
                       LLVMBuildSelect(s->builder, mtlc_any_bit(s, a.bits),
                                       a.origin, b.origin, "")};
}

// One unset bit in any operand makes the whole result unset.
static mtlc_shadow of_operands(mtlc_shadows *s, LLVMValueRef instruction,
                               unsigned count) {
  LLVMTypeRef type = mtlc_shadow_type(s, LLVMTypeOf(instruction));
  mtlc_shadow result = mtlc_shadow_all_set(s, LLVMTypeOf(instruction));
  for (unsigned i = 0; i < count; ++i) {
    LLVMValueRef operand = LLVMGetOperand(instruction, i);
    if (mtlc_is_set(s, operand) || !mtlc_has_shadow(LLVMTypeOf(operand))) {
      continue;
    }
    mtlc_shadow shadow = mtlc_shadow_of(s, operand);
    shadow.bits = mtlc_reshape_shadow(s, shadow.bits, type);
    result = either(s, result, shadow);
  }
  return result;
}

// A set bit that is 0 sets that bit of `a & b`; one that is 1, of `a | b`.
static mtlc_shadow of_logic(mtlc_shadows *s, LLVMValueRef instruction,
                            bool is_and) {
  LLVMValueRef a = LLVMGetOperand(instruction, 0);
  LLVMValueRef b = LLVMGetOperand(instruction, 1);
  const mtlc_shadow sa = mtlc_shadow_of(s, a), sb = mtlc_shadow_of(s, b);
  LLVMBuilderRef builder = s->builder;
  if (!is_and) {
    a = LLVMBuildNot(builder, a, "");
    b = LLVMBuildNot(builder, b, "");
  }
  LLVMValueRef with_b = LLVMBuildAnd(builder, sa.bits, b, "");
  LLVMValueRef with_a = LLVMBuildAnd(builder, sb.bits, a, "");
  LLVMValueRef both = LLVMBuildAnd(builder, sa.bits, sb.bits, "");
  LLVMValueRef bits =
      LLVMBuildOr(builder, both, LLVMBuildOr(builder, with_a, with_b, ""), "");
  mtlc_shadow result = either(s, sa, sb);
  result.bits = bits;
  return result;
}

static mtlc_shadow of_shift(mtlc_shadows *s, LLVMValueRef instruction) {
  LLVMValueRef amount = LLVMGetOperand(instruction, 1);
  mtlc_shadow a = mtlc_shadow_of(s, LLVMGetOperand(instruction, 0));
  if (!LLVMIsNull(a.bits)) {
    a.bits = LLVMBuildBinOp(s->builder, LLVMGetInstructionOpcode(instruction),
                            a.bits, amount, "");
  }
  mtlc_shadow b = mtlc_shadow_of(s, amount);
  if (!LLVMIsNull(b.bits)) {
    LLVMTypeRef type = LLVMTypeOf(b.bits);
    LLVMValueRef is_bad =
        LLVMBuildICmp(s->builder, LLVMIntNE, b.bits, LLVMConstNull(type), "");
    b.bits = LLVMTypeOf(is_bad) == type
                 ? is_bad
                 : LLVMBuildSExt(s->builder, is_bad, type, "");
  }
  return either(s, a, b);
}

static mtlc_shadow of_cast(mtlc_shadows *s, LLVMValueRef instruction) {
  const LLVMOpcode opcode = LLVMGetInstructionOpcode(instruction);
  mtlc_shadow a = mtlc_shadow_of(s, LLVMGetOperand(instruction, 0));
  LLVMTypeRef type = mtlc_shadow_type(s, LLVMTypeOf(instruction));
  if (opcode == LLVMTrunc || opcode == LLVMZExt || opcode == LLVMSExt) {
    a.bits = LLVMBuildCast(s->builder, opcode, a.bits, type, "");
  } else if (mtlc_shadow_width(s, LLVMTypeOf(a.bits)) ==
                 mtlc_shadow_width(s, type) &&
             (opcode == LLVMBitCast || opcode == LLVMPtrToInt ||
              opcode == LLVMIntToPtr)) {
    a.bits = LLVMBuildBitCast(s->builder, a.bits, type, "");
  } else {
    a.bits = mtlc_reshape_shadow(s, a.bits, type);
  }
  return a;
}

static mtlc_shadow of_select(mtlc_shadows *s, LLVMValueRef instruction) {
  LLVMValueRef condition = LLVMGetOperand(instruction, 0);
  const mtlc_shadow a = mtlc_shadow_of(s, LLVMGetOperand(instruction, 1));
  const mtlc_shadow b = mtlc_shadow_of(s, LLVMGetOperand(instruction, 2));
  const mtlc_shadow c = mtlc_shadow_of(s, condition);
  mtlc_shadow result = {
      LLVMBuildSelect(s->builder, condition, a.bits, b.bits, ""), NULL};
  if (LLVMTypeOf(condition) == s->types.i1) {
    result.origin =
        LLVMBuildSelect(s->builder, condition, a.origin, b.origin, "");
  } else {
    result.origin = mtlc_is_aggregate(LLVMTypeOf(a.bits))
                        ? a.origin
                        : LLVMBuildSelect(s->builder, mtlc_any_bit(s, a.bits),
                                          a.origin, b.origin, "");
  }
  if (LLVMIsNull(c.bits) || mtlc_is_aggregate(LLVMTypeOf(result.bits))) {
    return result;
  }
  const mtlc_shadow all = {
      mtlc_reshape_shadow(s, c.bits, LLVMTypeOf(result.bits)), c.origin};
  return either(s, result, all);
}

static LLVMValueRef origin_of_two(mtlc_shadows *s, mtlc_shadow into,
                                  mtlc_shadow part) {
  if (LLVMIsNull(part.bits)) {
    return into.origin;
  }
  if (LLVMIsNull(into.bits)) {
    return part.origin;
  }
  return mtlc_is_aggregate(LLVMTypeOf(part.bits))
             ? part.origin
             : LLVMBuildSelect(s->builder, mtlc_any_bit(s, part.bits),
                               part.origin, into.origin, "");
}

static mtlc_shadow of_part(mtlc_shadows *s, LLVMValueRef i) {
  const mtlc_shadow a = mtlc_shadow_of(s, LLVMGetOperand(i, 0));
  const LLVMOpcode opcode = LLVMGetInstructionOpcode(i);
  if (opcode == LLVMExtractElement) {
    LLVMValueRef bits =
        LLVMBuildExtractElement(s->builder, a.bits, LLVMGetOperand(i, 1), "");
    return (mtlc_shadow){
        mtlc_reshape_shadow(s, bits, mtlc_shadow_type(s, LLVMTypeOf(i))),
        a.origin};
  }
  if (opcode == LLVMExtractValue) {
    LLVMValueRef bits = a.bits;
    for (unsigned k = 0; k < LLVMGetNumIndices(i); ++k) {
      bits = LLVMBuildExtractValue(s->builder, bits, LLVMGetIndices(i)[k], "");
    }
    return (mtlc_shadow){bits, a.origin};
  }
  const mtlc_shadow b = mtlc_shadow_of(s, LLVMGetOperand(i, 1));
  mtlc_shadow result = {NULL, origin_of_two(s, a, b)};
  if (opcode == LLVMInsertElement) {
    LLVMTypeRef element = LLVMGetElementType(LLVMTypeOf(a.bits));
    result.bits = LLVMBuildInsertElement(
        s->builder, a.bits, mtlc_reshape_shadow(s, b.bits, element),
        LLVMGetOperand(i, 2), "");
  } else {
    const unsigned count = LLVMGetNumMaskElements(i);
    LLVMValueRef *mask = calloc(count + 1, sizeof *mask);
    for (unsigned k = 0; k < count; ++k) {
      const int from = LLVMGetMaskValue(i, k);
      // Undefined elements of a shuffle do not count as unset.
      mask[k] = from < 0 ? LLVMGetPoison(s->types.i32)
                         : mtlc_i32(s->kernel->context, (uint32_t)from);
    }
    result.bits = LLVMBuildShuffleVector(s->builder, a.bits, b.bits,
                                         LLVMConstVector(mask, count), "");
    for (unsigned k = 0; k < count; ++k) {
      if (LLVMGetMaskValue(i, k) < 0) {
        result.bits = LLVMBuildInsertElement(
            s->builder, result.bits,
            LLVMConstNull(LLVMGetElementType(LLVMTypeOf(result.bits))),
            mtlc_i32(s->kernel->context, k), "");
      }
    }
    free(mask);
  }
  return result;
}

// False for an index of several levels: the aggregate inserted into counts as
// set.
static bool of_insert_value(mtlc_shadows *s, LLVMValueRef i, mtlc_shadow *out) {
  const mtlc_shadow a = mtlc_shadow_of(s, LLVMGetOperand(i, 0));
  const mtlc_shadow b = mtlc_shadow_of(s, LLVMGetOperand(i, 1));
  if (LLVMGetNumIndices(i) != 1 || !a.bits || !b.bits) {
    return false;
  }
  *out = (mtlc_shadow){LLVMBuildInsertValue(s->builder, a.bits, b.bits,
                                            LLVMGetIndices(i)[0], ""),
                       origin_of_two(s, a, b)};
  return true;
}

mtlc_shadow mtlc_shadow_of_mark(mtlc_shadows *s, LLVMValueRef call) {
  char name[256];
  mtli_check_site site = {.access = MTLI_CHECK_VARIABLE,
                          .space = MTLI_CHECK_PRIVATE,
                          .slot = MTLI_CHECK_NO_SLOT};
  const char *end = strchr(mtlc_name(call), '.');
  const size_t length =
      end ? (size_t)(end - mtlc_name(call)) : strlen(mtlc_name(call));
  snprintf(name, sizeof name, "%.*s", (int)length, mtlc_name(call));
  site.name = mtlc_sites_text(s->sites, name);
  const uint32_t number = mtlc_sites_add(s->sites, call, &site);
  LLVMTypeRef type = mtlc_shadow_type(s, LLVMTypeOf(call));
  if (!type) {
    return mtlc_shadow_all_set(s, LLVMTypeOf(call));
  }
  return (mtlc_shadow){mtlc_all_ones(type),
                       mtlc_i32(s->kernel->context, number)};
}

bool mtlc_make_shadow(mtlc_shadows *s, LLVMValueRef i, mtlc_shadow *out) {
  switch (LLVMGetInstructionOpcode(i)) {
    case LLVMAnd: *out = of_logic(s, i, true); return true;
    case LLVMOr: *out = of_logic(s, i, false); return true;
    case LLVMShl:
    case LLVMLShr:
    case LLVMAShr: *out = of_shift(s, i); return true;
    case LLVMTrunc:
    case LLVMZExt:
    case LLVMSExt:
    case LLVMBitCast:
    case LLVMPtrToInt:
    case LLVMIntToPtr:
    case LLVMFPTrunc:
    case LLVMFPExt:
    case LLVMFPToSI:
    case LLVMFPToUI:
    case LLVMSIToFP:
    case LLVMUIToFP: *out = of_cast(s, i); return true;
    case LLVMSelect: *out = of_select(s, i); return true;
    case LLVMExtractElement:
    case LLVMExtractValue:
    case LLVMInsertElement:
    case LLVMShuffleVector: *out = of_part(s, i); return true;
    case LLVMInsertValue: return of_insert_value(s, i, out);
    case LLVMCall:
      if (mtlc_is_call_of(i, MTLC_OFFER_PREFIX)) {
        *out = mtlc_shadow_of(s, LLVMGetOperand(i, 0));
        return true;
      }
      if (!mtlc_is_call_of(i, "llvm.") || !mtlc_has_shadow(LLVMTypeOf(i))) {
        return false;
      }
      *out = of_operands(s, i, LLVMGetNumArgOperands(i));
      return true;
    default:
      if (!mtlc_has_shadow(LLVMTypeOf(i))) {
        return false;
      }
      *out = of_operands(s, i, (unsigned)LLVMGetNumOperands(i));
      return true;
  }
}
