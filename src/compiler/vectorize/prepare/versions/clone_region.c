// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// clone_region.c: clones regions of the thread function, as versions for
// simdgroups for which some condition holds.
#include "compiler/vectorize/prepare/versions/clone_region.h"

#include <stddef.h>

#include "compiler/ir/kernel/kernel.h"
#include "compiler/ir/llvm/calls.h"
#include "compiler/vectorize/analysis/callees.h"
#include "compiler/vectorize/analysis/graph.h"
#include "compiler/vectorize/analysis/uniformity.h"
#include "compiler/vectorize/base/tables.h"

lanes_clone lanes_clone_begin(mtlc_kernel *kernel, const lanes_values *values) {
  return (lanes_clone){
      .kernel = kernel,
      .values = values,
      .graph = values->graph,
      .builder = LLVMCreateBuilderInContext(kernel->context),
      .nodes = lanes_set_make(values->arena, values->graph->node_count)};
}

void lanes_clone_end(lanes_clone *p) {
  LLVMDisposeBuilder(p->builder);
}

// --- What can be copied ------------------------------------------------------

LLVMBasicBlockRef lanes_clone_block(const lanes_clone *p, uint32_t node) {
  return p->graph->nodes[node].kind == LANES_BLOCK ? p->graph->nodes[node].block
                                                   : NULL;
}

bool lanes_clone_has(const lanes_clone *p, LLVMBasicBlockRef block) {
  const uint32_t node = lanes_map_get(&p->graph->blocks, block);
  return node != LANES_NONE && lanes_set_has(p->nodes, node);
}

// True if an instruction's result leaves the region only through phis.
static bool leaves_by_phis(const lanes_clone *p, LLVMValueRef i) {
  for (LLVMUseRef use = LLVMGetFirstUse(i); use; use = LLVMGetNextUse(use)) {
    LLVMValueRef user = LLVMGetUser(use);
    if (lanes_clone_has(p, LLVMGetInstructionParent(user))) {
      continue;
    }
    if (!LLVMIsAPHINode(user)) {
      return false;
    }
    for (unsigned k = 0; k < LLVMCountIncoming(user); k++) {
      if (LLVMGetIncomingValue(user, k) == i &&
          !lanes_clone_has(p, LLVMGetIncomingBlock(user, k))) {
        return false;
      }
    }
  }
  return true;
}

static bool may_be_copied(LLVMValueRef i) {
  if (LLVMIsAAllocaInst(i)) {
    return false;
  }
  if (!LLVMIsACallInst(i)) {
    return true;
  }
  switch (lanes_callee_of(i)) {
    case LANES_CALLEE_THREADGROUP_BARRIER:  // barriers are numbered, so they
                                            // cannot be cloned
    case LANES_CALLEE_TILE:
    case LANES_CALLEE_UNKNOWN: return false;
    default: return true;
  }
}

void lanes_clone_survey(lanes_clone *p) {
  p->fits = true;
  p->first = lanes_set_next(p->nodes, 0);
  for (uint32_t n = p->first; n != LANES_NONE && p->fits;
       n = lanes_set_next(p->nodes, n + 1)) {
    p->last = n;
    LLVMBasicBlockRef block = lanes_clone_block(p, n);
    for (LLVMValueRef i = block ? LLVMGetFirstInstruction(block) : NULL; i;
         i = LLVMGetNextInstruction(i)) {
      p->instructions++;
      p->fits &= may_be_copied(i) && leaves_by_phis(p, i);
    }
  }
}

// --- Copies ------------------------------------------------------------------

LLVMValueRef lanes_clone_copy_of(const lanes_clone *p, LLVMValueRef value) {
  const uint32_t number = lanes_map_get(&p->numbers, value);
  return number == LANES_NONE ? value : p->copies[number];
}

LLVMBasicBlockRef lanes_clone_block_copy(const lanes_clone *p,
                                        LLVMBasicBlockRef block) {
  const uint32_t number = lanes_map_get(&p->numbers, block);
  return number == LANES_NONE ? block
                              : LLVMValueAsBasicBlock(p->copies[number]);
}

static void note_copy(lanes_clone *p, const void *original, LLVMValueRef copy) {
  const uint32_t number = p->numbers.count;
  p->copies[number] = copy;
  lanes_map_set(p->graph->arena, &p->numbers, original, number);
}

