// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// scalarise.c: runs an instruction without a vector form once for each active
// thread, in the order of lanes: atomics, volatile accesses, unknown calls.
#include "compiler/vectorize/emit/lanes/scalarise.h"

#include <llvm-c/DebugInfo.h>
#include <stddef.h>

#include "compiler/ir/llvm/calls.h"
#include "compiler/ir/llvm/types.h"
#include "compiler/vectorize/analysis/components.h"
#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/analysis/uniformity.h"
#include "compiler/vectorize/base/debug_lines.h"
#include "compiler/vectorize/base/tables.h"
#include "compiler/vectorize/emit/address/base_index.h"
#include "compiler/vectorize/emit/lanes/atomic_updates.h"
#include "compiler/vectorize/emit/lanes/deferred_atomics.h"
#include "compiler/vectorize/emit/values/builder.h"
#include "compiler/vectorize/emit/values/emitter.h"
#include "compiler/vectorize/emit/values/masks.h"
#include "compiler/vectorize/emit/values/values.h"

// Returns the type of an array's elements: a byte for a bool, else the value's.
static LLVMTypeRef storage_of(lanes_emitter *e, LLVMTypeRef type) {
  return type == e->types.i1 ? e->types.i8 : type;
}

// Returns an array that a later instruction can use again: hundreds of arrays
// would be as much cold memory.
LLVMValueRef lanes_array_of(lanes_emitter *e, LLVMTypeRef type) {
  type = storage_of(e, type);
  for (uint32_t i = 0; i < e->array_count; i++) {
    lanes_array *array = &e->arrays[i];
    if (array->type == type && array->taken != e->emitted) {
      array->taken = e->emitted;
      return array->memory;
    }
  }
  e->arrays = lanes_make_room(e->arena, e->arrays, e->array_count,
                              &e->array_capacity, 16, sizeof *e->arrays);
  lanes_array *array = &e->arrays[e->array_count++];
  *array = (lanes_array){.type = type,
                         .memory = lanes_fixed_alloca(e, lanes_vector_of(e->lanes, type)),
                         .taken = e->emitted};
  return array->memory;
}

LLVMValueRef lanes_element_at(lanes_emitter *e, LLVMTypeRef type,
                              LLVMValueRef array, LLVMValueRef lane) {
  return LLVMBuildGEP2(e->builder, storage_of(e, type), array, &lane, 1, "");
}

LLVMValueRef lanes_array_from(lanes_emitter *e, LLVMValueRef vector) {
  LLVMValueRef array =
      lanes_array_of(e, LLVMGetElementType(LLVMTypeOf(vector)));
  LLVMBuildStore(e->builder, vector, array);
  return array;
}

LLVMValueRef lanes_element_of(lanes_emitter *e, LLVMTypeRef type,
                              LLVMValueRef array, LLVMValueRef lane) {
  return LLVMBuildLoad2(e->builder, storage_of(e, type),
                        lanes_element_at(e, type, array, lane), "");
}

// An operand's components, ready to be loaded by lane.
typedef struct serial_operand {
  LLVMTypeRef type;
  uint32_t count;
  LLVMValueRef *components;  // [count] scalars or arrays
  bool is_array;
  bool is_place;  // the array holds indices of a base_index
  lanes_base_index place;
} serial_operand;

static serial_operand spread_operand(lanes_emitter *e, LLVMValueRef value) {
  serial_operand operand = {.type = LLVMTypeOf(value),
                            .count = lanes_component_count(LLVMTypeOf(value))};
  operand.components =
      lanes_allocate(e->arena, operand.count, sizeof(LLVMValueRef));
  operand.is_array = !lanes_is_uniform(lanes_shape_of(e->values, value));
  operand.is_place =
      operand.is_array && lanes_base_index_find(e, value, &operand.place);
  if (operand.is_place) {
    // Indices take half of the space of addresses, and nothing where they are
    // in memory already.
    operand.components[0] = lanes_array_from(e, operand.place.index);
    return operand;
  }
  for (uint32_t c = 0; c < operand.count; c++) {
    if (!operand.is_array) {
      operand.components[c] = lanes_scalar(e, value, c);
      continue;
    }
    LLVMTypeRef type = lanes_component_type(operand.type, c);
    LLVMValueRef vector = lanes_vector(e, value, c);
    if (type == e->types.i1) {
      vector =
          LLVMBuildZExt(e->builder, vector, lanes_vector_of(e->lanes, e->types.i8), "");
    }
    operand.components[c] = lanes_array_of(e, type);
    LLVMBuildStore(e->builder, vector, operand.components[c]);
  }
  return operand;
}

