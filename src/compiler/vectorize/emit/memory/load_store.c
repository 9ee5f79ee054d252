// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// load_store.c: loads and stores of 32 threads, each in the form that the
// access plan says (access_plan.c); emit_load_form and emit_store_form name the
// function of each. Lanes that do not run never touch memory.
#include "compiler/vectorize/emit/memory/load_store.h"

#include <stddef.h>
#include <string.h>

#include "compiler/ir/llvm/types.h"
#include "compiler/vectorize/analysis/components.h"
#include "compiler/vectorize/analysis/effects.h"
#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/analysis/uniformity.h"
#include "compiler/vectorize/base/alignment.h"
#include "compiler/vectorize/base/tables.h"
#include "compiler/vectorize/emit/address/wrap_checks.h"
#include "compiler/vectorize/emit/lanes/lane_loop.h"
#include "compiler/vectorize/emit/lanes/scalarise.h"
#include "compiler/vectorize/emit/memory/access_addresses.h"
#include "compiler/vectorize/emit/memory/bit_permuted.h"
#include "compiler/vectorize/emit/memory/checked/check_adjacent.h"
#include "compiler/vectorize/emit/memory/checked/check_strides.h"
#include "compiler/vectorize/emit/memory/checked/permute_window.h"
#include "compiler/vectorize/emit/memory/gathers.h"
#include "compiler/vectorize/emit/memory/interleaved.h"
#include "compiler/vectorize/emit/memory/lane_vectors/lane_vectors.h"
#include "compiler/vectorize/emit/memory/lane_vectors/store.h"
#include "compiler/vectorize/emit/memory/lane_vectors/store_group.h"
#include "compiler/vectorize/emit/memory/masked_emulation.h"
#include "compiler/vectorize/emit/memory/private_interleaved.h"
#include "compiler/vectorize/emit/memory/reversed.h"
#include "compiler/vectorize/emit/memory/segment_vectors.h"
#include "compiler/vectorize/emit/values/builder.h"
#include "compiler/vectorize/emit/values/check_arms.h"
#include "compiler/vectorize/emit/values/emitter.h"
#include "compiler/vectorize/emit/values/values.h"
#include "compiler/vectorize/plan/access/access.h"
#include "compiler/vectorize/plan/access/access_plan.h"

// --- Any address -------------------------------------------------------------

// Stores all lanes' elements one by one; those of a segment are a stride apart.
static void store_each(lanes_emitter *e, const lanes_access *a,
                       LLVMValueRef *components) {
  LLVMValueRef first = NULL;
  for (uint32_t lane = 0; lane < e->lanes; lane++) {
    const uint32_t in_row = lane % a->shape.row;
    if (in_row == 0) {
      first = a->shape.row == e->lanes
                  ? lanes_access_begin(e, a)
                  : lanes_access_segment_address(e, a, lane / a->shape.row);
    }
    for (uint32_t c = 0; c < a->count; c++) {
      const uint64_t offset =
          in_row * (uint64_t)a->shape.stride + c * a->pitch_bytes;
      LLVMValueRef store = LLVMBuildStore(
          e->builder,
          LLVMBuildExtractElement(e->builder, components[c],
                                  mtlc_i32(e->context, lane), ""),
          lanes_address_at(e, first, offset));
      LLVMSetAlignment(store, lanes_common_alignment(a->alignment, offset));
    }
  }
}

static void scatter_singly(lanes_emitter *e, const lanes_access *a,
                           LLVMValueRef *components) {
  LLVMValueRef pointers = lanes_vector(e, a->pointer, 0);
  for (uint32_t c = 0; c < a->count; c++) {
    lanes_scatter(e, a, pointers, c * a->pitch_bytes, components[c]);
  }
}

// Stores lane by lane where all lanes run, elsewhere scatters.
static void store_in_line(lanes_emitter *e, const lanes_access *a,
                          LLVMValueRef *components) {
  const bool uncached = e->uncached;
  const lanes_check question = lanes_begin_full_check(e, e->mask);
  e->uncached = true;
  store_each(e, a, components);
  lanes_end_check_arm(e, &question, question.some);
  scatter_singly(e, a, components);
  e->uncached = uncached;
  lanes_end_check_arm(e, &question, question.done);
}

static void gather_singly(lanes_emitter *e, const lanes_access *a,
                          LLVMValueRef *components) {
  LLVMValueRef pointers = lanes_vector(e, a->pointer, 0);
  for (uint32_t c = 0; c < a->count; c++) {
    components[c] = lanes_gather(e, a, pointers, c * a->pitch_bytes);
  }
}

