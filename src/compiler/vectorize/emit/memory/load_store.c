// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// load_store.c: loads and stores of 32 threads: one scalar, one vector, a few
// rows of vectors, or gathers and scatters, whatever the address's shape
// allows. Lanes that do not run never touch memory.
#include "compiler/vectorize/emit/memory/load_store.h"

#include <llvm-c/Target.h>
#include <stddef.h>
#include <string.h>

#include "compiler/ir/types.h"
#include "compiler/vectorize/analysis/components.h"
#include "compiler/vectorize/analysis/effects.h"
#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/analysis/uniformity.h"
#include "compiler/vectorize/base/alignment.h"
#include "compiler/vectorize/base/debug_lines.h"
#include "compiler/vectorize/emit/address/access.h"
#include "compiler/vectorize/emit/address/wrap_checks.h"
#include "compiler/vectorize/emit/lanes/collectives.h"
#include "compiler/vectorize/emit/lanes/lane_loop.h"
#include "compiler/vectorize/emit/lanes/scalarise.h"
#include "compiler/vectorize/emit/memory/bit_permuted.h"
#include "compiler/vectorize/emit/memory/check_adjacent.h"
#include "compiler/vectorize/emit/memory/check_strides.h"
#include "compiler/vectorize/emit/memory/gathers.h"
#include "compiler/vectorize/emit/memory/interleaved.h"
#include "compiler/vectorize/emit/memory/lane_vector_store.h"
#include "compiler/vectorize/emit/memory/lane_vectors.h"
#include "compiler/vectorize/emit/memory/masked_emulation.h"
#include "compiler/vectorize/emit/memory/permute_window.h"
#include "compiler/vectorize/emit/memory/private_interleaved.h"
#include "compiler/vectorize/emit/memory/segment_vectors.h"
#include "compiler/vectorize/emit/memory/store_group.h"
#include "compiler/vectorize/emit/values/builder.h"
#include "compiler/vectorize/emit/values/emitter.h"
#include "compiler/vectorize/emit/values/masks.h"
#include "compiler/vectorize/emit/values/runtime_checks.h"
#include "compiler/vectorize/emit/values/values.h"

lanes_access lanes_access_of(lanes_emitter *e, LLVMValueRef instruction,
                             LLVMValueRef pointer, LLVMTypeRef value_type) {
  lanes_access a = {.instruction = instruction,
                    .pointer = pointer,
                    .shape = lanes_shape_of(e->values, pointer),
                    .type = lanes_component_type(value_type, 0),
                    .count = lanes_component_count(value_type),
                    .alignment = LLVMGetAlignment(instruction)};
  a.size_bytes = LLVMStoreSizeOfType(e->values->data, a.type);
  a.element = a.type;
  if (LLVMGetTypeKind(a.type) == LLVMIntegerTypeKind &&
      LLVMGetIntTypeWidth(a.type) != a.size_bytes * 8) {
    a.element = LLVMIntTypeInContext(e->context, (unsigned)a.size_bytes * 8);
  }
  a.pitch_bytes = a.size_bytes;
  const LLVMTypeKind kind = LLVMGetTypeKind(value_type);
  if (kind == LLVMStructTypeKind || kind == LLVMArrayTypeKind ||
      (kind == LLVMVectorTypeKind && a.element != a.type)) {
    lanes_refuse(e, "loads or stores of whole structures");
  }
  return a;
}

// --- Plain vectors -----------------------------------------------------------

enum { SHORT_VECTOR = 4 };  // of which a branch each element is no more code

// True if the machine loads and stores vectors of such elements under a
// mask; LLVM makes a branch of each element otherwise.
static bool has_masks_for(const lanes_emitter *e, LLVMTypeRef element) {
  return e->machine.has_avx512 ||
         (e->machine.has_avx2 &&
          LLVMSizeOfTypeInBits(e->values->data, element) >= 32);
}

