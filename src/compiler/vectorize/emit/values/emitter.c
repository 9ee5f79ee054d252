// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// emitter.c: values of the emitted function, and small pieces of code.
#include "compiler/vectorize/emit/values/emitter.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void lanes_refuse(lanes_emitter *e, const char *format, ...) {
  if (e->refusal[0]) {
    return;  // the first reason is the one to tell
  }
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(e->refusal, sizeof e->refusal, format, arguments);
  va_end(arguments);
}

// --- Types -------------------------------------------------------------------

uint32_t lanes_component_count(LLVMTypeRef type) {
  switch (LLVMGetTypeKind(type)) {
    case LLVMVoidTypeKind: return 0;
    case LLVMVectorTypeKind: return LLVMGetVectorSize(type);
    case LLVMArrayTypeKind:
      return (uint32_t)LLVMGetArrayLength2(type) *
             lanes_component_count(LLVMGetElementType(type));
    case LLVMStructTypeKind: {
      uint32_t count = 0;
      for (unsigned i = 0; i < LLVMCountStructElementTypes(type); i++) {
        count += lanes_component_count(LLVMStructGetTypeAtIndex(type, i));
      }
      return count;
    }
    default: return 1;
  }
}

LLVMTypeRef lanes_component_type(LLVMTypeRef type, uint32_t component) {
  switch (LLVMGetTypeKind(type)) {
    case LLVMVectorTypeKind: return LLVMGetElementType(type);
    case LLVMArrayTypeKind: {
      LLVMTypeRef element = LLVMGetElementType(type);
      return lanes_component_type(element,
                                  component % lanes_component_count(element));
    }
    case LLVMStructTypeKind:
      for (unsigned i = 0; i < LLVMCountStructElementTypes(type); i++) {
        LLVMTypeRef field = LLVMStructGetTypeAtIndex(type, i);
        const uint32_t count = lanes_component_count(field);
        if (component < count) {
          return lanes_component_type(field, component);
        }
        component -= count;
      }
      return type;
    default: return type;
  }
}

LLVMTypeRef lanes_wide(LLVMTypeRef type, uint32_t width) {
  return width == 1 ? type : LLVMVectorType(type, width);
}

LLVMTypeRef lanes_vector_of(LLVMTypeRef type) {
  return LLVMVectorType(type, LANES);
}

// --- Small pieces ------------------------------------------------------------

LLVMBasicBlockRef lanes_block(lanes_emitter *e, const char *name) {
  return LLVMAppendBasicBlockInContext(e->context, e->function, name);
}

void lanes_keep_loop(LLVMValueRef latch) {
  mtlc_set_loop_wish(latch, "llvm.loop.unroll.disable");
}

LLVMValueRef lanes_intrinsic(lanes_emitter *e, const char *name,
                             LLVMTypeRef *overloads, uint32_t overload_count,
                             LLVMValueRef *arguments, uint32_t count) {
  const unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
  LLVMValueRef function = LLVMGetIntrinsicDeclaration(
      e->kernel->module, id, overloads, overload_count);
  return LLVMBuildCall2(e->builder, LLVMGlobalGetValueType(function), function,
                        arguments, count, "");
}

lanes_machine lanes_machine_of(LLVMTargetMachineRef target) {
  const bool is_x86 = mtlc_target_is(target, "x86_64");
  const bool has_avx2 = is_x86 && mtlc_target_has(target, "avx2");
  const bool has_avx512 = is_x86 && mtlc_target_has(target, "avx512f");
  const bool is_zen = mtlc_target_is_cpu(target, "znver");
  return (lanes_machine){.has_avx2 = has_avx2,
                         .has_avx512 = has_avx512,
                         .is_zen = is_zen,
                         .has_pairs = has_avx512 && is_zen &&
                                      mtlc_target_has(target, "avx512bf16"),
                         .vector_registers = is_x86 && !has_avx512 ? 16 : 32,
                         .vector_bytes = has_avx512 ? 64
                                         : has_avx2 ? 32
                                                    : 16};
}

