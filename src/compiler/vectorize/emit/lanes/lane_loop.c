// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// lane_loop.c: gathers and scatters that the machine has no instruction for:
// without AVX-512 all scatters, without AVX2 gathers too. Where many lanes run,
// it accesses lane after lane in straight-line code; else in a loop over the
// running lanes. LLVM would make a branch for each lane, which is no faster and
// takes much longer to compile.
#include "compiler/vectorize/emit/lanes/lane_loop.h"

#include <stdbool.h>
#include <stddef.h>

#include "compiler/ir/llvm/types.h"
#include "compiler/vectorize/analysis/components.h"
#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/base/alignment.h"
#include "compiler/vectorize/base/tables.h"
#include "compiler/vectorize/emit/address/base_index.h"
#include "compiler/vectorize/emit/lanes/scalarise.h"
#include "compiler/vectorize/emit/values/builder.h"
#include "compiler/vectorize/emit/values/check_arms.h"
#include "compiler/vectorize/emit/values/emitter.h"
#include "compiler/vectorize/emit/values/operations.h"
#include "compiler/vectorize/emit/values/sum_memory.h"
#include "compiler/vectorize/emit/values/values.h"
#include "compiler/vectorize/plan/access/access.h"

// From this many running lanes on, straight-line code for all 32 is faster than
// a loop over them, whose exit is mispredicted.
enum { MANY_LANES = 8 };

// The most accesses of a function that have both kinds of code, a hundred
// instructions each. A function with more spends its time elsewhere.
enum { MOST_WITHOUT_LOOP = 16 };

// Each lane's address and value.
typedef struct each_lane {
  const lanes_access *a;
  uint64_t offset;
  bool has_place;
  lanes_base_index place;
  LLVMValueRef first;      // if not NULL, lane 0's address; others are a's
                           // stride apart
  LLVMValueRef pointers;   // otherwise
  LLVMValueRef addresses;  // an array of base_index's indices, or of pointers
  LLVMValueRef values;     // an array of elements
  LLVMValueRef home;       // or the matrix accumulator that has them, if not
                           // NULL
  uint32_t element;        // which of each lane's two elements there
  bool store;
} each_lane;

static each_lane begin(lanes_emitter *e, const lanes_access *a,
                       LLVMValueRef pointers, uint64_t offset) {
  each_lane each = {.a = a, .offset = offset, .pointers = pointers};
  each.has_place = a->pointer && lanes_base_index_find(e, a->pointer, &each.place);
  return each;
}

// Returns the address of a lane's element from its index or pointer.
static LLVMValueRef address_of(lanes_emitter *e, const each_lane *each,
                               LLVMValueRef own) {
  return lanes_address_at(
      e, each->has_place ? lanes_base_index_lane(e, &each->place, own) : own,
      each->offset);
}

static LLVMValueRef load(lanes_emitter *e, const each_lane *each,
                         LLVMValueRef address) {
  LLVMValueRef value =
      LLVMBuildLoad2(e->builder, each->a->element, address, "");
  LLVMSetAlignment(value,
                   lanes_common_alignment(each->a->alignment, each->offset));
  return value;
}

static void store(lanes_emitter *e, const each_lane *each, LLVMValueRef value,
                  LLVMValueRef address) {
  LLVMSetAlignment(LLVMBuildStore(e->builder, value, address),
                   lanes_common_alignment(each->a->alignment, each->offset));
}

// --- Many lanes --------------------------------------------------------------

static bool is_all(LLVMValueRef mask) {
  return LLVMIsConstant(mask) && mask == LLVMConstAllOnes(LLVMTypeOf(mask));
}

LLVMValueRef lanes_filled(lanes_emitter *e, LLVMValueRef vector) {
  if (is_all(e->mask)) {
    return vector;
  }
  LLVMValueRef one =
      LLVMBuildExtractElement(e->builder, vector, lanes_last(e), "");
  return LLVMBuildSelect(e->builder, e->mask, vector,
                         lanes_splat(e, e->builder, one), "");
}