LLVMBasicBlockRef lanes_clone_new_block(const lanes_clone *p,
                                       LLVMBasicBlockRef before) {
  return LLVMInsertBasicBlockInContext(p->kernel->context, before, "");
}

// Copies blocks and instructions, with operands that still name the originals.
static void copy_instructions(lanes_clone *p, LLVMBasicBlockRef before) {
  for (uint32_t n = p->first; n <= p->last; n++) {
    LLVMBasicBlockRef block =
        lanes_set_has(p->nodes, n) ? lanes_clone_block(p, n) : NULL;
    if (!block) {
      continue;
    }
    LLVMBasicBlockRef copy = lanes_clone_new_block(p, before);
    note_copy(p, block, LLVMBasicBlockAsValue(copy));
    LLVMPositionBuilderAtEnd(p->builder, copy);
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i;
         i = LLVMGetNextInstruction(i)) {
      LLVMValueRef made;
      if (LLVMIsAPHINode(i)) {
        made = LLVMBuildPhi(p->builder, LLVMTypeOf(i), "");
      } else {
        made = LLVMInstructionClone(i);
        LLVMInsertIntoBuilder(p->builder, made);
      }
      note_copy(p, i, made);
    }
  }
}

// Adds to a copied phi the edges within the region, and at the region's entry
// those from its predecessors' replacements.
static void link_phi(const lanes_clone *p, LLVMValueRef phi,
                     LLVMBasicBlockRef from, LLVMBasicBlockRef as) {
  LLVMValueRef copy = lanes_clone_copy_of(p, phi);
  const bool is_entry = LLVMGetInstructionParent(phi) == p->entry;
  for (unsigned k = 0; k < LLVMCountIncoming(phi); k++) {
    LLVMBasicBlockRef block = LLVMGetIncomingBlock(phi, k);
    LLVMValueRef value = lanes_clone_copy_of(p, LLVMGetIncomingValue(phi, k));
    if (lanes_clone_has(p, block)) {
      block = lanes_clone_block_copy(p, block);
      LLVMAddIncoming(copy, &value, &block, 1);
    } else if (is_entry && block == from) {
      LLVMAddIncoming(copy, &value, &as, 1);
    }
  }
}

static void link_instruction(const lanes_clone *p, LLVMValueRef i) {
  LLVMValueRef copy = lanes_clone_copy_of(p, i);
  for (unsigned k = 0; k < (unsigned)LLVMGetNumOperands(copy); k++) {
    LLVMValueRef operand = LLVMGetOperand(copy, k);
    if (!LLVMValueIsBasicBlock(operand)) {
      LLVMSetOperand(copy, k, lanes_clone_copy_of(p, operand));
    }
  }
  if (LLVMIsATerminatorInst(copy)) {
    for (unsigned k = 0; k < LLVMGetNumSuccessors(copy); k++) {
      LLVMSetSuccessor(copy, k,
                       lanes_clone_block_copy(p, LLVMGetSuccessor(copy, k)));
    }
  }
}

// Adds to the phis of a block after the region an edge from a block that passes
// on the clone's results.
void lanes_clone_add_path(const lanes_clone *p, LLVMBasicBlockRef to,
                        LLVMBasicBlockRef from, LLVMBasicBlockRef as) {
  for (LLVMValueRef phi = LLVMGetFirstInstruction(to); LLVMIsAPHINode(phi);
       phi = LLVMGetNextInstruction(phi)) {
    for (unsigned k = 0; k < LLVMCountIncoming(phi); k++) {
      if (LLVMGetIncomingBlock(phi, k) == from) {
        LLVMValueRef value =
            lanes_clone_copy_of(p, LLVMGetIncomingValue(phi, k));
        LLVMAddIncoming(phi, &value, &as, 1);
        break;
      }
    }
  }
}

// Clones the region. `from` leads to the region, and `to` to the clone.
void lanes_clone_copy(lanes_clone *p, LLVMBasicBlockRef from,
                     LLVMBasicBlockRef as) {
  const uint32_t blocks = p->last - p->first + 1;
  p->copies = lanes_allocate(p->graph->arena, p->instructions + blocks,
                             sizeof *p->copies);
  copy_instructions(p, from);
  for (uint32_t n = p->first; n <= p->last; n++) {
    LLVMBasicBlockRef block =
        lanes_set_has(p->nodes, n) ? lanes_clone_block(p, n) : NULL;
    for (LLVMValueRef i = block ? LLVMGetFirstInstruction(block) : NULL; i;
         i = LLVMGetNextInstruction(i)) {
      if (LLVMIsAPHINode(i)) {
        link_phi(p, i, from, as);
      } else {
        link_instruction(p, i);
      }
    }
  }
}