// Accesses lane by lane in a loop, those that run. If a first address is given,
// lanes are a stride after it.
static void access_lane_loop(lanes_emitter *e, const lanes_access *a,
                             bool store, LLVMValueRef *components) {
  for (uint32_t c = 0; c < a->count; c++) {
    const uint64_t offset = c * a->pitch_bytes;
    if (store) {
      lanes_store_lane_loop(e, a, lanes_vector(e, a->pointer, 0), offset,
                            components[c]);
    } else {
      components[c] = lanes_load_lane_loop(e, a, a->first, offset);
    }
  }
}

static void load_broadcast(lanes_emitter *e, const lanes_access *a,
                           LLVMValueRef *components) {
  int rows[MOST_LANES];
  for (uint32_t i = 0; i < e->lanes; i++) {
    rows[i] = (int)(i / a->shape.row);
  }
  for (uint32_t c = 0; c < a->count; c++) {
    LLVMValueRef firsts = lanes_load_firsts(e, a, c * a->pitch_bytes);
    components[c] = lanes_shuffle(e, firsts, NULL, rows, e->lanes);
  }
}

// Accesses the lanes before the index wraps, then the others.
static void split_at_wrap(lanes_emitter *e, const lanes_choice *choice,
                          const lanes_access *a, bool store,
                          LLVMValueRef *components) {
  LLVMValueRef jump = NULL;
  LLVMValueRef before = lanes_before_wrap(e, a->pointer, &jump);
  LLVMValueRef mask = e->mask;
  LLVMValueRef none = LLVMConstNull(LLVMTypeOf(mask));
  LLVMValueRef parts[2][MOST_LANES];
  lanes_access run = *a;
  for (uint32_t part = 0; part < 2; part++) {
    e->mask = part == 0 ? LLVMBuildSelect(e->builder, before, mask, none, "")
                        : LLVMBuildSelect(e->builder, before, none, mask, "");
    run.first = part == 0 ? lanes_scalar(e, a->pointer, 0)
                          : LLVMBuildGEP2(e->builder, e->types.i8, run.first,
                                          &jump, 1, "");
    memcpy(parts[part], components, a->count * sizeof *components);
    lanes_emit_choice(e, choice->then, &run, store, parts[part]);
  }
  e->mask = mask;
  for (uint32_t c = 0; !store && c < a->count; c++) {
    components[c] =
        LLVMBuildSelect(e->builder, before, parts[0][c], parts[1][c], "");
  }
}

static void emit_load_form(lanes_emitter *e, const lanes_choice *choice,
                           const lanes_access *a, LLVMValueRef *components) {
  switch (choice->form) {
    case LANES_PRIVATE_VECTOR:
    case LANES_PRIVATE_GATHER:
      lanes_load_private(e, a, choice, components);
      return;
    case LANES_CONTIGUOUS:
    case LANES_INTERLEAVED:
    case LANES_STRIDED_SEGMENTS:
      lanes_load_interleaved(e, a, choice->stride, components);
      return;
    case LANES_REVERSED:
      lanes_access_reversed(e, choice, a, false, components);
      return;
    case LANES_WORDS:
      lanes_load_words(e, a, choice->stride, components);
      return;
    case LANES_SEGMENT_VECTORS: lanes_load_segments(e, a, components); return;
    case LANES_BIT_PERMUTED:
      lanes_load_bit_runs(e, a, choice->runs, components);
      return;
    case LANES_TABLE: components[0] = lanes_load_table(e, a); return;
    case LANES_BROADCAST: load_broadcast(e, a, components); return;
    case LANES_GATHER: gather_singly(e, a, components); return;
    case LANES_LANE_LOOP: access_lane_loop(e, a, false, components); return;
    case LANES_SPLIT_AT_WRAP:
      split_at_wrap(e, choice, a, false, components);
      return;
    default: lanes_refuse(e, "a load in a form for others"); return;
  }
}

