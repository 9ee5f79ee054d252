// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// permute_window.c: loads and stores lanes in unknown order but near each
// other: the halves that a step of a sort or of a Fourier transform compares,
// positions divided or with bits exchanged. If a register's lanes lie within
// two registers of memory, these are loaded and permuted; a gather takes four
// times as long. In half of such steps each register's lanes are contiguous and
// need no permutation. A table small enough to be one window needs no test.
// Stores to a worker's own memory are merged into its contents, much faster
// than lane by lane. AVX-512 has masks: lanes with rising addresses are
// expanded over their window and stored to any memory, where a scatter takes
// three times as long.
//
// Accesses with the same indices share the result of the test.
#include "compiler/vectorize/emit/memory/checked/permute_window.h"

#include <stddef.h>
#include <string.h>

#include "compiler/ir/llvm/types.h"
#include "compiler/vectorize/analysis/components.h"
#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/base/alignment.h"
#include "compiler/vectorize/emit/address/common_index.h"
#include "compiler/vectorize/emit/lanes/collectives.h"
#include "compiler/vectorize/emit/lanes/lane_loop.h"
#include "compiler/vectorize/emit/memory/checked/window_loads.h"
#include "compiler/vectorize/emit/memory/gathers.h"
#include "compiler/vectorize/emit/memory/load_store.h"
#include "compiler/vectorize/emit/memory/masked.h"
#include "compiler/vectorize/emit/memory/masked_emulation.h"
#include "compiler/vectorize/emit/values/builder.h"
#include "compiler/vectorize/emit/values/check_arms.h"
#include "compiler/vectorize/emit/values/emitter.h"
#include "compiler/vectorize/emit/values/values.h"
#include "compiler/vectorize/plan/access/access.h"
#include "compiler/vectorize/plan/access/access_plan.h"

// --- Tables ------------------------------------------------------------------

LLVMValueRef lanes_load_table(lanes_emitter *e, const lanes_access *a) {
  return lanes_window_load(e, a, false);
}

LLVMValueRef lanes_check_table(lanes_emitter *e, lanes_access *a,
                            LLVMValueRef *out_firsts) {
  const uint32_t each = lanes_register_words(e);
  LLVMValueRef base = lanes_base_indexed(e, a->pointer);
  a->places =
      LLVMBuildIntCast2(e->builder, lanes_vector(e, lanes_index_of(a->pointer), 0),
                        lanes_vector_of(e->lanes, e->types.i32), false, "");
  for (uint32_t i = 0; i < e->lanes / each; i++) {
    out_firsts[i] = base;
  }
  LLVMValueRef any = lanes_any(e, e->mask);
  return lanes_is_own_memory(e->planning, a)
             ? any
             : LLVMBuildSelect(e->builder, any,
                               lanes_is_in_page(e, base, 8 * each),
                               LLVMConstNull(e->types.i1), "");
}

// --- Stores of AVX-512 -------------------------------------------------------

enum { MASK_BITS = 16 };  // lanes of a register

static LLVMValueRef as_lanes(lanes_emitter *e, LLVMValueRef bits) {
  LLVMTypeRef i1s = LLVMVectorType(e->types.i1, MASK_BITS);
  return LLVMBuildBitCast(
      e->builder, LLVMBuildTrunc(e->builder, bits, e->types.i16, ""), i1s, "");
}

static LLVMValueRef as_bits(lanes_emitter *e, LLVMValueRef lanes) {
  return LLVMBuildZExt(e->builder,
                       LLVMBuildBitCast(e->builder, lanes, e->types.i16, ""),
                       e->types.i32, "");
}

// Distributes the first lanes over the set bits of a mask.
static LLVMValueRef spread(lanes_emitter *e, LLVMValueRef words,
                           LLVMValueRef bits) {
  LLVMTypeRef type = LLVMTypeOf(words);
  LLVMValueRef arguments[] = {words, LLVMConstNull(type), as_lanes(e, bits)};
  return lanes_intrinsic(e, "llvm.x86.avx512.mask.expand", &type, 1, arguments,
                         3);
}

static LLVMValueRef count_bits(lanes_emitter *e, LLVMValueRef bits) {
  return lanes_intrinsic(e, "llvm.ctpop", &e->types.i32, 1, &bits, 1);
}

static LLVMValueRef splat_words(lanes_emitter *e, LLVMValueRef word) {
  return lanes_splat_to(e, e->builder, word, MASK_BITS);
}

