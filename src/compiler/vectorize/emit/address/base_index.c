// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// base_index.c: addresses as one base and a 32-bit index for each lane, and
// extraction of the lanes' indices one by one.
#include "compiler/vectorize/emit/address/base_index.h"

#include <llvm-c/Target.h>
#include <stddef.h>

#include "compiler/ir/llvm/types.h"
#include "compiler/vectorize/analysis/addresses/affine.h"
#include "compiler/vectorize/analysis/components.h"
#include "compiler/vectorize/analysis/effects.h"
#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/analysis/uniformity.h"
#include "compiler/vectorize/base/alignment.h"
#include "compiler/vectorize/base/tables.h"
#include "compiler/vectorize/emit/address/wrap_checks.h"
#include "compiler/vectorize/emit/values/builder.h"
#include "compiler/vectorize/emit/values/emitter.h"
#include "compiler/vectorize/emit/values/values.h"

// Returns the only index of a getelementptr that differs between lanes, and its
// scale in bytes; else NULL.
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

// Finds the index in 32 bits. False if it does not fit.
static bool find_index(lanes_emitter *e, LLVMValueRef index,
                       lanes_base_index *place) {
  const bool is_zext = LLVMIsAZExtInst(index) != NULL;
  const bool is_sext = LLVMIsASExtInst(index) != NULL;
  LLVMValueRef from = is_zext || is_sext ? LLVMGetOperand(index, 0) : NULL;
  const bool is_narrow = from && LLVMGetIntTypeWidth(LLVMTypeOf(from)) <= 32;
  if (!is_narrow && lanes_shape_of(e->values, index).bits > 32) {
    return false;
  }
  place->source = is_narrow ? from : index;
  place->is_signed = is_narrow && is_sext;
  place->index =
      LLVMBuildIntCast2(e->builder, lanes_vector(e, place->source, 0),
                        lanes_vector_of(e->lanes, e->types.i32), place->is_signed, "");
  return true;
}

// Builds the same getelementptr from another base, with 0 for the index that
// varies.
static LLVMValueRef steps_from(lanes_emitter *e, LLVMValueRef base,
                               LLVMValueRef address, unsigned varying) {
  const uint32_t count = (uint32_t)LLVMGetNumOperands(address) - 1;
  LLVMValueRef *indices = lanes_allocate(e->arena, count, sizeof *indices);
  for (uint32_t i = 0; i < count; i++) {
    LLVMValueRef own = LLVMGetOperand(address, i + 1);
    indices[i] = i + 1 == varying ? LLVMConstNull(LLVMTypeOf(own))
                                  : lanes_scalar(e, own, 0);
  }
  return LLVMBuildGEP2(e->builder, LLVMGetGEPSourceElementType(address), base,
                       indices, count, "");
}

// True if a getelementptr adds the same for all lanes to an address that
// varies.
static bool is_common_step(lanes_emitter *e, LLVMValueRef address) {
  if (!lanes_is_plain_step(e->values, address) ||
      !LLVMIsAGetElementPtrInst(LLVMGetOperand(address, 0))) {
    return false;
  }
  for (unsigned i = 1; i < (unsigned)LLVMGetNumOperands(address); i++) {
    LLVMValueRef index = LLVMGetOperand(address, i);
    if (!lanes_is_uniform(lanes_shape_of(e->values, index)) ||
        !lanes_is_at_hand(e, index)) {
      return false;
    }
  }
  return true;
}

// True if all operands of an instruction are available here.
static bool has_all_at_hand(lanes_emitter *e, LLVMValueRef instruction) {
  for (unsigned i = 0; i < (unsigned)LLVMGetNumOperands(instruction); i++) {
    if (!lanes_is_at_hand(e, LLVMGetOperand(instruction, i))) {
      return false;
    }
  }
  return true;
}

// True if all operands of a getelementptr are available here. Of an index that
// is extended, the value before the extension must be too.
static bool is_place_at_hand(lanes_emitter *e, LLVMValueRef address,
                             LLVMValueRef index) {
  return has_all_at_hand(e, address) &&
         (!LLVMIsACastInst(index) || has_all_at_hand(e, index));
}

// Follows an address that is another one plus uniform steps: both have the same
// index for each lane.
bool lanes_base_index_find(lanes_emitter *e, LLVMValueRef address,
                      lanes_base_index *out_place) {
  enum { MOST_STEPS = 4 };
  const lanes_shape shape = lanes_shape_of(e->values, address);
  if (LLVMTypeOf(address) != e->types.pointer) {
    return false;
  }
  if (lanes_width_of(shape) == 1 && !shape.conditional && shape.stride > 0) {
    *out_place = (lanes_base_index){.base = lanes_scalar(e, address, 0),
                               .index = lanes_steps(e->lanes, e->types.i32, 0, 1),
                               .size_bytes = (uint64_t)shape.stride};
    return true;
  }
  LLVMValueRef steps[MOST_STEPS];
  uint32_t step_count = 0;
  while (step_count < MOST_STEPS && is_common_step(e, address)) {
    steps[step_count++] = address;
    address = LLVMGetOperand(address, 0);
  }
  unsigned position = 0;
  LLVMTypeRef type = NULL;
  if (!lanes_is_plain_step(e->values, address) || lanes_width_of(shape) == 1) {
    return false;
  }
  LLVMValueRef index = varying_index(e, address, &position, &type);
  if (!index || (step_count > 0 && !is_place_at_hand(e, address, index)) ||
      !find_index(e, index, out_place)) {
    return false;
  }
  LLVMValueRef base = lanes_scalar(e, LLVMGetOperand(address, 0), 0);
  base = steps_from(e, base, address, position);
  while (step_count > 0) {
    base = steps_from(e, base, steps[--step_count], 0);
  }
  out_place->base = base;
  out_place->size_bytes = LLVMABISizeOfType(e->values->data, type);
  return true;
}

