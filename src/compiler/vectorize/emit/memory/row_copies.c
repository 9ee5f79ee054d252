// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// row_copies.c: rows of threads' own that are copied from the kernel's buffers
// to threadgroup memory or back, as where a threadgroup brings tiles in: each
// thread loads some elements side by side, converts them at most, and stores
// them side by side. Each lane's row is a vector from its load to its store; as
// components of 32 lanes it would be taken apart and put together again.
#include "compiler/vectorize/emit/memory/row_copies.h"

#include <stdbool.h>
#include <stddef.h>

#include "compiler/ir/instructions.h"
#include "compiler/vectorize/analysis/affine.h"
#include "compiler/vectorize/analysis/callees.h"
#include "compiler/vectorize/analysis/effects.h"
#include "compiler/vectorize/analysis/lane_bits.h"
#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/analysis/uniformity.h"
#include "compiler/vectorize/base/tables.h"
#include "compiler/vectorize/emit/address/access.h"
#include "compiler/vectorize/emit/address/base_index.h"
#include "compiler/vectorize/emit/address/segment_addresses.h"
#include "compiler/vectorize/emit/lanes/scalarise.h"
#include "compiler/vectorize/emit/memory/gathers.h"
#include "compiler/vectorize/emit/memory/interleaved.h"
#include "compiler/vectorize/emit/memory/load_store.h"
#include "compiler/vectorize/emit/memory/prefetch.h"
#include "compiler/vectorize/emit/memory/segment_vectors.h"
#include "compiler/vectorize/emit/values/builder.h"
#include "compiler/vectorize/emit/values/emitter.h"
#include "compiler/vectorize/emit/values/runtime_checks.h"
#include "compiler/vectorize/emit/values/values.h"

enum {
  LEAST_BYTES = 8,   // of a row
  MOST_BYTES = 64,   // of what is copied at once
  MOST_STEPS = 64,   // looked through between load and store
  DEEPEST_BASE = 3,  // phis of phis
  LINE_BYTES = 64,
};

typedef struct lane_copy {
  LLVMValueRef load;
  LLVMValueRef conversion;  // or NULL
  LLVMValueRef store;
  lanes_access from;
  lanes_access to;
} lane_copy;

// True if value is used by one instruction of the same block, alone.
static bool is_for(LLVMValueRef value, LLVMValueRef user) {
  LLVMUseRef use = LLVMGetFirstUse(value);
  return use && !LLVMGetNextUse(use) && LLVMGetUser(use) == user &&
         LLVMGetInstructionParent(value) == LLVMGetInstructionParent(user);
}

// --- What may be loaded later ------------------------------------------------

typedef enum memory_kind { UNKNOWN, DEVICE, THREADGROUP } memory_kind;

static memory_kind kind_of(const lanes_emitter *e, LLVMValueRef address,
                           uint32_t depth) {
  LLVMValueRef base = mtlc_root_of(address);
  if (LLVMIsACallInst(base)) {
    return lanes_is_in_threadgroup(e->kernel, base)                 ? THREADGROUP
           : lanes_callee_of(base) == LANES_CALLEE_ARGUMENT ? DEVICE
                                                            : UNKNOWN;
  }
  if (!LLVMIsAPHINode(base) || depth == DEEPEST_BASE) {
    return UNKNOWN;
  }
  bool any[THREADGROUP + 1] = {false};
  for (unsigned k = 0; k < LLVMCountIncoming(base); k++) {
    LLVMValueRef value = mtlc_root_of(LLVMGetIncomingValue(base, k));
    if (value != base) {
      any[kind_of(e, value, depth + 1)] = true;
    }
  }
  return any[UNKNOWN] || any[DEVICE] == any[THREADGROUP] ? UNKNOWN
         : any[DEVICE]                                   ? DEVICE
                                                         : THREADGROUP;
}

// True if lanes' rows go from one kind of memory to another, so that no
// lane loads what another stores, and nothing writes to the first in between.
static bool may_move(const lanes_emitter *e, const lane_copy *copy) {
  const memory_kind from = kind_of(e, LLVMGetOperand(copy->load, 0), 0);
  const memory_kind to = kind_of(e, LLVMGetOperand(copy->store, 1), 0);
  if (from == UNKNOWN || to == UNKNOWN || from == to) {
    return false;
  }
  LLVMValueRef i = LLVMGetNextInstruction(copy->load);
  for (uint32_t n = 0; i && n < MOST_STEPS; n++) {
    if (i == copy->store) {
      return true;
    }
    const bool harmless = mtlc_is_opcode(i, LLVMStore) && lanes_is_plain(i) &&
                          kind_of(e, LLVMGetOperand(i, 1), 0) == to;
    if (lanes_may_write(i) && !harmless) {
      return false;
    }
    i = LLVMGetNextInstruction(i);
  }
  return false;
}

