// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// version_uniform.c: versions branches and loops for simdgroups whose threads
// do not diverge. Divergence is rare: `if (i < n)` diverges in one simdgroup of
// a grid, `for (i = lane; i < n; i += 32)` in the last iteration of a row.
// Without mask registers masked code is several times slower: masks are widened
// at each use, and masked stores take a dozen cycles. Also the first lane's
// address describes lanes a constant apart only if it runs. So a branch that
// all threads take, and iterations that all continue, have a version without
// masks. On divergence it leaves for the general version: after the branch, at
// the next iteration, or at the start of an iteration that has only loaded so
// far.
#include "compiler/vectorize/prepare/versions/version_uniform.h"

#include <llvm-c/Target.h>
#include <stddef.h>
#include <stdlib.h>

#include "compiler/ir/kernel/kernel.h"
#include "compiler/ir/llvm/calls.h"
#include "compiler/ir/llvm/instructions.h"
#include "compiler/ir/llvm/marks.h"
#include "compiler/ir/llvm/value_list.h"
#include "compiler/vectorize/analysis/addresses/lane_bits.h"
#include "compiler/vectorize/analysis/callees.h"
#include "compiler/vectorize/analysis/effects.h"
#include "compiler/vectorize/analysis/graph.h"
#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/analysis/uniformity.h"
#include "compiler/vectorize/base/tables.h"
#include "compiler/vectorize/prepare/versions/clone_region.h"
#include "compiler/vectorize/target/machine.h"

enum {
  LEAST_ACCESSES_WITH_MASKS = 4,
  LEAST_UNEVEN_ACCESSES = 2,  // the fewest uneven accesses that are worth it
  // The fewest beside barriers, where values are kept for either version.
  LEAST_UNEVEN_BESIDE_BARRIERS = 8,
  // The most instructions for each such access behind a branch, which runs
  // once: versions of more would make functions too long for the loop over
  // simdgroups.
  MOST_INSTRUCTIONS_EACH = 12,
};

// A loop or branch side that may get a version without masks.
typedef struct candidate {
  lanes_clone part;
  lanes_pattern_finder *patterns;
  bool has_masks;            // the machine has mask registers
  uint32_t accesses;         // accesses that are cheaper without a mask
  uint32_t uneven_accesses;  // accesses whose mask differs from the threads'
                             // mask
} candidate;

static candidate new_candidate(mtlc_kernel *kernel,
                               lanes_pattern_finder *patterns) {
  return (candidate){.part = lanes_clone_begin(kernel, patterns->values),
                     .patterns = patterns,
                     .has_masks = lanes_machine_of(kernel->target).has_masks};
}

// True if a mask makes an instruction cost more: a vector access, or any write,
// on machines without mask registers. A gather has a mask anyway, unless its
// lanes are constants apart, when it is none.
static bool pays_for_mask(const candidate *c, LLVMValueRef i) {
  switch (LLVMGetInstructionOpcode(i)) {
    case LLVMLoad: {
      LLVMValueRef pointer = LLVMGetOperand(i, 0);
      const lanes_shape at = lanes_shape_of(c->part.values, pointer);
      return at.row > 1 ? !c->has_masks && !lanes_is_uniform(at)
                        : lanes_has_pattern(c->patterns, pointer);
    }
    case LLVMStore:
      return !c->has_masks && !lanes_is_uniform(lanes_shape_of(
                                  c->part.values, LLVMGetOperand(i, 1)));
    default: return false;
  }
}

// True if an access's mask is not simply the threads' mask: an access of
// vectors, where a thread's bit stands for several elements, or of bytes and
// halves, whose load and extension are then two steps.
static bool is_uneven(const candidate *c, LLVMValueRef i) {
  const bool is_store = mtlc_is_opcode(i, LLVMStore);
  if (!is_store && !LLVMIsALoadInst(i)) {
    return false;
  }
  LLVMTypeRef type = LLVMTypeOf(is_store ? LLVMGetOperand(i, 0) : i);
  const lanes_shape at =
      lanes_shape_of(c->part.values, LLVMGetOperand(i, is_store ? 1 : 0));
  return at.row > 1 && !lanes_is_uniform(at) &&
         (LLVMGetTypeKind(type) == LLVMVectorTypeKind ||
          LLVMSizeOfTypeInBits(c->part.values->data, type) < 32);
}

