// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// prefetch.c: prefetches memory that later threadgroups will access. A short
// kernel with long dependences, such as a tree of sums with its barriers, takes
// longer than a processor looks ahead, and hardware prefetchers stop at each
// page. So loads prefetch what lies behind them, unless a loop repeats them at
// the same place or advances in small steps.
#include "compiler/vectorize/emit/memory/prefetch.h"

#include <stddef.h>

#include "code/code.h"
#include "compiler/ir/llvm/instructions.h"
#include "compiler/ir/llvm/marks.h"
#include "compiler/ir/llvm/types.h"
#include "compiler/vectorize/analysis/addresses/induction.h"
#include "compiler/vectorize/analysis/callees.h"
#include "compiler/vectorize/analysis/effects.h"
#include "compiler/vectorize/analysis/graph.h"
#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/analysis/uniformity.h"
#include "compiler/vectorize/base/tables.h"
#include "compiler/vectorize/emit/address/prefetch_lines.h"
#include "compiler/vectorize/emit/values/builder.h"
#include "compiler/vectorize/emit/values/emitter.h"
#include "compiler/vectorize/emit/values/values.h"
#include "compiler/vectorize/plan/access/access.h"
#include "compiler/vectorize/prepare/interchange_simdgroups.h"

enum {
  // 1 to 12 KiB measured on a 2-core Xeon of Ice Lake's kind, 2026-11, mettle-
  // bench: a tree of sums from 0.70 to 1.00 of the speed of plain C, prefix
  // sums from 0.93 to 1.15. Not whole pages: lines a page apart have one place
  // in the cache, where layer normalisation fell from 1.30 to 1.03.
  // On a Zen 4 to the second level: the first has no room for that much of two
  // rows, and a matrix of 64 MiB times a vector (half, float, 8 bits; 2-core
  // EPYC, 2026-11) takes 0.8 of the time.
  AHEAD_BYTES = 6144,
  // In loops by strides of a threadgroup, there: as far as the threadgroup
  // walks, and no less than 8 KiB, of 2 to 32 tried in plain C; further than 64
  // KiB would fill a second level of 512. On a Zen 3 what is so near is fetched
  // to the first level, which has room for it. Layer normalisation takes 0.63
  // of the time that it took with each simdgroup's own lines fetched 6 KiB
  // ahead, RMS norms of rows of 4096 0.66, sums by simdgroups about 0.9 of that
  // of orders in pieces of a KiB. On a Zen 4 the second level is better for all
  // (layer normalisation takes 0.63 of the time, softmax 0.74, RMS norms 0.69),
  // and 6 to 32 KiB are the same.
  LEAST_REACH_BYTES = 8192,
  MOST_REACH_BYTES = 65536,
  MOST_STEP_BYTES = 16384,  // 1024 threads, 16 bytes each
  LINE_BYTES = 64,
  TURNS_AHEAD = 4,  // iterations ahead, in a loop with longer steps than that
  // Of a tile that threadgroups with barriers load: as many streams as it has
  // rows, of a piece each, are more than a processor follows. 128 to 512
  // measured on a Zen 4: a Jacobi step by tiles of 16 x 16 takes 0.4 of the
  // time, by tiles of 32 x 32 a quarter (128 bytes: 0.32), a wave equation by
  // planes 0.8. Without barriers stencils take 1.1 to 1.5 times as long.
  ROWS_AHEAD_BYTES = 256,
  MOST_STREAMS = 8,
  LINES_LIMIT = 8,       // lines of one access; more is not a stream of small
                         // pieces
  ROWS_LINES_LIMIT = 17,  // lines of 32 lanes with 32 bytes side by side
  LIKENESS_LIMIT = 128,  // values compared
  FAR_STEP_BYTES = 512,  // from such a step on, processors do not prefetch by
                         // themselves
};

// --- How far ahead -----------------------------------------------------------

// Returns what each iteration of the loop around an access adds to its address,
// if there is such a loop.
static lanes_induction_step step_around(const lanes_emitter *e,
                                   LLVMValueRef address) {
  const uint32_t loop = e->graph->nodes[e->node].loop;
  return loop == LANES_NONE ? (lanes_induction_step){.kind = LANES_STEP_SAME}
                            : lanes_step_of(e->values, address, loop);
}

