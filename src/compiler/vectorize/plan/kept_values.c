// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// kept_values.c: finds values that another block of the thread function reads;
// those are kept in memory (value_slots.c).
#include "compiler/vectorize/plan/kept_values.h"

#include <stddef.h>

#include "compiler/ir/llvm/calls.h"
#include "compiler/vectorize/analysis/addresses/affine.h"
#include "compiler/vectorize/analysis/callees.h"
#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/analysis/uniformity.h"
#include "compiler/vectorize/base/tables.h"

bool lanes_is_rematerialised(const lanes_values *values,
                             LLVMValueRef instruction) {
  if (lanes_shape_of(values, instruction).conditional) {
    return true;
  }
  const LLVMOpcode opcode = LLVMGetInstructionOpcode(instruction);
  return lanes_width_of(lanes_shape_of(values, instruction)) > 1 &&
         (opcode == LLVMGetElementPtr || opcode == LLVMZExt ||
          opcode == LLVMSExt);
}

// True if a use reads the value in another block; a phi reads at the end of the
// edge's block.
static bool is_read_elsewhere(const lanes_values *values, LLVMUseRef use,
                              LLVMValueRef value, LLVMBasicBlockRef block) {
  LLVMValueRef user = LLVMGetUser(use);
  if (LLVMGetInstructionOpcode(user) != LLVMPHI) {
    return LLVMGetInstructionParent(user) != block ||
           lanes_is_rematerialised(values, user);
  }
  for (unsigned i = 0; i < LLVMCountIncoming(user); i++) {
    if (LLVMGetIncomingValue(user, i) == value &&
        LLVMGetIncomingBlock(user, i) != block) {
      return true;
    }
  }
  return false;
}

static bool needs_memory(const lanes_values *values, LLVMValueRef value,
                         bool block_waits) {
  LLVMBasicBlockRef block = LLVMGetInstructionParent(value);
  for (LLVMUseRef use = LLVMGetFirstUse(value); use;
       use = LLVMGetNextUse(use)) {
    if (block_waits || is_read_elsewhere(values, use, value, block)) {
      return true;
    }
  }
  return false;
}

// True if a value is compared for a branch: a guard after it may compare again
// (emit_guard).
static bool is_tested(const lanes_values *values, LLVMValueRef value) {
  if (!lanes_is_scalar(lanes_shape_of(values, value))) {
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

// Returns the address whose operands decide where an access goes, or NULL.
static LLVMValueRef place_of(LLVMValueRef access) {
  switch (LLVMGetInstructionOpcode(access)) {
    case LLVMLoad: return LLVMGetOperand(access, 0);
    case LLVMStore: return LLVMGetOperand(access, 1);
    case LLVMCall:
      return mtlc_is_call_of(access, "mettle.tile.own.") ||
                     mtlc_is_call_of(access, "mettle.tile.spread.")
                 ? LLVMGetOperand(access, 0)
                 : NULL;
    default: return NULL;
  }
}

// Marks operands of addresses that accesses of other blocks read
// (lane_vectors.c, segment_addresses.c).
static bool *find_parts_of_places(const lanes_values *values,
                                  mtli_arena *arena) {
  bool *read = lanes_allocate(arena, values->count, sizeof *read);
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

bool *lanes_kept_values(const lanes_values *values, bool single_simdgroup,
                        mtli_arena *arena) {
  bool *kept = find_parts_of_places(values, arena);
  LLVMBasicBlockRef block = NULL;
  bool block_waits = false;
  for (uint32_t n = 0; n < values->count; n++) {
    LLVMValueRef i = values->items[n];
    if (LLVMGetInstructionParent(i) != block) {
      block = LLVMGetInstructionParent(i);
      block_waits = !single_simdgroup && lanes_has_barrier(block);
    }
    kept[n] |= needs_memory(values, i, block_waits) || is_tested(values, i);
  }
  return kept;
}