// --- Which are copies --------------------------------------------------------

static bool find_copy(const lanes_emitter *e, LLVMValueRef store,
                      lane_copy *out_copy) {
  if (!mtlc_is_opcode(store, LLVMStore)) {
    return false;
  }
  LLVMValueRef value = LLVMGetOperand(store, 0);
  *out_copy = (lane_copy){.store = store};
  LLVMValueRef user = store;
  if (mtlc_is_opcode(value, LLVMFPTrunc) || mtlc_is_opcode(value, LLVMFPExt)) {
    out_copy->conversion = value;
    if (!is_for(value, user)) {
      return false;
    }
    user = value;
    value = LLVMGetOperand(value, 0);
  }
  out_copy->load = value;
  return mtlc_is_opcode(value, LLVMLoad) && is_for(value, user) &&
         lanes_is_plain(value) && lanes_is_plain(store) &&
         LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMVectorTypeKind &&
         may_move(e, out_copy);
}

// A row of whole bytes whose place differs from lane to lane.
static bool is_row(const lanes_access *a) {
  const uint64_t bytes = a->count * a->size_bytes;
  return a->element == a->type && a->pitch_bytes == a->size_bytes &&
         LLVMGetTypeKind(a->type) != LLVMPointerTypeKind &&
         !lanes_is_uniform(a->shape) && bytes >= LEAST_BYTES &&
         bytes <= MOST_BYTES && !(bytes & (bytes - 1));
}

static bool is_vector(const lanes_access *a) {
  return !a->shape.conditional &&
         (lanes_stride_elements(a) || lanes_is_by_segments(a));
}

static bool is_worth_it(lanes_emitter *e, lane_copy *copy) {
  LLVMValueRef value = LLVMGetOperand(copy->store, 0);
  copy->from = lanes_access_of(e, copy->load, LLVMGetOperand(copy->load, 0),
                               LLVMTypeOf(copy->load));
  copy->to = lanes_access_of(e, copy->store, LLVMGetOperand(copy->store, 1),
                             LLVMTypeOf(value));
  return is_row(&copy->from) && is_row(&copy->to) &&
         !(is_vector(&copy->from) && is_vector(&copy->to));
}

void lanes_row_copies_find(lanes_emitter *e) {
  const lanes_values *values = e->values;
  e->copied = lanes_allocate(e->arena, values->count, 1);
  for (uint32_t n = 0; n < values->count; n++) {
    lane_copy copy;
    if (values->masked[values->nodes[n]] ||
        !find_copy(e, values->items[n], &copy) || !is_worth_it(e, &copy)) {
      continue;
    }
    e->copied[n] = true;
    e->copied[lanes_map_get(&values->numbers, copy.load)] = true;
    if (copy.conversion) {
      e->copied[lanes_map_get(&values->numbers, copy.conversion)] = true;
    }
  }
}

// --- Emission ----------------------------------------------------------------

static LLVMValueRef converted(lanes_emitter *e, const lane_copy *copy,
                              LLVMValueRef value, uint32_t count) {
  if (!copy->conversion) {
    return value;
  }
  LLVMTypeRef type = LLVMVectorType(copy->to.element, count);
  return LLVMBuildCast(e->builder, LLVMGetInstructionOpcode(copy->conversion),
                       value, type, "");
}

// How many lanes' rows follow one another on both sides.
static uint32_t lanes_together(lanes_emitter *e, const lane_copy *copy) {
  const lanes_pattern from = lanes_pattern_here(e, copy->from.pointer);
  const lanes_pattern to = lanes_pattern_here(e, copy->to.pointer);
  int64_t from_bytes = (int64_t)(copy->from.count * copy->from.size_bytes);
  int64_t to_bytes = (int64_t)(copy->to.count * copy->to.size_bytes);
  uint32_t lanes = 1;
  for (uint32_t b = 0; b < LANES_BITS; b++) {
    if (!(from.known & to.known & 1u << b) || from.by_bit[b] != from_bytes ||
        to.by_bit[b] != to_bytes || 2 * from_bytes > MOST_BYTES ||
        2 * to_bytes > MOST_BYTES) {
      break;
    }
    from_bytes *= 2;
    to_bytes *= 2;
    lanes *= 2;
  }
  return lanes;
}