// Returns how far ahead to prefetch an access. 0: no prefetch, because the loop
// around it does not reach new lines with each iteration, or the processor
// prefetches it itself.
static int64_t distance_of(const lanes_emitter *e, lanes_induction_step step) {
  if (e->graph->nodes[e->node].loop == LANES_NONE && e->machine.tuning->needs_order &&
      !e->counting.is_on) {
    return e->has_waits ? e->machine.tuning->near_bytes : 0;
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

// True if a value is another value plus a small constant.
static bool is_near_another(LLVMValueRef value) {
  enum { NEAR = MOST_LANES };
  if ((!mtlc_is_opcode(value, LLVMAdd) && !mtlc_is_opcode(value, LLVMOr)) ||
      !LLVMIsAConstantInt(LLVMGetOperand(value, 1))) {
    return false;
  }
  const int64_t by = LLVMConstIntGetSExtValue(LLVMGetOperand(value, 1));
  return by >= -NEAR && by <= NEAR;
}

// Returns the address of an access without such a constant, so that neighbours
// on the same lines compare equal.
static lanes_prefetched neighbourhood(const lanes_emitter *e,
                                   LLVMValueRef address) {
  lanes_prefetched place = {.address = address, .base = address, .node = e->node};
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

static uint32_t loop_of(const lanes_emitter *e, LLVMValueRef value) {
  const uint32_t number = lanes_map_get(&e->values->numbers, value);
  return e->graph->nodes[e->values->nodes[number]].loop;
}

// A comparison of two addresses; looks is how many more values it may visit.
typedef struct likeness {
  const lanes_emitter *e;
  uint32_t looks;
} likeness;

static bool is_alike(likeness *l, LLVMValueRef a, LLVMValueRef b);

// True if b is a, or may get its value from a through phis.
static bool may_flow_from(likeness *l, LLVMValueRef a, LLVMValueRef b) {
  if (l->looks == 0 || is_alike(l, a, b)) {
    return l->looks > 0;
  }
  l->looks--;
  const unsigned count = LLVMIsAPHINode(b) ? LLVMCountIncoming(b) : 0;
  for (unsigned i = 0; i < count && l->looks; i++) {
    if (may_flow_from(l, a, LLVMGetIncomingValue(b, i))) {
      return true;
    }
  }
  return false;
}

// True if two counters are alike: the second loop may continue where the first,
// a version of it without masks, was left.
static bool is_alike_phi(likeness *l, LLVMValueRef a, LLVMValueRef b) {
  const uint32_t loop_a = loop_of(l->e, a);
  const uint32_t loop_b = loop_of(l->e, b);
  if (loop_a == LANES_NONE || loop_b == LANES_NONE || loop_a == loop_b) {
    return false;
  }
  const lanes_induction_step step_a = lanes_step_of_phi(l->e->values, a, loop_a);
  const lanes_induction_step step_b = lanes_step_of_phi(l->e->values, b, loop_b);
  return step_a.kind != LANES_STEP_UNKNOWN && step_a.kind == step_b.kind &&
         step_a.by == step_b.by && step_a.factor == step_b.factor &&
         may_flow_from(l, lanes_begin_of(l->e->values, a, loop_a),
                       lanes_begin_of(l->e->values, b, loop_b));
}

// True if two addresses run through the same values, each in a loop of its own.
static bool is_alike(likeness *l, LLVMValueRef a, LLVMValueRef b) {
  if (a == b) {
    return true;
  }
  if (l->looks == 0 || !LLVMIsAInstruction(a) || !LLVMIsAInstruction(b) ||
      LLVMGetInstructionOpcode(a) != LLVMGetInstructionOpcode(b) ||
      LLVMTypeOf(a) != LLVMTypeOf(b)) {
    return false;
  }
  l->looks--;
  if (LLVMIsAPHINode(a)) {
    return is_alike_phi(l, a, b);
  }
  const int count = LLVMGetNumOperands(a);
  bool alike =
      count == LLVMGetNumOperands(b) && !LLVMIsACallInst(a) &&
      (!LLVMIsAGetElementPtrInst(a) ||
       LLVMGetGEPSourceElementType(a) == LLVMGetGEPSourceElementType(b));
  for (int i = 0; alike && i < count; i++) {
    alike = is_alike(l, LLVMGetOperand(a, (unsigned)i),
                     LLVMGetOperand(b, (unsigned)i));
  }
  return alike;
}

// True if an earlier loop went through the lines of an address. Those are in
// the cache, and a Zen 4 drops some prefetches of a short loop: a softmax whose
// second and third loop prefetch again takes 0.75 of the time if they do not.
static bool is_walked(const lanes_emitter *e, LLVMValueRef before,
                      LLVMValueRef address) {
  likeness l = {e, LIKENESS_LIMIT};
  return e->machine.tuning->needs_order && !e->machine.tuning->prefers_second_level && is_alike(&l, before, address);
}

// True if an access needs no prefetch: every path to it has prefetched the
// lines around it, or an iteration already prefetches as many streams as a
// processor follows. Otherwise records the access as prefetched.
static bool is_fetched(lanes_emitter *e, LLVMValueRef address) {
  const lanes_prefetched place = neighbourhood(e, address);
  const uint32_t loop = e->graph->nodes[e->node].loop;
  uint32_t streams = 0;
  for (uint32_t i = 0; i < e->fetched_count; i++) {
    const lanes_prefetched *other = &e->fetched[i];
    const bool is_before = lanes_dominates(e->graph, other->node, e->node);
    if ((is_before && other->base == place.base &&
         other->index == place.index) ||
        is_walked(e, other->address, address)) {
      return true;
    }
    streams += is_before && e->graph->nodes[other->node].loop == loop;
  }
  if (streams >= MOST_STREAMS || e->fetched_count == LANES_PREFETCHED) {
    return true;
  }
  e->fetched[e->fetched_count++] = place;
  return false;
}

// Returns which loops contain barriers, by number.
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

static LLVMValueRef as_i64(lanes_emitter *e, LLVMValueRef value) {
  return LLVMBuildIntCast2(e->builder, lanes_scalar(e, value, 0), e->types.i64,
                           false, "");
}

static LLVMValueRef times(lanes_emitter *e, LLVMValueRef value, uint64_t by) {
  return LLVMBuildMul(e->builder, value, mtlc_i64(e->context, by), "");
}

// Returns the bytes that a step adds in a number of iterations, for a step that
// is a factor known at run time only; NULL for any other step.
static LLVMValueRef run_time_step(lanes_emitter *e, lanes_induction_step step,
                                  uint64_t turns) {
  if (step.kind != LANES_STEP_TIMES ||
      !lanes_is_uniform(lanes_shape_of(e->values, step.factor)) ||
      !lanes_is_at_hand(e, step.factor)) {
    return NULL;
  }
  return times(e, as_i64(e, step.factor), step.by * turns);
}

LLVMValueRef lanes_next_iteration(lanes_emitter *e, const lanes_access *a,
                             bool is_by_rows) {
  uint32_t loop = a->pointer ? e->graph->nodes[e->node].loop : LANES_NONE;
  while (loop != LANES_NONE && !does_loop_wait(e, loop)) {
    loop = e->graph->loops[loop].parent;
  }
  if (loop == LANES_NONE || lanes_is_interchanged(e->graph, loop) ||
      lanes_is_in_threadgroup(e->kernel, a->pointer)) {
    return NULL;
  }
  const lanes_induction_step step = lanes_step_of(e->values, a->pointer, loop);
  const int64_t by = (int64_t)step.by;
  if (step.kind == LANES_STEP_KNOWN) {
    const int64_t far = is_by_rows ? LINE_BYTES : FAR_STEP_BYTES;
    return by >= far || by <= -far ? mtlc_i64(e->context, step.by) : NULL;
  }
  return run_time_step(e, step, 1);
}

// Returns the distance to the rows that a later tile loads; NULL if the access
// is no tile's. Kernels whose threads know more than one dimension load tiles
// row by row.
static LLVMValueRef next_rows(lanes_emitter *e, const lanes_access *a,
                              bool is_by_rows) {
  return (is_by_rows || e->in_rows) && e->machine.tuning->needs_order && e->has_waits &&
                 a->pointer &&
                 e->graph->nodes[e->node].loop == LANES_NONE &&
                 !lanes_is_in_threadgroup(e->kernel, a->pointer) &&
                 lanes_moves_with_grid(e->values, a->pointer)
             ? mtlc_i64(e->context, ROWS_AHEAD_BYTES)
             : NULL;
}

LLVMValueRef lanes_next_lines(lanes_emitter *e, const lanes_access *a,
                              bool is_by_rows) {
  LLVMValueRef next = lanes_next_iteration(e, a, is_by_rows);
  return next ? next : next_rows(e, a, is_by_rows);
}

void lanes_prefetch_at(lanes_emitter *e, LLVMValueRef address, LLVMValueRef step,
                    uint64_t bytes) {
  if (step) {
    lanes_prefetch_lines(e, address, step, bytes, false, LANES_FIRST_LEVEL);
  }
}

// --- In the order of memory --------------------------------------------------

// Returns the bound that a value in a loop's header is compared with, if it is
// uniform and loop-invariant; else NULL.
static LLVMValueRef bound_of(const lanes_emitter *e, LLVMValueRef value,
                             uint32_t loop) {
  for (LLVMUseRef use = LLVMGetFirstUse(value); use;
       use = LLVMGetNextUse(use)) {
    LLVMValueRef user = LLVMGetUser(use);
    LLVMValueRef bound = LLVMIsAICmpInst(user) ? LLVMGetOperand(user, 1) : NULL;
    if (bound && bound != value && lanes_is_from_outside(e->values, bound, loop) &&
        lanes_is_uniform(lanes_shape_of(e->values, bound))) {
      return bound;
    }
  }
  return NULL;
}

// A loop strided by the threadgroup: threads start side by side, step by the
// threadgroup's size, and stop at a bound. Each counts from its own index, or
// all from 0.
typedef struct lanes_walk {
  LLVMValueRef bound;     // NULL if it is no such loop
  lanes_induction_step step;  // how much each iteration adds to the index
  uint64_t index_bytes;   // bytes that an index of one more is further on
  uint64_t thread_bytes;  // bytes from one thread's start to the next thread's
} lanes_walk;

static lanes_walk walk_of(const lanes_emitter *e, uint32_t loop,
                          lanes_induction_step step, uint64_t bytes) {
  LLVMBasicBlockRef header =
      e->graph->nodes[e->graph->loops[loop].header].block;
  for (LLVMValueRef phi = header ? LLVMGetFirstInstruction(header) : NULL;
       phi && LLVMIsAPHINode(phi); phi = LLVMGetNextInstruction(phi)) {
    const lanes_induction_step own = lanes_step_of_phi(e->values, phi, loop);
    LLVMValueRef bound = bound_of(e, phi, loop);
    LLVMValueRef begin = lanes_begin_of(e->values, phi, loop);
    if (own.kind == step.kind && own.factor == step.factor && own.by > 0 &&
        step.by % own.by == 0 && bound &&
        (LLVMIsAConstantInt(begin)
             ? LLVMIsNull(begin)
             : lanes_is_thread_index(begin) && lanes_width(e, begin) == 1)) {
      return (lanes_walk){bound, own, step.by / own.by, bytes / e->lanes};
    }
  }
  return (lanes_walk){0};
}

// True if simdgroups of a threadgroup run the whole loop one after another,
// each time that they reach it.
static bool is_loop_shared(lanes_emitter *e, uint32_t loop) {
  if (loop == LANES_NONE || e->single_simdgroup || does_loop_wait(e, loop)) {
    return false;
  }
  const uint32_t parent = e->graph->loops[loop].parent;
  return parent == LANES_NONE || does_loop_wait(e, parent);
}

// True if a step is known to be the threadgroup's size times the bytes of a
// thread.
static bool is_by_threadgroup(lanes_induction_step step, uint32_t lanes,
                              uint64_t bytes) {
  switch (step.kind) {
    case LANES_STEP_KNOWN: return step.by > bytes && step.by <= MOST_STEP_BYTES;
    case LANES_STEP_TIMES:
      return step.by * lanes == bytes && lanes_is_threadgroup_size(step.factor);
    default: return false;
  }
}

// Returns a step as an integer.
static LLVMValueRef length_of(lanes_emitter *e, lanes_induction_step step) {
  return step.kind == LANES_STEP_KNOWN
             ? mtlc_i64(e->context, step.by)
             : times(e, as_i64(e, step.factor), step.by);
}

// Returns the same as a divisor of that type: never 0, even where control
// passes without a running thread and the step was not computed.
static LLVMValueRef divisor_of(lanes_emitter *e, lanes_induction_step step,
                               LLVMTypeRef type) {
  LLVMValueRef length =
      LLVMBuildIntCast2(e->builder, length_of(e, step), type, false, "");
  if (LLVMIsAConstantInt(length)) {
    return length;
  }
  LLVMValueRef least[] = {LLVMBuildFreeze(e->builder, length, ""),
                          LLVMConstInt(type, 1, false)};
  return lanes_intrinsic(e, "llvm.umax", &type, 1, least, 2);
}

// Returns how many iterations a simdgroup runs after its first.
static LLVMValueRef count_later_iterations(lanes_emitter *e,
                                       const lanes_walk *walk) {
  LLVMTypeRef type = LLVMTypeOf(walk->bound);
  LLVMValueRef last = LLVMBuildSub(e->builder, lanes_scalar(e, walk->bound, 0),
                                   LLVMConstInt(type, 1, false), "");
  LLVMValueRef turns =
      LLVMBuildUDiv(e->builder, last, divisor_of(e, walk->step, type), "");
  return LLVMBuildIntCast2(e->builder, turns, e->types.i64, false, "");
}

static uint64_t known_reach(uint64_t bytes) {
  return bytes < LEAST_REACH_BYTES  ? LEAST_REACH_BYTES
         : bytes > MOST_REACH_BYTES ? MOST_REACH_BYTES
                                    : bytes;
}

// Returns how far ahead to prefetch: at least as far as the threadgroup walks,
// or its first simdgroup would overtake the others' prefetches.
static LLVMValueRef reach_of(lanes_emitter *e, const lanes_walk *walk) {
  LLVMValueRef bytes = times(e, as_i64(e, walk->bound), walk->index_bytes);
  if (LLVMIsAConstantInt(bytes)) {
    return mtlc_i64(e->context,
                    known_reach(LLVMConstIntGetZExtValue(bytes)));
  }
  LLVMValueRef most[] = {bytes, mtlc_i64(e->context, MOST_REACH_BYTES)};
  bytes = lanes_intrinsic(e, "llvm.umin", &e->types.i64, 1, most, 2);
  LLVMValueRef least[] = {bytes, mtlc_i64(e->context, LEAST_REACH_BYTES)};
  return lanes_intrinsic(e, "llvm.umax", &e->types.i64, 1, least, 2);
}

// How far ahead a simdgroup prefetches in each iteration, computed before the
// loop.
typedef struct lanes_lead {
  LLVMValueRef memory;  // holds it
  LLVMValueRef loss;  // how much each iteration subtracts
  lanes_prefetch_level level;
} lanes_lead;

static lanes_lead lead_of(lanes_emitter *e, const lanes_walk *walk,
                          lanes_induction_step step, uint64_t bytes) {
  LLVMBuilderRef builder = e->builder;
  LLVMValueRef reach = reach_of(e, walk);
  LLVMValueRef first = LLVMBuildZExt(
      builder, LLVMGetParam(e->function, LANES_FIRST), e->types.i64, "");
  LLVMValueRef before =
      LLVMBuildMul(builder, times(e, first, walk->thread_bytes),
                   count_later_iterations(e, walk), "");
  lanes_lead lead = {.memory = lanes_promotable_alloca(e, e->types.i64),
                     .loss = LLVMBuildSub(builder, length_of(e, step),
                                          mtlc_i64(e->context, bytes), ""),
                     .level = !e->machine.tuning->prefers_second_level && LLVMIsAConstantInt(reach) &&
                                      LLVMConstIntGetZExtValue(reach) ==
                                          LEAST_REACH_BYTES
                                  ? LANES_FIRST_LEVEL
                                  : LANES_SECOND_LEVEL};
  LLVMBuildStore(builder, LLVMBuildAdd(builder, reach, before, ""),
                 lead.memory);
  return lead;
}

static bool is_walk_at_hand(lanes_emitter *e, const lanes_walk *walk) {
  return lanes_is_at_hand(e, walk->bound) &&
         (walk->step.kind == LANES_STEP_KNOWN ||
          lanes_is_at_hand(e, walk->step.factor));
}

// Computes the lead before a loop, from values that are available there.
// Without memory if they are too few.
static lanes_lead lead_before(lanes_emitter *e, uint32_t loop,
                              const lanes_walk *walk, lanes_induction_step step,
                              uint64_t bytes) {
  LLVMBasicBlockRef here = LLVMGetInsertBlock(e->builder);
  LLVMBasicBlockRef start = e->starts[e->graph->loops[loop].header];
  const uint32_t fresh = e->fresh;
  const bool uncached = e->uncached;
  lanes_lead lead = {0};
  e->fresh = UINT32_MAX;
  e->uncached = true;
  LLVMPositionBuilderBefore(e->builder, LLVMGetBasicBlockTerminator(start));
  if (is_walk_at_hand(e, walk)) {
    lead = lead_of(e, walk, step, bytes);
  }
  LLVMPositionBuilderAtEnd(e->builder, here);
  e->fresh = fresh;
  e->uncached = uncached;
  return lead;
}

// True if a threadgroup is known to run a second iteration. A single one
// accesses memory in order.
static bool has_turns(const lanes_walk *walk) {
  return walk->step.kind != LANES_STEP_KNOWN ||
         !LLVMIsAConstantInt(walk->bound) ||
         LLVMConstIntGetZExtValue(walk->bound) > walk->step.by;
}

// A simdgroup accesses a piece of each row of its threadgroup: lines far from
// each other, one after the other, which memory is slow to give. What it asks
// for lies in the order in which simdgroups and their turns come: the first
// simdgroup asks for the first lines that a later threadgroup will access, the
// second for those behind them. Returns false if the loop around the access is
// another.
static bool fetch_in_order(lanes_emitter *e, LLVMValueRef first,
                           lanes_induction_step step, uint64_t bytes,
                           bool is_store) {
  const uint32_t loop = e->graph->nodes[e->node].loop;
  if (!e->machine.tuning->needs_order || !is_loop_shared(e, loop) ||
      !is_by_threadgroup(step, e->lanes, bytes)) {
    return false;
  }
  const lanes_walk walk = walk_of(e, loop, step, bytes);
  if (!walk.bound || !has_turns(&walk)) {
    return false;
  }
  const lanes_lead lead = lead_before(e, loop, &walk, step, bytes);
  if (!lead.memory) {
    return false;
  }
  LLVMValueRef ahead =
      LLVMBuildLoad2(e->builder, e->types.i64, lead.memory, "");
  // Stores are prefetched as loads: that takes 0.9 of the time.
  lanes_prefetch_lines(e, first, ahead, bytes, false,
              is_store ? LANES_SECOND_LEVEL : lead.level);
  LLVMBuildStore(e->builder, LLVMBuildSub(e->builder, ahead, lead.loss, ""),
                 lead.memory);
  return true;
}

// --- Marks -------------------------------------------------------------------

static const char ahead_mark[] = "mettle.ahead";

bool lanes_is_prefetched_ahead(LLVMValueRef address) {
  return mtlc_is_marked(address, ahead_mark);
}

// --- Everything --------------------------------------------------------------

static void fetch_ahead(lanes_emitter *e, const lanes_access *a,
                        LLVMValueRef first, uint64_t bytes) {
  const bool is_store = LLVMGetInstructionOpcode(a->instruction) == LLVMStore;
  const uint32_t loop = e->graph->nodes[e->node].loop;
  if (loop != LANES_NONE && lanes_is_interchanged(e->graph, loop)) {
    return;  // accesses are in the order of memory, which processors prefetch
  }
  const lanes_induction_step step = step_around(e, a->pointer);
  const uint64_t distance = (uint64_t)distance_of(e, step);
  if (!distance || is_fetched(e, a->pointer)) {
    return;
  }
  if (fetch_in_order(e, first, step, bytes, is_store)) {
    return;
  }
  // The step down a column is a row, whose length is known at run time.
  LLVMValueRef turns = run_time_step(e, step, TURNS_AHEAD);
  const bool is_row = !turns && loop != LANES_NONE &&
                      distance == AHEAD_BYTES && e->machine.tuning->prefers_second_level;
  LLVMValueRef next = lanes_prefetch_lines(
      e, first, turns ? turns : mtlc_i64(e->context, distance), bytes, is_store,
      is_row ? LANES_SECOND_LEVEL : LANES_FIRST_LEVEL);
  if (is_row && e->is_at_once) {
    mtlc_mark(next, ahead_mark);
  }
}

static bool may_fetch(const lanes_emitter *e, const lanes_access *a) {
  return a->pointer && !e->in_rows &&
         !lanes_is_in_threadgroup(e->kernel, a->pointer);
}

void lanes_prefetch_ahead(lanes_emitter *e, const lanes_access *a,
                       LLVMValueRef first, uint64_t bytes) {
  if (may_fetch(e, a) && bytes <= LINES_LIMIT * LINE_BYTES &&
      lanes_moves_with_grid(e->values, a->pointer)) {
    fetch_ahead(e, a, first, bytes);
  }
}

void lanes_prefetch_rows_ahead(lanes_emitter *e, const lanes_access *a,
                               LLVMValueRef first, uint64_t bytes) {
  if (may_fetch(e, a) && bytes <= ROWS_LINES_LIMIT * LINE_BYTES &&
      lanes_moves_along_grid(e->values, a->pointer)) {
    fetch_ahead(e, a, first, bytes);
  }
}
