// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// packed_vectors.c: keeps short vectors of the kernel, such as half4, packed as
// in memory: lane 0's components, then lane 1's, in one vector. Otherwise a
// vector's components are 32 lanes each, which shuffles deinterleave and
// interleave. Additions and multiplications of whole vectors between contiguous
// loads and stores need no shuffles, nor do sums in loops.
#include "compiler/vectorize/emit/memory/lane_vectors/packed_vectors.h"

#include <llvm-c/Target.h>
#include <stddef.h>

#include "compiler/ir/llvm/calls.h"
#include "compiler/ir/llvm/types.h"
#include "compiler/vectorize/analysis/callees.h"
#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/analysis/uniformity.h"
#include "compiler/vectorize/base/tables.h"
#include "compiler/vectorize/emit/address/wrap_checks.h"
#include "compiler/vectorize/emit/memory/interleaved.h"
#include "compiler/vectorize/emit/memory/load_store.h"
#include "compiler/vectorize/emit/memory/segment_vectors.h"
#include "compiler/vectorize/emit/values/builder.h"
#include "compiler/vectorize/emit/values/emitter.h"
#include "compiler/vectorize/emit/values/values.h"
#include "compiler/vectorize/plan/access/access.h"
#include "compiler/vectorize/plan/access/access_plan.h"
#include "compiler/vectorize/plan/access/forms/packed_vectors.h"

enum { MOST_COMPONENTS = 4 };

// by an instruction's number (lanes_values.numbers)
typedef struct lanes_packed_value {
  uint32_t fresh;  // of value (lanes_emitter.fresh)
  LLVMValueRef value;
  LLVMValueRef memory;      // memory of a value that another block reads, or
                            // NULL
  LLVMValueRef phi_memory;  // where edges leave a phi's value; NULL for none
} lanes_packed_value;

// Returns the plan of a value that stays packed, or of a store of one; NULL if
// there is none.
static const lanes_packed *planned(const lanes_emitter *e, LLVMValueRef value) {
  const uint32_t number = LLVMIsAInstruction(value)
                              ? lanes_map_get(&e->values->numbers, value)
                              : LANES_NONE;
  const lanes_packed *packed =
      number == LANES_NONE ? NULL : &e->accesses->packed[number];
  return packed && packed->is_in ? packed : NULL;
}

static lanes_packed_value *whole_of(const lanes_emitter *e,
                                    LLVMValueRef value) {
  return &e->packed[lanes_map_get(&e->values->numbers, value)];
}

static uint32_t count_of(LLVMValueRef value) {
  return LLVMGetVectorSize(LLVMTypeOf(value));
}

static bool is_uniform(const lanes_emitter *e, LLVMValueRef operand) {
  return lanes_is_uniform(lanes_shape_of(e->values, operand));
}

static LLVMTypeRef whole_type(const lanes_emitter *e, LLVMTypeRef type) {
  return LLVMVectorType(LLVMGetElementType(type),
                        e->lanes * LLVMGetVectorSize(type));
}

// True if a value is read after the segment of code that makes it, or by a phi,
// whose edges read it.
static bool is_read_elsewhere(const lanes_emitter *e, LLVMValueRef value) {
  for (LLVMUseRef use = LLVMGetFirstUse(value); use;
       use = LLVMGetNextUse(use)) {
    LLVMValueRef user = LLVMGetUser(use);
    const lanes_packed *whole = planned(e, user);
    if (whole && (LLVMIsAPHINode(user) ||
                  whole->segment != planned(e, value)->segment)) {
      return true;
    }
  }
  return false;
}

void lanes_packed_begin(lanes_emitter *e) {
  e->packed = lanes_allocate(e->arena, e->values->count, sizeof *e->packed);
  for (uint32_t n = 0; n < e->values->count; n++) {
    LLVMValueRef i = e->values->items[n];
    lanes_packed_value *whole = &e->packed[n];
    if (!e->accesses->packed[n].is_in || LLVMIsAStoreInst(i)) {
      continue;
    }
    if (is_read_elsewhere(e, i)) {
      whole->memory = lanes_promotable_alloca(e, whole_type(e, LLVMTypeOf(i)));
    }
    if (LLVMIsAPHINode(i)) {
      whole->phi_memory = lanes_promotable_alloca(e, whole_type(e, LLVMTypeOf(i)));
    }
  }
}

// --- Emission ----------------------------------------------------------------

// Repeats one value's components for all lanes.
static LLVMValueRef repeated(lanes_emitter *e, LLVMValueRef operand) {
  const uint32_t count = count_of(operand);
  LLVMValueRef components[MOST_COMPONENTS] = {lanes_scalar(e, operand, 0)};
  bool is_splat = true;
  for (uint32_t c = 1; c < count; c++) {
    components[c] = lanes_scalar(e, operand, c);
    is_splat &= components[c] == components[0];
  }
  if (is_splat) {
    return lanes_splat_to(e, e->builder, components[0], e->lanes * count);
  }
  LLVMValueRef one = LLVMGetPoison(LLVMTypeOf(operand));
  int places[MOST_LANES * MOST_COMPONENTS];
  for (uint32_t c = 0; c < count; c++) {
    one = LLVMBuildInsertElement(e->builder, one, components[c],
                                 mtlc_i32(e->context, c), "");
  }
  for (uint32_t k = 0; k < e->lanes * count; k++) {
    places[k] = (int)(k % count);
  }
  return lanes_shuffle(e, one, NULL, places, e->lanes * count);
}

