// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// promote_allocas.c: puts the emitter's memories that are written in several
// places into registers, each at a cost that grows with how long it lives.
// LLVM's mem2reg goes through all that lies below each store in the dominator
// tree: in a kernel of 5000 lines, with 20,000 such stores, that was a third of
// the compilation. Memories that are written once are left to mem2reg, which
// promotes them at no cost.
//
// A phi is inserted wherever paths join while the memory lives; phis that turn
// out to have one value are removed again.
#include "compiler/vectorize/emit/flow/promote_allocas.h"

#include <stdbool.h>
#include <stddef.h>

#include "compiler/ir/llvm/instructions.h"
#include "compiler/vectorize/base/tables.h"
#include "compiler/vectorize/emit/values/emitter.h"

typedef struct access {
  LLVMValueRef instruction;
  LLVMValueRef stored;  // for a load after a store of its block: the stored
                        // value
  uint32_t block;
  uint32_t next;  // of the same memory, or LANES_NONE
} access;

typedef struct memory_uses {
  uint32_t first, last;  // accesses, or LANES_NONE
  uint32_t store_count;
} memory_uses;

// The last two describe the memory whose number it is, if any.
typedef struct block_state {
  LLVMBasicBlockRef block;
  lanes_list predecessors;
  uint32_t memory;
  bool alive;        // live at the block's start
  LLVMValueRef in;   // the value at the start, once it is known
  LLVMValueRef out;  // the last value stored
} block_state;

typedef struct promotion {
  lanes_emitter *e;
  lanes_map memories;  // alloca to its number
  lanes_map blocks;    // block to its number
  lanes_map loads;     // load to its access
  memory_uses *uses;   // [e->memory_count]
  access *accesses;    // [access_count]
  uint32_t access_count;
  uint32_t access_capacity;
  block_state *states;  // [block_count]
  uint32_t block_count;
  uint32_t memory;      // the memory being promoted
  lanes_list alive;     // blocks where it is live
  LLVMValueRef *phis;   // [phi_count], NULL for removed ones
  uint32_t phi_count;
  uint32_t phi_capacity;
} promotion;

// --- What there is -----------------------------------------------------------

static void note_access(promotion *p, LLVMValueRef i, uint32_t block) {
  const LLVMOpcode opcode = LLVMGetInstructionOpcode(i);
  if (opcode != LLVMLoad && opcode != LLVMStore) {
    return;
  }
  const uint32_t memory =
      lanes_map_get(&p->memories, LLVMGetOperand(i, opcode == LLVMStore));
  if (memory == LANES_NONE) {
    return;
  }
  p->accesses = lanes_make_room(p->e->arena, p->accesses, p->access_count,
                                &p->access_capacity, 64, sizeof *p->accesses);
  const uint32_t number = p->access_count++;
  p->accesses[number] =
      (access){.instruction = i, .block = block, .next = LANES_NONE};
  memory_uses *uses = &p->uses[memory];
  if (uses->last == LANES_NONE) {
    uses->first = number;
  } else {
    p->accesses[uses->last].next = number;
  }
  uses->last = number;
  uses->store_count += opcode == LLVMStore;
  if (opcode == LLVMLoad) {
    lanes_map_set(p->e->arena, &p->loads, i, number);
  }
}

static void note_edges(promotion *p, uint32_t block) {
  LLVMValueRef end = LLVMGetBasicBlockTerminator(p->states[block].block);
  for (unsigned k = 0; k < LLVMGetNumSuccessors(end); k++) {
    const uint32_t to = lanes_map_get(&p->blocks, LLVMGetSuccessor(end, k));
    lanes_list_add(p->e->arena, &p->states[to].predecessors, block);
  }
}

static void survey(promotion *p) {
  lanes_emitter *e = p->e;
  p->block_count = LLVMCountBasicBlocks(e->function);
  p->states = lanes_allocate(e->arena, p->block_count, sizeof *p->states);
  p->uses = lanes_allocate(e->arena, e->memory_count, sizeof *p->uses);
  for (uint32_t m = 0; m < e->memory_count; m++) {
    lanes_map_set(e->arena, &p->memories, e->memories[m], m);
    p->uses[m] = (memory_uses){.first = LANES_NONE, .last = LANES_NONE};
  }
  uint32_t n = 0;
  for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(e->function); block;
       block = LLVMGetNextBasicBlock(block)) {
    p->states[n].block = block;
    p->states[n].memory = LANES_NONE;
    lanes_map_set(e->arena, &p->blocks, block, n++);
  }
  for (n = 0; n < p->block_count; n++) {
    note_edges(p, n);
    for (LLVMValueRef i = LLVMGetFirstInstruction(p->states[n].block); i;
         i = LLVMGetNextInstruction(i)) {
      note_access(p, i, n);
    }
  }
}

// --- One memory --------------------------------------------------------------

static block_state *state_of(promotion *p, uint32_t block) {
  block_state *state = &p->states[block];
  if (state->memory != p->memory) {
    state->memory = p->memory;
    state->alive = false;
    state->in = NULL;
    state->out = NULL;
  }
  return state;
}

static void live_at(promotion *p, uint32_t block) {
  block_state *state = state_of(p, block);
  if (!state->alive) {
    state->alive = true;
    lanes_list_add(p->e->arena, &p->alive, block);
  }
}