LLVMValueRef lanes_shuffle(lanes_emitter *e, LLVMValueRef a, LLVMValueRef b,
                           const int *lanes, uint32_t count) {
  LLVMValueRef *items = lanes_allocate(e->arena, count, sizeof *items);
  for (uint32_t i = 0; i < count; i++) {
    items[i] = lanes[i] < 0 ? LLVMGetPoison(e->types.i32)
                            : mtlc_i32(e->context, (uint32_t)lanes[i]);
  }
  return LLVMBuildShuffleVector(e->builder, a,
                                b ? b : LLVMGetPoison(LLVMTypeOf(a)),
                                LLVMConstVector(items, count), "");
}

LLVMValueRef lanes_piece(lanes_emitter *e, LLVMValueRef vector, uint32_t first,
                         uint32_t count) {
  if (count == LLVMGetVectorSize(LLVMTypeOf(vector))) {
    return vector;
  }
  int *lanes = lanes_allocate(e->arena, count, sizeof *lanes);
  for (uint32_t i = 0; i < count; i++) {
    lanes[i] = (int)(first + i);
  }
  return lanes_shuffle(e, vector, NULL, lanes, count);
}

LLVMValueRef lanes_interleave(lanes_emitter *e, LLVMValueRef first,
                              LLVMValueRef second) {
  int items[2 * MOST_LANES];
  for (uint32_t i = 0; i < 2 * LANES; i++) {
    items[i] = (int)(i / 2 + i % 2 * LANES);
  }
  return lanes_shuffle(e, first, second, items, 2 * LANES);
}

LLVMValueRef lanes_deinterleave(lanes_emitter *e, LLVMValueRef both,
                                uint32_t from) {
  int items[MOST_LANES];
  for (uint32_t i = 0; i < LANES; i++) {
    items[i] = (int)(2 * i + from);
  }
  return lanes_shuffle(e, both, NULL, items, LANES);
}

LLVMValueRef lanes_splat_to(lanes_emitter *e, LLVMBuilderRef builder,
                            LLVMValueRef scalar, uint32_t width) {
  if (width == 1) {
    return scalar;
  }
  if (LLVMIsConstant(scalar) && !LLVMIsAConstantExpr(scalar) &&
      !LLVMIsAGlobalValue(scalar)) {
    LLVMValueRef *items = lanes_allocate(e->arena, width, sizeof *items);
    for (uint32_t i = 0; i < width; i++) {
      items[i] = scalar;
    }
    return LLVMConstVector(items, width);
  }
  LLVMTypeRef type = LLVMVectorType(LLVMTypeOf(scalar), width);
  LLVMValueRef one = LLVMBuildInsertElement(
      builder, LLVMGetPoison(type), scalar, mtlc_i32(e->context, 0), "");
  LLVMValueRef zeros = LLVMConstNull(LLVMVectorType(e->types.i32, width));
  return LLVMBuildShuffleVector(builder, one, LLVMGetPoison(type), zeros, "");
}

LLVMValueRef lanes_splat(lanes_emitter *e, LLVMBuilderRef builder,
                         LLVMValueRef scalar) {
  return lanes_splat_to(e, builder, scalar, LANES);
}

LLVMValueRef lanes_steps(LLVMTypeRef type, uint64_t start, uint64_t step) {
  LLVMValueRef items[MOST_LANES];
  for (uint32_t i = 0; i < LANES; i++) {
    items[i] = LLVMConstInt(type, start + i * step, false);
  }
  return LLVMConstVector(items, LANES);
}

static LLVMValueRef all_bits(lanes_emitter *e, LLVMValueRef mask) {
  LLVMTypeRef bits =
      LLVMIntTypeInContext(e->context, LLVMGetVectorSize(LLVMTypeOf(mask)));
  return LLVMBuildBitCast(e->builder, mask, bits, "");
}

