// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// unmasked.c: where threads may part they mostly do not: `if (i < n)` parts one
// simdgroup of a grid, `for (i = lane; i < n; i += 32)` the last turn of a row.
// Without registers for masks, code under a mask costs a multiple: masks are
// widened at each use, stores under one take a dozen cycles. And of lanes that
// are constants apart the first one's address tells all, if it runs. So there
// are two forms: a branch that all threads take, and turns of a loop in which
// all go on, are code of their own, without masks. When they part, the first
// form leaves for the second: behind the branch, at the next turn of the loop,
// or at the beginning of a turn that has done nothing yet but load.
#include "compiler/vectorize/unmasked.h"

#include <stdlib.h>

#include "compiler/vectorize/accesses.h"
#include "compiler/vectorize/calls.h"
#include "compiler/vectorize/patterns.h"

enum {
  LEAST_ACCESSES_WITH_MASKS = 4,
  LEAST_UNEVEN_ACCESSES = 2,  // there
  // And of a branch, which each thread comes to once, one in so many: a second
  // form of much else makes functions too long to be part of the loop over
  // simdgroups.
  MOST_INSTRUCTIONS_EACH = 12,
};

// Part of the thread function, to be copied.
typedef struct part {
  mtlc_kernel *kernel;
  const lanes_values *values;
  lanes_pattern_finder *patterns;
  const lanes_graph *graph;
  LLVMBuilderRef builder;
  lanes_set nodes;       // [node_count] its blocks and latches
  LLVMBasicBlockRef entry;  // of them
  uint32_t first, last;  // no node of it is outside
  uint32_t instructions;
  uint32_t accesses;  // that cost less without a mask
  uint32_t uneven_accesses;  // whose masks are not those of the threads
  bool has_masks;     // the machine has registers for them
  bool fits;          // can be copied
  lanes_map numbers;  // a block or an instruction of it, to its copy
  LLVMValueRef *copies;
} part;

// --- What can be copied ------------------------------------------------------

static LLVMBasicBlockRef block_of(const part *p, uint32_t node) {
  return p->graph->nodes[node].kind == LANES_BLOCK ? p->graph->nodes[node].block
                                                   : NULL;
}

static bool has_block(const part *p, LLVMBasicBlockRef block) {
  const uint32_t node = lanes_map_get(&p->graph->blocks, block);
  return node != LANES_NONE && lanes_set_has(p->nodes, node);
}

