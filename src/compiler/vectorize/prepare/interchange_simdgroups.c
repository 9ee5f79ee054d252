// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// interchange_simdgroups.c: interchanges the loop over simdgroups with a loop
// that strides by the threadgroup's size,
//
//   for (uint i = thread_index; i < n; i += threads_per_threadgroup)
//     sum += x[i];
//
// A simdgroup that goes through all its turns loads a piece of each row of its
// threadgroup: lines far from each other, of which the next simdgroup loads the
// neighbours. If each takes one turn, then the next, memory is read in its
// order, which processors see and follow. So simdgroups wait for each other in
// front of each turn, as at a barrier; the loop goes on as long as the first
// thread's would, the longest, and the others' turns are questions:
//
//   for (uint turn = 0; turn < n; turn += threads_per_threadgroup) {
//     wait;
//     const uint i = turn + thread_index;
//     if (i < n) sum += x[i];
//   }
//
// An index that wraps past the bound would start over, in buffers of 2^32
// elements; here the loop ends instead.
#include "compiler/vectorize/prepare/interchange_simdgroups.h"

#include <stddef.h>

#include "code/code.h"
#include "compiler/ir/kernel/kernel.h"
#include "compiler/ir/llvm/calls.h"
#include "compiler/ir/llvm/instructions.h"
#include "compiler/ir/llvm/marks.h"
#include "compiler/ir/llvm/types.h"
#include "compiler/vectorize/analysis/addresses/induction.h"
#include "compiler/vectorize/analysis/callees.h"
#include "compiler/vectorize/analysis/effects.h"
#include "compiler/vectorize/analysis/graph.h"
#include "compiler/vectorize/analysis/group_uniformity.h"
#include "compiler/vectorize/analysis/predicates.h"
#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/analysis/uniformity.h"
#include "compiler/vectorize/base/tables.h"

enum {
  // of a loop: each is stored and loaded again in every iteration
  MOST_PHIS = 8,
  // for each load of a loop: longer ones hide memory latency by themselves
  MOST_INSTRUCTIONS = 32,
  LEAST_TURNS = 8,          // fewer rows are near each other anyway
  MOST_STEP_BYTES = 16384,  // 1024 threads, 16 bytes each
  DEPTH = 8,                // operations of a thread's start value
  TURN = 1 << 16,           // a barrier flag that Metal does not have
};

typedef struct turns {
  mtlc_kernel *kernel;
  const lanes_values *values;
  lanes_group_uniform common;
  LLVMBuilderRef builder;
} turns;

// The barriers are right after the phis of the loop's header.
bool lanes_is_interchanged(const lanes_graph *graph, uint32_t loop) {
  LLVMBasicBlockRef header = graph->nodes[graph->loops[loop].header].block;
  LLVMValueRef i = header ? LLVMGetFirstInstruction(header) : NULL;
  while (i && LLVMIsAPHINode(i)) {
    i = LLVMGetNextInstruction(i);
  }
  return i && LLVMIsACallInst(i) &&
         lanes_callee_of(i) == LANES_CALLEE_THREADGROUP_BARRIER &&
         LLVMConstIntGetZExtValue(LLVMGetOperand(i, 0)) == TURN;
}

// --- Which loops -------------------------------------------------------------

static bool is_common(const turns *t, LLVMValueRef value) {
  return lanes_is_group_uniform(t->values, &t->common, value);
}

// True if threads access adjacent elements and step by all of them together.
static bool is_row_of_threads(const turns *t, LLVMValueRef access,
                              uint32_t loop) {
  const bool is_load = LLVMIsALoadInst(access);
  if (!is_load && !LLVMIsAStoreInst(access)) {
    return false;
  }
  LLVMValueRef address = LLVMGetOperand(access, is_load ? 0 : 1);
  const lanes_shape shape = lanes_shape_of(t->values, address);
  if (!lanes_is_plain(access) || shape.row != shape.lanes || shape.stride <= 0 ||
      lanes_is_in_threadgroup(t->kernel, address) ||
      LLVMIsAAllocaInst(mtlc_root_of(address))) {
    return false;
  }
  const lanes_induction_step step = lanes_step_of(t->values, address, loop);
  const uint64_t stride = (uint64_t)shape.stride;
  return lanes_moves_with_grid(t->values, address) &&
         (step.kind == LANES_STEP_KNOWN
              ? step.by > stride * shape.lanes && step.by % (stride * shape.lanes) == 0 &&
                    step.by <= MOST_STEP_BYTES
              : step.kind == LANES_STEP_TIMES && step.by == stride &&
                    lanes_is_threadgroup_size(step.factor));
}