LLVMValueRef lanes_bits(lanes_emitter *e, LLVMValueRef mask) {
  return LLVMBuildZExt(e->builder, all_bits(e, mask), e->types.i32, "");
}

LLVMValueRef lanes_last(lanes_emitter *e) {
  LLVMValueRef arguments[] = {lanes_bits(e, e->mask),
                              LLVMConstInt(e->types.i1, 0, false)};
  LLVMValueRef above =
      lanes_intrinsic(e, "llvm.ctlz", &e->types.i32, 1, arguments, 2);
  return LLVMBuildAnd(e->builder, LLVMBuildNot(e->builder, above, ""),
                      mtlc_i32(e->context, LANES - 1), "");
}

LLVMValueRef lanes_any(lanes_emitter *e, LLVMValueRef mask) {
  LLVMValueRef bits = all_bits(e, mask);
  return LLVMBuildICmp(e->builder, LLVMIntNE, bits,
                       LLVMConstNull(LLVMTypeOf(bits)), "");
}

LLVMValueRef lanes_all(lanes_emitter *e, LLVMValueRef mask) {
  LLVMValueRef bits = all_bits(e, mask);
  return LLVMBuildICmp(e->builder, LLVMIntEQ, bits,
                       LLVMConstAllOnes(LLVMTypeOf(bits)), "");
}

LLVMValueRef lanes_reserve(lanes_emitter *e, LLVMTypeRef type) {
  LLVMBuilderRef builder = LLVMCreateBuilderInContext(e->context);
  LLVMValueRef first = LLVMGetFirstInstruction(e->entry);
  if (first) {
    LLVMPositionBuilderBefore(builder, first);
  } else {
    LLVMPositionBuilderAtEnd(builder, e->entry);
  }
  LLVMValueRef memory = LLVMBuildAlloca(builder, type, "");
  LLVMDisposeBuilder(builder);
  return memory;
}

LLVMValueRef lanes_memory(lanes_emitter *e, LLVMTypeRef type) {
  LLVMValueRef memory = lanes_reserve(e, type);
  e->memories = lanes_make_room(e->arena, e->memories, e->memory_count,
                                &e->memory_capacity, 256, sizeof *e->memories);
  e->memories[e->memory_count++] = memory;
  return memory;
}

// --- Values ------------------------------------------------------------------

uint32_t lanes_width(const lanes_emitter *e, LLVMValueRef operand) {
  return lanes_width_of(lanes_shape_of(e->values, operand));
}

static LLVMValueRef constant_component(LLVMValueRef constant,
                                       uint32_t component) {
  LLVMTypeRef type = LLVMTypeOf(constant);
  const LLVMTypeKind kind = LLVMGetTypeKind(type);
  if (kind != LLVMVectorTypeKind && kind != LLVMStructTypeKind &&
      kind != LLVMArrayTypeKind) {
    return constant;
  }
  if (LLVMIsUndef(constant)) {
    return LLVMGetUndef(lanes_component_type(type, component));
  }
  if (kind == LLVMVectorTypeKind) {
    return LLVMGetAggregateElement(constant, component);
  }
  uint32_t index = 0;
  for (;; index++) {
    LLVMTypeRef field = kind == LLVMStructTypeKind
                            ? LLVMStructGetTypeAtIndex(type, index)
                            : LLVMGetElementType(type);
    const uint32_t count = lanes_component_count(field);
    if (component < count) {
      break;
    }
    component -= count;
  }
  return constant_component(LLVMGetAggregateElement(constant, index),
                            component);
}

static lanes_slot *slot_of(lanes_emitter *e, LLVMValueRef instruction) {
  return &e->slots[lanes_map_get(&e->values->numbers, instruction)];
}