static LLVMValueRef pick_component(lanes_emitter *e,
                                   const serial_operand *operand, uint32_t c,
                                   LLVMValueRef lane) {
  if (!operand->is_array) {
    return operand->components[c];
  }
  if (operand->is_place) {
    return lanes_base_index_lane(
        e, &operand->place,
        lanes_element_of(e, e->types.i32, operand->components[0], lane));
  }
  LLVMTypeRef type = lanes_component_type(operand->type, c);
  LLVMValueRef value =
      lanes_element_of(e, type, operand->components[c], lane);
  return type == e->types.i1
             ? LLVMBuildTrunc(e->builder, value, e->types.i1, "")
             : value;
}

// Assembles a thread's whole value from its components.
static LLVMValueRef assemble(lanes_emitter *e, LLVMTypeRef type,
                             const serial_operand *operand, uint32_t *component,
                             LLVMValueRef lane) {
  const LLVMTypeKind kind = LLVMGetTypeKind(type);
  if (kind != LLVMVectorTypeKind && kind != LLVMStructTypeKind &&
      kind != LLVMArrayTypeKind) {
    return pick_component(e, operand, (*component)++, lane);
  }
  LLVMValueRef whole = LLVMGetPoison(type);
  const unsigned count = kind == LLVMVectorTypeKind ? LLVMGetVectorSize(type)
                         : kind == LLVMArrayTypeKind
                             ? (unsigned)LLVMGetArrayLength2(type)
                             : LLVMCountStructElementTypes(type);
  for (unsigned i = 0; i < count; i++) {
    LLVMTypeRef part = kind == LLVMStructTypeKind
                           ? LLVMStructGetTypeAtIndex(type, i)
                           : LLVMGetElementType(type);
    LLVMValueRef value = assemble(e, part, operand, component, lane);
    whole = kind == LLVMVectorTypeKind
                ? LLVMBuildInsertElement(e->builder, whole, value,
                                         mtlc_i32(e->context, i), "")
                : LLVMBuildInsertValue(e->builder, whole, value, i, "");
  }
  return whole;
}

// Takes a thread's value apart, in the same order.
static void disassemble(lanes_emitter *e, LLVMValueRef value,
                        LLVMValueRef *components, uint32_t *component) {
  LLVMTypeRef type = LLVMTypeOf(value);
  const LLVMTypeKind kind = LLVMGetTypeKind(type);
  if (kind == LLVMVectorTypeKind) {
    for (uint32_t i = 0; i < LLVMGetVectorSize(type); i++) {
      components[(*component)++] = LLVMBuildExtractElement(
          e->builder, value, mtlc_i32(e->context, i), "");
    }
  } else if (kind == LLVMStructTypeKind || kind == LLVMArrayTypeKind) {
    const unsigned count = kind == LLVMArrayTypeKind
                               ? (unsigned)LLVMGetArrayLength2(type)
                               : LLVMCountStructElementTypes(type);
    for (unsigned i = 0; i < count; i++) {
      disassemble(e, LLVMBuildExtractValue(e->builder, value, i, ""),
                  components, component);
    }
  } else {
    components[(*component)++] = value;
  }
}

static LLVMValueRef perform(lanes_emitter *e, LLVMValueRef instruction,
                            LLVMValueRef *operands, uint32_t operand_count) {
  if (LLVMGetInstructionOpcode(instruction) == LLVMAtomicRMW) {
    LLVMValueRef old =
        lanes_update_alone(e, instruction, operands[0], operands[1]);
    if (old) {
      return old;
    }
  }
  LLVMValueRef clone = LLVMInstructionClone(instruction);
  LLVMInstructionSetDebugLoc(clone, NULL);
  for (uint32_t i = 0; i < operand_count; i++) {
    LLVMSetOperand(clone, i, operands[i]);
  }
  LLVMInsertIntoBuilder(e->builder, clone);
  return clone;
}