// Stores each lane's index or pointer in an array. A lane that does not run
// repeats the last running one, which has stored there last: an earlier lane's
// address might since have been stored to by others.
static void take_addresses(lanes_emitter *e, const each_lane *each,
                           LLVMValueRef out_own[MOST_LANES]) {
  LLVMValueRef own =
      lanes_filled(e, each->has_place ? each->place.index : each->pointers);
  if (!each->has_place || !LLVMIsConstant(own)) {
    lanes_take_all(e, own, out_own);
    return;
  }
  for (uint32_t lane = 0; lane < e->lanes; lane++) {
    out_own[lane] = LLVMGetAggregateElement(own, lane);
  }
}

static LLVMValueRef load_many(lanes_emitter *e, const each_lane *each) {
  LLVMValueRef own[MOST_LANES];
  take_addresses(e, each, own);
  LLVMValueRef whole = LLVMGetPoison(lanes_vector_of(e->lanes, each->a->element));
  for (uint32_t lane = 0; lane < e->lanes; lane++) {
    whole = LLVMBuildInsertElement(
        e->builder, whole, load(e, each, address_of(e, each, own[lane])),
        mtlc_i32(e->context, lane), "");
  }
  return whole;
}

static void store_many(lanes_emitter *e, const each_lane *each,
                       LLVMValueRef value) {
  LLVMValueRef own[MOST_LANES];
  take_addresses(e, each, own);
  value = lanes_filled(e, value);
  for (uint32_t lane = 0; lane < e->lanes; lane++) {
    LLVMValueRef element = LLVMBuildExtractElement(
        e->builder, value, mtlc_i32(e->context, lane), "");
    store(e, each, element, address_of(e, each, own[lane]));
  }
}

static lanes_check test_for_many(lanes_emitter *e) {
  LLVMValueRef bits = lanes_mask_bits(e, e->mask);
  LLVMValueRef count =
      lanes_intrinsic(e, "llvm.ctpop", &e->types.i32, 1, &bits, 1);
  return lanes_begin_check(e, LLVMBuildICmp(e->builder, LLVMIntUGE, count,
                                    mtlc_i32(e->context, MANY_LANES), ""));
}

// --- Some of them ------------------------------------------------------------

static LLVMValueRef address_of_lane(lanes_emitter *e, const each_lane *each,
                                    LLVMValueRef lane) {
  if (each->first) {
    LLVMValueRef by = LLVMBuildMul(
        e->builder, LLVMBuildZExt(e->builder, lane, e->types.i64, ""),
        mtlc_i64(e->context, (uint64_t)each->a->shape.stride), "");
    return lanes_address_at(e,
                            LLVMBuildGEP2(e->builder, e->types.i8, each->first,
                                          &by, 1, ""),
                            each->offset);
  }
  LLVMTypeRef type = each->has_place ? e->types.i32 : e->types.pointer;
  return address_of(e, each,
                    lanes_element_of(e, type, each->addresses, lane));
}

// Returns where a lane's value is loaded from or stored to.
static LLVMValueRef value_of_lane(lanes_emitter *e, const each_lane *each,
                                  LLVMValueRef lane) {
  return each->home
             ? lanes_sum_element_at(e, each->home, each->element, lane)
             : lanes_element_at(e, each->a->element, each->values, lane);
}

static void run_one(lanes_emitter *e, void *context, LLVMValueRef lane) {
  const each_lane *each = context;
  LLVMValueRef address = address_of_lane(e, each, lane);
  LLVMValueRef at = value_of_lane(e, each, lane);
  if (each->store) {
    store(e, each, LLVMBuildLoad2(e->builder, each->a->element, at, ""),
          address);
  } else {
    LLVMBuildStore(e->builder, load(e, each, address), at);
  }
}