static LLVMValueRef as_whole(lanes_emitter *e, LLVMValueRef operand) {
  if (is_uniform(e, operand)) {
    return repeated(e, operand);
  }
  lanes_packed_value *whole = whole_of(e, operand);
  if (whole->value && whole->fresh == e->fresh) {
    return whole->value;
  }
  LLVMTypeRef type = whole_type(e, LLVMTypeOf(operand));
  if (!whole->memory) {
    lanes_refuse(e, "a vector that was not kept");
    return LLVMGetPoison(type);
  }
  LLVMValueRef value = LLVMBuildLoad2(e->builder, type, whole->memory, "");
  if (!e->uncached) {
    whole->value = value;
    whole->fresh = e->fresh;
  }
  return value;
}

// Accesses one packed value as one vector.
static void access_whole(lanes_emitter *e, const lanes_choice *choice,
                         const lanes_access *a, bool store,
                         LLVMValueRef *value) {
  (void)choice;
  const bool by_rows = lanes_is_by_segments(a);
  if (store) {
    (by_rows ? lanes_store_packed_segments : lanes_store_packed)(e, a, *value);
  } else {
    *value = (by_rows ? lanes_load_packed_segments : lanes_load_packed)(e, a);
  }
}

// Accesses component by component where an index wraps between two lanes, which
// almost never happens.
static void access_apart(lanes_emitter *e, const lanes_choice *choice,
                         const lanes_access *a, bool store,
                         LLVMValueRef *value) {
  LLVMValueRef components[MOST_COMPONENTS];
  if (store) {
    lanes_deinterleave_packed(e, *value, a->count, components);
  }
  lanes_emit_choice(e, choice, a, store, components);
  if (!store) {
    *value = lanes_interleave_components(e, components, a->count, a->count);
  }
}

static void access(lanes_emitter *e, LLVMValueRef i, LLVMValueRef pointer,
                   LLVMTypeRef type, bool store, LLVMValueRef *value) {
  const lanes_choice *choice = lanes_choice_of(e, i);
  const lanes_access a = lanes_access_of(e->values, i, pointer, type);
  if (choice->check) {
    lanes_emit_way *emit[] = {access_whole, access_apart};
    const lanes_access *ways[] = {&a, &a};
    lanes_emit_either(e, lanes_stride_holds(e, pointer), choice, ways, emit,
                      store, 1, value);
  } else {
    access_whole(e, choice, &a, store, value);
  }
}

static LLVMValueRef compute_whole(lanes_emitter *e, LLVMValueRef i,
                                  LLVMTypeRef type) {
  const LLVMOpcode opcode = LLVMGetInstructionOpcode(i);
  if (LLVMIsAPHINode(i)) {
    return LLVMBuildLoad2(e->builder, type, whole_of(e, i)->phi_memory, "");
  }
  LLVMValueRef left = as_whole(e, LLVMGetOperand(i, 0));
  if (LLVMIsACallInst(i)) {
    LLVMValueRef arguments[MOST_COMPONENTS] = {left};
    for (unsigned k = 1; k < lanes_operand_count(i); k++) {
      arguments[k] = as_whole(e, LLVMGetOperand(i, k));
    }
    return mtlc_call_overload(e->builder, i, type, arguments);
  }
  if (LLVMIsACastInst(i)) {
    return LLVMBuildCast(e->builder, opcode, left, type, "");
  }
  return opcode == LLVMFNeg
             ? LLVMBuildFNeg(e->builder, left, "")
             : LLVMBuildBinOp(e->builder, opcode, left,
                              as_whole(e, LLVMGetOperand(i, 1)), "");
}

bool lanes_emit_packed(lanes_emitter *e, LLVMValueRef i) {
  const lanes_packed *plan = planned(e, i);
  if (!plan) {
    return false;
  }
  lanes_packed_value *whole = whole_of(e, i);
  if (LLVMIsAStoreInst(i)) {
    LLVMValueRef value = as_whole(e, LLVMGetOperand(i, 0));
    access(e, i, LLVMGetOperand(i, 1), LLVMTypeOf(LLVMGetOperand(i, 0)), true,
           &value);
    return true;
  }
  if (LLVMIsALoadInst(i)) {
    access(e, i, LLVMGetOperand(i, 0), LLVMTypeOf(i), false, &whole->value);
  } else {
    whole->value = compute_whole(e, i, whole_type(e, LLVMTypeOf(i)));
  }
  whole->fresh = e->fresh;
  if (whole->memory) {
    LLVMBuildStore(e->builder, whole->value, whole->memory);
  }
  if (plan->is_apart) {
    LLVMValueRef components[MOST_COMPONENTS];
    lanes_deinterleave_packed(e, whole->value, count_of(i), components);
    for (uint32_t c = 0; c < count_of(i); c++) {
      lanes_set_result(e, i, c, components[c]);
    }
  }
  return true;
}

bool lanes_pass_packed(lanes_emitter *e, LLVMValueRef phi, LLVMValueRef value) {
  if (!planned(e, phi)) {
    return false;
  }
  LLVMBuildStore(e->builder, as_whole(e, value), whole_of(e, phi)->phi_memory);
  return true;
}
