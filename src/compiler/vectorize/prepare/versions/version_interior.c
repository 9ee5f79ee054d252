// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// version_interior.c: versions a body for interior threads: one check replaces
// every clamp and bounds test. A filter that reaches past an image's edge
// repeats what lies there:
//
//   for (int d = -2; d <= 2; d++)
//     sum += in[y * width + clamp(x + d, 0, width - 1)];
//
// or skips it:
//
//     if (x + d >= 0 && x + d < width) sum += in[y * width + x + d];
//
// Lanes with clamped indices are not contiguous, which each access has to test
// (wrap_checks.c); skipped accesses are masked. Most simdgroups are far from
// every edge. One check tests for all accesses that no thread's index is
// clamped or out of bounds; such simdgroups run a version without tests.
#include "compiler/vectorize/prepare/versions/version_interior.h"

#include <stddef.h>
#include <stdlib.h>

#include "compiler/ir/kernel/kernel.h"
#include "compiler/ir/llvm/instructions.h"
#include "compiler/ir/llvm/marks.h"
#include "compiler/vectorize/analysis/graph.h"
#include "compiler/vectorize/analysis/uniformity.h"
#include "compiler/vectorize/base/tables.h"
#include "compiler/vectorize/prepare/versions/clone_region.h"
#include "compiler/vectorize/prepare/versions/hoist_checks.h"
#include "compiler/vectorize/prepare/versions/interior_limits.h"
#include "compiler/vectorize/prepare/versions/version_row.h"
#include "compiler/vectorize/prepare/versions/version_uniform.h"
#include "compiler/vectorize/target/machine.h"

// --- The form ----------------------------------------------------------------

static bool is_worth_it(lanes_interior *s, uint32_t room) {
  if (!s->part.fits || s->part.instructions > room) {
    return false;
  }
  lanes_find_limits(s);
  if (!lanes_find_conditions(s) || !lanes_has_reason(s)) {
    s->limit_count = s->condition_count = 0;
  }
  lanes_quotients_find(&s->part, &s->quotients);
  return s->limit_count > 0 || s->quotients.count > 0;
}

// Removes all limits from the interior version.
static void take_limits_away(const lanes_interior *s) {
  for (uint32_t k = 0; k < s->limit_count; k++) {
    LLVMValueRef value = s->limits[k].value;
    LLVMReplaceAllUsesWith(
        lanes_clone_copy_of(&s->part, value),
        lanes_clone_copy_of(&s->part, lanes_uncut(s, value)));
  }
  for (uint32_t k = 0; k < s->limit_count; k++) {
    LLVMInstructionEraseFromParent(
        lanes_clone_copy_of(&s->part, s->limits[k].value));
  }
}

// Branches to the interior version if all threads take a condition's side, or
// there is none, and no thread is at an edge.
static void add_form(lanes_interior *s, uint32_t branch, LLVMValueRef passes,
                     bool is_true) {
  lanes_clone *p = &s->part;
  LLVMBasicBlockRef block = p->graph->nodes[branch].block;
  lanes_clone_copy_side(p, branch);
  s->front = lanes_hoist_begin(p);
  if (passes && !is_true) {
    passes = LLVMBuildNot(p->builder, passes, "");
  }
  LLVMBuildCondBr(p->builder,
                  lanes_clone_check(p, lanes_all_hold(s, passes), true),
                  lanes_clone_block_copy(p, p->entry), block);
  take_limits_away(s);
  lanes_quotients_use(&s->quotients, p);
  // The version at edges uses masks, on machines that have any.
  if (s->limit_count > 0 && lanes_machine_of(p->kernel->target).has_masks) {
    lanes_needs_no_uniform_version(LLVMGetBasicBlockTerminator(block));
  }
}

// --- Bodies ------------------------------------------------------------------

static lanes_interior new_insider(mtlc_kernel *kernel,
                                  const lanes_values *values) {
  return (lanes_interior){.part = lanes_clone_begin(kernel, values)};
}

static const char body_mark[] = "mettle.body";

// True if an interior version of the whole body may pay; code behind a branch
// gets a version of its own.
static bool needs_body(mtlc_kernel *kernel, const lanes_values *values) {
  const lanes_graph *graph = values->graph;
  lanes_interior s = new_insider(kernel, values);
  for (uint32_t n = 0; n < graph->node_count; n++) {
    lanes_set_add(s.part.nodes, n);
  }
  lanes_find_limits(&s);
  for (uint32_t n = 0; n < graph->node_count; n++) {
    if (values->masked[n]) {
      lanes_set_remove(s.part.nodes, n);
    }
  }
  lanes_quotients_find(&s.part, &s.quotients);
  const bool needs =
      (s.limit_count > 0 && lanes_has_reason(&s)) || s.quotients.count > 0;
  lanes_clone_end(&s.part);
  return needs;
}