// Returns an i1: a register's lanes are in its window in rising order.
static LLVMValueRef rise_in_window(lanes_emitter *e, LLVMValueRef own) {
  LLVMBuilderRef b = e->builder;
  int before[MASK_BITS] = {MASK_BITS};  // -1 in front of the first one
  for (int i = 1; i < MASK_BITS; i++) {
    before[i] = i - 1;
  }
  LLVMValueRef all = LLVMConstAllOnes(LLVMTypeOf(own));
  LLVMValueRef rises = LLVMBuildICmp(
      b, LLVMIntSGT, own, lanes_shuffle(e, own, all, before, MASK_BITS), "");
  LLVMValueRef end = splat_words(e, mtlc_i32(e->context, 2 * MASK_BITS));
  return LLVMBuildAnd(b, rises, LLVMBuildICmp(b, LLVMIntULT, own, end, ""), "");
}

// Finds which elements of each register's window belong to a lane, a bit each.
// Returns an i1: all lanes, also those that do not run, have one, in their
// order. A test of the lanes that run alone would depend on the mask as well.
static LLVMValueRef find_rising(lanes_emitter *e, LLVMValueRef places,
                                LLVMValueRef out_bits[2]) {
  LLVMBuilderRef b = e->builder;
  LLVMValueRef rise = NULL;
  for (uint32_t i = 0; i < e->lanes / MASK_BITS; i++) {
    LLVMValueRef own = lanes_subvector(e, places, i * MASK_BITS, MASK_BITS);
    LLVMValueRef bit =
        LLVMBuildShl(b, splat_words(e, mtlc_i32(e->context, 1)), own, "");
    LLVMTypeRef type = LLVMTypeOf(bit);
    out_bits[i] =
        lanes_intrinsic(e, "llvm.vector.reduce.or", &type, 1, &bit, 1);
    LLVMValueRef these = as_bits(e, rise_in_window(e, own));
    rise = rise ? LLVMBuildAnd(b, rise, these, "") : these;
  }
  return LLVMBuildICmp(b, LLVMIntEQ, rise,
                       mtlc_i32(e->context, (1 << MASK_BITS) - 1), "");
}

static void store_masked_half(lanes_emitter *e, const lanes_access *a,
                              uint32_t window, uint32_t half,
                              LLVMValueRef words, LLVMValueRef mask) {
  lanes_masked_store(e, a, words, lanes_window_half_of(e, a, window, half),
                     lanes_common_alignment(a->alignment, 4), mask);
}

// Returns the lanes from one on, moved to the front.
static LLVMValueRef lanes_from_on(lanes_emitter *e, LLVMValueRef words,
                                  LLVMValueRef first) {
  LLVMBuilderRef b = e->builder;
  LLVMValueRef wanted = LLVMBuildAdd(
      b, lanes_subvector(e, lanes_steps(e->lanes, e->types.i32, 0, 1), 0, MASK_BITS),
      splat_words(e, first), "");
  LLVMValueRef arguments[] = {words, wanted};
  return lanes_intrinsic(e, "llvm.x86.avx512.permvar.si.512", NULL, 0,
                         arguments, 2);
}

static void store_rising(lanes_emitter *e, const lanes_access *a,
                         LLVMValueRef words) {
  LLVMBuilderRef b = e->builder;
  LLVMValueRef width = mtlc_i32(e->context, MASK_BITS);
  for (uint32_t i = 0; i < e->lanes / MASK_BITS; i++) {
    LLVMValueRef own = lanes_subvector(e, words, i * MASK_BITS, MASK_BITS);
    LLVMValueRef run[] = {
        as_bits(e, lanes_subvector(e, e->mask, i * MASK_BITS, MASK_BITS)),
        a->lanes[i]};
    LLVMValueRef stored =
        lanes_intrinsic(e, "llvm.x86.bmi.pdep.32", NULL, 0, run, 2);
    LLVMValueRef low = LLVMBuildAnd(
        b, a->lanes[i], mtlc_i32(e->context, (1 << MASK_BITS) - 1), "");
    LLVMValueRef high = LLVMBuildLShr(b, a->lanes[i], width, "");
    LLVMValueRef others = lanes_from_on(e, own, count_bits(e, low));
    store_masked_half(e, a, i, 0, spread(e, own, low), as_lanes(e, stored));
    store_masked_half(e, a, i, 1, spread(e, others, high),
                      as_lanes(e, LLVMBuildLShr(b, stored, width, "")));
  }
}

// --- Stores of AVX2 ----------------------------------------------------------

