// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// register_tiling.c: tiles loops whose accumulators exceed the machine's
// registers: such a loop runs several times, each for a part of them. A matrix
// product with 4 x 4 elements a thread needs 64 registers of AVX2 from
// iteration to iteration: each multiplication is then also a load and a store.
// Eight at a time stay in registers.
//
//   header  sums = phi <32 x float> ...      what is kept, some of it
//           more ? body : behind
//   body    loads, arithmetic, lane by lane
//           to the header
//
// or both in one block. Nothing is written to memory in such a loop, so that it
// does not matter what goes first, and all of it goes round as often.
//
// Where threads have several elements side by side in memory, b[4 * x + c], a
// loop that multiplies each by what all lanes share need not take them apart:
// the sums of c = 0 to 3 are kept as their elements lie in memory, and taken
// apart behind the loop.
//
// Requires  loops as finish_vectors.c leaves them
// Leaves    as many loops one behind the other as there are parts
#include "compiler/vectorize/finish/tiling/register_tiling.h"

#include <llvm-c/Target.h>
#include <stddef.h>

#include "compiler/ir/kernel/kernel.h"
#include "compiler/ir/kernel/report.h"
#include "compiler/ir/llvm/instructions.h"
#include "compiler/vectorize/analysis/callees.h"
#include "compiler/vectorize/analysis/uniformity.h"
#include "compiler/vectorize/base/tables.h"
#include "compiler/vectorize/finish/tiling/bundles.h"
#include "compiler/vectorize/finish/tiling/copies.h"
#include "compiler/vectorize/finish/tiling/frames.h"
#include "compiler/vectorize/finish/tiling/items.h"
#include "compiler/vectorize/target/machine.h"

enum {
  MOST_INSTRUCTIONS = 1500,
  MOST_LOOPS = 16,
  // What it costs to keep in memory what is changed in each turn, and what it
  // costs to put a register there and back around a loop, by instructions.
  // Measured on a Zen 3, 2026-11, products of matrices.
  SPILL_COST = 3,
  BOUNDARY_COST = 4,
  BUNDLE_COST = 18,
  USUAL_TURNS = 16,
  WORTH_PERCENT = 80,
  LEAST_LANES = 16,  // of a vector that is split
  // The least share of the machine's registers that a loop keeps to be worth
  // tiling.
  LEAST_PERCENT = 150,
};

// --- Which loops -------------------------------------------------------------

static LLVMBasicBlockRef only_block_before(LLVMValueRef phi,
                                           LLVMBasicBlockRef latch) {
  if (LLVMCountIncoming(phi) != 2) {
    return NULL;
  }
  LLVMBasicBlockRef first = LLVMGetIncomingBlock(phi, 0);
  LLVMBasicBlockRef second = LLVMGetIncomingBlock(phi, 1);
  return first == latch ? second : second == latch ? first : NULL;
}

static bool has_only_successor(LLVMBasicBlockRef from, LLVMBasicBlockRef to) {
  LLVMValueRef end = LLVMGetBasicBlockTerminator(from);
  return LLVMIsABranchInst(end) && !LLVMIsConditional(end) &&
         LLVMGetSuccessor(end, 0) == to;
}

static uint32_t count_ways_to(LLVMBasicBlockRef from, LLVMBasicBlockRef to) {
  LLVMValueRef end = LLVMGetBasicBlockTerminator(from);
  uint32_t count = 0;
  for (unsigned k = 0; k < LLVMGetNumSuccessors(end); k++) {
    count += LLVMGetSuccessor(end, k) == to;
  }
  return count;
}

static bool has_phi(LLVMBasicBlockRef block) {
  LLVMValueRef first = LLVMGetFirstInstruction(block);
  return first && LLVMIsAPHINode(first);
}