LLVMValueRef lanes_sum_home(lanes_emitter *e, LLVMValueRef value) {
  const uint32_t number = LLVMIsAInstruction(value)
                              ? lanes_map_get(&e->values->numbers, value)
                              : LANES_NONE;
  return number == LANES_NONE ? NULL : e->slots[number].home;
}

bool lanes_has_home_of(const lanes_emitter *e, LLVMValueRef value,
                       LLVMValueRef sum) {
  const uint32_t number = LLVMIsAInstruction(value)
                              ? lanes_map_get(&e->values->numbers, value)
                              : LANES_NONE;
  return number != LANES_NONE &&
         e->sum_places[number] ==
             e->sum_places[lanes_map_get(&e->values->numbers, sum)];
}

// Returns an instruction's component as it was computed.
static LLVMValueRef computed(lanes_emitter *e, LLVMValueRef instruction,
                             uint32_t component) {
  lanes_slot *slot = slot_of(e, instruction);
  if (slot->home) {
    return lanes_read_sum(e, slot->home);
  }
  if (slot->everywhere[component]) {
    return slot->everywhere[component];
  }
  if (slot->fresh != e->fresh) {
    memset(slot->current, 0, slot->component_count * sizeof *slot->current);
    slot->fresh = e->fresh;
  }
  if (!slot->current[component]) {
    if (!slot->memory) {
      lanes_refuse(e, "the value of line %u is read where it was not kept",
                   LLVMGetDebugLocLine(instruction));
    }
    LLVMValueRef memory = slot->memory ? slot->memory[component] : NULL;
    if (!memory) {
      // Read where no path has computed it: any value will do.
      LLVMTypeRef type =
          lanes_component_type(LLVMTypeOf(instruction), component);
      return LLVMGetPoison(lanes_wide(type, lanes_width(e, instruction)));
    }
    LLVMValueRef loaded =
        LLVMBuildLoad2(e->builder, LLVMGetAllocatedType(memory), memory, "");
    if (e->uncached) {
      return loaded;
    }
    slot->current[component] = loaded;
  }
  return slot->current[component];
}

bool lanes_is_same_in(const lanes_emitter *e, LLVMValueRef value,
                      uint32_t row) {
  const lanes_shape shape = lanes_shape_of(e->values, value);
  return shape.row >= row && shape.stride == 0 && !shape.conditional;
}

bool lanes_is_at_hand(lanes_emitter *e, LLVMValueRef operand) {
  if (!LLVMIsAInstruction(operand)) {
    return true;
  }
  const lanes_slot *slot = slot_of(e, operand);
  return slot->home || slot->everywhere[0] || slot->memory ||
         (slot->fresh == e->fresh && slot->current[0]);
}

LLVMValueRef lanes_scalar(lanes_emitter *e, LLVMValueRef operand,
                          uint32_t component) {
  return LLVMIsAInstruction(operand) ? computed(e, operand, component)
                                     : constant_component(operand, component);
}

LLVMValueRef lanes_spread(lanes_emitter *e, LLVMValueRef firsts, uint32_t from,
                          int64_t stride, uint32_t width) {
  LLVMValueRef all = NULL;
  if (from == 1) {
    all = lanes_splat_to(e, e->builder, firsts, width);
  } else {
    int items[MOST_LANES];
    for (uint32_t i = 0; i < width; i++) {
      items[i] = (int)(i * from / width);
    }
    all = lanes_shuffle(e, firsts, NULL, items, width);
  }
  if (!stride) {
    return all;
  }
  LLVMTypeRef type = LLVMGetElementType(LLVMTypeOf(all));
  const bool is_pointer = LLVMGetTypeKind(type) == LLVMPointerTypeKind;
  LLVMTypeRef number = is_pointer ? e->types.i64 : type;
  LLVMValueRef steps[MOST_LANES];
  for (uint32_t i = 0; i < width; i++) {
    const uint64_t lane = i % (width / from) * (LANES / width);
    steps[i] = LLVMConstInt(number, lane * (uint64_t)stride, false);
  }
  LLVMValueRef by = LLVMConstVector(steps, width);
  if (is_pointer) {
    return LLVMBuildGEP2(e->builder, e->types.i8, from == 1 ? firsts : all, &by,
                         1, "");
  }
  return LLVMBuildAdd(e->builder, all, by, "");
}