static void count_accesses(candidate *c) {
  const lanes_clone *p = &c->part;
  for (uint32_t n = p->first; n != LANES_NONE;
       n = lanes_set_next(p->nodes, n + 1)) {
    LLVMBasicBlockRef block = lanes_clone_block(p, n);
    for (LLVMValueRef i = block ? LLVMGetFirstInstruction(block) : NULL; i;
         i = LLVMGetNextInstruction(i)) {
      c->accesses += pays_for_mask(c, i);
      c->uneven_accesses += is_uneven(c, i);
    }
  }
}

// --- Loops -------------------------------------------------------------------

static LLVMBasicBlockRef header_of(const lanes_clone *p, uint32_t loop) {
  return p->graph->nodes[p->graph->loops[loop].header].block;
}

// True if an iteration has only computed and loaded up to the end of a node: it
// can be started again.
static bool may_begin_again(const lanes_clone *p, uint32_t loop, uint32_t node) {
  if (p->graph->nodes[node].loop != loop) {
    return false;
  }
  for (uint32_t n = p->graph->loops[loop].header; n <= node; n++) {
    LLVMBasicBlockRef block = lanes_clone_block(p, n);
    for (LLVMValueRef i = block ? LLVMGetFirstInstruction(block) : NULL; i;
         i = LLVMGetNextInstruction(i)) {
      if (lanes_may_write(i)) {
        return false;
      }
    }
  }
  return true;
}

typedef enum exit_kind {
  EXIT_NONE,
  EXIT_SAME_WAY,  // all threads take the same side
  EXIT_AT_END,    // threads diverge at an iteration's end
  EXIT_INSIDE,    // threads diverge inside an iteration that can be started
                  // again
  EXIT_UNFIT,
} exit_kind;

static exit_kind kind_of_exit(const lanes_clone *p, uint32_t loop,
                              uint32_t node) {
  LLVMBasicBlockRef block = lanes_clone_block(p, node);
  LLVMValueRef end = block ? LLVMGetBasicBlockTerminator(block) : NULL;
  const unsigned count = end ? LLVMGetNumSuccessors(end) : 0;
  unsigned leaving = 0;
  unsigned returning = 0;
  for (unsigned k = 0; k < count; k++) {
    leaving += !lanes_clone_has(p, LLVMGetSuccessor(end, k));
    returning += LLVMGetSuccessor(end, k) == header_of(p, loop);
  }
  if (!leaving) {
    return EXIT_NONE;
  }
  if (!p->values->divergent_branch[node]) {
    return EXIT_SAME_WAY;
  }
  if (leaving + returning == 2 && returning == 1) {
    return EXIT_AT_END;
  }
  return leaving == 1 && may_begin_again(p, loop, node) ? EXIT_INSIDE
                                                        : EXIT_UNFIT;
}

static bool collect_loop(lanes_clone *p, uint32_t loop) {
  const lanes_graph *graph = p->graph;
  p->entry = header_of(p, loop);
  for (uint32_t n = graph->loops[loop].header; n <= graph->loops[loop].latch;
       n++) {
    lanes_set_add(p->nodes, n);
  }
  lanes_clone_survey(p);
  for (uint32_t n = p->first; n <= p->last && p->fits; n++) {
    p->fits = kind_of_exit(p, loop, n) != EXIT_UNFIT;
  }
  return graph->loops[loop].back_edge_count == 1;
}