enum {
  WORDS = 8,      // of a register
  FARTHEST = 64,  // largest distance from the first window to another, in
                  // elements
};

// Returns a word for each of four elements of a window: its lane's number plus
// one, 0 if it has none. vpsadbw adds up the bytes of eight lanes.
static LLVMValueRef lanes_at(lanes_emitter *e, LLVMValueRef places,
                             const uint32_t wanted[4]) {
  LLVMValueRef sought[4 * WORDS], numbers[4 * WORDS];
  for (uint32_t i = 0; i < 4 * WORDS; i++) {
    sought[i] = LLVMConstInt(e->types.i8, wanted[i / WORDS], false);
    numbers[i] = LLVMConstInt(e->types.i8, i % WORDS + 1, false);
  }
  LLVMValueRef is_it = LLVMBuildICmp(e->builder, LLVMIntEQ, places,
                                     LLVMConstVector(sought, 4 * WORDS), "");
  LLVMValueRef none = LLVMConstNull(LLVMTypeOf(places));
  LLVMValueRef found = LLVMBuildSelect(
      e->builder, is_it, LLVMConstVector(numbers, 4 * WORDS), none, "");
  LLVMValueRef arguments[] = {found, none};
  LLVMValueRef sums =
      lanes_intrinsic(e, "llvm.x86.avx2.psad.bw", NULL, 0, arguments, 2);
  return LLVMBuildBitCast(e->builder, sums, LLVMVectorType(e->types.i32, WORDS),
                          "");
}

// Returns the lane at each element of a half of a window, -1 for none.
static LLVMValueRef lanes_in_half(lanes_emitter *e, LLVMValueRef places,
                                  uint32_t half) {
  const uint32_t from = half * WORDS;
  // in the order in which vshufps joins them
  const uint32_t some[] = {from, from + 1, from + 4, from + 5};
  const uint32_t others[] = {from + 2, from + 3, from + 6, from + 7};
  static const int joined[WORDS] = {0, 2, 8, 10, 4, 6, 12, 14};
  LLVMValueRef numbers = lanes_shuffle(
      e, lanes_at(e, places, some), lanes_at(e, places, others), joined, WORDS);
  return LLVMBuildAdd(e->builder, numbers,
                      LLVMConstAllOnes(LLVMTypeOf(numbers)), "");
}

static LLVMValueRef count_of(lanes_emitter *e, LLVMValueRef lanes) {
  LLVMValueRef is_one = LLVMBuildICmp(e->builder, LLVMIntSGE, lanes,
                                      LLVMConstNull(LLVMTypeOf(lanes)), "");
  return LLVMBuildZExt(e->builder,
                       LLVMBuildBitCast(e->builder, is_one, e->types.i8, ""),
                       e->types.i32, "");
}

// True if each lane of the first register has an element in the window.
static LLVMValueRef have_places(lanes_emitter *e, LLVMValueRef lanes[2]) {
  LLVMBuilderRef b = e->builder;
  LLVMValueRef high =
      LLVMBuildShl(b, count_of(e, lanes[1]), mtlc_i32(e->context, WORDS), "");
  LLVMValueRef bits = LLVMBuildOr(b, count_of(e, lanes[0]), high, "");
  LLVMValueRef count =
      lanes_intrinsic(e, "llvm.ctpop", &e->types.i32, 1, &bits, 1);
  return LLVMBuildICmp(b, LLVMIntEQ, count, mtlc_i32(e->context, WORDS), "");
}

// True if all registers' lanes are at the same elements of their windows as the
// first register's, and those are inside.
static LLVMValueRef are_alike(lanes_emitter *e, LLVMValueRef places) {
  LLVMBuilderRef b = e->builder;
  LLVMValueRef first = lanes_subvector(e, places, 0, WORDS);
  LLVMValueRef outside =
      lanes_splat_to(e, b, mtlc_i32(e->context, ~(2u * WORDS - 1)), WORDS);
  LLVMValueRef differ[MOST_LANES / WORDS];
  differ[0] = LLVMBuildAnd(b, first, outside, "");
  for (uint32_t i = 1; i < e->lanes / WORDS; i++) {
    LLVMValueRef own = lanes_subvector(e, places, i * WORDS, WORDS);
    differ[i] = LLVMBuildXor(b, own, first, "");
  }
  return lanes_window_have_no_bits(e, lanes_concatenated(e, differ, e->lanes / WORDS),
                      UINT32_MAX);
}

