// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// places.c: addresses as one base and an index of 32 bits for each lane, and
// what is done to them lane by lane without a loop.
#include "compiler/vectorize/emitter.h"

// The index of a getelementptr that differs between lanes, if it is the only
// one, and what it counts. NULL otherwise.
static LLVMValueRef varying_index(const lanes_emitter *e, LLVMValueRef address,
                                  unsigned *out_position,
                                  LLVMTypeRef *out_type) {
  LLVMTypeRef type = LLVMGetGEPSourceElementType(address);
  LLVMValueRef found = NULL;
  for (unsigned i = 0; i < (unsigned)LLVMGetNumOperands(address); i++) {
    LLVMValueRef index = LLVMGetOperand(address, i);
    if (i > 1) {
      type = LLVMGetTypeKind(type) == LLVMStructTypeKind
                 ? LLVMStructGetTypeAtIndex(
                       type, (unsigned)LLVMConstIntGetZExtValue(index))
                 : LLVMGetElementType(type);
    }
    if (lanes_is_uniform(lanes_shape_of(e->values, index))) {
      continue;
    }
    if (i == 0 || found ||
        LLVMGetTypeKind(LLVMTypeOf(index)) != LLVMIntegerTypeKind) {
      return NULL;
    }
    found = index;
    *out_position = i;
    *out_type = type;
  }
  return found;
}

// The index in 32 bits. NULL if it does not fit.
static LLVMValueRef narrowed(lanes_emitter *e, LLVMValueRef index,
                             bool *out_is_signed) {
  LLVMTypeRef narrow = lanes_vector_of(e->types.i32);
  const bool is_zext = LLVMIsAZExtInst(index) != NULL;
  if (is_zext || LLVMIsASExtInst(index)) {
    LLVMValueRef from = LLVMGetOperand(index, 0);
    const unsigned bits = LLVMGetIntTypeWidth(LLVMTypeOf(from));
    *out_is_signed = !is_zext;
    if (bits <= 32) {
      return LLVMBuildIntCast2(e->builder, lanes_vector(e, from, 0), narrow,
                               !is_zext, "");
    }
  }
  *out_is_signed = false;
  return lanes_shape_of(e->values, index).bits <= 32
             ? LLVMBuildIntCast2(e->builder, lanes_vector(e, index, 0), narrow,
                                 false, "")
             : NULL;
}

bool lanes_place_find(lanes_emitter *e, LLVMValueRef address,
                      lanes_place *out_place) {
  const lanes_shape shape = lanes_shape_of(e->values, address);
  if (LLVMTypeOf(address) != e->types.pointer) {
    return false;
  }
  if (lanes_width_of(shape) == 1 && !shape.conditional && shape.stride > 0) {
    *out_place = (lanes_place){.base = lanes_scalar(e, address, 0),
                               .index = lanes_steps(e->types.i32, 0, 1),
                               .size_bytes = (uint64_t)shape.stride};
    return true;
  }
  unsigned position = 0;
  LLVMTypeRef type = NULL;
  if (!LLVMIsAGetElementPtrInst(address) || lanes_width_of(shape) == 1 ||
      lanes_offset_scale(e->values, address) != 1) {
    return false;
  }
  LLVMValueRef index = varying_index(e, address, &position, &type);
  if (!index) {
    return false;
  }
  out_place->index = narrowed(e, index, &out_place->is_signed);
  if (!out_place->index) {
    return false;
  }
  const uint32_t count = (uint32_t)LLVMGetNumOperands(address) - 1;
  LLVMValueRef *indices = lanes_allocate(e->arena, count, sizeof *indices);
  for (uint32_t i = 0; i < count; i++) {
    LLVMValueRef own = LLVMGetOperand(address, i + 1);
    indices[i] = i + 1 == position ? LLVMConstNull(LLVMTypeOf(own))
                                   : lanes_scalar(e, own, 0);
  }
  out_place->base = LLVMBuildGEP2(
      e->builder, LLVMGetGEPSourceElementType(address),
      lanes_scalar(e, LLVMGetOperand(address, 0), 0), indices, count, "");
  out_place->size_bytes = LLVMABISizeOfType(e->values->data, type);
  return true;
}

LLVMValueRef lanes_place_of_lane(lanes_emitter *e, const lanes_place *place,
                                 LLVMValueRef index) {
  LLVMValueRef wide =
      LLVMBuildIntCast2(e->builder, index, e->types.i64, place->is_signed, "");
  LLVMTypeRef type = LLVMArrayType2(e->types.i8, (uint64_t)place->size_bytes);
  return LLVMBuildGEP2(e->builder, type, place->base, &wide, 1, "");
}

void lanes_take_all(lanes_emitter *e, LLVMValueRef vector,
                    LLVMValueRef out_elements[LANES]) {
  const bool is_word = LLVMGetElementType(LLVMTypeOf(vector)) == e->types.i32;
  LLVMTypeRef pairs = LLVMVectorType(e->types.i64, LANES / 2);
  LLVMValueRef from =
      is_word ? LLVMBuildBitCast(e->builder, vector, pairs, "") : vector;
  for (uint32_t lane = 0; lane < LANES; lane++) {
    if (!is_word) {
      out_elements[lane] = LLVMBuildExtractElement(
          e->builder, from, mtlc_i32(e->context, lane), "");
      continue;
    }
    LLVMValueRef pair = LLVMBuildExtractElement(
        e->builder, from, mtlc_i32(e->context, lane / 2), "");
    if (lane % 2) {
      pair = LLVMBuildLShr(e->builder, pair, mtlc_i64(e->context, 32), "");
    }
    out_elements[lane] = LLVMBuildTrunc(e->builder, pair, e->types.i32, "");
  }
}