// Branches from a block to the second version of a loop, whose phis (`phis`, in
// the header's order) get the values of an edge to the header, or those at the
// start of the current iteration.
static void enter_second(const lanes_clone *p, uint32_t loop,
                         LLVMBasicBlockRef from, LLVMBasicBlockRef way,
                         LLVMValueRef *phis) {
  LLVMValueRef phi = LLVMGetFirstInstruction(header_of(p, loop));
  for (uint32_t i = 0; LLVMIsAPHINode(phi);
       i++, phi = LLVMGetNextInstruction(phi)) {
    LLVMValueRef value = lanes_clone_copy_of(p, phi);
    for (unsigned k = 0; way && k < LLVMCountIncoming(phi); k++) {
      if (LLVMGetIncomingBlock(phi, k) == way) {
        value = lanes_clone_copy_of(p, LLVMGetIncomingValue(phi, k));
      }
    }
    LLVMAddIncoming(phis[i], &value, &from, 1);
  }
}

static void leave_first(const lanes_clone *p, uint32_t loop, uint32_t node,
                        LLVMBasicBlockRef entry, LLVMValueRef *phis) {
  const exit_kind kind = kind_of_exit(p, loop, node);
  if (kind == EXIT_NONE) {
    return;
  }
  LLVMBasicBlockRef block = lanes_clone_block(p, node);
  LLVMBasicBlockRef copy = lanes_clone_block_copy(p, block);
  LLVMValueRef end = LLVMGetBasicBlockTerminator(copy);
  if (kind == EXIT_SAME_WAY) {
    for (unsigned k = 0; k < LLVMGetNumSuccessors(end); k++) {
      LLVMBasicBlockRef to =
          LLVMGetSuccessor(LLVMGetBasicBlockTerminator(block), k);
      if (!lanes_clone_has(p, to)) {
        lanes_clone_add_path(p, to, block, copy);
      }
    }
    return;
  }
  LLVMValueRef original = LLVMGetBasicBlockTerminator(block);
  const unsigned stays =
      lanes_clone_has(p, LLVMGetSuccessor(original, 0)) ? 0 : 1;
  LLVMBasicBlockRef outside = LLVMGetSuccessor(original, 1 - stays);
  LLVMBasicBlockRef parting = entry;
  LLVMPositionBuilderBefore(p->builder, end);
  LLVMValueRef all = lanes_clone_check(p, LLVMGetCondition(end), stays == 0);
  if (kind == EXIT_AT_END) {
    parting = lanes_clone_new_block(p, entry);
    lanes_clone_add_path(p, outside, block, parting);
  }
  LLVMBuildCondBr(p->builder, all, LLVMGetSuccessor(end, stays), parting);
  LLVMInstructionRemoveFromParent(end);
  if (kind == EXIT_AT_END) {
    LLVMPositionBuilderAtEnd(p->builder, parting);
    LLVMInsertIntoBuilder(p->builder, end);
    LLVMSetSuccessor(end, stays, entry);
    enter_second(p, loop, parting, block, phis);
  } else {
    LLVMDeleteInstruction(end);
    enter_second(p, loop, copy, NULL, phis);
  }
}

static void copy_loop(lanes_clone *p, uint32_t loop) {
  LLVMBasicBlockRef header = header_of(p, loop);
  const uint32_t before = p->graph->nodes[p->first].dominator;
  LLVMBasicBlockRef entry = p->graph->nodes[before].block;
  LLVMBasicBlockRef head = lanes_clone_put_head(p, entry);
  lanes_clone_copy(p, entry, head);
  LLVMPositionBuilderAtEnd(p->builder, head);
  LLVMTypeRef bit = LLVMInt1TypeInContext(p->kernel->context);
  LLVMBuildCondBr(p->builder,
                  lanes_clone_check(p, LLVMConstInt(bit, 1, false), true),
                  lanes_clone_block_copy(p, header), entry);
  uint32_t count = 0;
  LLVMValueRef *phis =
      lanes_allocate(p->graph->arena, p->instructions + 1, sizeof *phis);
  LLVMPositionBuilderBefore(p->builder, LLVMGetBasicBlockTerminator(entry));
  for (LLVMValueRef phi = LLVMGetFirstInstruction(header); LLVMIsAPHINode(phi);
       phi = LLVMGetNextInstruction(phi)) {
    phis[count++] = LLVMBuildPhi(p->builder, LLVMTypeOf(phi), "");
  }
  enter_second(p, loop, head, entry, phis);
  for (uint32_t n = p->first; n <= p->last; n++) {
    leave_first(p, loop, n, entry, phis);
  }
  count = 0;
  for (LLVMValueRef phi = LLVMGetFirstInstruction(header); LLVMIsAPHINode(phi);
       phi = LLVMGetNextInstruction(phi)) {
    for (unsigned k = 0; k < LLVMCountIncoming(phi); k++) {
      if (LLVMGetIncomingBlock(phi, k) == entry) {
        LLVMSetOperand(phi, k, phis[count]);
      }
    }
    count++;
  }
}