// Says whether what an instruction computes leaves only through phis.
static bool leaves_by_phis(const part *p, LLVMValueRef i) {
  for (LLVMUseRef use = LLVMGetFirstUse(i); use; use = LLVMGetNextUse(use)) {
    LLVMValueRef user = LLVMGetUser(use);
    if (has_block(p, LLVMGetInstructionParent(user))) {
      continue;
    }
    if (!LLVMIsAPHINode(user)) {
      return false;
    }
    for (unsigned k = 0; k < LLVMCountIncoming(user); k++) {
      if (LLVMGetIncomingValue(user, k) == i &&
          !has_block(p, LLVMGetIncomingBlock(user, k))) {
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
    case LANES_CALLEE_THREADGROUP_BARRIER:  // waits are counted
    case LANES_CALLEE_TILE:
    case LANES_CALLEE_UNKNOWN: return false;
    default: return true;
  }
}

// Says whether an instruction is a vector's access to memory, or any that
// writes, where masks cost. Gathers have masks of their own, but those whose
// lanes are constants apart are none where all of them run.
static bool pays_for_mask(const part *p, LLVMValueRef i) {
  switch (LLVMGetInstructionOpcode(i)) {
    case LLVMLoad: {
      LLVMValueRef pointer = LLVMGetOperand(i, 0);
      const lanes_shape at = lanes_shape_of(p->values, pointer);
      return at.row > 1 ? !p->has_masks && !lanes_is_uniform(at)
                        : lanes_has_pattern(p->patterns, pointer);
    }
    case LLVMStore:
      return !p->has_masks &&
             !lanes_is_uniform(lanes_shape_of(p->values, LLVMGetOperand(i, 1)));
    default: return false;
  }
}

// Says whether an instruction is an access to memory whose mask is not that of
// the threads as it is: of vectors, where each bit stands for several elements,
// and of bytes and halves, which are not loaded and extended at once then.
static bool is_uneven(const part *p, LLVMValueRef i) {
  const bool is_store = mtlc_is_opcode(i, LLVMStore);
  if (!is_store && !LLVMIsALoadInst(i)) {
    return false;
  }
  LLVMTypeRef type = LLVMTypeOf(is_store ? LLVMGetOperand(i, 0) : i);
  const lanes_shape at =
      lanes_shape_of(p->values, LLVMGetOperand(i, is_store ? 1 : 0));
  return at.row > 1 && !lanes_is_uniform(at) &&
         (LLVMGetTypeKind(type) == LLVMVectorTypeKind ||
          LLVMSizeOfTypeInBits(p->values->data, type) < 32);
}

static void survey(part *p) {
  p->fits = true;
  p->first = lanes_set_next(p->nodes, 0);
  for (uint32_t n = p->first; n != LANES_NONE && p->fits;
       n = lanes_set_next(p->nodes, n + 1)) {
    p->last = n;
    LLVMBasicBlockRef block = block_of(p, n);
    for (LLVMValueRef i = block ? LLVMGetFirstInstruction(block) : NULL; i;
         i = LLVMGetNextInstruction(i)) {
      p->instructions++;
      p->accesses += pays_for_mask(p, i);
      p->uneven_accesses += is_uneven(p, i);
      p->fits &= may_be_copied(i) && leaves_by_phis(p, i);
    }
  }
}

// --- Copies ------------------------------------------------------------------

static LLVMValueRef copy_of(const part *p, LLVMValueRef value) {
  const uint32_t number = lanes_map_get(&p->numbers, value);
  return number == LANES_NONE ? value : p->copies[number];
}

static LLVMBasicBlockRef block_copy(const part *p, LLVMBasicBlockRef block) {
  const uint32_t number = lanes_map_get(&p->numbers, block);
  return number == LANES_NONE ? block
                              : LLVMValueAsBasicBlock(p->copies[number]);
}

static void note_copy(part *p, const void *original, LLVMValueRef copy) {
  const uint32_t number = p->numbers.count;
  p->copies[number] = copy;
  lanes_map_set(p->graph->arena, &p->numbers, original, number);
}

static LLVMBasicBlockRef new_block(const part *p, LLVMBasicBlockRef before) {
  return LLVMInsertBasicBlockInContext(p->kernel->context, before, "");
}

// Copies of blocks and instructions that still name the originals.
static void copy_instructions(part *p, LLVMBasicBlockRef before) {
  for (uint32_t n = p->first; n <= p->last; n++) {
    LLVMBasicBlockRef block =
        lanes_set_has(p->nodes, n) ? block_of(p, n) : NULL;
    if (!block) {
      continue;
    }
    LLVMBasicBlockRef copy = new_block(p, before);
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

// A copied phi has the ways that lead within the part, and where the part is
// entered, for the way from a block the one from what stands for it.
static void link_phi(const part *p, LLVMValueRef phi, LLVMBasicBlockRef from,
                     LLVMBasicBlockRef as) {
  LLVMValueRef copy = copy_of(p, phi);
  const bool is_entry = LLVMGetInstructionParent(phi) == p->entry;
  for (unsigned k = 0; k < LLVMCountIncoming(phi); k++) {
    LLVMBasicBlockRef block = LLVMGetIncomingBlock(phi, k);
    LLVMValueRef value = copy_of(p, LLVMGetIncomingValue(phi, k));
    if (has_block(p, block)) {
      block = block_copy(p, block);
      LLVMAddIncoming(copy, &value, &block, 1);
    } else if (is_entry && block == from) {
      LLVMAddIncoming(copy, &value, &as, 1);
    }
  }
}

static void link_instruction(const part *p, LLVMValueRef i) {
  LLVMValueRef copy = copy_of(p, i);
  for (unsigned k = 0; k < (unsigned)LLVMGetNumOperands(copy); k++) {
    LLVMValueRef operand = LLVMGetOperand(copy, k);
    if (!LLVMValueIsBasicBlock(operand)) {
      LLVMSetOperand(copy, k, copy_of(p, operand));
    }
  }
  if (LLVMIsATerminatorInst(copy)) {
    for (unsigned k = 0; k < LLVMGetNumSuccessors(copy); k++) {
      LLVMSetSuccessor(copy, k, block_copy(p, LLVMGetSuccessor(copy, k)));
    }
  }
}

// Gives the phis of a block outside, to which a block of the part leads, a way
// from a block that hands on what the copy computed.
static void add_way(const part *p, LLVMBasicBlockRef to, LLVMBasicBlockRef from,
                    LLVMBasicBlockRef as) {
  for (LLVMValueRef phi = LLVMGetFirstInstruction(to); LLVMIsAPHINode(phi);
       phi = LLVMGetNextInstruction(phi)) {
    for (unsigned k = 0; k < LLVMCountIncoming(phi); k++) {
      if (LLVMGetIncomingBlock(phi, k) == from) {
        LLVMValueRef value = copy_of(p, LLVMGetIncomingValue(phi, k));
        LLVMAddIncoming(phi, &value, &as, 1);
        break;
      }
    }
  }
}

// Copies the part; from is where control comes to it, as where to its copy.
static void copy_part(part *p, LLVMBasicBlockRef from, LLVMBasicBlockRef as) {
  const uint32_t blocks = p->last - p->first + 1;
  p->copies = lanes_allocate(p->graph->arena, p->instructions + blocks,
                             sizeof *p->copies);
  copy_instructions(p, from);
  for (uint32_t n = p->first; n <= p->last; n++) {
    LLVMBasicBlockRef block =
        lanes_set_has(p->nodes, n) ? block_of(p, n) : NULL;
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

// Puts a block in front of another: all that this has but its end, and what
// leads to it.
static LLVMBasicBlockRef put_head(const part *p, LLVMBasicBlockRef block) {
  LLVMBasicBlockRef head = new_block(p, block);
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

// Whether there are all threads, and for all a condition, or its opposite,
// holds.
static LLVMValueRef ask(const part *p, LLVMValueRef condition, bool holds) {
  LLVMTypeRef type = LLVMTypeOf(condition);
  LLVMValueRef function = mtlc_declare(p->kernel->module, "mettle.all",
                                       LLVMFunctionType(type, &type, 1, false));
  if (!holds) {
    condition = LLVMBuildNot(p->builder, condition, "");
  }
  return mtlc_call(p->builder, function, &condition, 1);
}

// --- Branches ----------------------------------------------------------------

static part new_part(mtlc_kernel *kernel, lanes_pattern_finder *patterns) {
  const lanes_values *values = patterns->values;
  return (part){
      .kernel = kernel,
      .values = values,
      .patterns = patterns,
      .has_masks = lanes_machine_of(kernel->target).has_avx512,
      .graph = values->graph,
      .builder = LLVMCreateBuilderInContext(kernel->context),
      .nodes = lanes_set_make(values->arena, values->graph->node_count)};
}

// All that lies between a way out of a branch and where its threads meet.
static bool collect_side(part *p, uint32_t branch, uint32_t first) {
  const lanes_graph *graph = p->graph;
  const uint32_t meeting = graph->nodes[branch].postdominator;
  const uint32_t loop = graph->nodes[branch].loop;
  if (meeting == LANES_NONE || first >= meeting ||
      graph->nodes[meeting].kind == LANES_LATCH ||
      graph->nodes[meeting].loop != loop) {
    return false;
  }
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
  survey(p);
  return true;
}

static void copy_side(part *p, uint32_t branch, uint32_t k) {
  const lanes_graph *graph = p->graph;
  LLVMBasicBlockRef block = graph->nodes[branch].block;
  LLVMValueRef end = LLVMGetBasicBlockTerminator(block);
  LLVMBasicBlockRef head = put_head(p, block);
  copy_part(p, block, head);
  for (uint32_t n = p->first; n <= p->last; n++) {
    LLVMBasicBlockRef from = lanes_set_has(p->nodes, n) ? block_of(p, n) : NULL;
    LLVMValueRef last = from ? LLVMGetBasicBlockTerminator(from) : NULL;
    for (unsigned s = 0; last && s < LLVMGetNumSuccessors(last); s++) {
      LLVMBasicBlockRef to = LLVMGetSuccessor(last, s);
      if (!has_block(p, to) && (s == 0 || to != LLVMGetSuccessor(last, 0))) {
        add_way(p, to, from, block_copy(p, from));
      }
    }
  }
  LLVMPositionBuilderAtEnd(p->builder, head);
  LLVMBuildCondBr(p->builder, ask(p, LLVMGetCondition(end), k == 0),
                  block_copy(p, p->entry), block);
}

// --- Loops -------------------------------------------------------------------

static LLVMBasicBlockRef header_of(const part *p, uint32_t loop) {
  return p->graph->nodes[p->graph->loops[loop].header].block;
}

// Says whether a turn of a loop that has come as far as the end of a node has
// only computed and loaded: it may be begun again.
static bool may_begin_again(const part *p, uint32_t loop, uint32_t node) {
  if (p->graph->nodes[node].loop != loop) {
    return false;
  }
  for (uint32_t n = p->graph->loops[loop].header; n <= node; n++) {
    LLVMBasicBlockRef block = block_of(p, n);
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
  EXIT_SAME_WAY,  // by all threads that are there
  EXIT_AT_END,    // threads part behind a turn
  EXIT_INSIDE,    // threads part in one that may be begun again
  EXIT_UNFIT,
} exit_kind;

static exit_kind kind_of_exit(const part *p, uint32_t loop, uint32_t node) {
  LLVMBasicBlockRef block = block_of(p, node);
  LLVMValueRef end = block ? LLVMGetBasicBlockTerminator(block) : NULL;
  const unsigned count = end ? LLVMGetNumSuccessors(end) : 0;
  unsigned leaving = 0;
  unsigned returning = 0;
  for (unsigned k = 0; k < count; k++) {
    leaving += !has_block(p, LLVMGetSuccessor(end, k));
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

static bool collect_loop(part *p, uint32_t loop) {
  const lanes_graph *graph = p->graph;
  p->entry = header_of(p, loop);
  for (uint32_t n = graph->loops[loop].header; n <= graph->loops[loop].latch;
       n++) {
    lanes_set_add(p->nodes, n);
  }
  survey(p);
  for (uint32_t n = p->first; n <= p->last && p->fits; n++) {
    p->fits = kind_of_exit(p, loop, n) != EXIT_UNFIT;
  }
  return graph->loops[loop].back_edge_count == 1;
}

// Lets threads go from a block to the second form of a loop, to where it is
// entered, whose phis are `phis`, in the order of the header's: with the values
// of a way to the header, or with those that the turn at hand began with.
static void enter_second(const part *p, uint32_t loop, LLVMBasicBlockRef from,
                         LLVMBasicBlockRef way, LLVMValueRef *phis) {
  LLVMValueRef phi = LLVMGetFirstInstruction(header_of(p, loop));
  for (uint32_t i = 0; LLVMIsAPHINode(phi);
       i++, phi = LLVMGetNextInstruction(phi)) {
    LLVMValueRef value = copy_of(p, phi);
    for (unsigned k = 0; way && k < LLVMCountIncoming(phi); k++) {
      if (LLVMGetIncomingBlock(phi, k) == way) {
        value = copy_of(p, LLVMGetIncomingValue(phi, k));
      }
    }
    LLVMAddIncoming(phis[i], &value, &from, 1);
  }
}

static void leave_first(const part *p, uint32_t loop, uint32_t node,
                        LLVMBasicBlockRef entry, LLVMValueRef *phis) {
  const exit_kind kind = kind_of_exit(p, loop, node);
  if (kind == EXIT_NONE) {
    return;
  }
  LLVMBasicBlockRef block = block_of(p, node);
  LLVMBasicBlockRef copy = block_copy(p, block);
  LLVMValueRef end = LLVMGetBasicBlockTerminator(copy);
  if (kind == EXIT_SAME_WAY) {
    for (unsigned k = 0; k < LLVMGetNumSuccessors(end); k++) {
      LLVMBasicBlockRef to =
          LLVMGetSuccessor(LLVMGetBasicBlockTerminator(block), k);
      if (!has_block(p, to)) {
        add_way(p, to, block, copy);
      }
    }
    return;
  }
  LLVMValueRef original = LLVMGetBasicBlockTerminator(block);
  const unsigned stays = has_block(p, LLVMGetSuccessor(original, 0)) ? 0 : 1;
  LLVMBasicBlockRef outside = LLVMGetSuccessor(original, 1 - stays);
  LLVMBasicBlockRef parting = entry;
  LLVMPositionBuilderBefore(p->builder, end);
  LLVMValueRef all = ask(p, LLVMGetCondition(end), stays == 0);
  if (kind == EXIT_AT_END) {
    parting = new_block(p, entry);
    add_way(p, outside, block, parting);
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

static void copy_loop(part *p, uint32_t loop) {
  LLVMBasicBlockRef header = header_of(p, loop);
  const uint32_t before = p->graph->nodes[p->first].dominator;
  LLVMBasicBlockRef entry = p->graph->nodes[before].block;
  LLVMBasicBlockRef head = put_head(p, entry);
  copy_part(p, entry, head);
  LLVMPositionBuilderAtEnd(p->builder, head);
  LLVMTypeRef bit = LLVMInt1TypeInContext(p->kernel->context);
  LLVMBuildCondBr(p->builder, ask(p, LLVMConstInt(bit, 1, false), true),
                  block_copy(p, header), entry);
  uint32_t count = 0;
  LLVMValueRef *phis = lanes_allocate(p->graph->arena, p->instructions + 1,
                                      sizeof *phis);
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

// Where uneven accesses are the reason, of so many instructions each at most.
static bool is_worth_it(const part *p, uint32_t room, bool waits,
                        uint64_t most_each) {
  const uint32_t least = p->has_masks ? LEAST_ACCESSES_WITH_MASKS : 1;
  return p->fits && p->instructions <= room &&
         (p->accesses >= least ||
          (!waits && p->uneven_accesses >= LEAST_UNEVEN_ACCESSES &&
           p->instructions <= most_each * p->uneven_accesses));
}

// Says whether the node in front of a loop leads nowhere else, and all threads
// come to it.
static bool is_entered_by_all(const lanes_values *values, uint32_t loop) {
  const lanes_graph *graph = values->graph;
  const uint32_t before = graph->nodes[graph->loops[loop].header].dominator;
  return before != LANES_NONE && graph->nodes[before].kind == LANES_BLOCK &&
         graph->nodes[before].successors.count == 1 && !values->masked[before];
}

// The end of a block whose loop or side has a form without masks in front of
// it, and needs no other.
static const char has_form[] = "mettle.has_unmasked";

static LLVMValueRef end_of(const lanes_graph *graph, uint32_t node) {
  return LLVMGetBasicBlockTerminator(graph->nodes[node].block);
}

// Returns the node behind what was copied, or LANES_NONE.
static uint32_t try_loop(mtlc_kernel *kernel, lanes_pattern_finder *patterns,
                         uint32_t loop, bool waits, uint32_t *room) {
  const lanes_values *values = patterns->values;
  if (!values->divergent_loop[loop] || !is_entered_by_all(values, loop)) {
    return LANES_NONE;
  }
  part p = new_part(kernel, patterns);
  const bool worth = collect_loop(&p, loop) &&
                     is_worth_it(&p, *room, waits, UINT32_MAX);
  if (worth) {
    copy_loop(&p, loop);
    const uint32_t header = values->graph->loops[loop].header;
    mtlc_mark(end_of(values->graph, header), has_form);
    *room -= p.instructions;
  }
  LLVMDisposeBuilder(p.builder);
  return worth ? p.last + 1 : LANES_NONE;
}

static uint32_t try_branch(mtlc_kernel *kernel, lanes_pattern_finder *patterns,
                           uint32_t branch, bool waits, uint32_t *room) {
  const lanes_node *node = &patterns->values->graph->nodes[branch];
  uint32_t next = LANES_NONE;
  for (uint32_t k = 0; k < node->successors.count; k++) {
    part p = new_part(kernel, patterns);
    if (collect_side(&p, branch, node->successors.items[k]) &&
        is_worth_it(&p, *room, waits, MOST_INSTRUCTIONS_EACH)) {
      copy_side(&p, branch, k);
      mtlc_mark(end_of(p.graph, branch), has_form);
      *room -= p.instructions;
      next = node->postdominator;
    }
    LLVMDisposeBuilder(p.builder);
  }
  return next;
}

bool lanes_add_unmasked(mtlc_kernel *kernel, const lanes_values *values,
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

bool lanes_is_unmasked_entry(const lanes_graph *graph, uint32_t node) {
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

void lanes_forget_unmasked(LLVMModuleRef module) {
  mtlc_values questions = {0};
  mtlc_collect_calls(module, "mettle.all", &questions);
  for (size_t i = 0; i < questions.count; i++) {
    mtlc_replace(questions.items[i],
                 LLVMConstNull(LLVMTypeOf(questions.items[i])));
  }
  free(questions.items);
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
    // The function that is not in place is called for those with gaps.
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