// Splits a block off in front of another: it takes all its instructions but the
// last, and its predecessors.
LLVMBasicBlockRef lanes_clone_put_head(const lanes_clone *p,
                                      LLVMBasicBlockRef block) {
  LLVMBasicBlockRef head = lanes_clone_new_block(p, block);
  LLVMValueRef function = LLVMGetBasicBlockParent(block);
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b;
       b = LLVMGetNextBasicBlock(b)) {
    LLVMValueRef end = LLVMGetBasicBlockTerminator(b);
    for (unsigned k = 0; end && k < LLVMGetNumSuccessors(end); k++) {
      if (LLVMGetSuccessor(end, k) == block) {
        LLVMSetSuccessor(end, k, head);
      }
    }
  }
  LLVMValueRef end = LLVMGetBasicBlockTerminator(block);
  LLVMPositionBuilderAtEnd(p->builder, head);
  LLVMValueRef next = NULL;
  for (LLVMValueRef i = LLVMGetFirstInstruction(block); i != end; i = next) {
    next = LLVMGetNextInstruction(i);
    LLVMInstructionRemoveFromParent(i);
    LLVMInsertIntoBuilder(p->builder, i);
  }
  return head;
}

// Returns whether all threads exist and a condition, or its opposite, holds for
// all.
LLVMValueRef lanes_clone_check(const lanes_clone *p, LLVMValueRef condition,
                            bool holds) {
  LLVMTypeRef type = LLVMTypeOf(condition);
  LLVMValueRef function = mtlc_declare(p->kernel->module, "mettle.all",
                                       LLVMFunctionType(type, &type, 1, false));
  if (!holds) {
    condition = LLVMBuildNot(p->builder, condition, "");
  }
  return mtlc_call(p->builder, function, &condition, 1);
}

// --- Sides of branches -------------------------------------------------------

bool lanes_clone_take(lanes_clone *p, uint32_t first, uint32_t meeting) {
  const lanes_graph *graph = p->graph;
  const uint32_t loop = graph->nodes[meeting].loop;
  p->entry = graph->nodes[first].block;
  lanes_set_add(p->nodes, first);
  for (uint32_t n = first; n < meeting; n++) {
    const lanes_list *to = &graph->nodes[n].successors;
    if (!lanes_set_has(p->nodes, n)) {
      continue;
    }
    if (loop != LANES_NONE && !lanes_in_loop(graph, n, loop)) {
      return false;
    }
    for (uint32_t k = 0; k < to->count; k++) {
      if (to->items[k] < meeting) {
        lanes_set_add(p->nodes, to->items[k]);
      } else if (to->items[k] > meeting) {
        return false;
      }
    }
  }
  lanes_clone_survey(p);
  return true;
}

bool lanes_clone_take_side(lanes_clone *p, uint32_t branch, uint32_t first) {
  const lanes_node *nodes = p->graph->nodes;
  const uint32_t meeting = nodes[branch].postdominator;
  return meeting != LANES_NONE && first < meeting &&
         nodes[meeting].kind != LANES_LATCH &&
         nodes[meeting].loop == nodes[branch].loop &&
         lanes_clone_take(p, first, meeting);
}

void lanes_clone_copy_side(lanes_clone *p, uint32_t branch) {
  LLVMBasicBlockRef block = p->graph->nodes[branch].block;
  LLVMBasicBlockRef head = lanes_clone_put_head(p, block);
  lanes_clone_copy(p, block, head);
  for (uint32_t n = p->first; n <= p->last; n++) {
    LLVMBasicBlockRef from =
        lanes_set_has(p->nodes, n) ? lanes_clone_block(p, n) : NULL;
    LLVMValueRef last = from ? LLVMGetBasicBlockTerminator(from) : NULL;
    for (unsigned s = 0; last && s < LLVMGetNumSuccessors(last); s++) {
      LLVMBasicBlockRef to = LLVMGetSuccessor(last, s);
      if (!lanes_clone_has(p, to) &&
          (s == 0 || to != LLVMGetSuccessor(last, 0))) {
        lanes_clone_add_path(p, to, from, lanes_clone_block_copy(p, from));
      }
    }
  }
  LLVMPositionBuilderAtEnd(p->builder, head);
}