// True if a window without a running lane is no farther from one with a running
// lane than the padding around a worker's memory: it may be accessed then.
static LLVMValueRef are_close(lanes_emitter *e, LLVMValueRef *begins) {
  LLVMBuilderRef b = e->builder;
  LLVMValueRef apart = mtlc_i32(e->context, 0);
  for (uint32_t i = 1; i < e->lanes / WORDS; i++) {
    LLVMValueRef behind =
        LLVMBuildAdd(b, LLVMBuildSub(b, begins[i], begins[0], ""),
                     mtlc_i32(e->context, FARTHEST), "");
    apart = LLVMBuildOr(b, apart, behind, "");
  }
  return LLVMBuildICmp(b, LLVMIntULT, apart, mtlc_i32(e->context, 2 * FARTHEST),
                       "");
}

// Finds which lane is at each element of a window, for all registers alike.
// Returns an i1: they are alike.
static LLVMValueRef fill_windows(lanes_emitter *e, LLVMValueRef places,
                                 LLVMValueRef out_lanes[2]) {
  LLVMBuilderRef b = e->builder;
  LLVMValueRef bytes = LLVMBuildTrunc(b, lanes_subvector(e, places, 0, WORDS),
                                      LLVMVectorType(e->types.i8, WORDS), "");
  int again[4 * WORDS];
  for (uint32_t i = 0; i < 4 * WORDS; i++) {
    again[i] = (int)(i % WORDS);
  }
  bytes = lanes_shuffle(e, bytes, NULL, again, 4 * WORDS);
  out_lanes[0] = lanes_in_half(e, bytes, 0);
  out_lanes[1] = lanes_in_half(e, bytes, 1);
  return LLVMBuildAnd(b, are_alike(e, places), have_places(e, out_lanes), "");
}

static void store_half(lanes_emitter *e, const lanes_access *a, uint32_t window,
                       uint32_t half, LLVMValueRef words, LLVMValueRef runs) {
  LLVMBuilderRef b = e->builder;
  LLVMValueRef lanes = a->lanes[half];
  LLVMValueRef is_new = LLVMBuildAnd(b, LLVMBuildNot(b, lanes, ""),
                                     lanes_pick_words(e, &runs, 1, lanes), "");
  is_new = LLVMBuildICmp(b, LLVMIntSLT, is_new,
                         LLVMConstNull(LLVMTypeOf(is_new)), "");
  LLVMValueRef both =
      LLVMBuildSelect(b, is_new, lanes_pick_words(e, &words, 1, lanes),
                      lanes_window_load_half(e, a, window, half), "");
  LLVMSetAlignment(LLVMBuildStore(b, both, lanes_window_half_of(e, a, window, half)),
                   lanes_common_alignment(a->alignment, 4));
}

// Stores one register after another. Windows may overlap: the later store wins,
// as the higher lane does.
static void store_halves(lanes_emitter *e, const lanes_access *a,
                         LLVMValueRef words, LLVMValueRef runs,
                         uint32_t count) {
  for (uint32_t i = 0; i < e->lanes / WORDS; i++) {
    LLVMValueRef own = lanes_subvector(e, words, i * WORDS, WORDS);
    LLVMValueRef own_runs = lanes_subvector(e, runs, i * WORDS, WORDS);
    for (uint32_t half = 0; half < count; half++) {
      store_half(e, a, i, half, own, own_runs);
    }
  }
}

// Stores lanes in rising order in the same way.
static void store_in_order(lanes_emitter *e, const lanes_access *a,
                           LLVMValueRef words) {
  const uint32_t each = lanes_register_words(e);
  for (uint32_t i = 0; i < e->lanes / each; i++) {
    LLVMValueRef own = lanes_subvector(e, words, i * each, each);
    LLVMValueRef mask = lanes_subvector(e, e->mask, i * each, each);
    if (e->machine.has_masks) {
      store_masked_half(e, a, i, 0, own, mask);
      continue;
    }
    LLVMValueRef both =
        LLVMBuildSelect(e->builder, mask, own, lanes_window_load_half(e, a, i, 0), "");
    LLVMSetAlignment(LLVMBuildStore(e->builder, both, lanes_window_half_of(e, a, i, 0)),
                     lanes_common_alignment(a->alignment, 4));
  }
}

