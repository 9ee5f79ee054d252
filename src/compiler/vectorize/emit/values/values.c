// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// values.c: the components of the thread function's values in the emitted code:
// scalars, segments' first values, vectors.
#include "compiler/vectorize/emit/values/values.h"

#include <stddef.h>
#include <string.h>

#include "compiler/vectorize/analysis/components.h"
#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/analysis/uniformity.h"
#include "compiler/vectorize/base/tables.h"
#include "compiler/vectorize/emit/values/builder.h"
#include "compiler/vectorize/emit/values/emitter.h"
#include "compiler/vectorize/emit/values/operations.h"
#include "compiler/vectorize/emit/values/sum_memory.h"

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

// Returns an instruction's component as computed, without conversion.
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
      // Read on a path where it was never computed: any value will do.
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

LLVMValueRef lanes_vector(lanes_emitter *e, LLVMValueRef operand,
                          uint32_t component) {
  if (!LLVMIsAInstruction(operand)) {
    return lanes_splat(e, e->builder, constant_component(operand, component));
  }
  const lanes_shape shape = lanes_shape_of(e->values, operand);
  const uint32_t from = lanes_width_of(shape);
  if (from == e->lanes) {
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
                            : lanes_broadcast_segments(e, computed(e, operand, component),
                                           from, shape.stride, e->lanes);
    if (e->uncached) {
      return made;
    }
    slot->as_vector[component] = made;
  }
  return slot->as_vector[component];
}

LLVMValueRef lanes_at_width(lanes_emitter *e, LLVMValueRef operand,
                        uint32_t component, uint32_t width) {
  if (width == e->lanes) {
    return lanes_vector(e, operand, component);
  }
  const lanes_shape shape = lanes_shape_of(e->values, operand);
  LLVMValueRef value = lanes_scalar(e, operand, component);
  const uint32_t from = lanes_width_of(shape);
  return from == width ? value
                       : lanes_broadcast_segments(e, value, from, shape.stride, width);
}

LLVMValueRef lanes_at_width_or_scalar(lanes_emitter *e, LLVMValueRef operand,
                                  uint32_t component, uint32_t width) {
  const bool uniform = lanes_is_uniform(lanes_shape_of(e->values, operand));
  return lanes_at_width(e, operand, component, uniform ? 1 : width);
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
      slot->memory[component] = lanes_promotable_alloca(e, LLVMTypeOf(value));
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
