// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// barriers.c: threadgroup barriers. At a barrier the function returns the
// barrier's number, and continues there when it is called with that number.
// What is live across is kept in the simdgroup's frame, 32 lanes to a vector.
#include "compiler/vectorize/emit/calls/barriers.h"

#include <llvm-c/Target.h>
#include <stdbool.h>
#include <stddef.h>

#include "compiler/ir/llvm/instructions.h"
#include "compiler/ir/llvm/types.h"
#include "compiler/vectorize/analysis/components.h"
#include "compiler/vectorize/base/tables.h"
#include "compiler/vectorize/emit/values/builder.h"
#include "compiler/vectorize/emit/values/emitter.h"
#include "compiler/vectorize/emit/values/masks.h"

void lanes_emit_barrier(lanes_emitter *e) {
  e->waits = lanes_make_room(e->arena, e->waits, e->wait_count,
                             &e->wait_capacity, 8, sizeof *e->waits);
  lanes_barrier *wait = &e->waits[e->wait_count++];
  wait->before = LLVMGetInsertBlock(e->builder);
  wait->after = lanes_block(e, "resume");
  LLVMBuildRet(e->builder, mtlc_i32(e->context, e->wait_count));
  LLVMPositionBuilderAtEnd(e->builder, wait->after);
  e->fresh++;
  lanes_load_mask(e);
}

// --- Which memories are alive where ------------------------------------------

typedef struct block_facts {
  LLVMBasicBlockRef block;
  lanes_set read;  // read before they are written in the block
  lanes_set written;
  lanes_set alive;    // live at the block's start
  lanes_set fresh;    // at the block's end: may differ from the frame's copy
  lanes_set cleared;  // whose last store clears them
  lanes_set dirty;    // at the block's end: may have a bit set
  uint32_t resume;    // the block after the barrier that it ends in
} block_facts;

typedef struct liveness {
  lanes_emitter *e;
  lanes_map memories;  // alloca to its number
  uint32_t *copies;  // [memory_count] the other memory that this is a copy of,
                     // or that copies it; or LANES_NONE
  lanes_map numbers;   // block to its number
  block_facts *blocks;
  uint32_t block_count;
} liveness;

// Notes a load from one memory that is stored to another.
static void note_copy(liveness *l, uint32_t to, LLVMValueRef value) {
  const uint32_t from =
      LLVMIsALoadInst(value)
          ? lanes_map_get(&l->memories, LLVMGetOperand(value, 0))
          : LANES_NONE;
  if (from != LANES_NONE && from != to) {
    l->copies[to] = from;
    l->copies[from] = to;
  }
}

static void note_access(liveness *l, block_facts *facts, LLVMValueRef i) {
  const LLVMOpcode opcode = LLVMGetInstructionOpcode(i);
  if (opcode != LLVMLoad && opcode != LLVMStore) {
    return;
  }
  const bool store = opcode == LLVMStore;
  const uint32_t memory =
      lanes_map_get(&l->memories, LLVMGetOperand(i, store ? 1 : 0));
  if (memory == LANES_NONE) {
    return;
  }
  if (store) {
    note_copy(l, memory, LLVMGetOperand(i, 0));
    lanes_set_add(facts->written, memory);
    const bool clears =
        LLVMIsNull(LLVMGetOperand(i, 0)) &&
        LLVMTypeOf(LLVMGetOperand(i, 0)) == lanes_vector_of(l->e->lanes, l->e->types.i1);
    (clears ? lanes_set_add : lanes_set_remove)(facts->cleared, memory);
    (clears ? lanes_set_remove : lanes_set_add)(facts->dirty, memory);
  } else if (!lanes_set_has(facts->written, memory)) {
    lanes_set_add(facts->read, memory);
  }
}

static void note_blocks(liveness *l) {
  lanes_emitter *e = l->e;
  const uint32_t count = LLVMCountBasicBlocks(e->function);
  l->blocks = lanes_allocate(e->arena, count, sizeof *l->blocks);
  for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(e->function); block;
       block = LLVMGetNextBasicBlock(block)) {
    block_facts *facts = &l->blocks[l->block_count];
    *facts = (block_facts){.block = block,
                           .read = lanes_set_make(e->arena, e->memory_count),
                           .written = lanes_set_make(e->arena, e->memory_count),
                           .alive = lanes_set_make(e->arena, e->memory_count),
                           .fresh = lanes_set_make(e->arena, e->memory_count),
                           .cleared = lanes_set_make(e->arena, e->memory_count),
                           .dirty = lanes_set_make(e->arena, e->memory_count),
                           .resume = LANES_NONE};
    lanes_map_set(e->arena, &l->numbers, block, l->block_count++);
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i;
         i = LLVMGetNextInstruction(i)) {
      note_access(l, facts, i);
    }
  }
  for (uint32_t w = 0; w < e->wait_count; w++) {
    const uint32_t before = lanes_map_get(&l->numbers, e->waits[w].before);
    l->blocks[before].resume = lanes_map_get(&l->numbers, e->waits[w].after);
  }
}