static void store_windows(lanes_emitter *e, const lanes_access *a,
                          LLVMValueRef words) {
  if (e->machine.has_masks) {
    store_rising(e, a, words);
    return;
  }
  LLVMTypeRef type = lanes_vector_of(e->lanes, e->types.i32);
  LLVMValueRef runs = LLVMBuildSExt(e->builder, e->mask, type, "");
  // Most often lanes are pairwise neighbours.
  LLVMValueRef is_half =
      LLVMBuildICmp(e->builder, LLVMIntEQ, count_of(e, a->lanes[1]),
                    mtlc_i32(e->context, 0), "");
  const lanes_check question = lanes_begin_check(e, is_half);
  store_halves(e, a, words, runs, 1);
  lanes_end_check_arm(e, &question, question.some);
  store_halves(e, a, words, runs, 2);
  lanes_end_check_arm(e, &question, question.done);
}

// --- Which way ---------------------------------------------------------------

enum { IN_ORDER, IN_WINDOWS, APART, WAYS };

static bool is_known(const lanes_emitter *e, const lanes_window *near,
                     LLVMValueRef index) {
  return near->index == index && near->mask == e->mask &&
         near->fresh == e->fresh;
}

// Finds each lane's position in its window. For a load, lanes that do not run
// get the position of one that runs; for a store they keep their own, which may
// be anywhere.
static void find_places(lanes_emitter *e, lanes_window *near, LLVMValueRef own,
                        bool store) {
  LLVMValueRef all = LLVMBuildFreeze(e->builder, own, "");
  near->places = lanes_window_places_in(e, store ? all : lanes_filled(e, all), near->begins);
}

// Finds the lanes of each window, unless an earlier access has. Returns whether
// one had. AVX2 has too few registers to keep the answer for all simdgroups:
// one test for several accesses costs less.
static bool find_lanes(lanes_emitter *e, lanes_window *near,
                       lanes_window_indices *indices, bool store) {
  lanes_common_index_parts parts = {0};
  bool knows = is_known(e, near, indices->index);
  if (!knows && !(e->machine.has_masks &&
                  lanes_common_index(e, indices->index, &parts))) {
    lanes_window_part_indices(e, indices);
    knows = is_known(e, near, indices->index);
    parts = (lanes_common_index_parts){
        .own = knows ? NULL : lanes_vector(e, indices->index, 0)};
  }
  if (!knows) {
    *near = (lanes_window){.index = indices->index,
                         .mask = e->mask,
                         .fresh = e->fresh,
                         .common = parts.common};
    find_places(e, near, parts.own, store);
  }
  if (near->common) {
    lanes_window_add_to_all(e, indices, near->common);
  }
  return knows;
}

// Sets the first address of each window. Returns an i1: the windows can be read
// whole; NULL if they always can.
static LLVMValueRef find_firsts(lanes_emitter *e, const lanes_access *a,
                                const lanes_window_indices *indices,
                                const lanes_window *near) {
  const bool is_own = lanes_is_own_memory(e->planning, a);
  const bool is_signed = is_own || indices->is_signed;
  LLVMValueRef are_there = NULL;
  for (uint32_t i = 0; i < e->lanes / lanes_register_words(e); i++) {
    LLVMValueRef begin;
    a->firsts[i] =
        lanes_window_address_in(e, a, indices, near->begins[i], is_signed, &begin);
    if (!is_own) {
      LLVMValueRef is_one = lanes_window_is_there(e, begin, a->firsts[i], is_signed);
      are_there =
          are_there ? LLVMBuildAnd(e->builder, are_there, is_one, "") : is_one;
    }
  }
  return are_there;
}

static void branch(lanes_emitter *e, LLVMValueRef holds, LLVMBasicBlockRef yes,
                   LLVMBasicBlockRef no) {
  lanes_mark_check(LLVMBuildCondBr(e->builder, holds, yes, no));
}

// Emits the test where the lanes are.
static void ask(lanes_emitter *e, lanes_window *near, bool store,
                LLVMValueRef are_there, LLVMBasicBlockRef ways[WAYS]) {
  LLVMBuilderRef b = e->builder;
  // A masked store of no element is harmless at any address.
  LLVMValueRef may = store && e->machine.has_masks
                         ? LLVMConstAllOnes(e->types.i1)
                         : lanes_any(e, e->mask);
  if (are_there) {
    may = LLVMBuildAnd(b, may, are_there, "");
  }
  if (store && !e->machine.has_masks) {
    may = LLVMBuildAnd(b, may, are_close(e, near->begins), "");
  }
  LLVMBasicBlockRef next = lanes_block(e, "");
  branch(e, LLVMBuildAnd(b, may, lanes_window_are_in_order(e, near->places), ""),
         ways[IN_ORDER], next);
  LLVMPositionBuilderAtEnd(b, next);
  LLVMValueRef fit = !store ? lanes_window_are_inside(e, near->places)
                     : e->machine.has_masks
                         ? find_rising(e, near->places, near->lanes)
                         : fill_windows(e, near->places, near->lanes);
  branch(e, LLVMBuildAnd(b, may, fit, ""), ways[IN_WINDOWS], ways[APART]);
}

