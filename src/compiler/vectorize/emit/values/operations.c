// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// operations.c: emits arithmetic, comparisons, casts, selects, addresses, and
// operations on aggregates: as scalars or as vectors of 32.
#include "compiler/vectorize/emit/values/operations.h"

#include <llvm-c/Target.h>
#include <stdbool.h>
#include <stddef.h>

#include "compiler/ir/llvm/calls.h"
#include "compiler/ir/llvm/instructions.h"
#include "compiler/ir/llvm/types.h"
#include "compiler/vectorize/analysis/components.h"
#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/analysis/uniformity.h"
#include "compiler/vectorize/base/tables.h"
#include "compiler/vectorize/emit/values/builder.h"
#include "compiler/vectorize/emit/values/compare_strided.h"
#include "compiler/vectorize/emit/values/conversions.h"
#include "compiler/vectorize/emit/values/divisions.h"
#include "compiler/vectorize/emit/values/emitter.h"
#include "compiler/vectorize/emit/values/sum_memory.h"
#include "compiler/vectorize/emit/values/values.h"

enum { WORD_BITS = 32 };

// --- Addresses ---------------------------------------------------------------

// Computes an address index by index in bytes: interleaved private memory
// scales each offset.
static LLVMValueRef scaled_address(lanes_emitter *e, LLVMValueRef address,
                                   uint32_t scale, uint32_t width) {
  LLVMTargetDataRef data = e->values->data;
  LLVMTypeRef type = LLVMGetGEPSourceElementType(address);
  LLVMTypeRef index_type = lanes_wide(e->types.i64, width);
  LLVMValueRef sum = LLVMConstNull(index_type);
  for (unsigned i = 1; i < (unsigned)LLVMGetNumOperands(address); i++) {
    LLVMValueRef index = LLVMGetOperand(address, i);
    uint64_t size = 0;
    if (i > 1 && LLVMGetTypeKind(type) == LLVMStructTypeKind) {
      const unsigned field = (unsigned)LLVMConstIntGetZExtValue(index);
      size = LLVMOffsetOfElement(data, type, field);
      type = LLVMStructGetTypeAtIndex(type, field);
      LLVMValueRef offset = mtlc_i64(e->context, size * scale);
      sum = LLVMBuildAdd(e->builder, sum,
                         lanes_splat_to(e, e->builder, offset, width), "");
      continue;
    }
    if (i > 1) {
      type = LLVMGetElementType(type);
    }
    size = LLVMABISizeOfType(data, type) * scale;
    LLVMValueRef factor = mtlc_i64(e->context, size);
    LLVMValueRef wide = LLVMBuildIntCast2(
        e->builder, lanes_at_width(e, index, 0, width), index_type, true, "");
    sum = LLVMBuildAdd(
        e->builder, sum,
        LLVMBuildMul(e->builder, wide,
                     lanes_splat_to(e, e->builder, factor, width), ""),
        "");
  }
  LLVMValueRef base = LLVMGetOperand(address, 0);
  return LLVMBuildGEP2(e->builder, e->types.i8,
                       lanes_at_width_or_scalar(e, base, 0, width), &sum, 1, "");
}

static LLVMValueRef address_of(lanes_emitter *e, LLVMValueRef address,
                               uint32_t width) {
  const uint32_t scale = lanes_offset_scale(e->values, address);
  if (scale != 1) {
    return scaled_address(e, address, scale, width);
  }
  const uint32_t count = (uint32_t)LLVMGetNumOperands(address);
  LLVMValueRef *indices = lanes_allocate(e->arena, count, sizeof *indices);
  bool any_vector = false;
  for (uint32_t i = 1; i < count; i++) {
    LLVMValueRef index = LLVMGetOperand(address, i);
    indices[i - 1] = lanes_at_width_or_scalar(e, index, 0, width);
    any_vector |=
        LLVMGetTypeKind(LLVMTypeOf(indices[i - 1])) == LLVMVectorTypeKind;
  }
  LLVMValueRef base = LLVMGetOperand(address, 0);
  return LLVMBuildGEP2(e->builder, LLVMGetGEPSourceElementType(address),
                       any_vector ? lanes_at_width_or_scalar(e, base, 0, width)
                                  : lanes_at_width(e, base, 0, width),
                       indices, count - 1, "");
}

// --- Bit casts ---------------------------------------------------------------