// True if only this loop accesses the rows. If another loop goes over the same
// row again, or stores one, memory is idle meanwhile unless the next data is
// prefetched (prefetch.c).
static bool is_only_walk(const turns *t, uint32_t loop) {
  for (uint32_t n = 0; n < t->values->count; n++) {
    LLVMValueRef i = t->values->items[n];
    const uint32_t other = t->values->graph->nodes[t->values->nodes[n]].loop;
    if (other != LANES_NONE &&
        !lanes_in_loop(t->values->graph, t->values->nodes[n], loop) &&
        is_row_of_threads(t, i, other)) {
      return false;
    }
  }
  return true;
}

// True for instructions that must not run between two such barriers, or that
// take longer than memory.
static bool prevents_interchange(LLVMValueRef i) {
  switch (LLVMGetInstructionOpcode(i)) {
    case LLVMFence:
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg: return true;
    case LLVMCall: break;
    default: return false;
  }
  switch (lanes_callee_of(i)) {
    case LANES_CALLEE_THREADGROUP_BARRIER:
    case LANES_CALLEE_TILE:
    case LANES_CALLEE_CALLED:
    case LANES_CALLEE_UNKNOWN:
    case LANES_CALLEE_OTHER: return true;
    default: return false;
  }
}

// True if a loop is known to have few iterations: a value in its header rises
// to a constant bound by a known step from a known least value.
static bool is_short(const turns *t, uint32_t loop) {
  const lanes_graph *graph = t->values->graph;
  LLVMBasicBlockRef header = graph->nodes[graph->loops[loop].header].block;
  LLVMValueRef end = LLVMGetBasicBlockTerminator(header);
  LLVMValueRef test = LLVMIsConditional(end) ? LLVMGetCondition(end) : NULL;
  if (!test || !LLVMIsAICmpInst(test) ||
      !LLVMIsAConstantInt(LLVMGetOperand(test, 1))) {
    return false;
  }
  const uint64_t bound = LLVMConstIntGetZExtValue(LLVMGetOperand(test, 1));
  const lanes_induction_step step =
      lanes_step_of(t->values, LLVMGetOperand(test, 0), loop);
  return step.kind == LANES_STEP_KNOWN && bound / LEAST_TURNS < step.by;
}

static bool can_interchange(const turns *t, uint32_t loop) {
  const lanes_graph *graph = t->values->graph;
  LLVMBasicBlockRef header = graph->nodes[graph->loops[loop].header].block;
  uint32_t instructions = 0, phis = 0, loads = 0;
  for (uint32_t n = 0; n < t->values->count; n++) {
    LLVMValueRef i = t->values->items[n];
    if (!lanes_in_loop(graph, t->values->nodes[n], loop)) {
      continue;
    }
    if (prevents_interchange(i)) {
      return false;
    }
    instructions++;
    phis += LLVMIsAPHINode(i) && LLVMGetInstructionParent(i) == header;
    loads += LLVMIsALoadInst(i) && is_row_of_threads(t, i, loop);
  }
  return instructions <= MOST_INSTRUCTIONS * loads && phis <= MOST_PHIS &&
         !is_short(t, loop) && is_only_walk(t, loop);
}

// --- Loops that all leave together -------------------------------------------

static void wait_in(turns *t, LLVMBasicBlockRef header) {
  LLVMModuleRef module = t->kernel->module;
  LLVMValueRef barrier =
      LLVMGetNamedFunction(module, "mettle.barrier.threadgroup");
  LLVMValueRef flags[] = {mtlc_i32(t->kernel->context, TURN)};
  mtlc_position_behind_phis(t->builder, LLVMGetFirstInstruction(header));
  mtlc_set_location(mtlc_call(t->builder, barrier, flags, 1),
                    t->kernel->thread);
}

// --- Loops that each leaves by itself ----------------------------------------

