// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// flow.c: writes the function of one simdgroup: its nodes in order, the masks
// and values that travel along their edges, guards, loops.
#include "compiler/vectorize/emit/flow/flow.h"

#include <llvm-c/DebugInfo.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "compiler/ir/llvm/attributes.h"
#include "compiler/ir/llvm/instructions.h"
#include "compiler/ir/llvm/types.h"
#include "compiler/vectorize/analysis/components.h"
#include "compiler/vectorize/analysis/graph.h"
#include "compiler/vectorize/analysis/predicates.h"
#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/analysis/uniformity.h"
#include "compiler/vectorize/base/debug_lines.h"
#include "compiler/vectorize/base/tables.h"
#include "compiler/vectorize/emit/calls/builtin_calls.h"
#include "compiler/vectorize/emit/calls/vector_calls.h"
#include "compiler/vectorize/emit/lanes/atomics.h"
#include "compiler/vectorize/emit/lanes/scalarise.h"
#include "compiler/vectorize/emit/memory/lane_vectors/packed_vectors.h"
#include "compiler/vectorize/emit/memory/lane_vectors/row_copies.h"
#include "compiler/vectorize/emit/memory/load_store.h"
#include "compiler/vectorize/emit/values/builder.h"
#include "compiler/vectorize/emit/values/check_arms.h"
#include "compiler/vectorize/emit/values/emitter.h"
#include "compiler/vectorize/emit/values/masks.h"
#include "compiler/vectorize/emit/values/operations.h"
#include "compiler/vectorize/emit/values/runtime_checks.h"
#include "compiler/vectorize/emit/values/value_slots.h"
#include "compiler/vectorize/emit/values/values.h"
#include "compiler/vectorize/plan/linearize.h"

// --- Masks -------------------------------------------------------------------

static void make_masks(lanes_emitter *e) {
  const uint32_t count = e->graph->node_count;
  e->mask_memory = lanes_allocate(e->arena, count, sizeof(void *));
  e->cleared = lanes_allocate(e->arena, count + 1, sizeof *e->cleared);
  for (uint32_t n = 0; n < count; n++) {
    if (e->plan->steps[n].mask == n) {
      const uint32_t above = e->plan->steps[n].cleared_in;
      e->mask_memory[n] = lanes_promotable_alloca(e, lanes_vector_of(e->lanes, e->types.i1));
      lanes_list_add(e->arena, &e->cleared[above == LANES_NONE ? count : above],
                     n);
    }
  }
}

// Clears masks in the body of a node, or in the entry block for node_count.
static void clear_masks(lanes_emitter *e, uint32_t node) {
  for (uint32_t i = 0; i < e->cleared[node].count; i++) {
    LLVMBuildStore(e->builder, LLVMConstNull(lanes_vector_of(e->lanes, e->types.i1)),
                   e->mask_memory[e->cleared[node].items[i]]);
  }
}

// Returns the threads of the node for which a condition holds. A select is
// needed: the condition may be poison in lanes that do not run.
static LLVMValueRef narrowed(lanes_emitter *e, LLVMValueRef condition) {
  return LLVMBuildSelect(e->builder, e->mask, condition,
                         LLVMConstNull(LLVMTypeOf(e->mask)), "");
}

// --- Edges -------------------------------------------------------------------

static LLVMValueRef incoming_value(LLVMValueRef phi, LLVMBasicBlockRef from) {
  for (unsigned i = 0; i < LLVMCountIncoming(phi); i++) {
    if (LLVMGetIncomingBlock(phi, i) == from) {
      return LLVMGetIncomingValue(phi, i);
    }
  }
  return NULL;
}

// True if lanes that came by another edge may have a value already.
static bool must_blend(const lanes_emitter *e, uint32_t from, uint32_t to,
                       bool is_back_edge) {
  if (lanes_leaves_divergent_loop(e->values, from, to)) {
    return true;
  }
  const lanes_node *node = &e->graph->nodes[to];
  if (is_back_edge) {
    return e->graph->loops[node->loop].back_edge_count > 1;
  }
  return e->values->joins[to] && node->predecessors.items[0] != from;
}