// Collects the blocks of a loop with that header.
static bool read_blocks(lanes_region *l, LLVMBasicBlockRef header) {
  LLVMValueRef end = LLVMGetBasicBlockTerminator(header);
  if (!has_phi(header) || !LLVMIsABranchInst(end) || !LLVMIsConditional(end)) {
    return false;
  }
  l->header = header;
  for (unsigned k = 0; k < 2; k++) {
    LLVMBasicBlockRef to = LLVMGetSuccessor(end, k);
    if (to == header || has_only_successor(to, header)) {
      l->body = to;
      l->behind = LLVMGetSuccessor(end, 1 - k);
    }
  }
  if (!l->body || l->behind == header || l->behind == l->body ||
      (l->body != header && has_phi(l->body))) {
    return false;
  }
  l->before = only_block_before(LLVMGetFirstInstruction(header), l->body);
  return l->before && l->before != header &&
         count_ways_to(l->before, header) == 1 &&
         count_ways_to(l->before, l->body) == (l->body == header ? 1 : 0);
}

// Finds the vectors that the header has phis of; all have the same lanes and
// element size.
static bool find_phis(lanes_region *l) {
  LLVMTargetDataRef data = LLVMGetModuleDataLayout(l->kernel->module);
  LLVMValueRef i = LLVMGetFirstInstruction(l->header);
  for (uint32_t n = 0; LLVMIsAPHINode(i); i = LLVMGetNextInstruction(i), n++) {
    const uint32_t lanes = lanes_in(i);
    if (lanes < LEAST_LANES) {
      continue;
    }
    const uint64_t bits =
        LLVMSizeOfTypeInBits(data, LLVMGetElementType(LLVMTypeOf(i)));
    if (l->kept_count == MOST_KEPT ||
        (l->kept_count > 0 && (lanes != l->lanes || bits != l->element_bits))) {
      return false;
    }
    l->lanes = lanes;
    l->element_bits = bits;
    l->kept[l->kept_count++] = n;  // phis are the first items
  }
  return l->kept_count > 0;
}

// Returns how many registers each phi is split into; 0: the loop stays as it
// is.
static uint32_t choose_pieces(const lanes_region *l) {
  const uint64_t in_register = l->machine.vector_bytes * 8 / l->element_bits;
  const uint64_t pieces = in_register ? l->lanes / in_register : 0;
  return pieces >= 1 && pieces <= MOST_PIECES &&
                 pieces * l->kept_count * 100 >=
                     (uint64_t)l->machine.vector_registers * LEAST_PERCENT
             ? (uint32_t)pieces
             : 0;
}

static bool read_items(lanes_region *l) {
  LLVMBasicBlockRef blocks[] = {l->header, l->body};
  const uint32_t block_count = l->body == l->header ? 1 : 2;
  for (uint32_t pass = 0; pass < 2; pass++) {
    l->count = 0;
    for (uint32_t b = 0; b < block_count; b++) {
      for (LLVMValueRef i = LLVMGetFirstInstruction(blocks[b]); i;
           i = LLVMGetNextInstruction(i)) {
        if (pass) {
          l->items[l->count].value = i;
          lanes_map_set(l->arena, &l->numbers, i, l->count);
        }
        l->count++;
      }
    }
    if (!pass) {
      if (l->count > MOST_INSTRUCTIONS) {
        return false;
      }
      l->items = lanes_allocate(l->arena, l->count, sizeof *l->items);
    }
  }
  return true;
}

static bool is_harmless(LLVMValueRef i) {
  switch (LLVMGetInstructionOpcode(i)) {
    case LLVMLoad: return lanes_is_plain(i);
    case LLVMCall: return lanes_is_lanewise_call(i) || lanes_is_prefetch(i);
    case LLVMGetElementPtr:
    case LLVMShuffleVector:
    case LLVMInsertElement:
    case LLVMExtractElement:
    case LLVMBitCast:
    case LLVMBr: return true;
    default: return lanes_is_lanewise(i);
  }
}

