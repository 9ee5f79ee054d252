// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// copies.c: makes the loops that a tiled loop becomes (register_tiling.c), one
// after another. What the other loops keep in registers is in memory meanwhile.
#include "compiler/vectorize/finish/tiling/copies.h"

#include <stddef.h>
#include <string.h>

#include "compiler/ir/llvm/instructions.h"
#include "compiler/vectorize/base/tables.h"
#include "compiler/vectorize/finish/tiling/frames.h"
#include "compiler/vectorize/finish/tiling/items.h"
#include "compiler/vectorize/finish/tiling/pieces.h"
#include "compiler/vectorize/finish/tiling/register_tiling.h"

// --- All loops of one --------------------------------------------------------

// Makes a unit's memory for the time of the other loops. LLVM would otherwise
// choose to spill a register that is used in each iteration.
static LLVMValueRef make_slot(lanes_region *l, LLVMTypeRef type) {
  LLVMBuilderRef builder = LLVMCreateBuilderInContext(l->kernel->context);
  mtlc_position_at_entry(builder, LLVMGetBasicBlockParent(l->header));
  LLVMValueRef slot = LLVMBuildAlloca(builder, type, "");
  LLVMDisposeBuilder(builder);
  return slot;
}

static lanes_bundle *own_bundle(lanes_region *l, const lanes_unit *u) {
  return u->bundle == LANES_NONE ? NULL : &l->bundles[u->bundle];
}

// Returns the item that records a unit's result: a bundle's phi number k.
static lanes_item *owner_of(lanes_region *l, const lanes_unit *u) {
  const lanes_bundle *b = own_bundle(l, u);
  return &l->items[b ? b->phis[u->number] : u->number];
}

// Interleaves the start values of bundles, or deinterleaves their results;
// values in a frame stay interleaved.
static void turn_bundles(lanes_region *l, bool is_behind) {
  for (uint32_t n = 0; n < l->bundle_count * l->pieces; n++) {
    const lanes_bundle *b = &l->bundles[n / l->pieces];
    LLVMValueRef *places[MOST_SIDE_BY_SIDE], registers[MOST_SIDE_BY_SIDE];
    if (b->is_in_frame) {
      continue;
    }
    for (uint32_t k = 0; k < b->count; k++) {
      lanes_item *phi = &l->items[b->phis[k]];
      places[k] = &(is_behind ? phi->last : phi->first)[n % l->pieces];
      registers[k] = *places[k];
    }
    if (is_behind) {
      lanes_take_apart_registers(l, l->builder, registers, b->count);
    } else {
      lanes_interleave_registers(l, l->before_builder, registers, b->count);
    }
    for (uint32_t k = 0; k < b->count; k++) {
      *places[k] = registers[k];
    }
  }
}

// Finds the start values of all pieces, before all loops.
static void find_starts(lanes_region *l) {
  for (uint32_t i = 0; i < l->kept_count; i++) {
    for (uint32_t p = 0; p < l->pieces; p++) {
      l->items[l->kept[i]].first[p] =
          lanes_cut(l, l->before_builder, lanes_start_of(l, l->kept[i]),
                    p * lanes_in_piece(l));
    }
  }
  turn_bundles(l, false);
}

// Loads a unit's start value before its own loop.
static LLVMValueRef start_of_unit(lanes_region *l, lanes_unit *u) {
  LLVMValueRef start = owner_of(l, u)->first[u->piece];
  u->slot = make_slot(l, LLVMTypeOf(start));
  if (LLVMIsAConstant(start)) {
    return start;
  }
  LLVMBuildStore(l->before_builder, start, u->slot);
  return LLVMBuildLoad2(l->builder, LLVMTypeOf(start), u->slot, "");
}

static void begin_unit(lanes_region *l, lanes_unit *u, LLVMValueRef start,
                       LLVMBasicBlockRef before) {
  const lanes_bundle *b = own_bundle(l, u);
  l->piece = u->piece;
  lanes_take_line(l, l->items[b ? b->phis[0] : u->number].value);
  u->phi = LLVMBuildPhi(l->builder, LLVMTypeOf(start), "");
  LLVMAddIncoming(u->phi, &start, &before, 1);
  if (!b) {
    l->items[u->number].pieces[u->piece] = u->phi;
  }
}