// Returns the only block that returns, NULL if there are several.
static LLVMBasicBlockRef returning_block(LLVMValueRef function) {
  LLVMBasicBlockRef found = NULL;
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b;
       b = LLVMGetNextBasicBlock(b)) {
    if (mtlc_is_opcode(LLVMGetBasicBlockTerminator(b), LLVMRet)) {
      if (found) {
        return NULL;
      }
      found = b;
    }
  }
  return found;
}

static void move_allocas(LLVMBuilderRef builder, LLVMBasicBlockRef from) {
  LLVMValueRef next = NULL;
  for (LLVMValueRef i = LLVMGetFirstInstruction(from); i; i = next) {
    next = LLVMGetNextInstruction(i);
    if (LLVMIsAAllocaInst(i)) {
      LLVMInstructionRemoveFromParent(i);
      LLVMInsertIntoBuilder(builder, i);
    }
  }
}

bool lanes_set_body_apart(mtlc_kernel *kernel, const lanes_values *values) {
  return needs_body(kernel, values) && lanes_put_body_apart(kernel, values);
}

bool lanes_put_body_apart(mtlc_kernel *kernel, const lanes_values *values) {
  LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(kernel->thread);
  LLVMBasicBlockRef end = returning_block(kernel->thread);
  if (!end) {
    return false;
  }
  lanes_clone p = lanes_clone_begin(kernel, values);
  LLVMPositionBuilderAtEnd(p.builder, lanes_clone_put_head(&p, end));
  LLVMBuildBr(p.builder, end);
  entry = entry == end ? LLVMGetEntryBasicBlock(kernel->thread) : entry;
  LLVMBasicBlockRef before = lanes_clone_new_block(&p, entry);
  LLVMPositionBuilderAtEnd(p.builder, before);
  move_allocas(p.builder, entry);
  mtlc_mark(LLVMBuildBr(p.builder, entry), body_mark);
  lanes_clone_end(&p);
  return true;
}

// --- All of them -------------------------------------------------------------

static bool try_body(mtlc_kernel *kernel, const lanes_values *values,
                     uint32_t *room) {
  const lanes_graph *graph = values->graph;
  const lanes_node *start = &graph->nodes[0];
  if (!mtlc_is_marked(LLVMGetBasicBlockTerminator(start->block), body_mark)) {
    return false;
  }
  lanes_interior s = new_insider(kernel, values);
  const bool worth = lanes_clone_take(&s.part, start->successors.items[0],
                                      graph->node_count - 1) &&
                     is_worth_it(&s, *room);
  if (worth) {
    add_form(&s, 0, NULL, true);
    *room -= s.part.instructions;
  }
  lanes_clone_end(&s.part);
  return worth;
}

static bool try_branch(mtlc_kernel *kernel, const lanes_values *values,
                       uint32_t branch, uint32_t *room) {
  const lanes_node *node = &values->graph->nodes[branch];
  bool any = false;
  for (uint32_t k = 0; k < node->successors.count && !any; k++) {
    lanes_interior s = new_insider(kernel, values);
    if (lanes_clone_take_side(&s.part, branch, node->successors.items[k]) &&
        is_worth_it(&s, *room)) {
      LLVMValueRef end = LLVMGetBasicBlockTerminator(node->block);
      add_form(&s, branch, LLVMGetCondition(end), k == 0);
      *room -= s.part.instructions;
      any = true;
    }
    lanes_clone_end(&s.part);
  }
  return any;
}

bool lanes_version_interior(mtlc_kernel *kernel, const lanes_values *values,
                            uint32_t *room) {
  const lanes_graph *graph = values->graph;
  bool any = try_body(kernel, values, room);
  uint32_t n = any ? graph->node_count : 0;
  while (n < graph->node_count) {
    const lanes_node *node = &graph->nodes[n];
    const bool parts = node->kind == LANES_BLOCK && !values->masked[n] &&
                       values->divergent_branch[n] &&
                       node->successors.count == 2;
    const bool found = parts && try_branch(kernel, values, n, room);
    any |= found;
    n = found ? node->postdominator : n + 1;
  }
  return any;
}