// Returns a component as an integer of its width.
static LLVMValueRef as_integer(lanes_emitter *e, LLVMValueRef value,
                               uint32_t bits, uint32_t width) {
  LLVMTypeRef type = LLVMIntTypeInContext(e->context, bits);
  return LLVMBuildBitCast(e->builder, value, lanes_wide(type, width), "");
}

static uint32_t bits_of(const lanes_emitter *e, LLVMTypeRef type) {
  return (uint32_t)LLVMSizeOfTypeInBits(e->values->data, type);
}

// Casts between counts of components: joins neighbours or splits components, by
// shifts. The first component is the lowest part (little-endian).
static LLVMValueRef recombined(lanes_emitter *e, LLVMValueRef cast,
                               uint32_t component, uint32_t width) {
  LLVMValueRef from = LLVMGetOperand(cast, 0);
  LLVMTypeRef from_type = lanes_component_type(LLVMTypeOf(from), 0);
  LLVMTypeRef to_type = lanes_component_type(LLVMTypeOf(cast), 0);
  const uint32_t from_bits = bits_of(e, from_type);
  const uint32_t to_bits = bits_of(e, to_type);
  LLVMValueRef result = NULL;
  if (from_bits > to_bits) {
    const uint32_t parts = from_bits / to_bits;
    LLVMValueRef whole = as_integer(
        e, lanes_at_width(e, from, component / parts, width), from_bits, width);
    LLVMValueRef shift =
        LLVMConstInt(LLVMIntTypeInContext(e->context, from_bits),
                     component % parts * to_bits, false);
    result = LLVMBuildLShr(e->builder, whole,
                           lanes_splat_to(e, e->builder, shift, width), "");
    LLVMTypeRef narrow = LLVMIntTypeInContext(e->context, to_bits);
    result = LLVMBuildTrunc(e->builder, result, lanes_wide(narrow, width), "");
  } else {
    const uint32_t parts = to_bits / from_bits;
    LLVMTypeRef wide = LLVMIntTypeInContext(e->context, to_bits);
    for (uint32_t i = 0; i < parts; i++) {
      LLVMValueRef part =
          as_integer(e, lanes_at_width(e, from, component * parts + i, width),
                     from_bits, width);
      part = LLVMBuildZExt(e->builder, part, lanes_wide(wide, width), "");
      LLVMValueRef shift = LLVMConstInt(wide, (uint64_t)i * from_bits, false);
      part = LLVMBuildShl(e->builder, part,
                          lanes_splat_to(e, e->builder, shift, width), "");
      result = result ? LLVMBuildOr(e->builder, result, part, "") : part;
    }
  }
  return LLVMBuildBitCast(e->builder, result, lanes_wide(to_type, width), "");
}

// Chooses between a signed and an unsigned extension where a flag makes them
// equal. The flag holds for threads that run, but a segment's first value is
// computed even if its lane does not run: the choice keeps the stride.
static LLVMOpcode cast_opcode(const lanes_emitter *e, LLVMValueRef cast) {
  const LLVMOpcode opcode = LLVMGetInstructionOpcode(cast);
  const bool is_signed_too =
      opcode == LLVMZExt && LLVMGetNNeg(cast) &&
      lanes_shape_of(e->values, LLVMGetOperand(cast, 0)).no_signed_wrap;
  return is_signed_too ? LLVMSExt : opcode;
}

static LLVMOpcode binary_opcode(LLVMValueRef instruction) {
  const LLVMOpcode opcode = LLVMGetInstructionOpcode(instruction);
  const bool is_sum = opcode == LLVMOr && LLVMGetIsDisjoint(instruction);
  return is_sum ? LLVMAdd : opcode;
}

LLVMValueRef lanes_home_of_element(lanes_emitter *e, LLVMValueRef cast,
                                   uint32_t component, uint32_t *out_element) {
  LLVMValueRef from = LLVMGetOperand(cast, 0);
  LLVMTypeRef type = lanes_component_type(LLVMTypeOf(cast), component);
  *out_element = component;
  if (LLVMGetInstructionOpcode(cast) == LLVMTrunc &&
      mtlc_is_opcode(from, LLVMLShr) && LLVMTypeOf(from) == e->types.i64 &&
      LLVMIsAConstantInt(LLVMGetOperand(from, 1)) &&
      LLVMConstIntGetZExtValue(LLVMGetOperand(from, 1)) == WORD_BITS) {
    from = LLVMGetOperand(from, 0);
    *out_element = 1;
  }
  return bits_of(e, type) == WORD_BITS && lanes_has_sum_elements(e)
             ? lanes_sum_home(e, from)
             : NULL;
}