// Returns the lanes that take an edge's values into phis. With mask registers,
// or where the edge leaves a loop, these are all lanes of the node: lanes that
// take another edge overwrite the value when they do. Elsewhere they are the
// edge's own lanes, since the wider blend would keep each condition in a
// register as long as the mask.
static LLVMValueRef blend_mask(const lanes_emitter *e, uint32_t to,
                               LLVMValueRef edge_mask) {
  return e->machine.has_masks ||
                 lanes_leaves_divergent_loop(e->values, e->node, to)
             ? e->mask
             : edge_mask;
}

static void pass_phi(lanes_emitter *e, LLVMValueRef phi, LLVMValueRef value,
                     LLVMValueRef lanes, bool blend) {
  const lanes_slot *slot = &e->slots[lanes_map_get(&e->values->numbers, phi)];
  const uint32_t width = lanes_width(e, phi);
  if (lanes_pass_packed(e, phi, value)) {
    return;
  }
  if (slot->home) {
    if (!lanes_has_home_of(e, value, phi)) {
      lanes_set_result(e, phi, 0, lanes_vector(e, value, 0));
    }
    return;
  }
  for (uint32_t c = 0; c < slot->component_count; c++) {
    LLVMValueRef new = lanes_at_width(e, value, c, width);
    if (width == e->lanes && blend) {
      LLVMValueRef old =
          LLVMBuildLoad2(e->builder, LLVMTypeOf(new), slot->phi_memory[c], "");
      new = LLVMBuildSelect(e->builder, lanes, new, old, "");
    }
    LLVMBuildStore(e->builder, new, slot->phi_memory[c]);
  }
}

static void emit_edge(lanes_emitter *e, uint32_t k, LLVMValueRef edge_mask) {
  const lanes_node *node = &e->graph->nodes[e->node];
  const uint32_t to = node->successors.items[k];
  if (e->graph->nodes[to].kind == LANES_EXIT) {
    return;
  }
  if (e->mask_memory[to]) {
    LLVMValueRef old = LLVMBuildLoad2(e->builder, LLVMTypeOf(edge_mask),
                                      e->mask_memory[to], "");
    LLVMBuildStore(e->builder, LLVMBuildOr(e->builder, old, edge_mask, ""),
                   e->mask_memory[to]);
  }
  LLVMBasicBlockRef target =
      LLVMGetSuccessor(LLVMGetBasicBlockTerminator(node->block), k);
  const bool is_back_edge = e->graph->nodes[to].kind == LANES_LATCH;
  const uint32_t target_node = lanes_map_get(&e->graph->blocks, target);
  const bool blend = is_back_edge ? must_blend(e, e->node, target_node, true)
                                  : must_blend(e, e->node, to, false);
  for (LLVMValueRef phi = LLVMGetFirstInstruction(target);
       phi && LLVMGetInstructionOpcode(phi) == LLVMPHI;
       phi = LLVMGetNextInstruction(phi)) {
    // Threads that bring an undefined value leave the phi to the others: it may
    // be one scalar for all.
    LLVMValueRef value = incoming_value(phi, node->block);
    if (!LLVMIsUndef(value) && value != phi) {
      pass_phi(e, phi, value, blend_mask(e, to, edge_mask), blend);
    }
  }
}

static LLVMBasicBlockRef start_of(const lanes_emitter *e, uint32_t node) {
  return e->starts[node == LANES_NONE ? e->graph->node_count - 1 : node];
}