// Propagates facts along an edge. True if any changed.
typedef bool edge_rule(const block_facts *from, const block_facts *to);

static bool follow_edges(const liveness *l, const block_facts *from,
                         bool through_waits, edge_rule *rule) {
  bool changed = false;
  LLVMValueRef end = LLVMGetBasicBlockTerminator(from->block);
  for (unsigned k = 0; end && k < LLVMGetNumSuccessors(end); k++) {
    const uint32_t to = lanes_map_get(&l->numbers, LLVMGetSuccessor(end, k));
    changed |= rule(from, &l->blocks[to]);
  }
  if (through_waits && from->resume != LANES_NONE) {
    changed |= rule(from, &l->blocks[from->resume]);
  }
  return changed;
}

// What is live after a block and not written in it is live before it.
static bool propagate_live(const block_facts *from, const block_facts *to) {
  bool changed = false;
  for (uint32_t w = 0; w < from->alive.word_count; w++) {
    const uint64_t more =
        to->alive.words[w] & ~from->written.words[w] & ~from->alive.words[w];
    from->alive.words[w] |= more;
    changed |= more != 0;
  }
  return changed;
}

static void solve(liveness *l) {
  for (uint32_t b = 0; b < l->block_count; b++) {
    lanes_set_unite(l->blocks[b].alive, l->blocks[b].read);
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t b = l->block_count; b-- > 0;) {
      changed |= follow_edges(l, &l->blocks[b], true, propagate_live);
    }
  }
}

static bool propagate_fresh(const block_facts *from, const block_facts *to) {
  return lanes_set_unite(to->fresh, from->fresh);
}

// Propagates the masks that may have a bit set from a block's end to a
// successor's start. True if any is new there.
static bool propagate_dirty(const block_facts *from, const block_facts *to) {
  bool changed = false;
  for (uint32_t w = 0; w < to->dirty.word_count; w++) {
    const uint64_t more =
        from->dirty.words[w] & ~to->cleared.words[w] & ~to->dirty.words[w];
    to->dirty.words[w] |= more;
    changed |= more != 0;
  }
  return changed;
}

static void solve_down(liveness *l, bool through_waits, edge_rule *rule) {
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t b = 0; b < l->block_count; b++) {
      changed |= follow_edges(l, &l->blocks[b], through_waits, rule);
    }
  }
}

// Finds the memory written since the last barrier, on some path.
static void solve_fresh(liveness *l) {
  for (uint32_t b = 0; b < l->block_count; b++) {
    lanes_set_unite(l->blocks[b].fresh, l->blocks[b].written);
  }
  solve_down(l, false, propagate_fresh);
}

// --- Spilling ----------------------------------------------------------------

// A place in the frame for memories that are never kept at the same barrier.
typedef struct frame_place {
  uint64_t offset_bytes;
  uint64_t size_bytes;
  lanes_set waits;  // at which the place is occupied
} frame_place;

typedef struct frame {
  lanes_emitter *e;
  const liveness *liveness;
  lanes_set common;     // memories of group-uniform values
  lanes_set *waits;     // [memory_count] barriers at which each is kept
  uint64_t *offsets;    // [memory_count] 0: no place yet
  frame_place *places;  // [place_count] for a simdgroup's own
  uint32_t place_count, place_capacity;
  uint64_t used_bytes;
  uint64_t common_bytes;
} frame;

// Returns the type in which a value is kept: a vector of bits is one integer.
static LLVMTypeRef kept_type(lanes_emitter *e, LLVMTypeRef type) {
  const bool bits = LLVMGetTypeKind(type) == LLVMVectorTypeKind &&
                    LLVMGetElementType(type) == e->types.i1;
  return bits ? LLVMIntTypeInContext(e->context, LLVMGetVectorSize(type)) : type;
}

