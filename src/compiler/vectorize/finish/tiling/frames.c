// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// frames.c: keeps accumulators interleaved in a simdgroup's frame across the
// barriers of a tiled loop (register_tiling.c). A matrix product continues its
// sums after each barrier: a bundle's sums are stored as their elements lie in
// memory. Only what is read elsewhere is deinterleaved, and nothing at each
// entry of the loop.
#include "compiler/vectorize/finish/tiling/frames.h"

#include <llvm-c/Target.h>
#include <stdbool.h>
#include <stddef.h>

#include "compiler/ir/llvm/calls.h"
#include "compiler/ir/llvm/instructions.h"
#include "compiler/vectorize/analysis/uniformity.h"
#include "compiler/vectorize/base/tables.h"
#include "compiler/vectorize/emit/values/emitter.h"
#include "compiler/vectorize/finish/tiling/bundles.h"
#include "compiler/vectorize/finish/tiling/items.h"
#include "compiler/vectorize/finish/tiling/pieces.h"
#include "compiler/vectorize/finish/tiling/register_tiling.h"

enum { MOST_ACCESSES = 4096, CONTEXT = 2, SETS = 2 };

// A load or store of a frame, of the same bytes of each simdgroup's.
typedef struct frame_access {
  LLVMValueRef instruction;
  LLVMValueRef base;  // of the frame
  uint64_t offset;
} frame_access;

struct lanes_frames {
  frame_access *items;  // [count]
  uint32_t count;
  lanes_map seen;
  const lanes_region *loop;
  LLVMValueRef passed_to;  // a function that the frame is passed to; or NULL
};

static bool add_access(lanes_frames *a, LLVMValueRef i, LLVMValueRef base,
                       uint64_t offset) {
  if (a->count == MOST_ACCESSES) {
    return false;
  }
  a->items[a->count++] =
      (frame_access){.instruction = i, .base = base, .offset = offset};
  return true;
}

// Collects accesses at offset bytes from a frame's base.
static bool follow_address(lanes_frames *a, LLVMValueRef address,
                           LLVMValueRef base, uint64_t offset);

static bool follow_use(lanes_frames *a, LLVMValueRef user, LLVMValueRef address,
                       LLVMValueRef base, uint64_t offset) {
  const uint64_t frame_bytes = a->loop->kernel->frame_bytes;
  switch (LLVMGetInstructionOpcode(user)) {
    case LLVMLoad: return add_access(a, user, base, offset);
    case LLVMStore:
      return LLVMGetOperand(user, 0) != address &&
             add_access(a, user, base, offset);
    case LLVMPHI: return offset == 0 && follow_address(a, user, user, 0);
    case LLVMGetElementPtr: {
      LLVMTypeRef type = LLVMGetGEPSourceElementType(user);
      LLVMValueRef by = LLVMGetOperand(user, 1);
      if (LLVMGetNumOperands(user) != 2 || !LLVMIsAConstantInt(by) ||
          LLVMGetTypeKind(type) != LLVMIntegerTypeKind ||
          LLVMGetIntTypeWidth(type) != 8) {
        return false;
      }
      const uint64_t next = offset + LLVMConstIntGetZExtValue(by);
      // the next simdgroup's frame
      return next == frame_bytes
                 ? follow_address(a, user, user, 0)
                 : next < frame_bytes && follow_address(a, user, base, next);
    }
    case LLVMCall: return a->passed_to && mtlc_callee(user) == a->passed_to;
    default: return false;
  }
}

static bool follow_address(lanes_frames *a, LLVMValueRef address,
                           LLVMValueRef base, uint64_t offset) {
  if (lanes_map_get(&a->seen, address) != LANES_NONE) {
    return true;
  }
  lanes_map_set(a->loop->arena, &a->seen, address, 1);
  for (LLVMUseRef use = LLVMGetFirstUse(address); use;
       use = LLVMGetNextUse(use)) {
    if (!follow_use(a, LLVMGetUser(use), address, base, offset)) {
      return false;
    }
  }
  return true;
}

// True if only this function accesses frames, and others only pass them on.
static bool is_alone(const lanes_region *l, LLVMValueRef function) {
  for (LLVMUseRef use = LLVMGetFirstUse(function); use;
       use = LLVMGetNextUse(use)) {
    LLVMValueRef call = LLVMGetUser(use);
    if (!LLVMIsACallInst(call) || mtlc_callee(call) != function) {
      return false;
    }
    LLVMValueRef caller =
        LLVMGetBasicBlockParent(LLVMGetInstructionParent(call));
    lanes_frames others = {.loop = l, .passed_to = function};
    others.items = lanes_allocate(l->arena, 1, sizeof *others.items);
    if (LLVMCountParams(caller) <= CONTEXT ||
        !follow_address(&others, LLVMGetParam(caller, CONTEXT),
                        LLVMGetParam(caller, CONTEXT), 0) ||
        others.count) {
      return false;
    }
  }
  return true;
}