static void emit_kept_branch(lanes_emitter *e, LLVMValueRef condition) {
  LLVMBasicBlockRef edges[2] = {lanes_block(e, ""), lanes_block(e, "")};
  LLVMBuildCondBr(e->builder, lanes_scalar(e, condition, 0), edges[0],
                  edges[1]);
  e->uncached = true;
  for (uint32_t k = 0; k < 2; k++) {
    LLVMPositionBuilderAtEnd(e->builder, edges[k]);
    emit_edge(e, k, e->mask);
    LLVMBuildBr(e->builder, start_of(e, e->plan->steps[e->node].next[k]));
  }
  e->uncached = false;
}

// Returns the threads that reach a latch and iterate again.
static LLVMValueRef lanes_iterating(lanes_emitter *e, uint32_t latch) {
  return LLVMBuildLoad2(e->builder, lanes_vector_of(e->lanes, e->types.i1),
                        e->mask_memory[latch], "left");
}

// Passes the threads that stay in a loop to its header, and returns them.
static LLVMValueRef begin_turn(lanes_emitter *e, uint32_t latch) {
  const lanes_loop *loop = &e->graph->loops[e->graph->nodes[latch].loop];
  LLVMValueRef left = lanes_iterating(e, latch);
  LLVMBuildStore(e->builder, left, e->mask_memory[loop->header]);
  return left;
}

// True if all threads of a node, and there is at least one, go on to the next
// iteration of a divergent loop. Then no test for a running thread is needed.
static bool all_iterate(const lanes_emitter *e) {
  const lanes_node *node = &e->graph->nodes[e->node];
  const lanes_step *step = &e->plan->steps[e->node];
  const uint32_t to =
      node->successors.count == 1 ? node->successors.items[0] : LANES_NONE;
  return to != LANES_NONE && step->has_thread && step->next[0] == to &&
         e->graph->nodes[to].kind == LANES_LATCH &&
         e->values->divergent_loop[e->graph->nodes[to].loop];
}

// Returns the threads for which a loop's branch condition holds; NULL if first
// and last lanes never decide it. If they do, the condition holds for all
// threads or for none, and the vectors need not be compared; otherwise each
// thread's own comparison counts. Not for kernels with barriers or several
// simdgroups at once, which test active threads in their own way.
static LLVMValueRef test_first_and_last(lanes_emitter *e, LLVMValueRef condition) {
  LLVMBuilderRef b = e->builder;
  if (!e->machine.has_masks || e->has_waits || e->is_at_once ||
      e->graph->nodes[e->node].loop == LANES_NONE ||
      lanes_is_uniform(lanes_shape_of(e->values, condition))) {
    return NULL;
  }
  LLVMValueRef all = lanes_check_by_ends(e, condition, true);
  LLVMValueRef no_one = lanes_check_by_ends(e, condition, false);
  if (!all && !no_one) {
    return NULL;
  }
  LLVMValueRef none = LLVMConstNull(LLVMTypeOf(e->mask));
  LLVMValueRef values[2] = {all ? e->mask : none};
  LLVMValueRef is_told = all ? all : no_one;
  if (all && no_one) {
    values[0] = LLVMBuildSelect(b, all, e->mask, none, "");
    is_told = LLVMBuildOr(b, all, no_one, "");
  }
  const lanes_check question = lanes_begin_check(e, is_told);
  LLVMBasicBlockRef from[2] = {LLVMGetInsertBlock(b)};
  lanes_end_check_arm(e, &question, question.some);
  const bool uncached = e->uncached;
  e->uncached = true;
  values[1] = narrowed(e, lanes_recompute_condition(e, condition));
  e->uncached = uncached;
  from[1] = LLVMGetInsertBlock(b);
  lanes_end_check_arm(e, &question, question.done);
  LLVMValueRef mask = LLVMBuildPhi(b, LLVMTypeOf(none), "");
  LLVMAddIncoming(mask, values, from, 2);
  return mask;
}