LLVMValueRef lanes_vector(lanes_emitter *e, LLVMValueRef operand,
                          uint32_t component) {
  if (!LLVMIsAInstruction(operand)) {
    return lanes_splat(e, e->builder, constant_component(operand, component));
  }
  const lanes_shape shape = lanes_shape_of(e->values, operand);
  const uint32_t from = lanes_width_of(shape);
  if (from == LANES) {
    return computed(e, operand, component);
  }
  lanes_slot *slot = slot_of(e, operand);
  if (slot->vector_fresh != e->fresh) {
    memset(slot->as_vector, 0, slot->component_count * sizeof *slot->as_vector);
    slot->vector_fresh = e->fresh;
  }
  if (!slot->as_vector[component]) {
    LLVMValueRef made = shape.conditional
                            ? lanes_operation_as_vector(e, operand, component)
                            : lanes_spread(e, computed(e, operand, component),
                                           from, shape.stride, LANES);
    if (e->uncached) {
      return made;
    }
    slot->as_vector[component] = made;
  }
  return slot->as_vector[component];
}

LLVMValueRef lanes_form(lanes_emitter *e, LLVMValueRef operand,
                        uint32_t component, uint32_t width) {
  if (width == LANES) {
    return lanes_vector(e, operand, component);
  }
  const lanes_shape shape = lanes_shape_of(e->values, operand);
  LLVMValueRef value = lanes_scalar(e, operand, component);
  const uint32_t from = lanes_width_of(shape);
  return from == width ? value
                       : lanes_spread(e, value, from, shape.stride, width);
}

LLVMValueRef lanes_form_or_scalar(lanes_emitter *e, LLVMValueRef operand,
                                  uint32_t component, uint32_t width) {
  const bool uniform = lanes_is_uniform(lanes_shape_of(e->values, operand));
  return lanes_form(e, operand, component, uniform ? 1 : width);
}

void lanes_set_result(lanes_emitter *e, LLVMValueRef instruction,
                      uint32_t component, LLVMValueRef value) {
  lanes_slot *slot = slot_of(e, instruction);
  if (slot->home) {
    lanes_write_sum(e, slot->home, value);
    return;
  }
  if (LLVMIsConstant(value)) {
    slot->everywhere[component] = value;
    return;
  }
  if (slot->fresh != e->fresh) {
    memset(slot->current, 0, slot->component_count * sizeof *slot->current);
    slot->fresh = e->fresh;
  }
  slot->current[component] = value;
  slot->vector_fresh = 0;
  if (slot->memory) {
    if (!slot->memory[component]) {
      slot->memory[component] = lanes_memory(e, LLVMTypeOf(value));
    }
    LLVMBuildStore(e->builder, value, slot->memory[component]);
  }
}

void lanes_set_everywhere(lanes_emitter *e, LLVMValueRef instruction,
                          LLVMValueRef value) {
  slot_of(e, instruction)->everywhere[0] = value;
}

bool lanes_has_operands_everywhere(lanes_emitter *e, LLVMValueRef instruction) {
  for (int i = 0; i < LLVMGetNumOperands(instruction); i++) {
    LLVMValueRef operand = LLVMGetOperand(instruction, (unsigned)i);
    if (!LLVMIsAInstruction(operand)) {
      continue;
    }
    const lanes_slot *slot = slot_of(e, operand);
    for (uint32_t c = 0; c < slot->component_count; c++) {
      if (!slot->everywhere[c]) {
        return false;
      }
    }
  }
  return true;
}