// Finds all accesses of the function to frames; false if some are unknown.
static bool find_accesses(lanes_frames *a) {
  const lanes_region *l = a->loop;
  LLVMValueRef function = LLVMGetBasicBlockParent(l->header);
  const bool is_simdgroups = LLVMCountParams(function) == LANES_PARAMETER_COUNT;
  if (!l->kernel->frame_bytes || LLVMCountParams(function) <= CONTEXT ||
      (is_simdgroups && !is_alone(l, function))) {
    return false;
  }
  a->items = lanes_allocate(l->arena, MOST_ACCESSES, sizeof *a->items);
  LLVMValueRef frames =
      LLVMGetParam(function, is_simdgroups ? LANES_FRAME : CONTEXT);
  return follow_address(a, frames, frames, 0);
}

// --- Which bundles -----------------------------------------------------------

static const frame_access *access_of(const lanes_frames *a,
                                     LLVMValueRef instruction) {
  for (uint32_t i = 0; i < a->count; i++) {
    if (a->items[i].instruction == instruction) {
      return &a->items[i];
    }
  }
  return NULL;
}

static LLVMTypeRef type_of(const frame_access *access) {
  LLVMValueRef i = access->instruction;
  return LLVMTypeOf(LLVMIsAStoreInst(i) ? LLVMGetOperand(i, 0) : i);
}

// Returns a loop phi's final value, before its use.
static LLVMValueRef behind_loop(const lanes_region *l, LLVMValueRef value) {
  while (LLVMIsAPHINode(value) && !lanes_item_of(l, value) &&
         LLVMCountIncoming(value) == 1) {
    value = LLVMGetIncomingValue(value, 0);
  }
  return value;
}

static LLVMValueRef kept_value(const lanes_region *l, uint32_t phi) {
  return l->body == l->header ? lanes_next_of(l, phi) : l->items[phi].value;
}

// Finds the only place in the frame where a phi's result is stored. False if it
// has another use.
static bool find_end(const lanes_region *l, const lanes_frames *a,
                     LLVMValueRef value, bool *out_is_found,
                     uint64_t *out_offset) {
  for (LLVMUseRef use = LLVMGetFirstUse(value); use;
       use = LLVMGetNextUse(use)) {
    LLVMValueRef user = LLVMGetUser(use);
    if (lanes_item_of(l, user)) {
      continue;
    }
    if (LLVMIsAPHINode(user) && LLVMCountIncoming(user) == 1) {
      if (!find_end(l, a, user, out_is_found, out_offset)) {
        return false;
      }
      continue;
    }
    const frame_access *access = access_of(a, user);
    if (!access || !LLVMIsAStoreInst(user) ||
        (*out_is_found && *out_offset != access->offset)) {
      return false;
    }
    *out_is_found = true;
    *out_offset = access->offset;
  }
  return true;
}

// Returns which set of places of a bundle an offset is in, as that of phi c;
// SETS if none.
static uint32_t set_of(const lanes_bundle *b, uint64_t offset, uint32_t c) {
  uint32_t set = 0;
  while (set < SETS && b->offsets[set][c] != offset) {
    set++;
  }
  return set;
}

static bool is_store_to(const frame_access *access, const lanes_bundle *b,
                        uint32_t set, uint32_t c) {
  return LLVMIsAStoreInst(access->instruction) &&
         access->offset == b->offsets[set][c];
}

// True if a block stores to a set of places.
static bool is_changed_in(const lanes_frames *a, const lanes_bundle *b,
                          uint32_t set, LLVMBasicBlockRef block) {
  for (uint32_t i = 0; i < a->count; i++) {
    LLVMValueRef own = a->items[i].instruction;
    for (uint32_t c = 0; c < b->count; c++) {
      if (is_store_to(&a->items[i], b, set, c) &&
          LLVMGetInstructionParent(own) == block) {
        return true;
      }
    }
  }
  return false;
}

// The source of a stored value: one value for all lanes, the loop's result, or
// a block's load from another place.
typedef struct origin {
  LLVMValueRef value;       // a constant, or the frame loaded from
  LLVMBasicBlockRef block;  // of the load, or the loop's header
  uint32_t set;
} origin;