static void emit_terminator(lanes_emitter *e, LLVMValueRef end) {
  const lanes_node *node = &e->graph->nodes[e->node];
  const lanes_step *step = &e->plan->steps[e->node];
  if (step->keeps_branch) {
    emit_kept_branch(e, LLVMGetCondition(end));
    return;
  }
  if (node->successors.count == 2) {
    LLVMValueRef passes = test_first_and_last(e, LLVMGetCondition(end));
    LLVMValueRef stays = NULL;
    if (passes) {
      stays = LLVMBuildAnd(e->builder, e->mask,
                           LLVMBuildNot(e->builder, passes, ""), "");
    } else {
      LLVMValueRef condition = lanes_vector(e, LLVMGetCondition(end), 0);
      passes = narrowed(e, condition);
      stays = narrowed(e, LLVMBuildNot(e->builder, condition, ""));
    }
    emit_edge(e, 0, passes);
    emit_edge(e, 1, stays);
  } else if (node->successors.count == 1) {
    emit_edge(e, 0, e->mask);
  }
  if (LLVMGetInstructionOpcode(end) == LLVMRet && LLVMGetNumOperands(end)) {
    lanes_leave_result(e, LLVMGetOperand(end, 0));
  }
  if (all_iterate(e)) {
    const uint32_t latch = step->next[0];
    const lanes_loop *loop = &e->graph->loops[e->graph->nodes[latch].loop];
    begin_turn(e, latch);
    LLVMBuildBr(e->builder, e->bodies[loop->header]);
    return;
  }
  LLVMBuildBr(e->builder, start_of(e, step->next[0]));
}

// --- Nodes -------------------------------------------------------------------

static void emit_phi(lanes_emitter *e, LLVMValueRef phi) {
  const lanes_slot *slot = &e->slots[lanes_map_get(&e->values->numbers, phi)];
  for (uint32_t c = 0; !slot->home && c < slot->component_count; c++) {
    LLVMValueRef memory = slot->phi_memory[c];
    lanes_set_result(
        e, phi, c,
        LLVMBuildLoad2(e->builder, LLVMGetAllocatedType(memory), memory, ""));
  }
}

static void emit_alloca(lanes_emitter *e, LLVMValueRef instruction) {
  LLVMValueRef count = LLVMGetOperand(instruction, 0);
  if (!LLVMIsAConstantInt(count) || LLVMConstIntGetZExtValue(count) != 1) {
    lanes_refuse(e, "private memory of a size that is not known");
    return;
  }
  const uint32_t number = lanes_map_get(&e->values->numbers, instruction);
  const lanes_private *memory =
      &e->values->privates[e->values->private_of[number]];
  lanes_set_everywhere(
      e, instruction,
      mtlc_offset(e->prologue, e->private_memory, memory->offset_bytes));
}

// Sets the line of emitted code to that of an instruction.
static void take_line(lanes_emitter *e, LLVMValueRef instruction) {
  LLVMMetadataRef line = LLVMInstructionGetDebugLoc(instruction);
  if (line != e->line) {
    e->line = line;
    LLVMSetCurrentDebugLocation2(
        e->builder, lanes_line_in(e->kernel, instruction, e->function));
  }
}

static bool is_copied(const lanes_emitter *e, LLVMValueRef i) {
  const uint32_t number = lanes_map_get(&e->values->numbers, i);
  return number != LANES_NONE && e->accesses->copied[number];
}

static void emit_instruction(lanes_emitter *e, LLVMValueRef i) {
  e->emitted++;
  take_line(e, i);
  if (is_copied(e, i)) {
    if (LLVMGetInstructionOpcode(i) == LLVMStore) {
      lanes_emit_row_copy(e, i);
    }
    return;
  }
  if (lanes_emit_packed(e, i)) {
    return;
  }
  switch (LLVMGetInstructionOpcode(i)) {
    case LLVMPHI: emit_phi(e, i); return;
    case LLVMAlloca: emit_alloca(e, i); return;
    case LLVMLoad: lanes_emit_load(e, i); return;
    case LLVMStore: lanes_emit_store(e, i); return;
    case LLVMCall: lanes_emit_call(e, i); return;
    case LLVMAtomicRMW: lanes_emit_atomic(e, i); return;
    case LLVMAtomicCmpXchg: lanes_scalarise(e, i); return;
    case LLVMFence:
      LLVMBuildFence(e->builder, LLVMGetOrdering(i), false, "");
      return;
    case LLVMBr: emit_terminator(e, i); return;
    case LLVMRet:
    case LLVMUnreachable: emit_terminator(e, i); return;
    default: lanes_emit_operation(e, i); return;
  }
}

