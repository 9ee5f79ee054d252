// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// value_slots.c: which values of the thread function go through memory: those that
// another block reads.
#include "compiler/vectorize/emit/values/value_slots.h"

#include <stddef.h>

#include "compiler/ir/instructions.h"
#include "compiler/ir/names.h"
#include "compiler/vectorize/analysis/affine.h"
#include "compiler/vectorize/analysis/callees.h"
#include "compiler/vectorize/analysis/components.h"
#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/analysis/uniformity.h"
#include "compiler/vectorize/base/tables.h"
#include "compiler/vectorize/emit/values/builder.h"
#include "compiler/vectorize/emit/values/emitter.h"
#include "compiler/vectorize/emit/values/values.h"

bool lanes_is_rematerialised(const lanes_emitter *e, LLVMValueRef instruction) {
  if (lanes_shape_of(e->values, instruction).conditional) {
    return true;
  }
  const LLVMOpcode opcode = LLVMGetInstructionOpcode(instruction);
  return lanes_width(e, instruction) > 1 &&
         (opcode == LLVMGetElementPtr || opcode == LLVMZExt ||
          opcode == LLVMSExt);
}

// Where a use of value reads it: at the end of the edge's block for a phi.
static bool is_read_elsewhere(const lanes_emitter *e, LLVMUseRef use,
                              LLVMValueRef value, LLVMBasicBlockRef block) {
  LLVMValueRef user = LLVMGetUser(use);
  if (LLVMGetInstructionOpcode(user) != LLVMPHI) {
    return LLVMGetInstructionParent(user) != block ||
           lanes_is_rematerialised(e, user);
  }
  for (unsigned i = 0; i < LLVMCountIncoming(user); i++) {
    if (LLVMGetIncomingValue(user, i) == value &&
        LLVMGetIncomingBlock(user, i) != block) {
      return true;
    }
  }
  return false;
}

static bool needs_memory(const lanes_emitter *e, LLVMValueRef value,
                         bool block_waits) {
  LLVMBasicBlockRef block = LLVMGetInstructionParent(value);
  for (LLVMUseRef use = LLVMGetFirstUse(value); use;
       use = LLVMGetNextUse(use)) {
    if (block_waits || is_read_elsewhere(e, use, value, block)) {
      return true;
    }
  }
  return false;
}

// True if a value is compared before a branch: what it leads to may ask
// again (emit_guard).
static bool is_tested(const lanes_emitter *e, LLVMValueRef value) {
  if (!lanes_is_scalar(lanes_shape_of(e->values, value))) {
    return false;
  }
  for (LLVMUseRef use = LLVMGetFirstUse(value); use;
       use = LLVMGetNextUse(use)) {
    LLVMValueRef compare = LLVMGetUser(use);
    for (LLVMUseRef end = LLVMIsAICmpInst(compare) ? LLVMGetFirstUse(compare)
                                                   : NULL;
         end; end = LLVMGetNextUse(end)) {
      if (LLVMGetInstructionOpcode(LLVMGetUser(end)) == LLVMBr) {
        return true;
      }
    }
  }
  return false;
}

static void mark_read(const lanes_values *values, LLVMValueRef value,
                      LLVMBasicBlockRef block, bool *read) {
  if (LLVMIsAInstruction(value) && LLVMGetInstructionParent(value) != block) {
    const uint32_t number = lanes_map_get(&values->numbers, value);
    if (number != LANES_NONE) {
      read[number] = true;
    }
  }
}

// Returns the address whose parts say where an access goes, or NULL.
static LLVMValueRef place_of(LLVMValueRef access) {
  switch (LLVMGetInstructionOpcode(access)) {
    case LLVMLoad: return LLVMGetOperand(access, 0);
    case LLVMStore: return LLVMGetOperand(access, 1);
    case LLVMCall:
      return mtlc_starts_with(lanes_callee_name(access), "mettle.tile.own.")
                 ? LLVMGetOperand(access, 0)
                 : NULL;
    default: return NULL;
  }
}

// Marks what loads, stores and tiles that lanes load read of other blocks to
// find their places (lane_vectors.c, segment_addresses.c).
static bool *find_parts_of_places(lanes_emitter *e) {
  const lanes_values *values = e->values;
  bool *read = lanes_allocate(e->arena, values->count, sizeof *read);
  for (uint32_t n = 0; n < values->count; n++) {
    LLVMValueRef access = values->items[n];
    LLVMValueRef pointer = place_of(access);
    if (!pointer || lanes_is_uniform(lanes_shape_of(values, pointer))) {
      continue;
    }
    lanes_affine at;
    lanes_affine_find(values, pointer, &at);
    LLVMBasicBlockRef block = LLVMGetInstructionParent(access);
    mark_read(values, at.base, block, read);
    for (uint32_t i = 0; i < at.term_count; i++) {
      mark_read(values, at.terms[i], block, read);
    }
  }
  return read;
}

// Returns where a sum of products is.
static LLVMValueRef home_of_sum(lanes_emitter *e, uint32_t number,
                                LLVMValueRef *only) {
  if (!e->has_one_sum) {
    return mtlc_offset(e->prologue, LLVMGetParam(e->function, LANES_FRAME),
                       e->sum_places[number]);
  }
  if (!*only) {
    *only = lanes_promotable_alloca(e, LLVMVectorType(e->types.f32, 2 * LANES));
  }
  return *only;
}

void lanes_make_slots(lanes_emitter *e) {
  const lanes_values *values = e->values;
  LLVMValueRef only_sum = NULL;
  const bool *part_of_place = find_parts_of_places(e);
  e->slots = lanes_allocate(e->arena, values->count, sizeof *e->slots);
  LLVMBasicBlockRef block = NULL;
  bool block_waits = false;
  for (uint32_t n = 0; n < values->count; n++) {
    LLVMValueRef i = values->items[n];
    if (LLVMGetInstructionParent(i) != block) {
      block = LLVMGetInstructionParent(i);
      block_waits = !e->single_simdgroup && lanes_has_barrier(block);
    }
    LLVMTypeRef type = LLVMTypeOf(i);
    const uint32_t count = lanes_component_count(type);
    lanes_slot *slot = &e->slots[n];
    slot->component_count = count;
    slot->current = lanes_allocate(e->arena, count, sizeof(void *));
    slot->as_vector = lanes_allocate(e->arena, count, sizeof(void *));
    slot->everywhere = lanes_allocate(e->arena, count, sizeof(void *));
    if (e->sum_places && e->sum_places[n]) {
      slot->home = home_of_sum(e, n, &only_sum);
      continue;
    }
    if (part_of_place[n] || needs_memory(e, i, block_waits) ||
        is_tested(e, i)) {
      slot->memory = lanes_allocate(e->arena, count, sizeof(void *));
    }
    if (LLVMGetInstructionOpcode(i) == LLVMPHI) {
      slot->phi_memory = lanes_allocate(e->arena, count, sizeof(void *));
      for (uint32_t c = 0; c < count; c++) {
        LLVMTypeRef part = lanes_component_type(type, c);
        slot->phi_memory[c] =
            lanes_promotable_alloca(e, lanes_wide(part, lanes_width(e, i)));
      }
    }
  }
}