LLVMValueRef lanes_base_index_lane(lanes_emitter *e, const lanes_base_index *place,
                                 LLVMValueRef index) {
  LLVMValueRef wide =
      LLVMBuildIntCast2(e->builder, index, e->types.i64, place->is_signed, "");
  LLVMTypeRef type = LLVMArrayType2(e->types.i8, (uint64_t)place->size_bytes);
  return LLVMBuildGEP2(e->builder, type, place->base, &wide, 1, "");
}

// Returns an i64 of which LLVM knows nothing, by an empty inline assembly. LLVM
// 19 otherwise drops the extension of a register's lower word to an address if
// it knows both words to be small, such as below 8 (x86: shrinkAndImmediate()
// takes the mask off zext(and(trunc))).
static LLVMValueRef opaque(lanes_emitter *e, LLVMValueRef value) {
  static const char same_register[] = "=r,0";
  LLVMTypeRef type = LLVMFunctionType(e->types.i64, &e->types.i64, 1, false);
  LLVMValueRef nothing =
      LLVMGetInlineAsm(type, "", 0, same_register, sizeof same_register - 1,
                       false, false, LLVMInlineAsmDialectATT, false);
  LLVMValueRef call = LLVMBuildCall2(e->builder, type, nothing, &value, 1, "");
  static const char memory[] = "memory";  // memory effects 0: none
  LLVMAddCallSiteAttribute(
      call, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
      LLVMCreateEnumAttribute(
          e->context,
          LLVMGetEnumAttributeKindForName(memory, sizeof memory - 1), 0));
  return call;
}

void lanes_take_all(lanes_emitter *e, LLVMValueRef vector,
                    LLVMValueRef out_elements[MOST_LANES]) {
  const bool is_word = LLVMGetElementType(LLVMTypeOf(vector)) == e->types.i32;
  LLVMTypeRef pairs = LLVMVectorType(e->types.i64, e->lanes / 2);
  LLVMValueRef from =
      is_word ? LLVMBuildBitCast(e->builder, vector, pairs, "") : vector;
  LLVMValueRef pair = NULL;
  for (uint32_t lane = 0; lane < e->lanes; lane++) {
    if (!is_word) {
      out_elements[lane] = LLVMBuildExtractElement(
          e->builder, from, mtlc_i32(e->context, lane), "");
      continue;
    }
    pair = lane % 2
               ? LLVMBuildLShr(e->builder, pair, mtlc_i64(e->context, 32), "")
               : opaque(e, LLVMBuildExtractElement(
                               e->builder, from, mtlc_i32(e->context, lane / 2),
                               ""));
    out_elements[lane] = LLVMBuildTrunc(e->builder, pair, e->types.i32, "");
  }
}

// --- Indices that come from memory -------------------------------------------

enum { REREAD_DEPTH = 2 };  // operations between the load and the index

// True if a load's elements are a stride apart, unless an index wraps, and are
// still unchanged when a later instruction of its block runs.
static bool is_still_there(const lanes_emitter *e, LLVMValueRef load,
                           LLVMValueRef user) {
  LLVMValueRef pointer = LLVMGetOperand(load, 0);
  const lanes_shape shape = lanes_shape_of(e->values, pointer);
  if (LLVMGetInstructionParent(load) != LLVMGetInstructionParent(user) ||
      !lanes_is_plain(load) || !lanes_is_scalar(shape) || !shape.stride ||
      lanes_offset_scale(e->values, pointer) != 1) {
    return false;
  }
  LLVMValueRef i = LLVMGetNextInstruction(load);
  while (i && i != user && !lanes_may_write(i)) {
    i = LLVMGetNextInstruction(i);
  }
  return i == user;
}