static bool find_origin(const lanes_region *l, const lanes_frames *a,
                        const lanes_bundle *b, LLVMValueRef value, uint32_t c,
                        origin *out) {
  *out = (origin){.value = value, .set = SETS};
  if (LLVMIsAConstant(value)) {
    return lanes_is_splat(value, 0, lanes_in(value));
  }
  if (behind_loop(l, value) == kept_value(l, b->phis[c])) {
    *out = (origin){.block = l->header, .set = SETS};
    return true;
  }
  const frame_access *from =
      LLVMIsALoadInst(value) ? access_of(a, value) : NULL;
  if (from) {
    *out = (origin){.value = from->base,
                    .block = LLVMGetInstructionParent(value),
                    .set = set_of(b, from->offset, c)};
  }
  return out->set < SETS;
}

// True if a store is one of those that store a whole set, in one block and from
// one origin.
static bool is_stored_whole(const lanes_region *l, const lanes_frames *a,
                            const lanes_bundle *b, const frame_access *store,
                            uint32_t set) {
  LLVMBasicBlockRef block = LLVMGetInstructionParent(store->instruction);
  origin first = {0};
  uint32_t found = 0;
  for (uint32_t n = 0; n < b->count * a->count; n++) {
    const frame_access *own = &a->items[n % a->count];
    const uint32_t c = n / a->count;
    if (!is_store_to(own, b, set, c) || own->base != store->base ||
        LLVMGetInstructionParent(own->instruction) != block) {
      continue;
    }
    origin from;
    if (found != c ||
        !find_origin(l, a, b, LLVMGetOperand(own->instruction, 0), c, &from) ||
        (found > 0 && (from.value != first.value || from.block != first.block ||
                       from.set != first.set))) {
      return false;
    }
    first = from;
    found++;
  }
  return found == b->count;
}

static bool may_stay(const lanes_region *l, const lanes_frames *a,
                     const lanes_bundle *b, const frame_access *access,
                     uint32_t set, uint32_t c) {
  LLVMTargetDataRef data = LLVMGetModuleDataLayout(l->kernel->module);
  LLVMValueRef i = access->instruction;
  LLVMTypeRef type = LLVMTypeOf(l->items[b->phis[c]].value);
  LLVMTypeRef own = type_of(access);
  return lanes_is_plain(i) && access->offset == b->offsets[set][c] &&
         LLVMGetTypeKind(own) == LLVMVectorTypeKind &&
         LLVMGetVectorSize(own) == l->lanes &&
         LLVMSizeOfTypeInBits(data, own) == LLVMSizeOfTypeInBits(data, type) &&
         (LLVMIsAStoreInst(i)
              ? is_stored_whole(l, a, b, access, set)
              : !is_changed_in(a, b, set, LLVMGetInstructionParent(i)));
}

static bool is_used_once(LLVMValueRef value) {
  LLVMUseRef use = LLVMGetFirstUse(value);
  return use && !LLVMGetNextUse(use);
}

// True if places have room for one phi each.
static bool are_apart(const lanes_bundle *b) {
  for (uint32_t n = 0; n < SETS * SETS * b->count * b->count; n++) {
    const uint32_t c = n % b->count, d = n / b->count % b->count;
    const uint32_t sets = n / (b->count * b->count);
    if (c != d && b->offsets[sets % SETS][c] == b->offsets[sets / SETS][d]) {
      return false;
    }
  }
  return true;
}

// Finds the places of a bundle's start values and of its results.
static bool find_places(const lanes_region *l, const lanes_frames *a,
                        lanes_bundle *b) {
  const frame_access *first = access_of(a, lanes_start_of(l, b->phis[0]));
  for (uint32_t c = 0; c < b->count; c++) {
    LLVMValueRef start = lanes_start_of(l, b->phis[c]);
    const frame_access *load = access_of(a, start);
    bool is_found = false;
    if (!load || !is_used_once(start) || load->base != first->base ||
        LLVMGetInstructionParent(start) !=
            LLVMGetInstructionParent(first->instruction) ||
        !find_end(l, a, kept_value(l, b->phis[c]), &is_found,
                  &b->offsets[1][c]) ||
        !is_found) {
      return false;
    }
    b->offsets[0][c] = load->offset;
  }
  return are_apart(b);
}