static void emit_store_form(lanes_emitter *e, const lanes_choice *choice,
                            const lanes_access *a, LLVMValueRef *components) {
  switch (choice->form) {
    case LANES_PRIVATE_VECTOR:
    case LANES_PRIVATE_GATHER:
      lanes_store_private(e, a, choice, components);
      return;
    case LANES_CONTIGUOUS:
    case LANES_INTERLEAVED:
      lanes_store_interleaved(e, a, choice->stride, components);
      return;
    case LANES_REVERSED:
      lanes_access_reversed(e, choice, a, true, components);
      return;
    case LANES_SEGMENT_VECTORS: lanes_store_segments(e, a, components); return;
    case LANES_BIT_PERMUTED:
      lanes_store_bit_runs(e, a, choice->runs, components);
      return;
    case LANES_EACH: store_each(e, a, components); return;
    case LANES_SCATTER: scatter_singly(e, a, components); return;
    case LANES_SCATTER_VECTORS:
      lanes_store_lane_vectors(e, a, !choice->is_nested, components);
      return;
    case LANES_IN_LINE: store_in_line(e, a, components); return;
    case LANES_LANE_LOOP: access_lane_loop(e, a, true, components); return;
    case LANES_SPLIT_AT_WRAP:
      split_at_wrap(e, choice, a, true, components);
      return;
    default: lanes_refuse(e, "a store in a form for others"); return;
  }
}

// --- Checks ------------------------------------------------------------------

void lanes_emit_either(lanes_emitter *e, LLVMValueRef holds,
                       const lanes_choice *choice, const lanes_access *ways[2],
                       lanes_emit_way *emit[2], bool store, uint32_t count,
                       LLVMValueRef *values) {
  LLVMBasicBlockRef blocks[3] = {lanes_block(e, "run"), lanes_block(e, "apart"),
                                 lanes_block(e, "accessed")};
  const lanes_choice *next[] = {choice->then, choice->otherwise};
  lanes_mark_check(LLVMBuildCondBr(e->builder, holds, blocks[0], blocks[1]));
  LLVMValueRef results[2][MOST_LANES] = {{0}};
  const bool uncached = e->uncached;
  e->uncached = true;
  for (uint32_t w = 0; w < 2; w++) {
    LLVMPositionBuilderAtEnd(e->builder, blocks[w]);
    for (uint32_t c = 0; store && c < count; c++) {
      results[w][c] = values[c];
    }
    emit[w](e, next[w], ways[w], store, results[w]);
    blocks[w] = LLVMGetInsertBlock(e->builder);
    LLVMBuildBr(e->builder, blocks[2]);
  }
  e->uncached = uncached;
  LLVMPositionBuilderAtEnd(e->builder, blocks[2]);
  for (uint32_t c = 0; !store && c < count; c++) {
    values[c] = LLVMBuildPhi(e->builder, LLVMTypeOf(results[0][c]), "");
    LLVMValueRef both[] = {results[0][c], results[1][c]};
    LLVMAddIncoming(values[c], both, blocks, 2);
  }
}

// Returns the access with its address's own shape, which no check has
// established.
static lanes_access apart_of(const lanes_emitter *e, const lanes_access *a) {
  lanes_access each = *a;
  each.shape = lanes_shape_of(e->values, a->pointer);
  each.first = NULL;
  each.firsts = NULL;
  return each;
}

// Emits a check and both of its arms, each with its own copy of the access.
static void emit_check(lanes_emitter *e, const lanes_choice *choice,
                       const lanes_access *a, bool store,
                       LLVMValueRef *components) {
  LLVMValueRef firsts[MOST_LANES];
  LLVMValueRef holds = NULL;
  lanes_access view = *a;
  const lanes_access each = apart_of(e, a);
  const lanes_access *ways[] = {&view, a};
  switch (choice->check) {
    case LANES_CHECK_NO_WRAP: holds = lanes_stride_holds(e, a->pointer); break;
    case LANES_CHECK_STRIDE_ONE:
      view.shape = choice->shape;
      lanes_firsts_by_strides(e, a, choice->factors, firsts);
      holds = lanes_check_stride_one(e, choice->factors);
      // The test for stride 0 uses the same addresses.
      ways[1] = choice->otherwise->check ? &view : a;
      break;
    case LANES_CHECK_STRIDE_ZERO:
      holds = lanes_check_stride_zero(e, choice->factors);
      ways[1] = &each;
      break;
    case LANES_CHECK_ADJACENT:
      view.shape = choice->shape;
      holds = lanes_check_adjacent(e, a, choice->shape, firsts);
      break;
    case LANES_CHECK_EQUAL:
      view.shape.row = (uint8_t)e->lanes;
      holds = lanes_check_equal(e, a, firsts);
      break;
    default: holds = lanes_check_table(e, &view, firsts); break;
  }
  if (choice->check == LANES_CHECK_STRIDE_ONE ||
      choice->check == LANES_CHECK_ADJACENT) {
    view.first = firsts[0];
  }
  if (choice->check != LANES_CHECK_NO_WRAP &&
      choice->check != LANES_CHECK_STRIDE_ZERO) {
    view.firsts = firsts;
  }
  lanes_emit_way *emit[] = {lanes_emit_choice, lanes_emit_choice};
  lanes_emit_either(e, holds, choice, ways, emit, store, a->count, components);
}