// Returns each thread's element of a matrix accumulator that stays in memory,
// if a cast takes one of its two; else NULL.
static LLVMValueRef element_of_sum(lanes_emitter *e, LLVMValueRef cast,
                                   uint32_t component) {
  uint32_t element;
  LLVMValueRef home = lanes_home_of_element(e, cast, component, &element);
  LLVMTypeRef type = lanes_component_type(LLVMTypeOf(cast), component);
  return home ? LLVMBuildBitCast(e->builder,
                                 lanes_read_sum_element(e, home, element),
                                 lanes_vector_of(e->lanes, type), "")
              : NULL;
}

static LLVMValueRef cast(lanes_emitter *e, LLVMValueRef instruction,
                         uint32_t component, uint32_t width) {
  LLVMValueRef element = element_of_sum(e, instruction, component);
  if (element) {
    return element;
  }
  LLVMValueRef from = LLVMGetOperand(instruction, 0);
  LLVMTypeRef to_type =
      lanes_component_type(LLVMTypeOf(instruction), component);
  const LLVMOpcode opcode = LLVMGetInstructionOpcode(instruction);
  if (opcode == LLVMBitCast &&
      lanes_component_count(LLVMTypeOf(from)) !=
          lanes_component_count(LLVMTypeOf(instruction))) {
    return recombined(e, instruction, component, width);
  }
  return LLVMBuildCast(e->builder, cast_opcode(e, instruction),
                       lanes_at_width(e, from, component, width),
                       lanes_wide(to_type, width), "");
}

// --- Aggregates --------------------------------------------------------------

// Returns which component the indices of extractvalue and insertvalue begin at.
static uint32_t first_component(LLVMTypeRef type, LLVMValueRef instruction) {
  uint32_t first = 0;
  const unsigned *indices = LLVMGetIndices(instruction);
  for (unsigned i = 0; i < LLVMGetNumIndices(instruction); i++) {
    if (LLVMGetTypeKind(type) == LLVMArrayTypeKind) {
      type = LLVMGetElementType(type);
      first += indices[i] * lanes_component_count(type);
      continue;
    }
    for (unsigned k = 0; k < indices[i]; k++) {
      first += lanes_component_count(LLVMStructGetTypeAtIndex(type, k));
    }
    type = LLVMStructGetTypeAtIndex(type, indices[i]);
  }
  return first;
}

static LLVMValueRef inserted(lanes_emitter *e, LLVMValueRef instruction,
                             uint32_t component, uint32_t width) {
  LLVMValueRef whole = LLVMGetOperand(instruction, 0);
  LLVMValueRef part = LLVMGetOperand(instruction, 1);
  const uint32_t first = first_component(LLVMTypeOf(whole), instruction);
  const uint32_t count = lanes_component_count(LLVMTypeOf(part));
  return component >= first && component < first + count
             ? lanes_at_width(e, part, component - first, width)
             : lanes_at_width(e, whole, component, width);
}

static LLVMValueRef is_index(lanes_emitter *e, LLVMValueRef index,
                             uint32_t value, uint32_t width) {
  LLVMValueRef constant = LLVMConstInt(LLVMTypeOf(index), value, false);
  return LLVMBuildICmp(e->builder, LLVMIntEQ, lanes_at_width(e, index, 0, width),
                       lanes_splat_to(e, e->builder, constant, width), "");
}

static LLVMValueRef element(lanes_emitter *e, LLVMValueRef instruction,
                            uint32_t width) {
  LLVMValueRef vector = LLVMGetOperand(instruction, 0);
  LLVMValueRef index = LLVMGetOperand(instruction, 1);
  const uint32_t count = lanes_component_count(LLVMTypeOf(vector));
  if (LLVMIsAConstantInt(index)) {
    const uint64_t at = LLVMConstIntGetZExtValue(index);
    return lanes_at_width(e, vector, at < count ? (uint32_t)at : 0, width);
  }
  LLVMValueRef result = lanes_at_width(e, vector, 0, width);
  for (uint32_t i = 1; i < count; i++) {
    result = LLVMBuildSelect(e->builder, is_index(e, index, i, width),
                             lanes_at_width(e, vector, i, width), result, "");
  }
  return result;
}