// --- All of them -------------------------------------------------------------

// True if uneven accesses pay for the version: each for at most so many
// instructions.
static bool is_worth_it(candidate *c, uint32_t room, bool waits,
                        uint64_t most_each) {
  const uint32_t least = c->has_masks ? LEAST_ACCESSES_WITH_MASKS : 1;
  const uint32_t least_uneven =
      waits ? LEAST_UNEVEN_BESIDE_BARRIERS : LEAST_UNEVEN_ACCESSES;
  if (!c->part.fits || c->part.instructions > room) {
    return false;
  }
  count_accesses(c);
  return c->accesses >= least ||
         (c->uneven_accesses >= least_uneven &&
          c->part.instructions <= most_each * c->uneven_accesses);
}

// True if the node before a loop has no other successor and all threads reach
// it.
static bool is_entered_by_all(const lanes_values *values, uint32_t loop) {
  const lanes_graph *graph = values->graph;
  const uint32_t before = graph->nodes[graph->loops[loop].header].dominator;
  return before != LANES_NONE && graph->nodes[before].kind == LANES_BLOCK &&
         graph->nodes[before].successors.count == 1 && !values->masked[before];
}

// Marks a block whose loop or side has a version without masks already.
static const char has_form[] = "mettle.has_unmasked";

static LLVMValueRef end_of(const lanes_graph *graph, uint32_t node) {
  return LLVMGetBasicBlockTerminator(graph->nodes[node].block);
}

void lanes_needs_no_uniform_version(LLVMValueRef end) {
  mtlc_mark(end, has_form);
}

// Returns the node behind the cloned region, or LANES_NONE.
static uint32_t try_loop(mtlc_kernel *kernel, lanes_pattern_finder *patterns,
                         uint32_t loop, bool waits, uint32_t *room) {
  const lanes_values *values = patterns->values;
  if (!values->divergent_loop[loop] || !is_entered_by_all(values, loop)) {
    return LANES_NONE;
  }
  candidate c = new_candidate(kernel, patterns);
  lanes_clone *p = &c.part;
  const bool worth =
      collect_loop(p, loop) && is_worth_it(&c, *room, waits, UINT32_MAX);
  if (worth) {
    copy_loop(p, loop);
    const uint32_t header = values->graph->loops[loop].header;
    mtlc_mark(end_of(values->graph, header), has_form);
    *room -= p->instructions;
  }
  lanes_clone_end(p);
  return worth ? p->last + 1 : LANES_NONE;
}

static uint32_t try_branch(mtlc_kernel *kernel, lanes_pattern_finder *patterns,
                           uint32_t branch, bool waits, uint32_t *room) {
  const lanes_node *node = &patterns->values->graph->nodes[branch];
  uint32_t next = LANES_NONE;
  for (uint32_t k = 0; k < node->successors.count; k++) {
    candidate c = new_candidate(kernel, patterns);
    lanes_clone *p = &c.part;
    if (lanes_clone_take_side(p, branch, node->successors.items[k]) &&
        is_worth_it(&c, *room, waits, MOST_INSTRUCTIONS_EACH)) {
      LLVMValueRef end = end_of(p->graph, branch);
      lanes_clone_copy_side(p, branch);
      LLVMBuildCondBr(p->builder,
                      lanes_clone_check(p, LLVMGetCondition(end), k == 0),
                      lanes_clone_block_copy(p, p->entry), node->block);
      mtlc_mark(end, has_form);
      *room -= p->instructions;
      next = node->postdominator;
    }
    lanes_clone_end(p);
  }
  return next;
}