// A loop whose only exit is its header's test `value < bound`.
typedef struct counted {
  LLVMBasicBlockRef before, header, latch, behind;
  LLVMValueRef branch, test;  // of the header
  bool is_left_if;            // the loop is left if the test holds
  LLVMValueRef phi, next;     // the tested phi, and its value in the next
                              // iteration
  LLVMValueRef by;            // the step
  LLVMValueRef begin;         // the phi's start value
} counted;

// True if a value is a phi, extended or plus a number.
static bool is_of(LLVMValueRef phi, LLVMValueRef value) {
  return value == phi ||
         ((LLVMIsAZExtInst(value) || LLVMIsASExtInst(value) ||
           (mtlc_is_opcode(value, LLVMAdd) &&
            LLVMIsAConstantInt(LLVMGetOperand(value, 1)) &&
            LLVMConstIntGetSExtValue(LLVMGetOperand(value, 1)) > 0)) &&
          is_of(phi, LLVMGetOperand(value, 0)));
}

// Returns that value for another value of the phi.
static LLVMValueRef value_at(const turns *t, LLVMValueRef value,
                             LLVMValueRef phi, LLVMValueRef other) {
  if (value == phi) {
    return other;
  }
  LLVMValueRef left = value_at(t, LLVMGetOperand(value, 0), phi, other);
  return LLVMIsACastInst(value)
             ? LLVMBuildCast(t->builder, LLVMGetInstructionOpcode(value), left,
                             LLVMTypeOf(value), "")
             : LLVMBuildAdd(t->builder, left, LLVMGetOperand(value, 1), "");
}

static bool leaves_in_header_alone(const lanes_graph *graph, uint32_t loop) {
  const lanes_loop *l = &graph->loops[loop];
  for (uint32_t n = l->header + 1; n < l->latch; n++) {
    for (uint32_t i = 0; i < graph->nodes[n].successors.count; i++) {
      if (!lanes_in_loop(graph, graph->nodes[n].successors.items[i], loop)) {
        return false;
      }
    }
  }
  return l->back_edge_count == 1 &&
         graph->nodes[l->header].predecessors.count == 1;
}

static bool find_branch(const lanes_graph *graph, uint32_t loop, counted *c) {
  const lanes_node *header = &graph->nodes[graph->loops[loop].header];
  c->header = header->block;
  c->before = graph->nodes[header->predecessors.items[0]].block;
  c->branch = LLVMGetBasicBlockTerminator(c->header);
  if (!c->before || !LLVMIsABranchInst(c->branch) ||
      !LLVMIsConditional(c->branch)) {
    return false;
  }
  c->is_left_if = !lanes_in_loop(graph, header->successors.items[0], loop);
  c->behind = LLVMGetSuccessor(c->branch, c->is_left_if ? 0 : 1);
  c->test = LLVMGetCondition(c->branch);
  return lanes_in_loop(graph, header->successors.items[c->is_left_if ? 1 : 0],
                       loop) &&
         LLVMGetSuccessor(c->branch, c->is_left_if ? 1 : 0) != c->header &&
         LLVMIsAICmpInst(c->test);
}

static bool counts_up(const counted *c) {
  const LLVMIntPredicate predicate = LLVMGetICmpPredicate(c->test);
  return lanes_is_less_predicate(c->is_left_if ? lanes_inverse_predicate(predicate)
                                     : predicate);
}

static bool is_signed(const counted *c) {
  return lanes_is_signed_predicate(LLVMGetICmpPredicate(c->test));
}

// True if a block only computes: it runs in every iteration, also for threads
// whose loop is over.
static bool only_computes(LLVMBasicBlockRef block) {
  for (LLVMValueRef i = LLVMGetFirstInstruction(block); i;
       i = LLVMGetNextInstruction(i)) {
    if (LLVMIsALoadInst(i) || lanes_may_write(i)) {
      return false;
    }
  }
  return true;
}

// Returns which operand of a header's phi is the next iteration's value.
static unsigned next_turn(const counted *c, LLVMValueRef phi) {
  return LLVMGetIncomingBlock(phi, 0) == c->before ? 1 : 0;
}

