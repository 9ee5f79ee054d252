// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// fetch_ahead.c: asks for the memory that threadgroups to come will load and
// store. What one does with a little of memory, for example a tree of sums with
// its barriers, takes longer than a processor looks ahead, and its own guesses
// end with each page; so loads that no loop repeats fetch what lies behind
// them.
#include "code/code.h"
#include "compiler/vectorize/accesses.h"

enum {
  // 1 to 8 KiB measured on a 2-core Xeon of Ice Lake's kind, 2026-11, mettle-
  // bench: a tree of sums from 0.70 to 1.00 of the speed of plain C, prefix
  // sums
  // from 0.93 to 1.15.
  AHEAD_BYTES = 4096,
  LINE_BYTES = 64,
  LINES_LIMIT = 8,   // of one access; more is not a stream of small pieces
  WALK_LIMIT = 128,  // values to look at
};

static bool is_grid_position(LLVMValueRef value) {
  if (!LLVMIsACallInst(value) ||
      lanes_callee_of(value) != LANES_CALLEE_POSITION) {
    return false;
  }
  switch (LLVMConstIntGetZExtValue(LLVMGetOperand(value, 0))) {
    case MTLI_THREAD_POSITION_IN_GRID:
    case MTLI_THREADGROUP_POSITION_IN_GRID: return true;
    default: return false;
  }
}

// Says whether an address depends on where in the grid a thread is; what does
// not is loaded by all threadgroups, and is there.
static bool moves_with_grid(lanes_emitter *e, LLVMValueRef address) {
  LLVMValueRef work[WALK_LIMIT];
  lanes_map seen = {0};
  uint32_t count = 0;
  uint32_t looked = 0;
  work[count++] = address;
  while (count) {
    LLVMValueRef value = work[--count];
    if (is_grid_position(value)) {
      return true;
    }
    const LLVMOpcode opcode = LLVMGetInstructionOpcode(value);
    if (opcode == LLVMLoad || opcode == LLVMCall) {
      continue;
    }
    for (int i = 0; i < LLVMGetNumOperands(value); i++) {
      LLVMValueRef operand = LLVMGetOperand(value, (unsigned)i);
      if (!LLVMIsAInstruction(operand) ||
          lanes_map_get(&seen, operand) != LANES_NONE) {
        continue;
      }
      lanes_map_set(e->arena, &seen, operand, 1);
      if (++looked >= WALK_LIMIT) {
        return false;
      }
      work[count++] = operand;
    }
  }
  return false;
}

// Whether a value is another one and a constant that does not lead far.
static bool is_near_another(LLVMValueRef value) {
  enum { NEAR = LANES };
  if (!LLVMIsAInstruction(value) ||
      LLVMGetInstructionOpcode(value) != LLVMAdd ||
      !LLVMIsAConstantInt(LLVMGetOperand(value, 1))) {
    return false;
  }
  const int64_t by = LLVMConstIntGetSExtValue(LLVMGetOperand(value, 1));
  return by >= -NEAR && by <= NEAR;
}

// Where an access is, as neighbours have it too, whose lines are the same.
static lanes_fetched neighbourhood(const lanes_emitter *e,
                                   LLVMValueRef address) {
  lanes_fetched place = {.base = address, .node = e->node};
  if (!LLVMIsAGetElementPtrInst(address)) {
    return place;
  }
  const unsigned last = (unsigned)LLVMGetNumOperands(address) - 1;
  place.base = LLVMGetOperand(address, 0);
  place.index = LLVMGetOperand(address, last);
  while (LLVMIsAZExtInst(place.index) || LLVMIsASExtInst(place.index) ||
         is_near_another(place.index)) {
    place.index = LLVMGetOperand(place.index, 0);
  }
  return place;
}

// Says whether what is around an access has been asked for on the way to it,
// and notes that it will be.
static bool is_fetched(lanes_emitter *e, LLVMValueRef address) {
  const lanes_fetched place = neighbourhood(e, address);
  for (uint32_t i = 0; i < e->fetched_count; i++) {
    const lanes_fetched *other = &e->fetched[i];
    if (other->base == place.base && other->index == place.index &&
        lanes_dominates(e->graph, other->node, e->node)) {
      return true;
    }
  }
  if (e->fetched_count == LANES_FETCHED) {
    return true;  // more streams than a processor follows
  }
  e->fetched[e->fetched_count++] = place;
  return false;
}

void lanes_fetch_ahead(lanes_emitter *e, const lanes_access *a,
                       LLVMValueRef first, uint64_t bytes) {
  const bool is_store = LLVMGetInstructionOpcode(a->instruction) == LLVMStore;
  if (!a->pointer || e->in_rows || bytes > LINES_LIMIT * LINE_BYTES ||
      e->graph->nodes[e->node].loop != LANES_NONE ||
      lanes_is_in_threadgroup(e, a->pointer) ||
      !moves_with_grid(e, a->pointer) || is_fetched(e, a->pointer)) {
    return;
  }
  for (uint64_t at = 0; at < bytes; at += LINE_BYTES) {
    enum { KEEP_CLOSE = 3, DATA = 1 };
    LLVMValueRef arguments[] = {lanes_address_at(e, first, AHEAD_BYTES + at),
                                mtlc_i32(e->context, is_store),
                                mtlc_i32(e->context, KEEP_CLOSE),
                                mtlc_i32(e->context, DATA)};
    lanes_intrinsic(e, "llvm.prefetch", &e->types.pointer, 1, arguments, 4);
  }
}