static void follow_blocks(promotion *p) {
  for (uint32_t a = p->uses[p->memory].first; a != LANES_NONE;
       a = p->accesses[a].next) {
    access *at = &p->accesses[a];
    block_state *state = state_of(p, at->block);
    if (LLVMIsAStoreInst(at->instruction)) {
      state->out = LLVMGetOperand(at->instruction, 0);
    } else if (state->out) {
      at->stored = state->out;
    } else {
      live_at(p, at->block);
    }
  }
  for (uint32_t i = 0; i < p->alive.count; i++) {
    const lanes_list *from = &p->states[p->alive.items[i]].predecessors;
    for (uint32_t k = 0; k < from->count; k++) {
      if (!state_of(p, from->items[k])->out) {
        live_at(p, from->items[k]);
      }
    }
  }
}

static LLVMTypeRef type_at_hand(const promotion *p) {
  return LLVMGetAllocatedType(p->e->memories[p->memory]);
}

static void make_phis(promotion *p) {
  for (uint32_t i = 0; i < p->alive.count; i++) {
    block_state *state = &p->states[p->alive.items[i]];
    if (state->predecessors.count == 0) {
      state->in = LLVMGetUndef(type_at_hand(p));
    } else if (state->predecessors.count > 1) {
      LLVMPositionBuilderBefore(p->e->builder,
                                LLVMGetFirstInstruction(state->block));
      state->in = LLVMBuildPhi(p->e->builder, type_at_hand(p), "");
      p->phis = lanes_make_room(p->e->arena, p->phis, p->phi_count,
                                &p->phi_capacity, 64, sizeof *p->phis);
      p->phis[p->phi_count++] = state->in;
    }
  }
}

static LLVMValueRef without_loads(promotion *p, LLVMValueRef value);

static LLVMValueRef value_behind(promotion *p, uint32_t block) {
  block_state *state = state_of(p, block);
  if (state->out) {
    return without_loads(p, state->out);
  }
  // Walks up to where the value is known, then back down.
  uint32_t top = block;
  while (!p->states[top].in) {
    const uint32_t above = p->states[top].predecessors.items[0];
    if (state_of(p, above)->out || above == block) {
      break;
    }
    top = above;
  }
  LLVMValueRef value = p->states[top].in;
  if (!value) {
    const uint32_t above = p->states[top].predecessors.items[0];
    // A cycle that nothing enters never runs.
    value = p->states[above].out ? without_loads(p, p->states[above].out)
                                 : LLVMGetUndef(type_at_hand(p));
    p->states[top].in = value;
  }
  for (uint32_t at = block; at != top;
       at = p->states[at].predecessors.items[0]) {
    p->states[at].in = value;
  }
  return value;
}

static LLVMValueRef value_before(promotion *p, uint32_t block) {
  block_state *state = state_of(p, block);
  if (!state->in) {
    state->in = value_behind(p, state->predecessors.items[0]);
  }
  return state->in;
}

// A stored value may have been loaded from the same memory.
static LLVMValueRef without_loads(promotion *p, LLVMValueRef value) {
  while (LLVMIsALoadInst(value) &&
         LLVMGetOperand(value, 0) == p->e->memories[p->memory]) {
    const access *load = &p->accesses[lanes_map_get(&p->loads, value)];
    value = load->stored ? load->stored : value_before(p, load->block);
  }
  return value;
}

static void fill_phis(promotion *p) {
  for (uint32_t i = 0; i < p->phi_count; i++) {
    LLVMBasicBlockRef block = LLVMGetInstructionParent(p->phis[i]);
    const lanes_list *from =
        &p->states[lanes_map_get(&p->blocks, block)].predecessors;
    for (uint32_t k = 0; k < from->count; k++) {
      LLVMValueRef value = value_behind(p, from->items[k]);
      LLVMAddIncoming(p->phis[i], &value, &p->states[from->items[k]].block, 1);
    }
  }
}

static void take_out_accesses(promotion *p) {
  const uint32_t first = p->uses[p->memory].first;
  for (uint32_t a = first; a != LANES_NONE; a = p->accesses[a].next) {
    LLVMValueRef i = p->accesses[a].instruction;
    if (LLVMIsALoadInst(i)) {
      LLVMReplaceAllUsesWith(i, without_loads(p, i));
    }
  }
  for (uint32_t a = first; a != LANES_NONE; a = p->accesses[a].next) {
    LLVMInstructionEraseFromParent(p->accesses[a].instruction);
  }
}

// Returns the only value of a phi, or NULL.
static LLVMValueRef only_value(LLVMValueRef phi) {
  LLVMValueRef only = NULL;
  for (unsigned k = 0; k < LLVMCountIncoming(phi); k++) {
    LLVMValueRef value = LLVMGetIncomingValue(phi, k);
    if (value != phi && value != only) {
      if (only) {
        return NULL;
      }
      only = value;
    }
  }
  return only;
}

static void take_out_phis(promotion *p) {
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t i = 0; i < p->phi_count; i++) {
      LLVMValueRef only = p->phis[i] ? only_value(p->phis[i]) : NULL;
      if (only) {
        mtlc_replace(p->phis[i], only);
        p->phis[i] = NULL;
        changed = true;
      }
    }
  }
}

static void promote(promotion *p, uint32_t memory) {
  p->memory = memory;
  p->alive.count = 0;
  p->phi_count = 0;
  follow_blocks(p);
  make_phis(p);
  fill_phis(p);
  take_out_accesses(p);
  take_out_phis(p);
}

void lanes_promote_allocas(lanes_emitter *e) {
  promotion p = {.e = e};
  survey(&p);
  for (uint32_t m = 0; m < e->memory_count; m++) {
    if (p.uses[m].store_count > 1) {
      promote(&p, m);
    }
  }
}