// Returns how many lanes, from the first on, may take a branch to a node: a
// consecutive value that starts at 0 or above is below a constant in at most
// that many.
static uint32_t lanes_that_pass(const lanes_emitter *e, uint32_t n) {
  LLVMValueRef branch = lanes_only_branch(e, n);
  LLVMValueRef condition = branch ? LLVMGetCondition(branch) : NULL;
  if (!condition || !LLVMIsAICmpInst(condition) ||
      !LLVMIsAConstantInt(LLVMGetOperand(condition, 1))) {
    return e->lanes;
  }
  const bool is_true =
      lanes_map_get(&e->graph->blocks, LLVMGetSuccessor(branch, 0)) == n;
  LLVMIntPredicate predicate = LLVMGetICmpPredicate(condition);
  predicate = is_true ? predicate : lanes_inverse_predicate(predicate);
  LLVMValueRef run = LLVMGetOperand(condition, 0);
  LLVMValueRef bound = LLVMGetOperand(condition, 1);
  const lanes_shape shape = lanes_shape_of(e->values, run);
  const bool is_below = predicate == LLVMIntULT;
  if ((!is_below && predicate != LLVMIntULE && predicate != LLVMIntEQ) ||
      !lanes_is_rising(e, run, predicate) || !shape.no_unsigned_wrap ||
      LLVMGetIntTypeWidth(LLVMTypeOf(bound)) > 64) {
    return e->lanes;
  }
  const uint64_t limit = LLVMConstIntGetZExtValue(bound);
  const uint64_t stride = (uint64_t)shape.stride;
  if (limit / stride >= e->lanes) {
    return e->lanes;
  }
  return (uint32_t)(is_below ? (limit + stride - 1) / stride
                             : limit / stride + 1);
}

// Returns the lanes that may reach a node: the fewest that its dominators let
// pass.
static uint32_t lanes_reaching(const lanes_emitter *e, uint32_t n) {
  const uint32_t above = e->graph->nodes[n].dominator;
  const uint32_t most = above == LANES_NONE ? e->lanes : e->coming_to[above];
  const uint32_t pass = lanes_that_pass(e, n);
  return pass < most ? pass : most;
}

// Returns a condition without which no thread reaches a node, or NULL. A
// consecutive value's first lane tells: if it is not below a bound, none is;
// and no lane can equal a number too far above it.
static LLVMValueRef first_lane_test(lanes_emitter *e) {
  LLVMValueRef branch = lanes_only_branch(e, e->node);
  LLVMValueRef condition = branch ? LLVMGetCondition(branch) : NULL;
  if (!condition || !LLVMIsAICmpInst(condition)) {
    return NULL;
  }
  const bool is_true =
      lanes_map_get(&e->graph->blocks, LLVMGetSuccessor(branch, 0)) == e->node;
  LLVMIntPredicate predicate = LLVMGetICmpPredicate(condition);
  LLVMValueRef run = LLVMGetOperand(condition, 0);
  LLVMValueRef bound = LLVMGetOperand(condition, 1);
  if (!is_true) {
    predicate = lanes_inverse_predicate(predicate);
  }
  if (!lanes_is_rising(e, run, predicate) ||
      !lanes_is_uniform(lanes_shape_of(e->values, bound))) {
    return NULL;
  }
  LLVMValueRef first = lanes_scalar(e, run, 0);
  LLVMValueRef limit = lanes_scalar(e, bound, 0);
  if (predicate == LLVMIntEQ) {
    const int64_t stride = lanes_shape_of(e->values, run).stride;
    first = LLVMBuildSub(e->builder, limit, first, "");
    limit =
        LLVMConstInt(LLVMTypeOf(limit), (uint64_t)stride * (e->lanes - 1), false);
    predicate = LLVMIntULE;
  }
  return LLVMBuildICmp(e->builder, predicate, first, limit, "");
}