// The lines that a copy of the next turn will load, unless a copy of this block
// has asked for them.
static LLVMValueRef step_to_fetch(lanes_emitter *e, const lane_copy *copy) {
  LLVMValueRef step = lanes_next_iteration(e, &copy->from, true);
  LLVMValueRef before = e->copy_fetched;
  if (step && before &&
      LLVMGetInstructionParent(before) == LLVMGetInstructionParent(copy->load)) {
    lanes_affine at, at_before;
    lanes_affine_find(e->values, copy->from.pointer, &at);
    lanes_affine_find(e->values, LLVMGetOperand(before, 0), &at_before);
    const int64_t behind = lanes_affine_like(&at, &at_before)
                               ? lanes_affine_distance(&at_before, &at)
                               : LINE_BYTES;
    if (behind >= 0 && behind < LINE_BYTES) {
      return NULL;
    }
  }
  e->copy_fetched = step ? copy->load : before;
  return step;
}

static void copy_all(lanes_emitter *e, const lane_copy *copy) {
  LLVMValueRef from[MOST_LANES], to[MOST_LANES];
  lanes_take_addresses(e, copy->from.pointer, from);
  lanes_take_addresses(e, copy->to.pointer, to);
  const uint32_t lanes = lanes_together(e, copy);
  const uint32_t count = lanes * copy->from.count;
  LLVMTypeRef type = LLVMVectorType(copy->from.element, count);
  LLVMValueRef step = step_to_fetch(e, copy);
  for (uint32_t lane = 0; lane < LANES; lane += lanes) {
    lanes_prefetch_at(e, from[lane], step, count * copy->from.size_bytes);
    LLVMValueRef row = LLVMBuildLoad2(e->builder, type, from[lane], "");
    LLVMSetAlignment(row, copy->from.alignment);
    LLVMValueRef store =
        LLVMBuildStore(e->builder, converted(e, copy, row, count), to[lane]);
    LLVMSetAlignment(store, copy->to.alignment);
  }
}

// Component by component.
static void copy_components(lanes_emitter *e, const lane_copy *copy) {
  LLVMValueRef from = lanes_vector(e, copy->from.pointer, 0);
  LLVMValueRef to = lanes_vector(e, copy->to.pointer, 0);
  LLVMValueRef components[MOST_BYTES];
  for (uint32_t c = 0; c < copy->from.count; c++) {
    components[c] =
        lanes_gather(e, &copy->from, from, c * copy->from.pitch_bytes);
  }
  for (uint32_t c = 0; c < copy->to.count; c++) {
    lanes_scatter(e, &copy->to, to, c * copy->to.pitch_bytes,
                  converted(e, copy, components[c], LANES));
  }
}

typedef struct some_copied {
  const lane_copy *copy;
  LLVMValueRef from;  // arrays of addresses
  LLVMValueRef to;
} some_copied;

static void copy_one(lanes_emitter *e, void *context, LLVMValueRef lane) {
  const some_copied *some = context;
  const lane_copy *copy = some->copy;
  const uint32_t count = copy->from.count;
  LLVMValueRef row = LLVMBuildLoad2(
      e->builder, LLVMVectorType(copy->from.element, count),
      lanes_element_of(e, e->types.pointer, some->from, lane), "");
  LLVMSetAlignment(row, copy->from.alignment);
  LLVMValueRef store =
      LLVMBuildStore(e->builder, converted(e, copy, row, count),
                     lanes_element_of(e, e->types.pointer, some->to, lane));
  LLVMSetAlignment(store, copy->to.alignment);
}

// Row by row, those of the lanes that run.
static void copy_some(lanes_emitter *e, const lane_copy *copy,
                      LLVMBasicBlockRef done) {
  some_copied some = {
      .copy = copy,
      .from = lanes_array_from(e, lanes_vector(e, copy->from.pointer, 0)),
      .to = lanes_array_from(e, lanes_vector(e, copy->to.pointer, 0))};
  lanes_loop_over_lanes(e, copy_one, &some, done);
}

void lanes_emit_row_copy(lanes_emitter *e, LLVMValueRef store) {
  lane_copy copy;
  if (!find_copy(e, store, &copy) || !is_worth_it(e, &copy)) {
    lanes_refuse(e, "a copy that is none");
    return;
  }
  LLVMBasicBlockRef all = lanes_block(e, "all");
  LLVMBasicBlockRef some = lanes_block(e, "some");
  LLVMBasicBlockRef done = lanes_block(e, "copied");
  lanes_mark_check(
      LLVMBuildCondBr(e->builder, lanes_all(e, e->mask), all, some));
  const bool uncached = e->uncached;
  e->uncached = true;
  LLVMPositionBuilderAtEnd(e->builder, all);
  copy_all(e, &copy);
  LLVMBuildBr(e->builder, done);
  LLVMPositionBuilderAtEnd(e->builder, some);
  if (e->is_at_once) {
    copy_components(e, &copy);
    LLVMBuildBr(e->builder, done);
    LLVMPositionBuilderAtEnd(e->builder, done);
  } else {
    copy_some(e, &copy, done);
  }
  e->uncached = uncached;
}