// Stores to gapped elements: reads and rewrites all memory between them if all
// lanes run or it may be read; otherwise lane by lane, since LLVM makes a
// branch for each element of a mask.
static void emit_gapped(lanes_emitter *e, const lanes_choice *choice,
                        const lanes_access *a, bool store,
                        LLVMValueRef *components) {
  LLVMValueRef mask = e->mask;
  const bool uncached = e->uncached;
  LLVMTypeRef all = LLVMVectorType(a->element, e->lanes * choice->stride);
  lanes_access rest = *a;
  rest.first = lanes_access_begin(e, a);
  const lanes_check question =
      lanes_begin_check(e, choice->check == LANES_CHECK_READABLE
                               ? lanes_may_load_whole(e, all, rest.first, mask)
                               : lanes_all(e, mask));
  LLVMValueRef parts[2][MOST_LANES];
  memcpy(parts[0], components, a->count * sizeof *components);
  memcpy(parts[1], components, a->count * sizeof *components);
  e->uncached = true;
  e->mask = LLVMConstAllOnes(LLVMTypeOf(mask));
  lanes_emit_choice(e, choice->then, a, store, parts[0]);
  e->mask = mask;
  LLVMBasicBlockRef from[2] = {LLVMGetInsertBlock(e->builder)};
  lanes_end_check_arm(e, &question, question.some);
  lanes_emit_choice(e, choice->otherwise, &rest, store, parts[1]);
  from[1] = LLVMGetInsertBlock(e->builder);
  lanes_end_check_arm(e, &question, question.done);
  e->uncached = uncached;
  for (uint32_t c = 0; !store && c < a->count; c++) {
    components[c] = LLVMBuildPhi(e->builder, LLVMTypeOf(parts[0][c]), "");
    LLVMValueRef values[] = {parts[0][c], parts[1][c]};
    LLVMAddIncoming(components[c], values, from, 2);
  }
}

void lanes_emit_choice(lanes_emitter *e, const lanes_choice *choice,
                       const lanes_access *a, bool store,
                       LLVMValueRef *components) {
  switch (choice->check) {
    case LANES_CHECK_NONE:
      (store ? emit_store_form : emit_load_form)(e, choice, a, components);
      return;
    case LANES_CHECK_IN_WINDOW:
      lanes_access_window(e, choice, a, store, components);
      return;
    case LANES_CHECK_ALL_LANES:
    case LANES_CHECK_READABLE:
      emit_gapped(e, choice, a, store, components);
      return;
    default: emit_check(e, choice, a, store, components); return;
  }
}

const lanes_choice *lanes_choice_of(const lanes_emitter *e,
                                    LLVMValueRef access) {
  return e->accesses->of[lanes_map_get(&e->values->numbers, access)];
}

// --- The instructions --------------------------------------------------------

// Keeps a relaxed atomic access in its place. Processors access aligned
// elements one by one even in a vector, so it needs no atomic instruction. But
// it must be done each time, and not be hoisted from a loop that waits for it:
// a fence tells LLVM that memory may have changed. Threadgroup memory needs
// none: one worker runs all its threads.
static void hold_in_place(lanes_emitter *e, LLVMValueRef access,
                          LLVMValueRef pointer) {
  if (!lanes_is_plain(access) && !lanes_is_in_threadgroup(e->kernel, pointer)) {
    LLVMBuildFence(e->builder, LLVMAtomicOrderingAcquireRelease, true, "");
  }
}

static void load_uniform(lanes_emitter *e, LLVMValueRef load) {
  LLVMTypeRef type = LLVMTypeOf(load);
  LLVMValueRef whole = LLVMBuildLoad2(
      e->builder, type, lanes_scalar(e, LLVMGetOperand(load, 0), 0), "");
  LLVMSetAlignment(whole, LLVMGetAlignment(load));
  LLVMSetOrdering(whole, LLVMGetOrdering(load));
  if (LLVMGetTypeKind(type) != LLVMVectorTypeKind) {
    lanes_set_result(e, load, 0, whole);
    return;
  }
  for (uint32_t c = 0; c < LLVMGetVectorSize(type); c++) {
    lanes_set_result(e, load, c,
                     LLVMBuildExtractElement(e->builder, whole,
                                             mtlc_i32(e->context, c), ""));
  }
}