static LLVMTypeRef type_of_kept(const frame *f, uint32_t memory) {
  return kept_type(f->e, LLVMGetAllocatedType(f->e->memories[memory]));
}

static uint64_t next_offset(frame *f, uint32_t memory, uint64_t *used) {
  LLVMTypeRef type = type_of_kept(f, memory);
  const uint64_t unit = LLVMGetTypeKind(type) == LLVMVectorTypeKind ? 64 : 8;
  const uint64_t offset = (*used + unit - 1) / unit * unit;
  *used = offset + LLVMABISizeOfType(f->e->values->data, type);
  return offset;
}

static bool may_share(const frame *f, const frame_place *place,
                      uint32_t memory) {
  const uint64_t size =
      LLVMABISizeOfType(f->e->values->data, type_of_kept(f, memory));
  const bool fits =
      place->size_bytes == size &&
      (place->offset_bytes % 64 == 0 ||
       LLVMGetTypeKind(type_of_kept(f, memory)) != LLVMVectorTypeKind);
  bool overlaps = false;
  for (uint32_t w = 0; fits && w < place->waits.word_count; w++) {
    overlaps |= (place->waits.words[w] & f->waits[memory].words[w]) != 0;
  }
  return fits && !overlaps;
}

// Finds a place for a memory; preferably where a copy of it is, which then need
// not be copied.
static frame_place *find_place(frame *f, uint32_t memory) {
  const uint32_t copy = f->liveness->copies[memory];
  frame_place *found = NULL;
  for (uint32_t i = 0; i < f->place_count; i++) {
    frame_place *place = &f->places[i];
    const bool is_copys = copy != LANES_NONE && f->offsets[copy] &&
                          f->offsets[copy] == place->offset_bytes;
    if ((!found || is_copys) && may_share(f, place, memory)) {
      found = place;
    }
  }
  if (!found) {
    f->places = lanes_make_room(f->e->arena, f->places, f->place_count,
                                &f->place_capacity, 16, sizeof *f->places);
    found = &f->places[f->place_count++];
    const uint64_t size =
        LLVMABISizeOfType(f->e->values->data, type_of_kept(f, memory));
    *found =
        (frame_place){.offset_bytes = next_offset(f, memory, &f->used_bytes),
                      .size_bytes = size,
                      .waits = lanes_set_make(f->e->arena, f->e->wait_count)};
  }
  lanes_set_unite(found->waits, f->waits[memory]);
  return found;
}

static LLVMValueRef place_of(frame *f, LLVMBuilderRef builder, uint32_t memory,
                             lanes_parameter common) {
  lanes_emitter *e = f->e;
  const bool is_common = lanes_set_has(f->common, memory);
  if (!f->offsets[memory]) {
    f->offsets[memory] = is_common ? next_offset(f, memory, &f->common_bytes)
                                   : find_place(f, memory)->offset_bytes;
  }
  return mtlc_offset(
      builder, LLVMGetParam(e->function, is_common ? common : LANES_FRAME),
      f->offsets[memory]);
}

static uint32_t kept_alignment(LLVMTypeRef type) {
  return LLVMGetTypeKind(type) == LLVMVectorTypeKind ? 64 : 1;
}

static void save(frame *f, LLVMBuilderRef builder, uint32_t memory) {
  lanes_emitter *e = f->e;
  LLVMTypeRef type = LLVMGetAllocatedType(e->memories[memory]);
  LLVMTypeRef kept = kept_type(e, type);
  LLVMValueRef value = LLVMBuildLoad2(builder, type, e->memories[memory], "");
  value = LLVMBuildBitCast(builder, value, kept, "");
  LLVMValueRef store = LLVMBuildStore(
      builder, value, place_of(f, builder, memory, LANES_COMMON_OUT));
  LLVMSetAlignment(store, kept_alignment(kept));
}

static void restore(frame *f, LLVMBuilderRef builder, uint32_t memory) {
  lanes_emitter *e = f->e;
  LLVMTypeRef type = LLVMGetAllocatedType(e->memories[memory]);
  LLVMTypeRef kept = kept_type(e, type);
  LLVMValueRef value = LLVMBuildLoad2(
      builder, kept, place_of(f, builder, memory, LANES_COMMON_IN), "");
  LLVMSetAlignment(value, kept_alignment(kept));
  LLVMBuildStore(builder, LLVMBuildBitCast(builder, value, type, ""),
                 e->memories[memory]);
}