static void end_unit(lanes_region *l, lanes_unit *u, LLVMBasicBlockRef latch) {
  lanes_bundle *b = own_bundle(l, u);
  LLVMValueRef next;
  l->piece = u->piece;
  if (!b) {
    next = lanes_copy_piece(l, lanes_next_of(l, u->number),
                            u->piece * lanes_in_piece(l));
  } else {
    LLVMValueRef nexts[MOST_SIDE_BY_SIDE];
    lanes_nexts_of(l, b, nexts);
    b->current = u->phi;
    next = lanes_copy_register(l, b, nexts, u->number);
  }
  LLVMAddIncoming(u->phi, &next, &latch, 1);
  // A loop of one block ends with its last iteration's values.
  owner_of(l, u)->last[u->piece] = l->body == l->header ? next : u->phi;
}

static void position_at_end(lanes_region *l, LLVMBasicBlockRef block) {
  LLVMValueRef end = LLVMGetBasicBlockTerminator(block);
  if (end) {
    LLVMPositionBuilderBefore(l->builder, end);
  } else {
    LLVMPositionBuilderAtEnd(l->builder, block);
  }
}

static void copy_phis(lanes_region *l, LLVMBasicBlockRef before) {
  for (uint32_t n = 0; n < l->count && LLVMIsAPHINode(l->items[n].value); n++) {
    lanes_item *own = &l->items[n];
    if (!own->is_kept) {
      LLVMValueRef start = lanes_start_of(l, n);
      lanes_take_line(l, own->value);
      own->whole = LLVMBuildPhi(l->builder, LLVMTypeOf(own->value), "");
      LLVMAddIncoming(own->whole, &start, &before, 1);
    }
  }
}

static void close_phis(lanes_region *l, LLVMBasicBlockRef latch) {
  for (uint32_t n = 0; n < l->count && LLVMIsAPHINode(l->items[n].value); n++) {
    lanes_item *own = &l->items[n];
    if (!own->is_kept) {
      LLVMValueRef next = lanes_copy_whole(l, lanes_next_of(l, n));
      LLVMAddIncoming(own->whole, &next, &latch, 1);
    }
  }
}

// Fills a loop's blocks, without their branches, for units from `from` on. Only
// the first loop prefetches.
static void make_loop(lanes_region *l, uint32_t from, uint32_t count,
                      LLVMValueRef *starts, LLVMBasicBlockRef before,
                      LLVMBasicBlockRef header, LLVMBasicBlockRef body) {
  for (uint32_t n = 0; n < l->count; n++) {
    l->items[n].whole = NULL;
    memset(l->items[n].pieces, 0, sizeof l->items[n].pieces);
  }
  copy_phis(l, before);
  for (uint32_t i = 0; i < count; i++) {
    begin_unit(l, &l->units[from + i], starts[i], before);
  }
  position_at_end(l, header);
  for (uint32_t n = 0; header != body && n < l->count; n++) {
    LLVMValueRef i = l->items[n].value;
    if (!LLVMIsAPHINode(i) && !LLVMIsATerminatorInst(i) &&
        !lanes_is_prefetch(i) && LLVMGetInstructionParent(i) == l->header) {
      lanes_copy_whole(l, i);
    }
  }
  position_at_end(l, body);
  for (uint32_t n = 0; from == 0 && n < l->count; n++) {
    if (lanes_is_prefetch(l->items[n].value)) {
      lanes_copy_whole(l, l->items[n].value);
    }
  }
  for (uint32_t i = 0; i < count; i++) {
    end_unit(l, &l->units[from + i], body);
  }
  close_phis(l, body);
}