static uint32_t result_count(LLVMValueRef instruction) {
  return LLVMGetFirstUse(instruction)
             ? lanes_component_count(LLVMTypeOf(instruction))
             : 0;
}

// An instruction that is run for one lane after another.
typedef struct serial_run {
  LLVMValueRef instruction;
  const serial_operand *operands;  // [operand_count]
  uint32_t operand_count;
  LLVMValueRef *results;  // [result_count(instruction)] arrays
} serial_run;

// Runs the instruction for one thread and puts its result into the arrays.
static void run_one(lanes_emitter *e, void *context, LLVMValueRef lane) {
  const serial_run *run = context;
  LLVMValueRef *values =
      lanes_allocate(e->arena, run->operand_count, sizeof *values);
  for (uint32_t i = 0; i < run->operand_count; i++) {
    const serial_operand *operand = &run->operands[i];
    uint32_t component = 0;
    values[i] = assemble(e, operand->type, operand, &component, lane);
  }
  LLVMValueRef result =
      perform(e, run->instruction, values, run->operand_count);
  LLVMTypeRef type = LLVMTypeOf(run->instruction);
  const uint32_t count = result_count(run->instruction);
  LLVMValueRef *components = lanes_allocate(e->arena, count, sizeof(void *));
  uint32_t component = 0;
  if (count) {
    disassemble(e, result, components, &component);
  }
  for (uint32_t c = 0; c < count; c++) {
    LLVMTypeRef part = lanes_component_type(type, c);
    LLVMValueRef value = components[c];
    if (part == e->types.i1) {
      value = LLVMBuildZExt(e->builder, value, e->types.i8, "");
    }
    LLVMBuildStore(e->builder, value,
                   lanes_element_at(e, part, run->results[c], lane));
  }
}

// Updates lane after lane without a loop: each update is shorter than a loop's
// overhead.
static void update_all(lanes_emitter *e, LLVMValueRef atomic,
                       const lanes_base_index *place) {
  LLVMValueRef at[MOST_LANES];
  LLVMValueRef operands[MOST_LANES];
  lanes_indices indices;
  if (place) {
    lanes_indices_begin(e, place, atomic, &indices);
  } else {
    lanes_take_operand(e, LLVMGetOperand(atomic, 0), at);
  }
  lanes_take_operand(e, LLVMGetOperand(atomic, 1), operands);
  for (uint32_t lane = 0; lane < e->lanes; lane++) {
    LLVMValueRef own[] = {
        place
            ? lanes_base_index_lane(
                  e, place,
                  lanes_indices_at(e, &indices, mtlc_i64(e->context, 0), lane))
            : at[lane],
        operands[lane]};
    perform(e, atomic, own, 2);
  }
}

static void run_all(lanes_emitter *e, LLVMValueRef atomic,
                    LLVMBasicBlockRef done) {
  LLVMBasicBlockRef all = lanes_block(e, "all");
  LLVMBasicBlockRef some = lanes_block(e, "some");
  lanes_base_index found;
  const lanes_base_index *place =
      lanes_base_index_find(e, LLVMGetOperand(atomic, 0), &found) ? &found : NULL;
  LLVMValueRef is_simple = lanes_all(e, e->mask);
  if (place) {
    is_simple = LLVMBuildAnd(e->builder, is_simple,
                             lanes_indices_hold(e, place, atomic), "");
  }
  LLVMBuildCondBr(e->builder, is_simple, all, some);
  LLVMPositionBuilderAtEnd(e->builder, all);
  const bool uncached = e->uncached;
  e->uncached = true;
  update_all(e, atomic, place);
  e->uncached = uncached;
  LLVMBuildBr(e->builder, done);
  LLVMPositionBuilderAtEnd(e->builder, some);
}