static bool has_kept_operand(const lanes_region *l, LLVMValueRef i) {
  for (int k = 0; k < LLVMGetNumOperands(i); k++) {
    LLVMValueRef operand = LLVMGetOperand(i, (unsigned)k);
    const lanes_item *own =
        LLVMValueIsBasicBlock(operand) ? NULL : lanes_item_of(l, operand);
    if (own && own->is_kept) {
      return true;
    }
  }
  return false;
}

// Finds the values that depend on the kept ones. False if one does not do so
// lane by lane.
static bool find_kept(lanes_region *l) {
  for (uint32_t i = 0; i < l->kept_count; i++) {
    l->items[l->kept[i]].is_kept = true;
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t n = 0; n < l->count; n++) {
      if (!l->items[n].is_kept && has_kept_operand(l, l->items[n].value)) {
        l->items[n].is_kept = changed = true;
      }
    }
  }
  for (uint32_t n = 0; n < l->count; n++) {
    LLVMValueRef i = l->items[n].value;
    if (l->items[n].is_kept &&
        (!lanes_is_lanewise(i) || lanes_in(i) != l->lanes)) {
      return false;
    }
  }
  return true;
}

static bool is_bare(const lanes_region *l) {
  for (uint32_t n = 0; n < l->count; n++) {
    LLVMValueRef i = l->items[n].value;
    const bool is_early = l->body != l->header && !LLVMIsAPHINode(i) &&
                          LLVMGetInstructionParent(i) == l->header;
    // The header's instructions come first and are not split.
    if (!is_harmless(i) || (is_early && l->items[n].is_kept)) {
      return false;
    }
  }
  return true;
}

// --- Which of them together --------------------------------------------------

// True if a value depends on no kept phi but that one.
static bool hangs_on_itself(const lanes_region *l, LLVMValueRef value,
                            LLVMValueRef phi, uint32_t steps) {
  const lanes_item *own = lanes_item_of(l, value);
  if (!own || !own->is_kept || value == phi) {
    return true;
  }
  if (LLVMIsAPHINode(value) || steps == 0) {
    return false;
  }
  for (int k = 0; k < LLVMGetNumOperands(value); k++) {
    if (!hangs_on_itself(l, LLVMGetOperand(value, (unsigned)k), phi,
                         steps - 1)) {
      return false;
    }
  }
  return true;
}

// True if each phi depends only on itself, so that any may go to another loop.
static bool are_apart(const lanes_region *l) {
  for (uint32_t i = 0; i < l->kept_count; i++) {
    LLVMValueRef phi = l->items[l->kept[i]].value;
    if (!hangs_on_itself(l, lanes_next_of(l, l->kept[i]), phi, MOST_STEPS)) {
      return false;
    }
  }
  return true;
}

// --- What it costs -----------------------------------------------------------

static uint32_t registers_of(const lanes_region *l, LLVMValueRef value) {
  if (lanes_in(value) == 1) {
    return 1;
  }
  const uint64_t bits = LLVMSizeOfTypeInBits(
      LLVMGetModuleDataLayout(l->kernel->module), LLVMTypeOf(value));
  const uint64_t vector_bits = l->machine.vector_bytes * 8;
  return bits <= vector_bits ? 1 : (uint32_t)(bits / vector_bits);
}

static bool is_broadcast(LLVMValueRef value) {
  return LLVMIsAShuffleVectorInst(value) &&
         LLVMIsAInsertElementInst(LLVMGetOperand(value, 0)) &&
         lanes_is_splat(value, 0, lanes_in(value));
}

static bool is_loaded_for_all(LLVMValueRef i) {
  LLVMUseRef use = LLVMIsALoadInst(i) ? LLVMGetFirstUse(i) : NULL;
  return use && !LLVMGetNextUse(use) &&
         LLVMIsAInsertElementInst(LLVMGetUser(use));
}

static bool is_free(LLVMValueRef i) {
  return LLVMIsAPHINode(i) || LLVMIsAGetElementPtrInst(i) ||
         LLVMIsAInsertElementInst(i) || LLVMIsATerminatorInst(i);
}