// Skips a node if no thread reaches it.
static void emit_guard(lanes_emitter *e, uint32_t skip) {
  LLVMValueRef maybe = first_lane_test(e);
  if (maybe) {
    LLVMBasicBlockRef test = lanes_block(e, "");
    // Frozen: the value is undefined where the branch did not run.
    LLVMBuildCondBr(e->builder, LLVMBuildFreeze(e->builder, maybe, ""), test,
                    start_of(e, skip));
    LLVMPositionBuilderAtEnd(e->builder, test);
  }
  lanes_load_mask(e);
  LLVMBuildCondBr(e->builder, lanes_any(e, e->mask), e->bodies[e->node],
                  start_of(e, skip));
}

static void emit_block(lanes_emitter *e) {
  const lanes_step *step = &e->plan->steps[e->node];
  if (step->skip != LANES_NONE) {
    emit_guard(e, step->skip);
  } else {
    LLVMBuildBr(e->builder, e->bodies[e->node]);
  }
  LLVMPositionBuilderAtEnd(e->builder, e->bodies[e->node]);
  e->fresh++;
  e->coming = e->coming_to[e->node];
  lanes_load_mask(e);
  clear_masks(e, e->node);
  for (LLVMValueRef i = LLVMGetFirstInstruction(e->graph->nodes[e->node].block);
       i && !e->refusal[0]; i = LLVMGetNextInstruction(i)) {
    emit_instruction(e, i);
  }
}

static void emit_latch(lanes_emitter *e) {
  const uint32_t l = e->graph->nodes[e->node].loop;
  const lanes_loop *loop = &e->graph->loops[l];
  const lanes_step *step = &e->plan->steps[e->node];
  if (step->may_be_empty) {
    const uint32_t last = e->graph->node_count - 1;
    LLVMBuildCondBr(
        e->builder, lanes_any(e, lanes_iterating(e, e->node)),
        e->bodies[loop->header],
        start_of(e, step->next[0] == LANES_NONE ? last : step->next[0]));
    return;
  }
  if (!e->values->divergent_loop[l]) {
    LLVMBuildBr(e->builder, e->bodies[loop->header]);
    return;
  }
  LLVMBuildCondBr(e->builder, lanes_any(e, begin_turn(e, e->node)),
                  e->bodies[loop->header],
                  start_of(e, e->plan->steps[e->node].next[0]));
}

static void make_blocks(lanes_emitter *e) {
  const uint32_t count = e->graph->node_count;
  e->starts = lanes_allocate(e->arena, count, sizeof(void *));
  e->bodies = lanes_allocate(e->arena, count, sizeof(void *));
  e->coming_to = lanes_allocate(e->arena, count, sizeof *e->coming_to);
  for (uint32_t n = 0; n < count; n++) {
    char name[32];
    snprintf(name, sizeof name, "node%u", n);
    e->starts[n] = lanes_block(e, name);
    if (e->graph->nodes[n].kind == LANES_BLOCK) {
      e->bodies[n] = lanes_block(e, "");
    }
  }
}

static void emit_nodes(lanes_emitter *e) {
  for (uint32_t n = 0; n < e->graph->node_count && !e->refusal[0]; n++) {
    e->node = n;
    e->coming_to[n] = lanes_reaching(e, n);
    LLVMPositionBuilderAtEnd(e->builder, e->starts[n]);
    e->fresh++;
    switch (e->graph->nodes[n].kind) {
      case LANES_BLOCK: emit_block(e); break;
      case LANES_LATCH: emit_latch(e); break;
      case LANES_EXIT:
        if (e->called) {
          lanes_emit_return(e);
        } else {
          LLVMBuildRet(e->builder, mtlc_i32(e->context, 0));
        }
        break;
    }
  }
}