static LLVMValueRef load_masked(lanes_emitter *e, LLVMTypeRef type,
                                LLVMValueRef pointer, uint32_t alignment,
                                LLVMValueRef mask) {
  LLVMValueRef arguments[] = {pointer, mtlc_i32(e->context, alignment), mask,
                              LLVMGetPoison(type)};
  LLVMTypeRef overloads[] = {type, e->types.pointer};
  return lanes_intrinsic(e, "llvm.masked.load", overloads, 2, arguments, 4);
}

LLVMValueRef lanes_masked_load(lanes_emitter *e, LLVMTypeRef type,
                               LLVMValueRef pointer, uint32_t alignment,
                               LLVMValueRef mask) {
  if (LLVMIsConstant(mask) || has_masks_for(e, LLVMGetElementType(type))) {
    return load_masked(e, type, pointer, alignment, mask);
  }
  const bool is_short = LLVMGetVectorSize(type) <= SHORT_VECTOR;
  const lanes_check question =
      is_short ? lanes_begin_full_check(e, mask)
               : lanes_begin_check(e, lanes_may_load_whole(e, type, pointer, mask));
  LLVMValueRef values[2];
  values[0] = LLVMBuildLoad2(e->builder, type, pointer, "");
  LLVMSetAlignment(values[0], alignment);
  lanes_end_check_arm(e, &question, question.some);
  values[1] = (is_short ? load_masked : lanes_load_emulated)(e, type, pointer,
                                                         alignment, mask);
  LLVMBasicBlockRef from[] = {question.all, LLVMGetInsertBlock(e->builder)};
  lanes_end_check_arm(e, &question, question.done);
  LLVMValueRef loaded = LLVMBuildPhi(e->builder, type, "");
  LLVMAddIncoming(loaded, values, from, 2);
  return loaded;
}

static void store_masked(lanes_emitter *e, LLVMValueRef value,
                         LLVMValueRef pointer, uint32_t alignment,
                         LLVMValueRef mask) {
  LLVMValueRef arguments[] = {value, pointer, mtlc_i32(e->context, alignment),
                              mask};
  LLVMTypeRef overloads[] = {LLVMTypeOf(value), e->types.pointer};
  lanes_intrinsic(e, "llvm.masked.store", overloads, 2, arguments, 4);
}

bool lanes_is_own_memory(const lanes_emitter *e, const lanes_access *a) {
  return a->pointer && !e->is_at_once &&
         (lanes_is_in_threadgroup(e->kernel, a->pointer) || lanes_private_unit_of(e, a));
}

bool lanes_is_workers_own(const lanes_emitter *e, const lanes_access *a) {
  return !e->machine.has_avx512 && lanes_is_own_memory(e, a);
}

static void store_among(lanes_emitter *e, const lanes_access *a,
                        LLVMValueRef value, LLVMValueRef pointer,
                        uint32_t alignment, LLVMValueRef mask) {
  // Where no lane runs, the address may be anything.
  const bool is_there = lanes_has_thread(e) && a->shape.row == LANES;
  LLVMBasicBlockRef stored = is_there ? NULL : lanes_block(e, "stored");
  if (stored) {
    LLVMBasicBlockRef some = lanes_block(e, "some");
    LLVMBuildCondBr(e->builder, lanes_any(e, mask), some, stored);
    LLVMPositionBuilderAtEnd(e->builder, some);
  }
  LLVMValueRef old = LLVMBuildLoad2(e->builder, LLVMTypeOf(value), pointer, "");
  LLVMSetAlignment(old, alignment);
  LLVMValueRef both = LLVMBuildSelect(e->builder, mask, value, old, "");
  LLVMSetAlignment(LLVMBuildStore(e->builder, both, pointer), alignment);
  if (stored) {
    LLVMBuildBr(e->builder, stored);
    LLVMPositionBuilderAtEnd(e->builder, stored);
  }
}