// Returns the loop's present cost: a value without a register is stored and
// loaded at each change.
static uint64_t cost_before(const lanes_region *l) {
  const uint64_t room = l->machine.vector_registers * LANES_PART_PERCENT / 100;
  uint64_t cost = 0, changes = 0;
  for (uint32_t n = 0; n < l->count; n++) {
    LLVMValueRef i = l->items[n].value;
    const uint32_t registers = registers_of(l, i);
    cost += is_free(i) ? 0 : is_broadcast(i) ? 1 : registers;
    changes += l->items[n].is_kept && !LLVMIsAPHINode(i) ? registers : 0;
  }
  return cost + changes * (l->unit_count - room) * SPILL_COST / l->unit_count;
}

// Returns the cost of one loop's instructions, each counted once (is_counted).
static uint64_t cost_of(lanes_region *l, LLVMValueRef value) {
  lanes_item *own = lanes_item_of(l, value);
  if (!own || own->is_counted) {
    return 0;
  }
  own->is_counted = true;
  if (LLVMIsAPHINode(value)) {
    return 0;
  }
  const bool in_pieces = LLVMIsAShuffleVectorInst(value) ||
                         LLVMIsALoadInst(value) || lanes_is_lanewise(value);
  // One element for all lanes is a load that repeats it.
  const bool is_free_here = is_free(value) || is_loaded_for_all(value);
  uint64_t cost = is_free_here ? 0 : in_pieces ? 1 : registers_of(l, value);
  for (unsigned k = 0; k < lanes_operand_count(value); k++) {
    cost += cost_of(l, LLVMGetOperand(value, k));
  }
  return cost;
}

// Returns the cost of a register of a bundle, computed interleaved.
static uint64_t cost_of_whole(lanes_region *l, const lanes_bundle *b,
                              LLVMValueRef *values, uint32_t piece) {
  const uint32_t first = piece * lanes_in_piece(l);
  lanes_element from;
  if (values[0] == l->items[b->phis[0]].value) {
    return 0;
  }
  if (lanes_are_all(values, b->count)) {
    return cost_of(l, values[0]);
  }
  if (lanes_lie_side_by_side(l, values, b->count, first, &from)) {
    lanes_item *load = lanes_item_of(l, from.load);
    const uint64_t cost = load->is_counted ? 0 : 1;
    load->is_counted = true;
    return cost;
  }
  uint64_t cost = 1;
  for (unsigned k = 0; k < lanes_operand_count(values[0]); k++) {
    LLVMValueRef operands[MOST_SIDE_BY_SIDE];
    lanes_take_operands(values, b->count, k, operands);
    cost += cost_of_whole(l, b, operands, piece);
  }
  return cost;
}

// Returns how many iterations the loop has, if that is constant; else a usual
// number.
static uint64_t turns_of(const lanes_region *l) {
  LLVMValueRef more = LLVMGetCondition(LLVMGetBasicBlockTerminator(l->header));
  LLVMValueRef bound = LLVMIsAICmpInst(more) ? LLVMGetOperand(more, 1) : NULL;
  for (uint32_t n = 0;
       bound && LLVMIsAConstantInt(bound) && LLVMIsAPHINode(l->items[n].value);
       n++) {
    LLVMValueRef phi = l->items[n].value;
    LLVMValueRef start = lanes_start_of(l, n), next = lanes_next_of(l, n);
    if ((LLVMGetOperand(more, 0) != phi && LLVMGetOperand(more, 0) != next) ||
        !LLVMIsAConstantInt(start) || !mtlc_is_opcode(next, LLVMAdd) ||
        LLVMGetOperand(next, 0) != phi ||
        !LLVMIsAConstantInt(LLVMGetOperand(next, 1))) {
      continue;
    }
    const int64_t by = LLVMConstIntGetSExtValue(LLVMGetOperand(next, 1));
    const int64_t way =
        LLVMConstIntGetSExtValue(bound) - LLVMConstIntGetSExtValue(start);
    return by && way / by > 0 ? (uint64_t)(way / by) : USUAL_TURNS;
  }
  return USUAL_TURNS;
}