static void run_some(lanes_emitter *e, each_lane *each,
                     LLVMBasicBlockRef done) {
  if (!each->first) {
    each->addresses = lanes_array_from(
        e, each->has_place ? each->place.index : each->pointers);
  }
  lanes_loop_over_lanes(e, run_one, each, done);
}

static LLVMValueRef load_some(lanes_emitter *e, each_lane *each,
                              LLVMBasicBlockRef done) {
  each->values = lanes_array_of(e, each->a->element);
  run_some(e, each, done);
  return LLVMBuildLoad2(e->builder, lanes_vector_of(e->lanes, each->a->element),
                        each->values, "");
}

static bool has_call(LLVMValueRef from, LLVMValueRef to) {
  while (from != to && !LLVMIsACallInst(from)) {
    from = LLVMGetNextInstruction(from);
  }
  return from != to;
}

// Finds a matrix accumulator that holds the stored values, each thread's
// element, unchanged since they were read from it.
static void find_sum(lanes_emitter *e, each_lane *each, LLVMValueRef stored) {
  LLVMValueRef instruction = each->a->instruction;
  if (!LLVMIsAStoreInst(instruction) || each->a->element != e->types.f32) {
    return;
  }
  LLVMValueRef value = LLVMGetOperand(instruction, 0);
  if (LLVMIsAConstant(value) || stored != lanes_vector(e, value, 0)) {
    return;
  }
  uint32_t component = 0;
  if (LLVMIsAExtractElementInst(value) &&
      LLVMIsAConstantInt(LLVMGetOperand(value, 1))) {
    component = (uint32_t)LLVMConstIntGetZExtValue(LLVMGetOperand(value, 1));
    value = LLVMGetOperand(value, 0);
  }
  const bool is_here = LLVMIsACastInst(value) &&
                       LLVMGetInstructionParent(value) ==
                           LLVMGetInstructionParent(instruction);
  if (is_here && !has_call(value, instruction)) {
    each->home = lanes_home_of_element(e, value, component, &each->element);
  }
}

static void store_some(lanes_emitter *e, each_lane *each, LLVMValueRef value,
                       LLVMBasicBlockRef done) {
  find_sum(e, each, value);
  if (!each->home) {
    each->values = lanes_array_from(e, value);
  }
  run_some(e, each, done);
}

LLVMValueRef lanes_load_lane_loop(lanes_emitter *e, const lanes_access *a,
                                LLVMValueRef first, uint64_t offset) {
  each_lane each =
      first ? (each_lane){.a = a, .offset = offset, .first = first}
            : begin(e, a, lanes_vector(e, a->pointer, 0), offset);
  return load_some(e, &each, lanes_block(e, "loaded"));
}

void lanes_store_lane_loop(lanes_emitter *e, const lanes_access *a,
                         LLVMValueRef pointers, uint64_t offset,
                         LLVMValueRef value) {
  each_lane each = begin(e, a, pointers, offset);
  each.store = true;
  store_some(e, &each, value, lanes_block(e, "stored"));
}

void lanes_store_few(lanes_emitter *e, const lanes_access *a,
                     LLVMValueRef pointers, uint64_t offset, LLVMValueRef value,
                     uint32_t lanes) {
  if (lanes == UINT32_MAX) {
    lanes_store_lane_loop(e, a, pointers, offset, value);
    return;
  }
  const each_lane each = begin(e, a, pointers, offset);
  LLVMValueRef own = each.has_place ? each.place.index : each.pointers;
  LLVMValueRef bits = lanes_mask_bits(e, e->mask);
  for (; lanes; lanes &= lanes - 1) {
    LLVMValueRef lane =
        mtlc_i32(e->context, (uint32_t)__builtin_ctz(lanes));
    LLVMValueRef bit = mtlc_i32(e->context, lanes & -lanes);
    LLVMBasicBlockRef runs = lanes_block(e, "runs");
    LLVMBasicBlockRef stored = lanes_block(e, "stored");
    LLVMBuildCondBr(
        e->builder,
        LLVMBuildICmp(e->builder, LLVMIntNE,
                      LLVMBuildAnd(e->builder, bits, bit, ""),
                      LLVMConstNull(e->types.i32), ""),
        runs, stored);
    LLVMPositionBuilderAtEnd(e->builder, runs);
    store(e, &each, LLVMBuildExtractElement(e->builder, value, lane, ""),
          address_of(e, &each,
                     LLVMBuildExtractElement(e->builder, own, lane, "")));
    LLVMBuildBr(e->builder, stored);
    LLVMPositionBuilderAtEnd(e->builder, stored);
  }
}