static bool is_used_behind(const turns *t, LLVMValueRef value, uint32_t loop) {
  for (LLVMUseRef use = LLVMGetFirstUse(value); use;
       use = LLVMGetNextUse(use)) {
    const uint32_t number =
        lanes_map_get(&t->values->numbers, LLVMGetUser(use));
    if (number == LANES_NONE ||
        !lanes_in_loop(t->values->graph, t->values->nodes[number], loop)) {
      return true;
    }
  }
  return false;
}

// True if a phi steps by the same amount in each iteration and is not used
// after the loop: it may then step on for threads that skip an iteration.
static bool steps_evenly(const turns *t, const counted *c, LLVMValueRef phi,
                    uint32_t loop) {
  LLVMValueRef next = LLVMGetIncomingValue(phi, next_turn(c, phi));
  const bool is_sum = mtlc_is_opcode(next, LLVMAdd) ||
                      (mtlc_is_opcode(next, LLVMGetElementPtr) &&
                       LLVMGetNumOperands(next) == 2);
  return is_sum && LLVMGetOperand(next, 0) == phi &&
         lanes_is_from_outside(t->values, LLVMGetOperand(next, 1), loop) &&
         !is_used_behind(t, phi, loop);
}

static bool find_counter(const turns *t, uint32_t loop, counted *c) {
  for (c->phi = LLVMGetFirstInstruction(c->header); LLVMIsAPHINode(c->phi);
       c->phi = LLVMGetNextInstruction(c->phi)) {
    if (!is_of(c->phi, LLVMGetOperand(c->test, 0)) ||
        LLVMGetTypeKind(LLVMTypeOf(c->phi)) != LLVMIntegerTypeKind ||
        !steps_evenly(t, c, c->phi, loop)) {
      continue;
    }
    c->next = LLVMGetIncomingValue(c->phi, next_turn(c, c->phi));
    c->by = LLVMGetOperand(c->next, 1);
    c->begin = lanes_begin_of(t->values, c->phi, loop);
    const bool is_up = LLVMIsAConstantInt(c->by)
                           ? LLVMConstIntGetSExtValue(c->by) > 0
                           : lanes_is_threadgroup_size(c->by);
    return is_up && is_common(t, c->by) &&
           is_common(t, LLVMGetOperand(c->test, 1));
  }
  return false;
}

static bool is_times(LLVMValueRef i) {
  return (mtlc_is_opcode(i, LLVMMul) || mtlc_is_opcode(i, LLVMShl)) &&
         LLVMIsAConstantInt(LLVMGetOperand(i, 1)) &&
         LLVMConstIntGetSExtValue(LLVMGetOperand(i, 1)) > 0;
}

// True if the value of the threadgroup's first thread can be computed and is
// the least of all threads'. Sums and products must not wrap, unless the value
// is compared as a signed number.
static bool has_first(const turns *t, const counted *c, LLVMValueRef value,
                      uint32_t depth) {
  if (is_common(t, value) || lanes_is_thread_index(value)) {
    return true;
  }
  if (depth == 0) {
    return false;
  }
  LLVMValueRef left = LLVMGetOperand(value, 0);
  if (LLVMIsAZExtInst(value) || LLVMIsASExtInst(value)) {
    return has_first(t, c, left, depth - 1);
  }
  const lanes_shape shape = lanes_shape_of(t->values, value);
  const bool is_small = shape.bits < LLVMGetIntTypeWidth(LLVMTypeOf(value));
  return (is_small || is_signed(c)) &&
         (is_times(value)
              ? has_first(t, c, left, depth - 1)
              : mtlc_is_opcode(value, LLVMAdd) &&
                    has_first(t, c, left, depth - 1) &&
                    has_first(t, c, LLVMGetOperand(value, 1), depth - 1));
}

// Emits the first thread's value; requires has_first().
static LLVMValueRef first_of(const turns *t, LLVMValueRef value) {
  if (is_common(t, value)) {
    return value;
  }
  if (lanes_is_thread_index(value)) {
    return LLVMConstNull(LLVMTypeOf(value));
  }
  const LLVMOpcode opcode = LLVMGetInstructionOpcode(value);
  LLVMValueRef left = first_of(t, LLVMGetOperand(value, 0));
  return LLVMIsACastInst(value)
             ? LLVMBuildCast(t->builder, opcode, left, LLVMTypeOf(value), "")
             : LLVMBuildBinOp(t->builder, opcode, left,
                              first_of(t, LLVMGetOperand(value, 1)), "");
}