// Returns the load whose elements can be read again one by one instead of being
// extracted from its vector; NULL if there is none. Extracting is the slowest
// way on x86: reading again costs one address for all lanes and a few bit
// operations.
static LLVMValueRef reread_load(const lanes_emitter *e, LLVMValueRef value,
                                LLVMValueRef user, uint32_t depth) {
  switch (LLVMIsAInstruction(value) ? LLVMGetInstructionOpcode(value) : 0) {
    case LLVMLoad: return is_still_there(e, value, user) ? value : NULL;
    case LLVMZExt:
    case LLVMTrunc:
      return reread_load(e, LLVMGetOperand(value, 0), user, depth);
    case LLVMExtractElement:
      return LLVMIsALoadInst(LLVMGetOperand(value, 0)) &&
                     LLVMIsAConstantInt(LLVMGetOperand(value, 1)) &&
                     LLVMGetIntTypeWidth(LLVMTypeOf(value)) >= 8
                 ? reread_load(e, LLVMGetOperand(value, 0), user, depth)
                 : NULL;
    case LLVMAnd:
    case LLVMLShr:
      return depth && lanes_is_uniform(
                          lanes_shape_of(e->values, LLVMGetOperand(value, 1)))
                 ? reread_load(e, LLVMGetOperand(value, 0), user, depth - 1)
                 : NULL;
    default: return NULL;
  }
}

// Returns the part at an offset of a load's value, for lane first + lane.
static LLVMValueRef reread_at(lanes_emitter *e, LLVMValueRef whole,
                              LLVMTypeRef type, uint64_t offset,
                              LLVMValueRef first, uint32_t lane) {
  LLVMValueRef pointer = LLVMGetOperand(whole, 0);
  const uint64_t stride = (uint64_t)lanes_shape_of(e->values, pointer).stride;
  LLVMValueRef behind =
      LLVMBuildMul(e->builder, first, mtlc_i64(e->context, stride), "");
  LLVMValueRef start = LLVMBuildGEP2(
      e->builder, e->types.i8, lanes_scalar(e, pointer, 0), &behind, 1, "");
  LLVMValueRef load = LLVMBuildLoad2(
      e->builder, type, lanes_address_at(e, start, lane * stride + offset), "");
  LLVMSetAlignment(load,
                   lanes_common_alignment(LLVMGetAlignment(whole), offset));
  return load;
}

static LLVMValueRef reread(lanes_emitter *e, LLVMValueRef value,
                           LLVMValueRef first, uint32_t lane) {
  LLVMValueRef operand = LLVMGetOperand(value, 0);
  LLVMTypeRef type = LLVMTypeOf(value);
  const LLVMOpcode opcode = LLVMGetInstructionOpcode(value);
  if (opcode == LLVMLoad) {
    return reread_at(e, value, type, 0, first, lane);
  }
  if (opcode == LLVMExtractElement) {
    const uint64_t number =
        LLVMConstIntGetZExtValue(LLVMGetOperand(value, 1));
    return reread_at(e, operand, type,
                     number * LLVMABISizeOfType(e->values->data, type), first,
                     lane);
  }
  LLVMValueRef from = reread(e, operand, first, lane);
  return opcode == LLVMAnd || opcode == LLVMLShr
             ? LLVMBuildBinOp(e->builder, opcode, from,
                              lanes_scalar(e, LLVMGetOperand(value, 1), 0), "")
             : LLVMBuildCast(e->builder, opcode, from, type, "");
}

static LLVMValueRef load_of_indices(const lanes_emitter *e,
                                    const lanes_base_index *place,
                                    LLVMValueRef user) {
  return place->source ? reread_load(e, place->source, user, REREAD_DEPTH)
                       : NULL;
}

LLVMValueRef lanes_indices_hold(lanes_emitter *e, const lanes_base_index *place,
                                LLVMValueRef user) {
  LLVMValueRef load = load_of_indices(e, place, user);
  LLVMValueRef pointer = load ? LLVMGetOperand(load, 0) : NULL;
  return pointer && lanes_shape_of(e->values, pointer).conditional
             ? lanes_stride_holds(e, pointer)
             : LLVMConstInt(e->types.i1, 1, false);
}

void lanes_indices_begin(lanes_emitter *e, const lanes_base_index *place,
                         LLVMValueRef user, lanes_indices *out_indices) {
  out_indices->place = place;
  out_indices->are_in_memory = load_of_indices(e, place, user) != NULL;
  if (!out_indices->are_in_memory) {
    lanes_take_all(e, place->index, out_indices->taken);
  }
}

LLVMValueRef lanes_indices_at(lanes_emitter *e, const lanes_indices *indices,
                              LLVMValueRef first, uint32_t lane) {
  const lanes_base_index *place = indices->place;
  return indices->are_in_memory
             ? LLVMBuildIntCast2(e->builder,
                                 reread(e, place->source, first, lane),
                                 e->types.i32, place->is_signed, "")
             : indices->taken[lane];
}

void lanes_take_operand(lanes_emitter *e, LLVMValueRef operand,
                        LLVMValueRef out_elements[MOST_LANES]) {
  if (!lanes_is_uniform(lanes_shape_of(e->values, operand))) {
    lanes_take_all(e, lanes_vector(e, operand, 0), out_elements);
    return;
  }
  LLVMValueRef same = lanes_scalar(e, operand, 0);
  for (uint32_t lane = 0; lane < e->lanes; lane++) {
    out_elements[lane] = same;
  }
}