static LLVMValueRef with_element(lanes_emitter *e, LLVMValueRef instruction,
                                 uint32_t component, uint32_t width) {
  LLVMValueRef old =
      lanes_at_width(e, LLVMGetOperand(instruction, 0), component, width);
  LLVMValueRef index = LLVMGetOperand(instruction, 2);
  if (LLVMIsAConstantInt(index) &&
      LLVMConstIntGetZExtValue(index) != component) {
    return old;
  }
  LLVMValueRef new = lanes_at_width(e, LLVMGetOperand(instruction, 1), 0, width);
  if (LLVMIsAConstantInt(index)) {
    return new;
  }
  return LLVMBuildSelect(e->builder, is_index(e, index, component, width), new,
                         old, "");
}

static LLVMValueRef shuffled(lanes_emitter *e, LLVMValueRef instruction,
                             uint32_t component, uint32_t width) {
  LLVMValueRef a = LLVMGetOperand(instruction, 0);
  LLVMValueRef b = LLVMGetOperand(instruction, 1);
  const int from = LLVMGetMaskValue(instruction, component);
  const int count = (int)lanes_component_count(LLVMTypeOf(a));
  if (from < 0) {
    LLVMTypeRef type = lanes_component_type(LLVMTypeOf(a), 0);
    return LLVMGetPoison(lanes_wide(type, width));
  }
  return from < count ? lanes_at_width(e, a, (uint32_t)from, width)
                      : lanes_at_width(e, b, (uint32_t)(from - count), width);
}

// --- One component of one instruction ----------------------------------------

static LLVMValueRef selected(lanes_emitter *e, LLVMValueRef instruction,
                             uint32_t component, uint32_t width) {
  LLVMValueRef condition = LLVMGetOperand(instruction, 0);
  const bool each = lanes_component_count(LLVMTypeOf(condition)) > 1;
  return LLVMBuildSelect(
      e->builder,
      lanes_at_width_or_scalar(e, condition, each ? component : 0, width),
      lanes_at_width(e, LLVMGetOperand(instruction, 1), component, width),
      lanes_at_width(e, LLVMGetOperand(instruction, 2), component, width), "");
}

static LLVMValueRef binary(lanes_emitter *e, LLVMValueRef instruction,
                           uint32_t component, uint32_t width) {
  const LLVMOpcode opcode = binary_opcode(instruction);
  LLVMValueRef a =
      lanes_at_width(e, LLVMGetOperand(instruction, 0), component, width);
  LLVMValueRef b =
      lanes_at_width(e, LLVMGetOperand(instruction, 1), component, width);
  if (lanes_is_division(opcode) && width > 1) {
    return lanes_divide(e, instruction, a, b);
  }
  return LLVMBuildBinOp(e->builder, opcode, a, b, "");
}

// Emits a minimum or maximum, the only calls that lanes_operation_as_vector
// handles.
static LLVMValueRef limited(lanes_emitter *e, LLVMValueRef call,
                            uint32_t width) {
  LLVMTypeRef type = lanes_wide(e->types.i32, width);
  LLVMValueRef operands[] = {lanes_at_width(e, LLVMGetOperand(call, 0), 0, width),
                             lanes_at_width(e, LLVMGetOperand(call, 1), 0, width)};
  return mtlc_call_overload(e->builder, call, type, operands);
}

// Emits a strided comparison; NULL if it is another one.
static LLVMValueRef compare_strided(lanes_emitter *e, LLVMValueRef i) {
  lanes_strided_comparison c;
  if (!lanes_is_strided_comparison(e, i, &c)) {
    return NULL;
  }
  const uint32_t runs = lanes_width_of(lanes_shape_of(e->values, c.run));
  LLVMValueRef first = lanes_at_width(e, c.run, 0, runs);
  return lanes_compare_strided(e, &c, first,
                               lanes_at_width(e, c.bound, 0, runs));
}