// Each register by itself: on some machines without AVX-512 a store under a
// mask takes 12 cycles, and at an edge most registers lack no lane.
static void store_by_registers(lanes_emitter *e, LLVMValueRef value,
                               LLVMValueRef pointer, uint32_t alignment,
                               LLVMValueRef mask) {
  const uint32_t each = lanes_register_words(e);
  for (uint32_t i = 0; i < LLVMGetVectorSize(LLVMTypeOf(value)); i += each) {
    LLVMValueRef own = lanes_subvector(e, value, i, each);
    LLVMValueRef own_mask = lanes_subvector(e, mask, i, each);
    LLVMValueRef to = lanes_address_at(e, pointer, i * sizeof(float));
    const uint32_t own_alignment =
        lanes_common_alignment(alignment, i * sizeof(float));
    const lanes_check question = lanes_begin_full_check(e, own_mask);
    LLVMSetAlignment(LLVMBuildStore(e->builder, own, to), own_alignment);
    lanes_end_check_arm(e, &question, question.some);
    store_masked(e, own, to, own_alignment, own_mask);
    lanes_end_check_arm(e, &question, question.done);
  }
}

static bool goes_by_registers(const lanes_emitter *e, LLVMTypeRef type,
                              LLVMValueRef mask) {
  const uint32_t each = e->machine.has_avx512 ? 0 : lanes_register_words(e);
  return each && !e->is_at_once && !LLVMIsConstant(mask) &&
         LLVMGetVectorSize(type) > each &&
         LLVMSizeOfTypeInBits(e->values->data, LLVMGetElementType(type)) == 32;
}

void lanes_masked_store(lanes_emitter *e, const lanes_access *a,
                        LLVMValueRef value, LLVMValueRef pointer,
                        uint32_t alignment, LLVMValueRef mask) {
  const bool has_masks =
      has_masks_for(e, LLVMGetElementType(LLVMTypeOf(value)));
  if (!LLVMIsConstant(mask) && lanes_is_workers_own(e, a) &&
      (a->shape.row == LANES || !has_masks)) {
    store_among(e, a, value, pointer, alignment, mask);
    return;
  }
  if (has_masks && goes_by_registers(e, LLVMTypeOf(value), mask)) {
    store_by_registers(e, value, pointer, alignment, mask);
    return;
  }
  if (LLVMIsConstant(mask) || has_masks) {
    store_masked(e, value, pointer, alignment, mask);
    return;
  }
  const lanes_check question = lanes_begin_full_check(e, mask);
  LLVMSetAlignment(LLVMBuildStore(e->builder, value, pointer), alignment);
  lanes_end_check_arm(e, &question, question.some);
  const bool is_short = LLVMGetVectorSize(LLVMTypeOf(value)) <= SHORT_VECTOR;
  (is_short ? store_masked : lanes_store_emulated)(e, value, pointer, alignment,
                                               mask);
  lanes_end_check_arm(e, &question, question.done);
}

// --- Any address -------------------------------------------------------------

LLVMValueRef lanes_access_begin(lanes_emitter *e, const lanes_access *a) {
  return a->first ? a->first : lanes_scalar(e, a->pointer, 0);
}

