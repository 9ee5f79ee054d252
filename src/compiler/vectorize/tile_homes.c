// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tile_homes.c: the memory that tiles to multiply are in: a product wants their
// elements by index, or several times at once, for which a load is enough.
#include <string.h>

#include "compiler/vectorize/accesses.h"
#include "compiler/vectorize/tiles.h"

enum { LINE_BYTES = 64 };

static LLVMValueRef new_home(lanes_emitter *e) {
  LLVMValueRef home =
      lanes_reserve(e, LLVMArrayType(e->types.f32, LANES_TILE_ELEMENTS));
  LLVMSetAlignment(home, LINE_BYTES);
  return home;
}

// Says whether all that a load is for are right sides further on in its block,
// with no wait in between.
static bool is_right_side_here(LLVMValueRef load) {
  LLVMBasicBlockRef block = LLVMGetInstructionParent(load);
  LLVMValueRef last = NULL;
  uint32_t uses = 0;
  for (LLVMUseRef use = LLVMGetFirstUse(load); use;
       use = LLVMGetNextUse(use), uses++) {
    LLVMValueRef user = LLVMGetUser(use);
    if (LLVMGetInstructionParent(user) != block || !lanes_is_product(user) ||
        LLVMGetOperand(user, 0) == load || LLVMGetOperand(user, 2) == load) {
      return false;
    }
  }
  for (LLVMValueRef i = load; i && uses; i = LLVMGetNextInstruction(i)) {
    if (lanes_is_product(i) && LLVMGetOperand(i, 1) == load) {
      last = i;
      uses--;
    } else if (LLVMGetInstructionOpcode(i) == LLVMCall &&
               lanes_callee_of(i) == LANES_CALLEE_THREADGROUP_BARRIER) {
      return false;
    }
  }
  return last != NULL;
}

static lanes_tile_home *home_of(lanes_emitter *e, LLVMValueRef value) {
  if (e->homes_fresh != e->fresh) {
    e->home_count = 0;
    e->homes_fresh = e->fresh;
  }
  for (uint32_t i = 0; i < e->home_count; i++) {
    if (e->homes[i].value == value) {
      return &e->homes[i];
    }
  }
  return NULL;
}

static lanes_tile_home *add_home(lanes_emitter *e, LLVMValueRef value,
                                 bool by_rows) {
  if (e->home_count == e->home_capacity) {
    const uint32_t capacity = e->home_capacity ? e->home_capacity * 2 : 16;
    lanes_tile_home *grown =
        lanes_allocate(e->arena, capacity, sizeof *grown);
    if (e->home_capacity) {
      memcpy(grown, e->homes, e->home_capacity * sizeof *grown);
    }
    e->homes = grown;
    e->home_capacity = capacity;
  }
  lanes_tile_home *home = &e->homes[e->home_count++];
  if (!home->memory) {
    home->memory = new_home(e);
  }
  home->value = value;
  home->by_rows = by_rows;
  return home;
}

LLVMValueRef lanes_home_of_rows(lanes_emitter *e, LLVMValueRef load) {
  if (!is_right_side_here(load)) {
    return NULL;
  }
  home_of(e, load);
  return add_home(e, load, true)->memory;
}

lanes_tile_home lanes_kept_home(lanes_emitter *e, LLVMValueRef operand) {
  lanes_tile_home *home = home_of(e, operand);
  if (!home) {
    home = add_home(e, operand, false);
    LLVMValueRef store = LLVMBuildStore(
        e->builder, lanes_tile_of(e, operand, e->types.f32), home->memory);
    LLVMSetAlignment(store, LINE_BYTES);
  }
  return *home;
}