static void branch_to(LLVMValueRef branch, LLVMBasicBlockRef from,
                      LLVMBasicBlockRef to) {
  for (unsigned k = 0; k < LLVMGetNumSuccessors(branch); k++) {
    if (LLVMGetSuccessor(branch, k) == from) {
      LLVMSetSuccessor(branch, k, to);
    }
  }
}

static LLVMBasicBlockRef new_block(lanes_region *l) {
  return LLVMInsertBasicBlockInContext(l->kernel->context, l->header, "");
}

// Makes a block before a loop's header, in which units load their start values.
static LLVMBasicBlockRef make_entry(lanes_region *l, uint32_t from,
                                    uint32_t count, LLVMBasicBlockRef before,
                                    LLVMValueRef *out_starts) {
  LLVMBasicBlockRef entry = new_block(l);
  LLVMPositionBuilderAtEnd(l->builder, entry);
  for (uint32_t i = 0; i < count; i++) {
    out_starts[i] = start_of_unit(l, &l->units[from + i]);
  }
  branch_to(LLVMGetBasicBlockTerminator(before), l->header, entry);
  return entry;
}

// Makes a loop before the last one, which keeps the original's place. Returns
// the block after it, which continues to the next loop's header.
static LLVMBasicBlockRef make_early_loop(lanes_region *l, uint32_t from,
                                         uint32_t count,
                                         LLVMBasicBlockRef before) {
  LLVMValueRef starts[MOST_KEPT];
  LLVMBasicBlockRef entry = make_entry(l, from, count, before, starts);
  LLVMBasicBlockRef header = new_block(l);
  LLVMBasicBlockRef body = l->body == l->header ? header : new_block(l);
  LLVMBasicBlockRef behind = new_block(l);
  LLVMBuildBr(l->builder, header);
  LLVMPositionBuilderAtEnd(l->builder, header);
  make_loop(l, from, count, starts, entry, header, body);
  LLVMValueRef end = LLVMGetBasicBlockTerminator(l->header);
  LLVMValueRef again = lanes_copy_whole(l, LLVMGetCondition(end));
  if (body != header) {
    LLVMBuildBr(l->builder, header);
    LLVMPositionBuilderAtEnd(l->builder, header);
  }
  const bool on_true = LLVMGetSuccessor(end, 0) == l->body;
  LLVMBuildCondBr(l->builder, again, on_true ? body : behind,
                  on_true ? behind : body);
  LLVMPositionBuilderAtEnd(l->builder, behind);
  for (uint32_t i = 0; i < count; i++) {
    lanes_unit *u = &l->units[from + i];
    LLVMBuildStore(l->builder, owner_of(l, u)->last[u->piece], u->slot);
  }
  LLVMBuildBr(l->builder, l->header);
  return behind;
}

// --- Behind them -------------------------------------------------------------

static bool is_used_behind(const lanes_region *l, LLVMValueRef value) {
  for (LLVMUseRef use = LLVMGetFirstUse(value); use;
       use = LLVMGetNextUse(use)) {
    if (!lanes_item_of(l, LLVMGetUser(use))) {
      return true;
    }
  }
  return false;
}

// Only phis, or in a one-block loop their next values, may be used after the
// loop.
static uint32_t kept_behind(const lanes_region *l, LLVMValueRef value) {
  for (uint32_t i = 0; i < l->kept_count; i++) {
    LLVMValueRef kept = l->body == l->header ? lanes_next_of(l, l->kept[i])
                                             : l->items[l->kept[i]].value;
    if (kept == value) {
      return l->kept[i];
    }
  }
  return LANES_NONE;
}

bool lanes_may_be_left(const lanes_region *l) {
  for (uint32_t n = 0; n < l->count; n++) {
    const lanes_item *own = &l->items[n];
    if (own->is_kept && is_used_behind(l, own->value) &&
        kept_behind(l, own->value) == LANES_NONE) {
      return false;
    }
  }
  return true;
}