static void note_common(const liveness *l, lanes_set common,
                        LLVMValueRef *memories, uint32_t count) {
  for (uint32_t c = 0; memories && c < count; c++) {
    const uint32_t memory =
        memories[c] ? lanes_map_get(&l->memories, memories[c]) : LANES_NONE;
    if (memory != LANES_NONE) {
      lanes_set_add(common, memory);
    }
  }
}

static lanes_set find_common(const liveness *l) {
  const lanes_emitter *e = l->e;
  lanes_set common = lanes_set_make(e->arena, e->memory_count);
  for (uint32_t i = 0; e->common.waits_together && i < e->values->count; i++) {
    const lanes_slot *slot = &e->slots[i];
    if (e->common.values[i]) {
      note_common(l, common, slot->memory, slot->component_count);
      note_common(l, common, slot->phi_memory, slot->component_count);
    }
  }
  return common;
}

// Clears masks that nothing has written since they were cleared.
static void clear(lanes_emitter *e, LLVMBuilderRef builder, uint32_t memory) {
  LLVMTypeRef mask = lanes_vector_of(e->lanes, e->types.i1);
  if (LLVMGetAllocatedType(e->memories[memory]) == mask) {
    LLVMBuildStore(builder, LLVMConstNull(mask), e->memories[memory]);
  }
}

// Finds the barriers at which each memory is live and may have a bit set.
static lanes_set *find_waits(const liveness *l) {
  lanes_emitter *e = l->e;
  lanes_set *waits =
      lanes_allocate(e->arena, e->memory_count + 1, sizeof *waits);
  for (uint32_t m = 0; m < e->memory_count; m++) {
    waits[m] = lanes_set_make(e->arena, e->wait_count);
  }
  for (uint32_t w = 0; w < e->wait_count; w++) {
    const lanes_set alive =
        l->blocks[lanes_map_get(&l->numbers, e->waits[w].after)].alive;
    const lanes_set dirty =
        l->blocks[lanes_map_get(&l->numbers, e->waits[w].before)].dirty;
    for (uint32_t m = lanes_set_next(alive, 0); m != LANES_NONE;
         m = lanes_set_next(alive, m + 1)) {
      if (lanes_set_has(dirty, m)) {
        lanes_set_add(waits[m], w);
      }
    }
  }
  return waits;
}

uint64_t lanes_spill_at_barriers(lanes_emitter *e, uint64_t offset_bytes,
                     uint64_t *out_common_bytes) {
  *out_common_bytes = 0;
  if (!e->wait_count) {
    return offset_bytes;
  }
  liveness l = {.e = e,
                .copies = lanes_allocate_none(e->arena, e->memory_count + 1)};
  for (uint32_t i = 0; i < e->memory_count; i++) {
    lanes_map_set(e->arena, &l.memories, e->memories[i], i);
  }
  note_blocks(&l);
  solve(&l);
  solve_fresh(&l);
  solve_down(&l, true, propagate_dirty);
  frame f = {.e = e,
             .liveness = &l,
             .common = find_common(&l),
             .waits = find_waits(&l),
             .offsets = lanes_allocate(e->arena, e->memory_count + 1,
                                       sizeof(uint64_t)),
             .used_bytes = offset_bytes,
             .common_bytes = 8};  // 0 means no place
  LLVMBuilderRef builder = LLVMCreateBuilderInContext(e->context);
  for (uint32_t w = 0; w < e->wait_count; w++) {
    const lanes_barrier *wait = &e->waits[w];
    const lanes_set alive =
        l.blocks[lanes_map_get(&l.numbers, wait->after)].alive;
    const lanes_set fresh =
        l.blocks[lanes_map_get(&l.numbers, wait->before)].fresh;
    LLVMValueRef last = LLVMGetBasicBlockTerminator(wait->before);
    LLVMValueRef first = LLVMGetFirstInstruction(wait->after);
    for (uint32_t m = lanes_set_next(alive, 0); m != LANES_NONE;
         m = lanes_set_next(alive, m + 1)) {
      if (!lanes_set_has(f.waits[m], w)) {
        LLVMPositionBuilderBefore(builder, first);
        clear(e, builder, m);
        continue;
      }
      if (lanes_set_has(fresh, m)) {
        LLVMPositionBuilderBefore(builder, last);
        save(&f, builder, m);
      }
      LLVMPositionBuilderBefore(builder, first);
      restore(&f, builder, m);
    }
  }
  LLVMDisposeBuilder(builder);
  *out_common_bytes = f.common_bytes;
  return f.used_bytes;
}