// Starts a piece: uniform values are computed once for each loop, the others
// for each piece.
static void begin_piece(lanes_region *l, bool is_first) {
  for (uint32_t n = 0; n < l->count; n++) {
    lanes_item *own = &l->items[n];
    own->is_counted &=
        !is_first && (lanes_in(own->value) == 1 || is_broadcast(own->value));
  }
}

// Returns the cost of all iterations of one loop.
static uint64_t cost_of_loop(lanes_region *l, uint32_t from, uint32_t count,
                             uint64_t turns) {
  enum { OF_A_TURN = 3 };
  uint64_t cost = OF_A_TURN;
  uint64_t around = 0;
  for (uint32_t i = from; i < from + count; i++) {
    const lanes_unit *u = &l->units[i];
    if (i == from || u->piece != l->units[i - 1].piece) {
      begin_piece(l, i == from);
    }
    const bool is_turned =
        u->bundle != LANES_NONE && !l->bundles[u->bundle].is_in_frame;
    around += is_turned ? BUNDLE_COST : BOUNDARY_COST;
    if (u->bundle == LANES_NONE) {
      cost += cost_of(l, lanes_next_of(l, u->number));
      continue;
    }
    const lanes_bundle *b = &l->bundles[u->bundle];
    LLVMValueRef nexts[MOST_SIDE_BY_SIDE];
    lanes_nexts_of(l, b, nexts);
    cost += cost_of_whole(l, b, nexts, u->piece);
  }
  return cost * turns + around;
}

static bool is_worth_it(lanes_region *l) {
  const uint64_t turns = turns_of(l);
  uint64_t cost = 0;
  for (uint32_t from = 0, count; from < l->unit_count; from += count) {
    count = lanes_units_together(l, from);
    cost += cost_of_loop(l, from, count, turns);
    l->loop_count++;
  }
  return l->loop_count > 1 && l->loop_count <= MOST_LOOPS &&
         cost * 100 <= cost_before(l) * turns * WORTH_PERCENT;
}

// --- All loops ---------------------------------------------------------------

static bool may_part(lanes_region *l, LLVMBasicBlockRef header) {
  l->pieces = read_blocks(l, header) && find_phis(l) ? choose_pieces(l) : 0;
  if (!l->pieces || !read_items(l) || !find_kept(l) || !is_bare(l) ||
      !are_apart(l) || !lanes_may_be_left(l)) {
    return false;
  }
  lanes_find_units(l);
  lanes_find_frames(l);
  return is_worth_it(l);
}

static bool part_loop(mtlc_kernel *kernel, lanes_machine machine,
                      LLVMBasicBlockRef header) {
  mtli_arena arena = {0};
  lanes_region l = {.kernel = kernel, .machine = machine, .arena = &arena};
  const bool may = may_part(&l, header);
  if (may) {
    mtlc_report(kernel, "a loop goes round in %u parts: %u registers",
                l.loop_count, l.unit_count);
    l.builder = LLVMCreateBuilderInContext(kernel->context);
    l.before_builder = LLVMCreateBuilderInContext(kernel->context);
    lanes_make_loops(&l);
    LLVMDisposeBuilder(l.builder);
    LLVMDisposeBuilder(l.before_builder);
  }
  mtli_arena_clear(&arena);
  return may;
}

bool lanes_tile_loops(mtlc_kernel *kernel) {
  const lanes_machine machine = lanes_machine_of(kernel->target);
  bool any = false;
  for (LLVMValueRef f = LLVMGetFirstFunction(kernel->module); f;
       f = LLVMGetNextFunction(f)) {
    // Blocks of tiled loops come before the block that they were made of.
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(f); block;
         block = LLVMGetNextBasicBlock(block)) {
      any |= part_loop(kernel, machine, block);
    }
  }
  return any;
}