// All lanes' elements, of which those of a row are a stride apart, one by one.
static void store_each(lanes_emitter *e, const lanes_access *a,
                       LLVMValueRef *components) {
  LLVMValueRef first = NULL;
  for (uint32_t lane = 0; lane < LANES; lane++) {
    const uint32_t in_row = lane % a->shape.row;
    if (in_row == 0) {
      first = a->shape.row == LANES
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

// As columns of a tile that is stored transposed: where all lanes run, stores
// at places that are known from each other take half as long as a scatter.
static bool store_in_line(lanes_emitter *e, const lanes_access *a,
                          LLVMValueRef *components) {
  enum { LEAST_ROW = 8 };
  if (e->is_at_once || a->shape.conditional || a->shape.row < LEAST_ROW ||
      (e->mask != e->all_lanes && !LLVMIsConstant(e->mask))) {
    return false;
  }
  const bool uncached = e->uncached;
  const lanes_check question = lanes_begin_full_check(e, e->mask);
  e->uncached = true;
  store_each(e, a, components);
  lanes_end_check_arm(e, &question, question.some);
  scatter_singly(e, a, components);
  e->uncached = uncached;
  lanes_end_check_arm(e, &question, question.done);
  return true;
}

// Every lane's own address.
static void access_singly(lanes_emitter *e, const lanes_access *a, bool store,
                          LLVMValueRef *components) {
  lanes_lines_add(e->arena, store ? &e->scatters : &e->gathers, a->instruction);
  if (store) {
    if (!lanes_store_lane_vectors(e, a, components) &&
        !store_in_line(e, a, components)) {
      scatter_singly(e, a, components);
    }
    return;
  }
  LLVMValueRef pointers = lanes_vector(e, a->pointer, 0);
  for (uint32_t c = 0; c < a->count; c++) {
    components[c] = lanes_gather(e, a, pointers, c * a->pitch_bytes);
  }
}

static void access_strided(lanes_emitter *e, const lanes_access *a,
                           uint32_t stride, bool store,
                           LLVMValueRef *components) {
  if (store) {
    lanes_store_interleaved(e, a, stride, components);
  } else {
    lanes_load_interleaved(e, a, stride, components);
  }
}

// Lane by lane, those that run, in little code; first as lanes_load_lane_loop.
static void access_some(lanes_emitter *e, const lanes_access *a,
                        LLVMValueRef first, bool store,
                        LLVMValueRef *components) {
  if (e->is_at_once || (store && (first || a->count > 1))) {
    access_singly(e, a, store, components);
    return;
  }
  for (uint32_t c = 0; c < a->count; c++) {
    const uint64_t offset = c * a->pitch_bytes;
    if (store) {
      lanes_store_lane_loop(e, a, lanes_vector(e, a->pointer, 0), offset,
                          components[c]);
    } else {
      components[c] = lanes_load_lane_loop(e, a, first, offset);
    }
  }
}

// True if elements have gaps between them, on a machine without masks for
// such elements. AVX2 stores under masks, but on some machines a store takes 12
// cycles then, however many elements it stores.
static bool is_gapped(const lanes_emitter *e, const lanes_access *a,
                      bool store) {
  const bool stores_slowly =
      store && !e->machine.has_avx512 && !lanes_is_workers_own(e, a);
  return lanes_stride_elements(a) > a->count &&
         (stores_slowly || !has_masks_for(e, a->element));
}

// All that lies between lanes' elements, if that may be read; otherwise one
// after another: LLVM makes a branch for each element of a mask.
static void access_gapped(lanes_emitter *e, const lanes_access *a,
                          uint32_t stride, bool store,
                          LLVMValueRef *components) {
  LLVMValueRef mask = e->mask;
  const bool uncached = e->uncached;
  const bool by_words = !store && lanes_lie_in_words(a, stride);
  if (!by_words && !store) {
    lanes_lines_add(e->arena, &e->gathers, a->instruction);
  }
  LLVMTypeRef all = LLVMVectorType(a->element, LANES * stride);
  LLVMValueRef first = lanes_access_begin(e, a);
  const lanes_check question =
      lanes_begin_check(e, by_words ? lanes_may_load_whole(e, all, first, mask)
                            : lanes_all(e, mask));
  LLVMValueRef parts[2][MOST_LANES];
  memcpy(parts[1], components, a->count * sizeof *components);
  e->uncached = true;
  e->mask = LLVMConstAllOnes(LLVMTypeOf(mask));
  if (by_words) {
    lanes_load_words(e, a, stride, parts[0]);
  } else if (store) {
    store_each(e, a, components);
  } else {
    lanes_load_interleaved(e, a, stride, parts[0]);
  }
  e->mask = mask;
  LLVMBasicBlockRef from[2] = {LLVMGetInsertBlock(e->builder)};
  lanes_end_check_arm(e, &question, question.some);
  access_some(e, a, first, store, parts[1]);
  from[1] = LLVMGetInsertBlock(e->builder);
  lanes_end_check_arm(e, &question, question.done);
  e->uncached = uncached;
  for (uint32_t c = 0; !store && c < a->count; c++) {
    components[c] = LLVMBuildPhi(e->builder, LLVMTypeOf(parts[0][c]), "");
    LLVMValueRef values[] = {parts[0][c], parts[1][c]};
    LLVMAddIncoming(components[c], values, from, 2);
  }
}

// What is known about the address decides.
static void access_shaped(lanes_emitter *e, const lanes_access *a, bool store,
                          LLVMValueRef *components) {
  const uint32_t stride = lanes_stride_elements(a);
  if (is_gapped(e, a, store)) {
    access_gapped(e, a, stride, store, components);
  } else if (stride) {
    access_strided(e, a, stride, store, components);
  } else if (lanes_is_by_segments(a) && store) {
    lanes_store_segments(e, a, components);
  } else if (lanes_is_by_segments(a)) {
    lanes_load_segments(e, a, components);
  } else {
    access_singly(e, a, store, components);
  }
}

// Some lane's index wraps: those before it and those from it on are two runs.
// Falls back on every lane's own address where it is not so simple, or would be
// as much code again for what hardly ever happens.
void lanes_access_wrapped(lanes_emitter *e, const lanes_access *a, bool store,
                          LLVMValueRef *components) {
  if (is_gapped(e, a, store)) {
    access_some(e, a, NULL, store, components);
    return;
  }
  LLVMValueRef jump = NULL;
  LLVMValueRef before = lanes_before_wrap(e, a->pointer, &jump);
  if (!before) {
    access_singly(e, a, store, components);
    return;
  }
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
    for (uint32_t c = 0; c < a->count; c++) {
      parts[part][c] = components[c];
    }
    access_shaped(e, &run, store, parts[part]);
  }
  e->mask = mask;
  for (uint32_t c = 0; !store && c < a->count; c++) {
    components[c] =
        LLVMBuildSelect(e->builder, before, parts[0][c], parts[1][c], "");
  }
}

static bool is_shaped(const lanes_access *a) {
  return lanes_stride_elements(a) || lanes_is_by_segments(a);
}

static bool is_conditional(const lanes_access *a) {
  return a->shape.conditional && is_shaped(a);
}

// Goes one of two ways, as is found at run time. The first has its own view of
// the access; the second is all but never taken, and not reported, if rare.
static void access_either(lanes_emitter *e, LLVMValueRef holds,
                          const lanes_access *ways[2],
                          lanes_access_way *then[2], bool store, uint32_t count,
                          LLVMValueRef *components) {
  LLVMBasicBlockRef blocks[3] = {lanes_block(e, "run"), lanes_block(e, "apart"),
                                 lanes_block(e, "accessed")};
  lanes_mark_check(LLVMBuildCondBr(e->builder, holds, blocks[0], blocks[1]));
  LLVMValueRef results[2][MOST_LANES] = {{0}};
  const bool uncached = e->uncached;
  e->uncached = true;
  for (uint32_t w = 0; w < 2; w++) {
    LLVMPositionBuilderAtEnd(e->builder, blocks[w]);
    for (uint32_t c = 0; store && c < count; c++) {
      results[w][c] = components[c];
    }
    then[w](e, ways[w], store, results[w]);
    blocks[w] = LLVMGetInsertBlock(e->builder);
    LLVMBuildBr(e->builder, blocks[2]);
  }
  e->uncached = uncached;
  LLVMPositionBuilderAtEnd(e->builder, blocks[2]);
  for (uint32_t c = 0; !store && c < count; c++) {
    components[c] = LLVMBuildPhi(e->builder, LLVMTypeOf(results[0][c]), "");
    LLVMValueRef both[] = {results[0][c], results[1][c]};
    LLVMAddIncoming(components[c], both, blocks, 2);
  }
}

// The stride holds unless an index wraps, which is all but never so and is not
// reported.
void lanes_access_conditionally(lanes_emitter *e, const lanes_access *a,
                                lanes_access_way *then[2], bool store,
                                uint32_t count, LLVMValueRef *values) {
  const lanes_lines gathers = e->gathers;
  const lanes_lines scatters = e->scatters;
  const lanes_access *ways[] = {a, a};
  access_either(e, lanes_stride_holds(e, a->pointer), ways, then, store, count,
                values);
  e->gathers = gathers;
  e->scatters = scatters;
}

static void load_common(lanes_emitter *e, const lanes_access *a, bool store,
                        LLVMValueRef *components) {
  (void)store;
  int rows[MOST_LANES];
  for (uint32_t i = 0; i < LANES; i++) {
    rows[i] = (int)(i / a->shape.row);
  }
  for (uint32_t c = 0; c < a->count; c++) {
    LLVMValueRef firsts = lanes_load_firsts(e, a, c * a->pitch_bytes);
    components[c] = lanes_shuffle(e, firsts, NULL, rows, LANES);
  }
}

// Lanes have the same address, or anywhere.
static void access_same(lanes_emitter *e, const lanes_access *a, bool store,
                        LLVMValueRef *components) {
  lanes_access same = *a;
  LLVMValueRef address = NULL;
  LLVMValueRef holds = lanes_check_equal(e, a, &address);
  same.shape.row = LANES;
  same.firsts = &address;
  const lanes_access *ways[] = {&same, a};
  lanes_access_way *then[] = {load_common, access_singly};
  access_either(e, holds, ways, then, store, a->count, components);
}

// Rows of lanes a stride apart, each row anywhere.
static void load_strided_rows(lanes_emitter *e, const lanes_access *a,
                              bool store, LLVMValueRef *components) {
  (void)store;
  lanes_load_interleaved(e, a, lanes_stride_in_rows(a), components);
}

// Nothing is known, but lanes may well turn out to be neighbours.
static bool access_as_runs(lanes_emitter *e, const lanes_access *a, bool store,
                           LLVMValueRef *components) {
  lanes_access runs = *a;
  LLVMValueRef firsts[MOST_LANES];
  bool may_be_same = false;
  if (!lanes_may_be_adjacent(e, a, &runs.shape, &may_be_same)) {
    return false;
  }
  if (runs.shape.stride == 0 && !store && lanes_has_thread(e)) {
    access_same(e, a, store, components);
    return true;
  }
  const bool is_in_rows = !store && lanes_stride_in_rows(&runs) &&
                          has_masks_for(e, a->element);
  if (!is_shaped(&runs) && !is_in_rows) {
    return false;
  }
  LLVMValueRef holds = lanes_check_adjacent(e, a, runs.shape, firsts);
  runs.first = firsts[0];
  runs.firsts = firsts;
  const lanes_access *ways[] = {&runs, a};
  lanes_access_way *then[] = {
      is_in_rows ? load_strided_rows : access_shaped,
      may_be_same && !store && lanes_has_thread(e) ? access_same
                                                   : access_singly};
  access_either(e, holds, ways, then, store, a->count, components);
  return true;
}

// Lanes are no neighbours: they load the same, or are far from each other.
static void access_apart(lanes_emitter *e, const lanes_access *a, bool store,
                         LLVMValueRef *components) {
  lanes_access each = *a;
  each.shape = lanes_shape_of(e->values, a->pointer);
  each.first = NULL;
  each.firsts = NULL;
  if (store) {
    access_singly(e, &each, store, components);
    return;
  }
  const lanes_access *ways[] = {a, &each};
  lanes_access_way *then[] = {load_common, access_singly};
  access_either(e, lanes_check_stride_zero(e, a->factors), ways, then, store,
                a->count, components);
}

// Lanes are so far from each other as the program says.
static bool access_by_factors(lanes_emitter *e, const lanes_access *a,
                              bool store, LLVMValueRef *components) {
  lanes_stride_factors factors;
  lanes_access runs = *a;
  if (!lanes_find_stride_factors(e, a, &factors, &runs.shape) || !is_shaped(&runs)) {
    return false;
  }
  LLVMValueRef firsts[MOST_LANES];
  lanes_firsts_by_strides(e, a, &factors, firsts);
  runs.first = firsts[0];
  runs.firsts = firsts;
  runs.factors = &factors;
  const lanes_access *ways[] = {&runs, &runs};
  lanes_access_way *then[] = {access_shaped, access_apart};
  access_either(e, lanes_check_stride_one(e, &factors), ways, then, store,
                a->count, components);
  return true;
}

static void load_table(lanes_emitter *e, const lanes_access *a, bool store,
                       LLVMValueRef *components) {
  (void)store;
  components[0] = lanes_load_table(e, a);
}

// From a table, which is all but never where it cannot be read whole.
static bool access_table(lanes_emitter *e, const lanes_access *a, bool store,
                         LLVMValueRef *components) {
  if (store || !lanes_may_be_table(e, a)) {
    return false;
  }
  const lanes_lines gathers = e->gathers;
  lanes_access table = *a;
  LLVMValueRef firsts[MOST_LANES];
  LLVMValueRef holds = lanes_check_table(e, &table, firsts);
  table.firsts = firsts;
  const lanes_access *ways[] = {&table, a};
  lanes_access_way *then[] = {load_table, access_singly};
  access_either(e, holds, ways, then, store, a->count, components);
  e->gathers = gathers;
  return true;
}

// Vectors where a check at run time holds. What is gathered where it does not
// hold is told as checked, not as gathers.
static bool access_checked(lanes_emitter *e, const lanes_access *a, bool store,
                           LLVMValueRef *components) {
  const lanes_lines gathers = e->gathers;
  const lanes_lines scatters = e->scatters;
  if (!access_by_factors(e, a, store, components) &&
      !access_as_runs(e, a, store, components) &&
      !lanes_access_window(e, a, access_singly, store, components)) {
    return false;
  }
  e->gathers = gathers;
  e->scatters = scatters;
  lanes_lines_add(e->arena, &e->checked, a->instruction);
  return true;
}

static void access_any(lanes_emitter *e, const lanes_access *a, bool store,
                       LLVMValueRef *components) {
  lanes_pattern_runs runs;
  if (is_conditional(a)) {
    lanes_access_way *then[] = {access_shaped, lanes_access_wrapped};
    lanes_access_conditionally(e, a, then, store, a->count, components);
  } else if (!is_shaped(a) &&
             (store ? lanes_find_bit_runs : lanes_find_shared_bit_runs)(e, a, &runs)) {
    (store ? lanes_store_bit_runs : lanes_load_bit_runs)(e, a, &runs, components);
  } else if (is_shaped(a) ||
             !(access_table(e, a, store, components) ||
               access_checked(e, a, store, components))) {
    access_shaped(e, a, store, components);
  }
}

// --- The instructions --------------------------------------------------------

// Processors load and store elements that are aligned one by one, also where
// there are many in a register: what is relaxed needs no atomic instruction.
// It has to be done each time, and not in front of a loop that waits for it: a
// fence tells LLVM that memory may be another. Threadgroup memory is one
// worker's.
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

enum { LEAST_ROW_BYTES = 16 };  // of lanes whose stride may wrap

// Loads what others in the block load beside it as well, if there is any.
static bool loads_with_others(lanes_emitter *e, const lanes_access *a) {
  lanes_shape runs;
  const uint32_t stride = lanes_stride_elements(a);
  if (!a->shape.conditional &&
      ((stride && a->count == 1) || lanes_stride_in_rows(a))) {
    return lanes_load_interleave_group(e, a);
  }
  if (stride) {
    // Without gaps between lanes all of it is one piece of memory.
    return stride != a->count && stride * a->size_bytes >= LEAST_ROW_BYTES &&
           lanes_load_lane_vectors(e, a);
  }
  lanes_pattern_runs others;
  lanes_stride_factors factors;
  bool may_be_same = false;
  return !lanes_is_by_segments(a) && !lanes_find_shared_bit_runs(e, a, &others) &&
         !lanes_may_be_adjacent(e, a, &runs, &may_be_same) &&
         !lanes_find_stride_factors(e, a, &factors, &runs) &&
         lanes_load_lane_vectors(e, a);
}

void lanes_emit_load(lanes_emitter *e, LLVMValueRef load) {
  if (lanes_is_loaded_ahead(e, load)) {
    return;
  }
  if (!lanes_is_ordinary(load)) {
    lanes_scalarise(e, load);
    return;
  }
  hold_in_place(e, load, LLVMGetOperand(load, 0));
  const lanes_access a =
      lanes_access_of(e, load, LLVMGetOperand(load, 0), LLVMTypeOf(load));
  if (e->refusal[0]) {
    return;
  }
  if (lanes_is_uniform(a.shape)) {
    load_uniform(e, load);
    return;
  }
  if (lanes_loads_by_segments(load, a.shape)) {
    LLVMValueRef firsts = lanes_load_segment_firsts(e, &a);
    if (a.element != a.type) {
      firsts = LLVMBuildTrunc(e->builder, firsts,
                              LLVMVectorType(a.type, LANES / a.shape.row), "");
    }
    lanes_set_result(e, load, 0, firsts);
    return;
  }
  LLVMValueRef components[MOST_LANES];
  const uint32_t unit = lanes_private_unit_of(e, &a);
  if (a.count > LANES) {
    lanes_refuse(e, "vectors of more than 32 components");
  } else if (unit) {
    lanes_load_private(e, &a, unit, components);
  } else if (loads_with_others(e, &a)) {
    return;
  } else {
    access_any(e, &a, false, components);
  }
  for (uint32_t c = 0; c < a.count && !e->refusal[0]; c++) {
    LLVMValueRef value = components[c];
    if (a.element != a.type) {
      value = LLVMBuildTrunc(e->builder, value, lanes_vector_of(a.type), "");
    }
    lanes_set_result(e, load, c, value);
  }
}

// All threads store to one place: the last one's value stays. There is one.
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
  if (!lanes_is_ordinary(store)) {
    lanes_scalarise(e, store);
    return;
  }
  hold_in_place(e, store, LLVMGetOperand(store, 1));
  LLVMValueRef value = LLVMGetOperand(store, 0);
  const lanes_access a =
      lanes_access_of(e, store, LLVMGetOperand(store, 1), LLVMTypeOf(value));
  if (e->refusal[0]) {
    return;
  }
  if (lanes_is_uniform(a.shape)) {
    store_uniform(e, store);
    return;
  }
  if (a.count > LANES) {
    lanes_refuse(e, "vectors of more than 32 components");
    return;
  }
  const uint32_t unit = lanes_private_unit_of(e, &a);
  if (!unit && lanes_store_group(e, &a)) {
    return;
  }
  LLVMValueRef components[MOST_LANES];
  for (uint32_t c = 0; c < a.count; c++) {
    components[c] = lanes_vector(e, value, c);
    if (a.element != a.type) {
      components[c] = LLVMBuildZExt(e->builder, components[c],
                                    lanes_vector_of(a.element), "");
    }
  }
  if (unit) {
    lanes_store_private(e, &a, unit, components);
  } else {
    access_any(e, &a, true, components);
  }
}