// Branches by the answer of an earlier test.
static void follow(lanes_emitter *e, const lanes_window *near,
                   LLVMValueRef are_there, LLVMBasicBlockRef ways[WAYS]) {
  LLVMBuilderRef b = e->builder;
  LLVMValueRef way = near->way;
  if (are_there) {
    way = LLVMBuildSelect(b, are_there, way, mtlc_i32(e->context, APART), "");
  }
  for (uint32_t w = IN_ORDER; w < APART; w++) {
    LLVMBasicBlockRef next = w + 1 == APART ? ways[APART] : lanes_block(e, "");
    branch(e, LLVMBuildICmp(b, LLVMIntEQ, way, mtlc_i32(e->context, w), ""),
           ways[w], next);
    LLVMPositionBuilderAtEnd(b, next);
  }
}

static void go(lanes_emitter *e, const lanes_access *a, bool in_order,
               bool store, LLVMValueRef *component) {
  if (!store) {
    *component = lanes_window_load(e, a, in_order);
    return;
  }
  LLVMValueRef words = LLVMBuildBitCast(e->builder, *component,
                                        lanes_vector_of(e->lanes, e->types.i32), "");
  (in_order ? store_in_order : store_windows)(e, a, words);
}

static LLVMValueRef joined(lanes_emitter *e, LLVMValueRef *values,
                           LLVMBasicBlockRef *from) {
  LLVMValueRef phi = LLVMBuildPhi(e->builder, LLVMTypeOf(values[0]), "");
  LLVMAddIncoming(phi, values, from, WAYS);
  return phi;
}

// Keeps the answer for the next access with these indices.
static void keep(lanes_emitter *e, lanes_window *near, bool store,
                 LLVMBasicBlockRef *from) {
  LLVMValueRef ways[WAYS];
  for (uint32_t w = 0; w < WAYS; w++) {
    ways[w] = mtlc_i32(e->context, w);
  }
  near->way = joined(e, ways, from);
  for (uint32_t i = 0; store && i < 2; i++) {
    LLVMValueRef lanes[WAYS] = {LLVMGetPoison(LLVMTypeOf(near->lanes[i])),
                                near->lanes[i], near->lanes[i]};
    near->lanes[i] = joined(e, lanes, from);
  }
}

void lanes_access_window(lanes_emitter *e, const lanes_choice *choice,
                         const lanes_access *a, bool store,
                         LLVMValueRef *component) {
  lanes_window_indices indices = lanes_window_indices_of(a);
  lanes_window *near = &e->near[store];
  LLVMValueRef firsts[MOST_LANES];
  lanes_access window = *a;
  window.firsts = firsts;
  const bool knows = find_lanes(e, near, &indices, store);
  LLVMValueRef are_there = find_firsts(e, &window, &indices, near);
  LLVMBasicBlockRef blocks[WAYS] = {lanes_block(e, "ordered"),
                                    lanes_block(e, "near"),
                                    lanes_block(e, "apart")};
  LLVMBasicBlockRef accessed = lanes_block(e, "accessed");
  if (knows) {
    follow(e, near, are_there, blocks);
  } else {
    ask(e, near, store, are_there, blocks);
  }
  window.places = near->places;
  memcpy(window.lanes, near->lanes, sizeof window.lanes);
  LLVMValueRef results[WAYS];
  e->uncached = true;
  for (uint32_t w = 0; w < WAYS; w++) {
    results[w] = *component;
    LLVMPositionBuilderAtEnd(e->builder, blocks[w]);
    if (w == APART) {
      lanes_emit_choice(e, choice->otherwise, a, store, &results[w]);
    } else {
      go(e, &window, w == IN_ORDER, store, &results[w]);
    }
    blocks[w] = LLVMGetInsertBlock(e->builder);
    LLVMBuildBr(e->builder, accessed);
  }
  e->uncached = false;
  LLVMPositionBuilderAtEnd(e->builder, accessed);
  if (!store) {
    *component = joined(e, results, blocks);
  }
  if (!knows) {
    keep(e, near, store, blocks);
  }
}