static void load_firsts(lanes_emitter *e, LLVMValueRef load,
                        const lanes_access *a) {
  LLVMValueRef firsts = lanes_load_segment_firsts(e, a);
  if (a->element != a->type) {
    firsts =
        LLVMBuildTrunc(e->builder, firsts,
                       LLVMVectorType(a->type, e->lanes / a->shape.row), "");
  }
  lanes_set_result(e, load, 0, firsts);
}

void lanes_emit_load(lanes_emitter *e, LLVMValueRef load) {
  const lanes_choice *choice = lanes_choice_of(e, load);
  if (choice->form == LANES_LOADED_AHEAD) {
    return;
  }
  if (choice->form == LANES_SCALARISED) {
    lanes_scalarise(e, load);
    return;
  }
  hold_in_place(e, load, LLVMGetOperand(load, 0));
  const lanes_access a = lanes_access_of(
      e->values, load, LLVMGetOperand(load, 0), LLVMTypeOf(load));
  LLVMValueRef components[MOST_LANES];
  if (choice->group && !choice->group->is_one) {
    lanes_prefetch_group(e, &a, choice->group);
  }
  switch (choice->check ? LANES_FORMS : choice->form) {
    case LANES_NO_FORM: lanes_refuse(e, "%s", choice->why); return;
    case LANES_UNIFORM: load_uniform(e, load); return;
    case LANES_SEGMENT_FIRSTS: load_firsts(e, load, &a); return;
    case LANES_INTERLEAVE_GROUP:
      lanes_load_interleave_group(e, &a, choice->group);
      return;
    case LANES_LANE_VECTORS:
      lanes_load_lane_vectors(e, choice->vectors);
      return;
    default: lanes_emit_choice(e, choice, &a, false, components); break;
  }
  for (uint32_t c = 0; c < a.count && !e->refusal[0]; c++) {
    LLVMValueRef value = components[c];
    if (a.element != a.type) {
      value = LLVMBuildTrunc(e->builder, value,
                             lanes_vector_of(e->lanes, a.type), "");
    }
    lanes_set_result(e, load, c, value);
  }
}

// Stores the last thread's value, where all threads store to one address.
static void store_uniform(lanes_emitter *e, LLVMValueRef store) {
  LLVMValueRef value = LLVMGetOperand(store, 0);
  LLVMTypeRef type = LLVMTypeOf(value);
  const uint32_t count = lanes_component_count(type);
  const bool same = lanes_is_uniform(lanes_shape_of(e->values, value));
  LLVMValueRef last = lanes_last(e);
  LLVMValueRef whole = LLVMGetPoison(type);
  for (uint32_t c = 0; c < count; c++) {
    LLVMValueRef one =
        same ? lanes_scalar(e, value, c)
             : LLVMBuildExtractElement(e->builder, lanes_vector(e, value, c),
                                       last, "");
    whole = LLVMGetTypeKind(type) == LLVMVectorTypeKind
                ? LLVMBuildInsertElement(e->builder, whole, one,
                                         mtlc_i32(e->context, c), "")
                : one;
  }
  LLVMValueRef emitted = LLVMBuildStore(
      e->builder, whole, lanes_scalar(e, LLVMGetOperand(store, 1), 0));
  LLVMSetAlignment(emitted, LLVMGetAlignment(store));
  LLVMSetOrdering(emitted, LLVMGetOrdering(store));
}

void lanes_emit_store(lanes_emitter *e, LLVMValueRef store) {
  const lanes_choice *choice = lanes_choice_of(e, store);
  if (choice->form == LANES_SCALARISED) {
    lanes_scalarise(e, store);
    return;
  }
  hold_in_place(e, store, LLVMGetOperand(store, 1));
  LLVMValueRef value = LLVMGetOperand(store, 0);
  const lanes_access a = lanes_access_of(
      e->values, store, LLVMGetOperand(store, 1), LLVMTypeOf(value));
  switch (choice->check ? LANES_FORMS : choice->form) {
    case LANES_NO_FORM: lanes_refuse(e, "%s", choice->why); return;
    case LANES_UNIFORM: store_uniform(e, store); return;
    case LANES_STORE_GROUP:
      lanes_store_group(e, store, choice->vectors);
      return;
    default: break;
  }
  LLVMValueRef components[MOST_LANES];
  for (uint32_t c = 0; c < a.count; c++) {
    components[c] = lanes_vector(e, value, c);
    if (a.element != a.type) {
      components[c] = LLVMBuildZExt(e->builder, components[c],
                                    lanes_vector_of(e->lanes, a.element), "");
    }
  }
  lanes_emit_choice(e, choice, &a, true, components);
}