// Returns the number that a loop's counter starts from.
static LLVMValueRef count_from(const turns *t, const counted *c,
                               LLVMValueRef begin) {
  LLVMPositionBuilderBefore(t->builder, LLVMGetFirstInstruction(c->header));
  LLVMValueRef phi = LLVMBuildPhi(t->builder, LLVMTypeOf(begin), "");
  LLVMPositionBuilderBefore(t->builder, LLVMGetBasicBlockTerminator(c->latch));
  LLVMValueRef next = LLVMBuildAdd(t->builder, phi, c->by, "");
  LLVMSetNUW(next, LLVMGetNUW(c->next));
  LLVMSetNSW(next, LLVMGetNSW(c->next));
  LLVMAddIncoming(phi, (LLVMValueRef[]){begin, next},
                  (LLVMBasicBlockRef[]){c->before, c->latch}, 2);
  return phi;
}

// Keeps a phi's value in iterations that a thread skips.
static void keep(const turns *t, const counted *c, LLVMValueRef phi,
                 LLVMBasicBlockRef taken) {
  const unsigned behind = next_turn(c, phi);
  LLVMPositionBuilderBefore(t->builder, LLVMGetFirstInstruction(c->latch));
  LLVMValueRef either = LLVMBuildPhi(t->builder, LLVMTypeOf(phi), "");
  LLVMAddIncoming(
      either, (LLVMValueRef[]){LLVMGetIncomingValue(phi, behind), phi},
      (LLVMBasicBlockRef[]){taken, LLVMGetInstructionParent(c->branch)}, 2);
  LLVMSetOperand(phi, behind, either);
}

// Makes a phi step in every iteration.
static void go_on(const turns *t, const counted *c, LLVMValueRef phi) {
  const unsigned behind = next_turn(c, phi);
  LLVMValueRef next = LLVMInstructionClone(LLVMGetIncomingValue(phi, behind));
  LLVMPositionBuilderBefore(t->builder, LLVMGetBasicBlockTerminator(c->latch));
  LLVMInsertIntoBuilder(t->builder, next);
  LLVMSetOperand(phi, behind, next);
}

// Changes the incoming block of phis after a loop, which have one predecessor.
static void replace_sources(const turns *t, LLVMBasicBlockRef behind,
                            LLVMBasicBlockRef source) {
  LLVMValueRef next = NULL;
  for (LLVMValueRef phi = LLVMGetFirstInstruction(behind); LLVMIsAPHINode(phi);
       phi = next) {
    next = LLVMGetNextInstruction(phi);
    LLVMValueRef value = LLVMGetIncomingValue(phi, 0);
    LLVMPositionBuilderBefore(t->builder, phi);
    LLVMValueRef other = LLVMBuildPhi(t->builder, LLVMTypeOf(phi), "");
    LLVMAddIncoming(other, &value, &source, 1);
    mtlc_replace(phi, other);
  }
}

// Emits the loop's test for the first thread.
static LLVMValueRef first_test(const turns *t, const counted *c,
                               LLVMValueRef own, LLVMValueRef first) {
  LLVMValueRef value = value_at(t, LLVMGetOperand(c->test, 0), own, first);
  return LLVMBuildICmp(t->builder, LLVMGetICmpPredicate(c->test), value,
                       LLVMGetOperand(c->test, 1), "");
}

// Rewrites a thread's counter as the first thread's plus a constant difference,
// so that nothing of it lives across iterations.
static LLVMValueRef write_by_count(const turns *t, const counted *c,
                                   LLVMValueRef count, LLVMValueRef first) {
  LLVMPositionBuilderBefore(t->builder, LLVMGetBasicBlockTerminator(c->before));
  LLVMValueRef ahead = LLVMIsNull(first)
                           ? c->begin
                           : LLVMBuildSub(t->builder, c->begin, first, "");
  mtlc_position_behind_phis(t->builder, LLVMGetFirstInstruction(c->header));
  LLVMValueRef own = LLVMBuildAdd(t->builder, count, ahead, "");
  if (LLVMGetIntTypeWidth(LLVMTypeOf(own)) == 64) {
    // Threads whose loop is over may exceed its bound.
    LLVMSetNUW(own, LLVMGetNUW(c->next));
    LLVMSetNSW(own, LLVMGetNSW(c->next));
  }
  mtlc_replace(c->phi, own);
  return own;
}