bool lanes_version_uniform(mtlc_kernel *kernel, const lanes_values *values,
                        bool waits, uint32_t *room) {
  const lanes_graph *graph = values->graph;
  lanes_pattern_finder patterns = lanes_patterns_begin(values);
  bool any = false;
  uint32_t n = 0;
  while (n < graph->node_count) {
    const lanes_node *node = &graph->nodes[n];
    uint32_t next = LANES_NONE;
    const bool is_new = node->kind == LANES_BLOCK &&
                        !mtlc_is_marked(end_of(graph, n), has_form);
    if (is_new && node->loop != LANES_NONE &&
        graph->loops[node->loop].header == n) {
      next = try_loop(kernel, &patterns, node->loop, waits, room);
    }
    if (next == LANES_NONE && is_new && !values->masked[n] &&
        values->divergent_branch[n] && node->successors.count == 2) {
      next = try_branch(kernel, &patterns, n, waits, room);
    }
    any |= next != LANES_NONE;
    n = next == LANES_NONE ? n + 1 : next;
  }
  return any;
}

// --- Whole simdgroups --------------------------------------------------------

bool lanes_is_uniform_entry(const lanes_graph *graph, uint32_t node) {
  const lanes_list *from = &graph->nodes[node].predecessors;
  LLVMBasicBlockRef before =
      from->count == 1 ? graph->nodes[from->items[0]].block : NULL;
  LLVMValueRef end = before ? LLVMGetBasicBlockTerminator(before) : NULL;
  if (!end || LLVMGetNumSuccessors(end) != 2 ||
      lanes_map_get(&graph->blocks, LLVMGetSuccessor(end, 0)) != node) {
    return false;
  }
  LLVMValueRef question = LLVMGetCondition(end);
  return LLVMIsACallInst(question) &&
         lanes_callee_of(question) == LANES_CALLEE_ALL;
}

static void answer(LLVMModuleRef module, const char *name) {
  mtlc_values questions = {0};
  mtlc_collect_calls(module, name, &questions);
  for (size_t i = 0; i < questions.count; i++) {
    mtlc_replace(questions.items[i],
                 LLVMConstNull(LLVMTypeOf(questions.items[i])));
  }
  free(questions.items);
}

void lanes_forget_uniform_versions(LLVMModuleRef module) {
  answer(module, "mettle.all");
  answer(module, "mettle.first.");
}

void lanes_answer_is_whole(LLVMModuleRef module) {
  mtlc_values calls = {0};
  mtlc_collect_calls(module, "mettle.is_whole", &calls);
  bool any_known = false;
  for (size_t i = 0; i < calls.count; i++) {
    any_known |= LLVMIsConstant(LLVMGetOperand(calls.items[i], 0));
  }
  for (size_t i = 0; i < calls.count; i++) {
    LLVMValueRef call = calls.items[i];
    LLVMValueRef mask = LLVMGetOperand(call, 0);
    LLVMBuilderRef builder =
        LLVMCreateBuilderInContext(LLVMGetTypeContext(LLVMTypeOf(mask)));
    LLVMPositionBuilderBefore(builder, call);
    // The function that is called out of line is the one for incomplete
    // simdgroups.
    LLVMValueRef answer =
        any_known && !LLVMIsConstant(mask)
            ? LLVMConstNull(LLVMTypeOf(call))
            : LLVMBuildICmp(builder, LLVMIntEQ, mask,
                            LLVMConstAllOnes(LLVMTypeOf(mask)), "");
    mtlc_replace(call, answer);
    LLVMDisposeBuilder(builder);
  }
  free(calls.items);
}