static LLVMValueRef compute(lanes_emitter *e, LLVMValueRef i,
                            uint32_t component, uint32_t width) {
  const LLVMOpcode opcode = LLVMGetInstructionOpcode(i);
  switch (opcode) {
    case LLVMAdd:
    case LLVMSub:
    case LLVMMul:
    case LLVMUDiv:
    case LLVMSDiv:
    case LLVMURem:
    case LLVMSRem:
    case LLVMShl:
    case LLVMLShr:
    case LLVMAShr:
    case LLVMAnd:
    case LLVMOr:
    case LLVMXor:
    case LLVMFAdd:
    case LLVMFSub:
    case LLVMFMul:
    case LLVMFDiv:
    case LLVMFRem: return binary(e, i, component, width);
    case LLVMTrunc:
    case LLVMZExt:
    case LLVMSExt:
    case LLVMFPTrunc:
    case LLVMFPExt:
    case LLVMFPToUI:
    case LLVMFPToSI:
    case LLVMUIToFP:
    case LLVMSIToFP:
    case LLVMPtrToInt:
    case LLVMIntToPtr:
    case LLVMBitCast:
    case LLVMAddrSpaceCast: return cast(e, i, component, width);
    case LLVMCall: return limited(e, i, width);
    case LLVMFNeg:
      return LLVMBuildFNeg(
          e->builder, lanes_at_width(e, LLVMGetOperand(i, 0), component, width),
          "");
    case LLVMFreeze:
      return LLVMBuildFreeze(
          e->builder, lanes_at_width(e, LLVMGetOperand(i, 0), component, width),
          "");
    case LLVMICmp: {
      LLVMValueRef by_runs = width == e->lanes ? compare_strided(e, i) : NULL;
      return by_runs
                 ? by_runs
                 : LLVMBuildICmp(
                       e->builder, LLVMGetICmpPredicate(i),
                       lanes_at_width(e, LLVMGetOperand(i, 0), component, width),
                       lanes_at_width(e, LLVMGetOperand(i, 1), component, width),
                       "");
    }
    case LLVMFCmp:
      return LLVMBuildFCmp(
          e->builder, LLVMGetFCmpPredicate(i),
          lanes_as_float(e, lanes_at_width(e, LLVMGetOperand(i, 0), component,
                                       width)),
          lanes_as_float(e, lanes_at_width(e, LLVMGetOperand(i, 1), component,
                                       width)),
          "");
    case LLVMSelect: return selected(e, i, component, width);
    case LLVMGetElementPtr: return address_of(e, i, width);
    case LLVMExtractElement: return element(e, i, width);
    case LLVMInsertElement: return with_element(e, i, component, width);
    case LLVMShuffleVector: return shuffled(e, i, component, width);
    case LLVMInsertValue: return inserted(e, i, component, width);
    case LLVMExtractValue: {
      LLVMValueRef whole = LLVMGetOperand(i, 0);
      return lanes_at_width(
          e, whole, first_component(LLVMTypeOf(whole), i) + component, width);
    }
    default: return NULL;
  }
}

LLVMValueRef lanes_operation_as_vector(lanes_emitter *e,
                                       LLVMValueRef instruction,
                                       uint32_t component) {
  return compute(e, instruction, component, e->lanes);
}

// True for positions and addresses made of them: after a barrier they are
// computed anew, which is cheaper than keeping them.
static bool is_remade(lanes_emitter *e, LLVMValueRef instruction) {
  const LLVMOpcode opcode = LLVMGetInstructionOpcode(instruction);
  return e->has_waits && lanes_width(e, instruction) < e->lanes &&
         !lanes_is_division(opcode) &&
         lanes_component_count(LLVMTypeOf(instruction)) == 1 &&
         lanes_has_operands_everywhere(e, instruction);
}

static void remake(lanes_emitter *e, LLVMValueRef instruction) {
  LLVMBuilderRef builder = e->builder;
  e->builder = e->prologue;
  LLVMValueRef value = compute(e, instruction, 0, lanes_width(e, instruction));
  e->builder = builder;
  if (value) {
    lanes_set_everywhere(e, instruction, value);
  } else {
    lanes_refuse(e, "an instruction that it does not know");
  }
}

void lanes_emit_operation(lanes_emitter *e, LLVMValueRef instruction) {
  if (is_remade(e, instruction)) {
    remake(e, instruction);
    return;
  }
  const uint32_t width = lanes_width(e, instruction);
  const uint32_t count = lanes_component_count(LLVMTypeOf(instruction));
  for (uint32_t c = 0; c < count; c++) {
    LLVMValueRef value = compute(e, instruction, c, width);
    if (!value) {
      char *text = LLVMPrintValueToString(instruction);
      lanes_refuse(e, "an instruction it does not know: %.100s", text);
      LLVMDisposeMessage(text);
      return;
    }
    lanes_set_result(e, instruction, c, value);
  }
}