void lanes_loop_over_lanes(lanes_emitter *e, lanes_lane_body *body, void *context,
                     LLVMBasicBlockRef done) {
  LLVMValueRef zero = mtlc_i32(e->context, 0);
  LLVMBasicBlockRef turn = lanes_block(e, "turn");
  LLVMValueRef bits = lanes_mask_bits(e, e->mask);
  LLVMBasicBlockRef before = LLVMGetInsertBlock(e->builder);
  if (lanes_has_thread(e)) {
    LLVMBuildBr(e->builder, turn);
  } else {
    LLVMBuildCondBr(e->builder,
                    LLVMBuildICmp(e->builder, LLVMIntNE, bits, zero, ""), turn,
                    done);
  }
  LLVMPositionBuilderAtEnd(e->builder, turn);
  LLVMValueRef left = LLVMBuildPhi(e->builder, e->types.i32, "");
  LLVMValueRef arguments[] = {left, LLVMConstInt(e->types.i1, 1, false)};
  LLVMValueRef lane =
      lanes_intrinsic(e, "llvm.cttz", &e->types.i32, 1, arguments, 2);
  body(e, context, lane);
  LLVMValueRef lower =
      LLVMBuildSub(e->builder, left, mtlc_i32(e->context, 1), "");
  LLVMValueRef rest = LLVMBuildAnd(e->builder, left, lower, "");
  LLVMValueRef again =
      LLVMBuildICmp(e->builder, LLVMIntNE, rest, zero, "");
  lanes_keep_loop(LLVMBuildCondBr(e->builder, again, turn, done));
  LLVMValueRef values[] = {bits, rest};
  LLVMBasicBlockRef blocks[] = {before, turn};
  LLVMAddIncoming(left, values, blocks, 2);
  LLVMPositionBuilderAtEnd(e->builder, done);
}

// Counts a call's operands that each thread has its own of. The callee, which
// is the last operand, counts if the call is indirect.
static uint32_t own_operand_count(LLVMValueRef instruction) {
  return mtlc_callee(instruction) ? LLVMGetNumArgOperands(instruction)
                                  : (uint32_t)LLVMGetNumOperands(instruction);
}

void lanes_scalarise(lanes_emitter *e, LLVMValueRef instruction) {
  const uint32_t operand_count = own_operand_count(instruction);
  lanes_lines_add(e->arena, &e->serials, instruction);
  LLVMBasicBlockRef done = lanes_block(e, "turned");
  const bool is_update =
      LLVMGetInstructionOpcode(instruction) == LLVMAtomicRMW &&
      !LLVMGetFirstUse(instruction) && !lanes_is_deferred(e, instruction);
  if (is_update) {
    run_all(e, instruction, done);
  }
  const bool uncached = e->uncached;
  e->uncached |= is_update;
  serial_operand *operands =
      lanes_allocate(e->arena, operand_count, sizeof *operands);
  for (uint32_t i = 0; i < operand_count; i++) {
    operands[i] = spread_operand(e, LLVMGetOperand(instruction, i));
  }
  LLVMTypeRef type = LLVMTypeOf(instruction);
  const uint32_t count = result_count(instruction);
  LLVMValueRef *results = lanes_allocate(e->arena, count, sizeof *results);
  for (uint32_t c = 0; c < count; c++) {
    results[c] = lanes_array_of(e, lanes_component_type(type, c));
  }
  serial_run run = {.instruction = instruction,
                    .operands = operands,
                    .operand_count = operand_count,
                    .results = results};
  lanes_loop_over_lanes(e, run_one, &run, done);
  e->uncached = uncached;
  for (uint32_t c = 0; c < count; c++) {
    LLVMTypeRef part = lanes_component_type(type, c);
    LLVMValueRef value = LLVMBuildLoad2(
        e->builder, lanes_vector_of(e->lanes, storage_of(e, part)), results[c], "");
    if (part == e->types.i1) {
      value = LLVMBuildTrunc(e->builder, value, lanes_vector_of(e->lanes, part), "");
    }
    lanes_set_result(e, instruction, c, value);
  }
}