// Makes a block on the edge from the loop to its exit.
static LLVMBasicBlockRef make_exit(lanes_region *l) {
  LLVMContextRef context = l->kernel->context;
  LLVMBasicBlockRef exit =
      LLVMInsertBasicBlockInContext(context, l->behind, "");
  branch_to(LLVMGetBasicBlockTerminator(l->header), l->behind, exit);
  for (LLVMValueRef phi = LLVMGetFirstInstruction(l->behind), next;
       phi && LLVMIsAPHINode(phi); phi = next) {
    next = LLVMGetNextInstruction(phi);
    LLVMPositionBuilderBefore(l->builder, phi);
    lanes_take_line(l, phi);
    LLVMValueRef own = LLVMBuildPhi(l->builder, LLVMTypeOf(phi), "");
    for (unsigned k = 0; k < LLVMCountIncoming(phi); k++) {
      LLVMValueRef value = LLVMGetIncomingValue(phi, k);
      LLVMBasicBlockRef from = LLVMGetIncomingBlock(phi, k);
      from = from == l->header ? exit : from;
      LLVMAddIncoming(own, &value, &from, 1);
    }
    LLVMReplaceAllUsesWith(phi, own);
    LLVMInstructionEraseFromParent(phi);
  }
  LLVMPositionBuilderAtEnd(l->builder, exit);
  LLVMPositionBuilderBefore(l->builder, LLVMBuildBr(l->builder, l->behind));
  return exit;
}

// Replaces the original loop by the last loop and, after it, all results.
static void replace_items(lanes_region *l) {
  for (uint32_t n = 0; n < l->count; n++) {
    lanes_item *own = &l->items[n];
    if (LLVMIsATerminatorInst(own->value) ||
        LLVMGetTypeKind(LLVMTypeOf(own->value)) == LLVMVoidTypeKind) {
      continue;
    }
    LLVMValueRef now = own->whole;
    if (own->is_kept && is_used_behind(l, own->value)) {
      now = lanes_joined_pieces(
          l, l->builder, l->items[kept_behind(l, own->value)].last, l->pieces);
    }
    LLVMReplaceAllUsesWith(own->value,
                           now ? now : LLVMGetPoison(LLVMTypeOf(own->value)));
  }
  for (uint32_t n = l->count; n-- > 0;) {
    if (!LLVMIsATerminatorInst(l->items[n].value)) {
      LLVMInstructionEraseFromParent(l->items[n].value);
    }
  }
}

// Loads the results of units of the earlier loops.
static void take_results(lanes_region *l, uint32_t end) {
  for (uint32_t i = 0; i < end; i++) {
    lanes_unit *u = &l->units[i];
    owner_of(l, u)->last[u->piece] =
        LLVMBuildLoad2(l->builder, LLVMTypeOf(u->phi), u->slot, "");
  }
}

void lanes_make_loops(lanes_region *l) {
  lanes_settle_frames(l);
  LLVMValueRef starts[MOST_KEPT];
  LLVMBasicBlockRef before = l->before;
  LLVMPositionBuilderBefore(l->before_builder,
                            LLVMGetBasicBlockTerminator(l->before));
  find_starts(l);
  uint32_t from = 0;
  uint32_t count = lanes_units_together(l, from);
  for (; from + count < l->unit_count;
       from += count, count = lanes_units_together(l, from)) {
    before = make_early_loop(l, from, count, before);
  }
  LLVMBasicBlockRef entry = make_entry(l, from, count, before, starts);
  LLVMBuildBr(l->builder, l->header);
  // Phis come before those that they replace.
  LLVMPositionBuilderBefore(l->builder, LLVMGetFirstInstruction(l->header));
  make_loop(l, from, count, starts, entry, l->header, l->body);
  lanes_copy_whole(l, LLVMGetCondition(LLVMGetBasicBlockTerminator(l->header)));
  for (uint32_t n = 0; n < l->count; n++) {
    if (!l->items[n].is_kept && is_used_behind(l, l->items[n].value)) {
      lanes_copy_whole(l, l->items[n].value);
    }
  }
  make_exit(l);
  take_results(l, from);
  turn_bundles(l, true);
  replace_items(l);
}