// Makes all simdgroups run as many iterations as the first thread. Returns the
// block before each iteration's code.
static LLVMBasicBlockRef equalise_iterations(turns *t, counted *c, const bool *goes) {
  LLVMPositionBuilderBefore(t->builder, LLVMGetBasicBlockTerminator(c->before));
  LLVMValueRef first = first_of(t, c->begin);
  LLVMBasicBlockRef taken =
      mtlc_split_above(t->builder, LLVMGetBasicBlockTerminator(c->latch));
  LLVMPositionBuilderAtEnd(t->builder, taken);
  mtlc_set_location(LLVMBuildBr(t->builder, c->latch), t->kernel->thread);
  uint32_t n = 0;
  for (LLVMValueRef phi = LLVMGetFirstInstruction(c->header);
       LLVMIsAPHINode(phi); phi = LLVMGetNextInstruction(phi)) {
    if (!goes[n++]) {
      keep(t, c, phi, taken);
    } else if (phi != c->phi) {
      go_on(t, c, phi);
    }
  }
  LLVMValueRef count = count_from(t, c, first);
  LLVMValueRef own = write_by_count(t, c, count, first);
  LLVMBasicBlockRef header = mtlc_split_above(t->builder, c->branch);
  LLVMPositionBuilderAtEnd(t->builder, header);
  LLVMBasicBlockRef ask = c->header;
  mtlc_set_location(LLVMBuildCondBr(t->builder, first_test(t, c, own, count),
                                    c->is_left_if ? c->behind : ask,
                                    c->is_left_if ? ask : c->behind),
                    t->kernel->thread);
  LLVMSetSuccessor(c->branch, c->is_left_if ? 0 : 1, c->latch);
  replace_sources(t, c->behind, header);
  return header;
}

static bool find_counted(const turns *t, uint32_t loop, counted *c) {
  const lanes_graph *graph = t->values->graph;
  if (!leaves_in_header_alone(graph, loop) || !find_branch(graph, loop, c) ||
      !counts_up(c) || !only_computes(c->header) || !find_counter(t, loop, c) ||
      !has_first(t, c, c->begin, DEPTH)) {
    return false;
  }
  c->latch = LLVMGetIncomingBlock(c->phi, next_turn(c, c->phi));
  return c->latch != c->header;
}

// Interchanges simdgroups with a loop's iterations, if that is correct.
static bool interchange_loop(turns *t, uint32_t loop) {
  const lanes_graph *graph = t->values->graph;
  const uint32_t header = graph->loops[loop].header;
  if (graph->nodes[header].predecessors.count != 1 ||
      t->common.masked[graph->nodes[header].predecessors.items[0]] ||
      !can_interchange(t, loop)) {
    return false;
  }
  if (!t->common.masked[header]) {
    wait_in(t, graph->nodes[header].block);
    return true;
  }
  counted c = {0};
  if (!find_counted(t, loop, &c)) {
    return false;
  }
  bool goes[MOST_PHIS];
  uint32_t n = 0;
  for (LLVMValueRef phi = LLVMGetFirstInstruction(c.header);
       LLVMIsAPHINode(phi); phi = LLVMGetNextInstruction(phi)) {
    goes[n++] = steps_evenly(t, &c, phi, loop);
  }
  wait_in(t, equalise_iterations(t, &c, goes));
  return true;
}

bool lanes_interchange_simdgroups(mtlc_kernel *kernel, const lanes_values *values) {
  turns t = {.kernel = kernel, .values = values};
  bool found = false;
  lanes_group_uniform_find(values, false, &t.common);
  if (!t.common.waits_together) {
    return false;
  }
  t.builder = LLVMCreateBuilderInContext(kernel->context);
  for (uint32_t loop = 0; loop < values->graph->loop_count && !found; loop++) {
    found = interchange_loop(&t, loop);
  }
  LLVMDisposeBuilder(t.builder);
  return found;
}