// True if these places can stay interleaved.
static bool find_frame(const lanes_region *l, const lanes_frames *a,
                       lanes_bundle *b) {
  LLVMTargetDataRef data = LLVMGetModuleDataLayout(l->kernel->module);
  const uint64_t bytes =
      LLVMStoreSizeOfType(data, LLVMTypeOf(l->items[b->phis[0]].value));
  if (!find_places(l, a, b)) {
    return false;
  }
  for (uint32_t i = 0; i < a->count; i++) {
    const frame_access *access = &a->items[i];
    const uint64_t end =
        access->offset + LLVMStoreSizeOfType(data, type_of(access));
    for (uint32_t n = 0; n < SETS * b->count; n++) {
      const uint32_t set = n / b->count, c = n % b->count;
      const uint64_t place = b->offsets[set][c];
      if (end > place && access->offset < place + bytes &&
          !may_stay(l, a, b, access, set, c)) {
        return false;
      }
    }
  }
  return true;
}

void lanes_find_frames(lanes_region *l) {
  if (l->bundle_count == 0) {
    return;
  }
  l->frames = lanes_allocate(l->arena, 1, sizeof *l->frames);
  l->frames->loop = l;
  const bool is_known = find_accesses(l->frames);
  for (uint32_t i = 0; is_known && i < l->bundle_count; i++) {
    l->bundles[i].is_in_frame = find_frame(l, l->frames, &l->bundles[i]);
  }
}

// --- Elsewhere ---------------------------------------------------------------

// Returns the deinterleaved value of a load of one of the places.
static LLVMValueRef taken_apart(lanes_region *l, const lanes_bundle *b,
                                uint32_t set, uint32_t c,
                                const frame_access *access) {
  LLVMValueRef load = access->instruction;
  LLVMValueRef places[MOST_SIDE_BY_SIDE], pieces[MOST_PIECES];
  LLVMPositionBuilderBefore(l->builder, load);
  lanes_take_line(l, load);
  for (uint32_t k = 0; k < b->count; k++) {
    places[k] = LLVMBuildLoad2(
        l->builder, LLVMTypeOf(load),
        mtlc_offset(l->builder, access->base, b->offsets[set][k]), "");
    LLVMSetAlignment(places[k], LLVMGetAlignment(load));
  }
  for (uint32_t p = 0; p < l->pieces; p++) {
    LLVMValueRef registers[MOST_SIDE_BY_SIDE];
    for (uint32_t k = 0; k < b->count; k++) {
      registers[k] = lanes_cut(l, l->builder, places[k], p * lanes_in_piece(l));
    }
    lanes_take_apart_registers(l, l->builder, registers, b->count);
    pieces[p] = registers[c];
  }
  return lanes_joined_pieces(l, l->builder, pieces, l->pieces);
}

// Returns a use of a load from phi c's places that is no copy to another place.
static LLVMUseRef other_use(const lanes_frames *a, const lanes_bundle *b,
                            uint32_t c, LLVMValueRef load) {
  LLVMUseRef use = LLVMGetFirstUse(load);
  while (use) {
    const frame_access *to = access_of(a, LLVMGetUser(use));
    if (!to || set_of(b, to->offset, c) == SETS) {
      return use;
    }
    use = LLVMGetNextUse(use);
  }
  return NULL;
}

// Replaces uses of a load by the deinterleaved value; copies stay interleaved.
static void settle(lanes_region *l, const lanes_bundle *b, uint32_t set,
                   uint32_t c, const frame_access *access) {
  LLVMValueRef load = access->instruction, apart = NULL;
  for (LLVMUseRef use; (use = other_use(l->frames, b, c, load));) {
    LLVMValueRef user = LLVMGetUser(use);
    apart = apart ? apart : taken_apart(l, b, set, c, access);
    for (int k = 0; k < LLVMGetNumOperands(user); k++) {
      if (LLVMGetOperand(user, (unsigned)k) == load) {
        LLVMSetOperand(user, (unsigned)k, apart);
      }
    }
  }
}

void lanes_settle_frames(lanes_region *l) {
  for (uint32_t i = 0; i < l->bundle_count; i++) {
    const lanes_bundle *b = &l->bundles[i];
    for (uint32_t n = 0; b->is_in_frame && n < l->frames->count; n++) {
      const frame_access *access = &l->frames->items[n];
      LLVMValueRef own = access->instruction;
      for (uint32_t c = 0; LLVMIsALoadInst(own) && c < b->count; c++) {
        const uint32_t set = set_of(b, access->offset, c);
        if (set < SETS && own != lanes_start_of(l, b->phis[c])) {
          settle(l, b, set, c, access);
        }
      }
    }
  }
}
