// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// fetch_ahead.c: asks for the memory that threadgroups to come will load and
// store. What one does with a little of memory, for example a tree of sums with
// its barriers, takes longer than a processor looks ahead, and its own guesses
// end with each page; so loads fetch what lies behind them, unless a loop
// repeats them at the same place or goes on from there in small steps.
#include "code/code.h"
#include "compiler/vectorize/accesses.h"
#include "compiler/vectorize/turn_steps.h"

enum {
  // 1 to 12 KiB measured on a 2-core Xeon of Ice Lake's kind, 2026-11, mettle-
  // bench: a tree of sums from 0.70 to 1.00 of the speed of plain C, prefix
  // sums from 0.93 to 1.15. Not whole pages: lines a page apart have one place
  // in the cache, where layer normalisation fell from 1.30 to 1.03.
  AHEAD_BYTES = 6144,
  // Half a KiB to 6 outside loops, measured on a 2-core EPYC of the Zen 3 kind,
  // 2026-11: a tree of sums from 0.60 to 0.80 of the speed of plain C. From 2
  // KiB on, what the processor itself fetches is no longer of use.
  NEAR_AHEAD_BYTES = 1536,
  // 8 to 32 KiB in loops, there: sums by simdgroups from 0.73 to 0.85.
  IN_ORDER_AHEAD_BYTES = 16384,
  IN_ORDER_BITS = 3,              // eight lines or pairs of them, one by one
  IN_ORDER_WINDOW_BYTES = 16384,  // within which others take their places
  LINE_BYTES = 64,
  TURNS_AHEAD = 4,       // of a loop with longer steps than that
  LINES_LIMIT = 8,       // of one access; more is not a stream of small pieces
  WALK_LIMIT = 128,      // values to look at
  FAR_STEP_BYTES = 512,  // from here on, processors do not guess it
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

// --- How far ahead -----------------------------------------------------------

// By how much the loop around an access, if there is one, takes it on.
static lanes_turn_step step_around(const lanes_emitter *e,
                                   LLVMValueRef address) {
  const uint32_t loop = e->graph->nodes[e->node].loop;
  return loop == LANES_NONE ? (lanes_turn_step){.kind = LANES_STEP_SAME}
                            : lanes_step_of(e, address, loop);
}

// A processor with AVX2 and no more: it does not ask for a line's neighbour by
// itself as those with AVX-512 do, so order matters more to it.
static bool is_avx2_alone(const lanes_emitter *e) {
  return e->machine.has_avx2 && !e->machine.has_avx512;
}

// How far ahead to ask for what an access will be at. 0: not at all, because
// the loop around it does not take it to other lines with each turn, or there
// is none and the processor sees for itself what comes.
static int64_t distance_of(const lanes_emitter *e, lanes_turn_step step) {
  if (e->graph->nodes[e->node].loop == LANES_NONE && is_avx2_alone(e) &&
      !e->counting.is_on) {
    return e->has_waits ? NEAR_AHEAD_BYTES : 0;
  }
  if (step.kind != LANES_STEP_KNOWN) {
    return step.kind == LANES_STEP_UNKNOWN ? 0 : AHEAD_BYTES;
  }
  const int64_t by = (int64_t)step.by;
  if (by >= AHEAD_BYTES || by <= -AHEAD_BYTES) {
    return TURNS_AHEAD * by;
  }
  return by >= LINE_BYTES || by <= -LINE_BYTES ? AHEAD_BYTES : 0;
}

// --- What has been asked for -------------------------------------------------

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

// Which loops have barriers in them, by number.
static const bool *find_loops_that_wait(lanes_emitter *e) {
  const lanes_graph *graph = e->graph;
  bool *wait = lanes_allocate(e->arena, graph->loop_count, sizeof *wait);
  for (uint32_t n = 0; n < graph->node_count; n++) {
    const lanes_node *node = &graph->nodes[n];
    if (!node->block || !lanes_has_barrier(node->block)) {
      continue;
    }
    for (uint32_t loop = node->loop; loop != LANES_NONE;
         loop = graph->loops[loop].parent) {
      wait[loop] = true;
    }
  }
  return wait;
}

static bool does_loop_wait(lanes_emitter *e, uint32_t loop) {
  if (!e->loops_that_wait) {
    e->loops_that_wait = find_loops_that_wait(e);
  }
  return e->loops_that_wait[loop];
}

// How near to fetch: to the first level of the cache or the second.
typedef enum fetch_level { SECOND_LEVEL = 2, FIRST_LEVEL = 3 } fetch_level;

static void fetch(lanes_emitter *e, LLVMValueRef address, bool is_store,
                  fetch_level level) {
  enum { DATA = 1 };
  LLVMValueRef arguments[] = {address, mtlc_i32(e->context, is_store),
                              mtlc_i32(e->context, level),
                              mtlc_i32(e->context, DATA)};
  lanes_intrinsic(e, "llvm.prefetch", &e->types.pointer, 1, arguments, 4);
}

// How far so many turns lead, of a step that is known at run time; NULL if it
// is not that.
static LLVMValueRef run_time_step(lanes_emitter *e, lanes_turn_step step,
                                  uint64_t turns) {
  if (step.kind != LANES_STEP_TIMES ||
      !lanes_is_uniform(lanes_shape_of(e->values, step.factor)) ||
      !lanes_is_at_hand(e, step.factor)) {
    return NULL;
  }
  LLVMValueRef factor = LLVMBuildIntCast2(
      e->builder, lanes_scalar(e, step.factor, 0), e->types.i64, false, "");
  return LLVMBuildMul(e->builder, factor, mtlc_i64(e->context, step.by * turns),
                      "");
}

LLVMValueRef lanes_next_turn(lanes_emitter *e, const lanes_access *a,
                             bool is_by_rows) {
  uint32_t loop = a->pointer ? e->graph->nodes[e->node].loop : LANES_NONE;
  while (loop != LANES_NONE && !does_loop_wait(e, loop)) {
    loop = e->graph->loops[loop].parent;
  }
  if (loop == LANES_NONE || lanes_is_in_threadgroup(e, a->pointer)) {
    return NULL;
  }
  const lanes_turn_step step = lanes_step_of(e, a->pointer, loop);
  const int64_t by = (int64_t)step.by;
  if (step.kind == LANES_STEP_KNOWN) {
    const int64_t far = is_by_rows ? LINE_BYTES : FAR_STEP_BYTES;
    return by >= far || by <= -far ? mtlc_i64(e->context, step.by) : NULL;
  }
  return run_time_step(e, step, 1);
}

// What lies step behind an address.
static void fetch_lines(lanes_emitter *e, LLVMValueRef address,
                        LLVMValueRef step, uint64_t bytes, bool is_store,
                        fetch_level level) {
  for (uint64_t at = 0; at < bytes; at += LINE_BYTES) {
    LLVMValueRef next =
        LLVMBuildGEP2(e->builder, e->types.i8, address, &step, 1, "");
    fetch(e, lanes_address_at(e, next, at), is_store, level);
  }
}

void lanes_fetch_at(lanes_emitter *e, LLVMValueRef address, LLVMValueRef step,
                    uint64_t bytes) {
  if (step) {
    fetch_lines(e, address, step, bytes, false, FIRST_LEVEL);
  }
}

// --- In the order of memory --------------------------------------------------

// The constant that a value in a loop's header is compared with; 0 if none.
static uint64_t bound_of(LLVMValueRef value) {
  for (LLVMUseRef use = LLVMGetFirstUse(value); use;
       use = LLVMGetNextUse(use)) {
    LLVMValueRef user = LLVMGetUser(use);
    if (LLVMIsAICmpInst(user) && LLVMIsAConstantInt(LLVMGetOperand(user, 1))) {
      return LLVMConstIntGetZExtValue(LLVMGetOperand(user, 1));
    }
  }
  return 0;
}

// How many turns a loop takes at the most, if constants say so, or UINT64_MAX.
static uint64_t most_turns(const lanes_emitter *e, uint32_t loop) {
  LLVMBasicBlockRef header =
      e->graph->nodes[e->graph->loops[loop].header].block;
  for (LLVMValueRef phi = header ? LLVMGetFirstInstruction(header) : NULL;
       phi && LLVMIsAPHINode(phi); phi = LLVMGetNextInstruction(phi)) {
    const lanes_turn_step step = lanes_step_of_phi(e, phi, loop);
    const uint64_t bound = bound_of(phi);
    if (step.kind == LANES_STEP_KNOWN && step.by > 0 && bound > 0) {
      return bound / step.by + 1;
    }
  }
  return UINT64_MAX;
}

// Says whether simdgroups of a threadgroup go through the turns of the loop
// around an access one after the other, and probably for a common end.
static bool is_loop_shared(lanes_emitter *e) {
  const uint32_t loop = e->graph->nodes[e->node].loop;
  return loop != LANES_NONE && e->has_waits && !e->single_simdgroup &&
         !does_loop_wait(e, loop);
}

// Of loads by strides of a threadgroup, how many bits of the piece's number and
// of the turn's can change places; 0 if that is not what they are.
static uint32_t bits_in_order(lanes_emitter *e, lanes_turn_step step,
                              uint64_t bytes) {
  const bool is_known = step.kind == LANES_STEP_KNOWN && step.by > bytes &&
                        step.by <= IN_ORDER_WINDOW_BYTES / 2 &&
                        (step.by & (step.by - 1)) == 0;
  const bool is_piece = bytes == LINE_BYTES || bytes == 2 * LINE_BYTES;
  if (!is_known || !is_piece || !is_avx2_alone(e) || !is_loop_shared(e)) {
    return 0;
  }
  uint32_t bits = 1;
  while (bits < IN_ORDER_BITS && bytes << (bits + 1) <= step.by &&
         step.by << (bits + 1) <= IN_ORDER_WINDOW_BYTES) {
    bits++;
  }
  return most_turns(e, e->graph->nodes[e->node].loop) < 1u << bits ? 0 : bits;
}

// A simdgroup loads a piece of each row of its threadgroup: lines far from each
// other, one after the other, which memory is slow to give. What it asks for is
// what others of a later threadgroup will load of one row. An exchange of bits
// of the address, piece's and turn's, tells each simdgroup its part.
static void fetch_in_order(lanes_emitter *e, LLVMValueRef first, uint64_t step,
                           uint64_t bytes, uint32_t bits) {
  LLVMBuilderRef builder = e->builder;
  LLVMValueRef ratio = mtlc_i64(e->context, step / bytes);
  LLVMValueRef mask = mtlc_i64(e->context, ((1u << bits) - 1) * bytes);
  LLVMValueRef at = LLVMBuildPtrToInt(builder, first, e->types.i64, "");
  LLVMValueRef differ =
      LLVMBuildXor(builder, at, LLVMBuildUDiv(builder, at, ratio, ""), "");
  differ = LLVMBuildAnd(builder, differ, mask, "");
  LLVMValueRef factor = mtlc_i64(e->context, 1 + step / bytes);
  LLVMValueRef both = LLVMBuildMul(builder, differ, factor, "");
  LLVMValueRef place = LLVMBuildIntToPtr(
      builder, LLVMBuildXor(builder, at, both, ""), e->types.pointer, "");
  fetch_lines(e, place, mtlc_i64(e->context, IN_ORDER_AHEAD_BYTES), bytes,
              false, SECOND_LEVEL);
}

void lanes_fetch_ahead(lanes_emitter *e, const lanes_access *a,
                       LLVMValueRef first, uint64_t bytes) {
  const bool is_store = LLVMGetInstructionOpcode(a->instruction) == LLVMStore;
  if (!a->pointer || e->in_rows || bytes > LINES_LIMIT * LINE_BYTES ||
      lanes_is_in_threadgroup(e, a->pointer) ||
      !moves_with_grid(e, a->pointer)) {
    return;
  }
  const lanes_turn_step step = step_around(e, a->pointer);
  const uint64_t distance = (uint64_t)distance_of(e, step);
  if (!distance || is_fetched(e, a->pointer)) {
    return;
  }
  const uint32_t bits = is_store ? 0 : bits_in_order(e, step, bytes);
  if (bits) {
    fetch_in_order(e, first, step.by, bytes, bits);
    return;
  }
  // A walk down a column, whose rows are as long as the program says.
  LLVMValueRef turns = run_time_step(e, step, TURNS_AHEAD);
  fetch_lines(e, first, turns ? turns : mtlc_i64(e->context, distance), bytes,
              is_store, FIRST_LEVEL);
}