// --- The function ------------------------------------------------------------

static void add_function(lanes_emitter *e, const char *name) {
  LLVMTypeRef p = e->types.pointer;
  LLVMTypeRef i32 = e->types.i32;
  LLVMTypeRef parameters[LANES_PARAMETERS_AT_ONCE] = {
      p, p, p, p, i32, i32, i32, i32, i32, i32, p, p};
  for (uint32_t i = LANES_PARAMETER_COUNT; i < LANES_PARAMETERS_AT_ONCE; i++) {
    parameters[i] = i32;
  }
  e->function = LLVMAddFunction(
      e->kernel->module, name,
      LLVMFunctionType(i32, parameters,
                       e->is_at_once ? LANES_PARAMETERS_AT_ONCE
                                     : LANES_PARAMETER_COUNT,
                       false));
  mtlc_set_attribute(e->function, "nounwind", 0);
}

static void begin_function(lanes_emitter *e, const char *name) {
  if (e->called) {
    e->function = lanes_vector_function_of(e->kernel, e->called);
  } else {
    add_function(e, name);
  }
  LLVMValueRef source = e->called ? e->called : e->kernel->thread;
  lanes_describe_function(e->kernel, LLVMGetSubprogram(source), e->function);
  e->coming = e->lanes;
  e->entry = lanes_block(e, "entry");
  LLVMPositionBuilderAtEnd(e->prologue, e->entry);
  LLVMValueRef bits = LLVMBuildTrunc(
      e->prologue,
      LLVMGetParam(e->function, e->called ? 0 : LANES_ENTRY_MASK),
      LLVMIntTypeInContext(e->context, e->lanes), "");
  e->all_lanes = LLVMBuildBitCast(e->prologue, bits,
                                  lanes_vector_of(e->lanes, e->types.i1), "lanes");
}

// Ends the entry block: jumps to the beginning, or to the barrier to resume at.
static void emit_resumption(lanes_emitter *e) {
  LLVMBasicBlockRef begin = lanes_block(e, "begin");
  LLVMPositionBuilderAtEnd(e->builder, begin);
  clear_masks(e, e->graph->node_count);
  LLVMBuildBr(e->builder, e->starts[0]);
  if (!e->wait_count) {
    LLVMBuildBr(e->prologue, begin);
    return;
  }
  LLVMValueRef jump =
      LLVMBuildSwitch(e->prologue, LLVMGetParam(e->function, LANES_STATE),
                      begin, e->wait_count);
  for (uint32_t i = 0; i < e->wait_count; i++) {
    LLVMAddCase(jump, mtlc_i32(e->context, i + 1), e->waits[i].after);
  }
}

// Places private memory after the frame's state, or on the stack.
static void make_private_memory(lanes_emitter *e) {
  const uint64_t bytes = e->values->private_bytes;
  if (!bytes) {
    return;
  }
  if (e->private_in_frame) {
    e->private_memory =
        mtlc_offset(e->prologue, LLVMGetParam(e->function, LANES_FRAME), 64);
    return;
  }
  e->private_memory = LLVMBuildAlloca(
      e->prologue, LLVMArrayType2(e->types.i8, bytes), "private");
  LLVMSetAlignment(e->private_memory, 64);
}

LLVMValueRef lanes_emit(lanes_emitter *e, const char *name) {
  begin_function(e, name);
  make_private_memory(e);
  lanes_make_slots(e);
  lanes_packed_begin(e);
  make_masks(e);
  make_blocks(e);
  emit_nodes(e);
  if (e->refusal[0]) {
    if (!e->called) {
      LLVMDeleteFunction(e->function);
    }
    return NULL;
  }
  emit_resumption(e);
  return e->function;
}