// --- Several values each -----------------------------------------------------

typedef struct kept_values {
  const lanes_own_value *values;  // [count]
  uint32_t count;
  LLVMValueRef *elements;   // [count] arrays
  LLVMValueRef *addresses;  // [count] arrays
} kept_values;

static void store_own(lanes_emitter *e, void *context, LLVMValueRef lane) {
  const kept_values *all = context;
  for (uint32_t i = 0; i < all->count; i++) {
    const lanes_own_value *own = &all->values[i];
    LLVMTypeRef type = LLVMGetElementType(LLVMTypeOf(own->value));
    LLVMValueRef store = LLVMBuildStore(
        e->builder, lanes_element_of(e, type, all->elements[i], lane),
        lanes_element_of(e, e->types.pointer, all->addresses[i], lane));
    LLVMSetAlignment(store, own->alignment);
  }
}

void lanes_store_own_values(lanes_emitter *e, const lanes_own_value *values,
                            uint32_t count) {
  kept_values all = {
      .values = values,
      .count = count,
      .elements = lanes_allocate(e->arena, count, sizeof(LLVMValueRef)),
      .addresses = lanes_allocate(e->arena, count, sizeof(LLVMValueRef))};
  for (uint32_t i = 0; i < count; i++) {
    all.elements[i] = lanes_array_from(e, values[i].value);
    all.addresses[i] = lanes_array_from(e, values[i].pointers);
  }
  lanes_loop_over_lanes(e, store_own, &all, lanes_block(e, "stored"));
}

// --- Either ------------------------------------------------------------------

static bool is_one_too_many(lanes_emitter *e) {
  return ++e->each_count > MOST_WITHOUT_LOOP;
}

LLVMValueRef lanes_load_by_lane(lanes_emitter *e, const lanes_access *a,
                             LLVMValueRef pointers, uint64_t offset) {
  each_lane each = begin(e, a, pointers, offset);
  if (is_one_too_many(e)) {
    return load_some(e, &each, lanes_block(e, "loaded"));
  }
  if (is_all(e->mask)) {
    return load_many(e, &each);
  }
  LLVMTypeRef type = lanes_vector_of(e->lanes, a->element);
  const lanes_check question = test_for_many(e);
  LLVMValueRef values[] = {load_many(e, &each), NULL};
  LLVMBasicBlockRef apart = lanes_block(e, "apart");
  lanes_end_check_arm(e, &question, question.some);
  values[1] = load_some(e, &each, apart);
  lanes_end_check_arm(e, &question, question.done);
  LLVMBasicBlockRef from[] = {question.all, apart};
  LLVMValueRef loaded = LLVMBuildPhi(e->builder, type, "");
  LLVMAddIncoming(loaded, values, from, 2);
  return loaded;
}

void lanes_store_by_lane(lanes_emitter *e, const lanes_access *a,
                      LLVMValueRef pointers, uint64_t offset,
                      LLVMValueRef value) {
  each_lane each = begin(e, a, pointers, offset);
  each.store = true;
  if (is_one_too_many(e)) {
    store_some(e, &each, value, lanes_block(e, "stored"));
    return;
  }
  if (is_all(e->mask)) {
    store_many(e, &each, value);
    return;
  }
  const lanes_check question = test_for_many(e);
  store_many(e, &each, value);
  lanes_end_check_arm(e, &question, question.some);
  store_some(e, &each, value, question.done);
}
