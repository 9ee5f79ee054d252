// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// packed_vectors.c: vectors of the program, such as half4, that stay as they lie in
// memory: lane 0's components, lane 1's and so on, in one vector. Elsewhere a
// vector's components are 32 lanes each, which shuffles take out of memory and
// put back. What only adds and multiplies whole vectors, between loads and
// stores of neighbouring lanes, need not, nor what loops sum up so.
#include "compiler/vectorize/emit/memory/packed_vectors.h"

#include <llvm-c/Target.h>
#include <stddef.h>

#include "compiler/ir/calls.h"
#include "compiler/ir/names.h"
#include "compiler/ir/types.h"
#include "compiler/vectorize/analysis/callees.h"
#include "compiler/vectorize/analysis/effects.h"
#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/analysis/uniformity.h"
#include "compiler/vectorize/base/tables.h"
#include "compiler/vectorize/emit/address/access.h"
#include "compiler/vectorize/emit/memory/interleaved.h"
#include "compiler/vectorize/emit/memory/load_store.h"
#include "compiler/vectorize/emit/memory/segment_vectors.h"
#include "compiler/vectorize/emit/values/builder.h"
#include "compiler/vectorize/emit/values/emitter.h"
#include "compiler/vectorize/emit/values/values.h"

// By number of an instruction (lanes_values.numbers).
typedef struct lanes_packed {
  uint32_t segment;  // of its block, between waits; 0 if it is no candidate
  uint32_t group;    // of those that work on each other's results
  bool is_in;        // is kept whole, or stores what is
  bool is_apart;     // and its components are asked for, too
  uint32_t fresh;    // of value (lanes_emitter.fresh)
  LLVMValueRef value;
  LLVMValueRef memory;      // of what another block reads, or NULL
  LLVMValueRef phi_memory;  // where edges leave a phi's value
} lanes_packed;

enum {
  MOST_COMPONENTS = 4,
  LEAST_ROW = 4,   // lanes side by side
  TURNS_BITS = 3,  // a loop's turns, as a power of two
  MOST_DEPTH = 4,  // of loops, that counts
};

static lanes_packed *whole_of(const lanes_emitter *e, LLVMValueRef value) {
  const uint32_t number = LLVMIsAInstruction(value)
                              ? lanes_map_get(&e->values->numbers, value)
                              : LANES_NONE;
  return number == LANES_NONE ? NULL : &e->wholes[number];
}

static uint32_t count_of(LLVMValueRef value) {
  return LLVMGetVectorSize(LLVMTypeOf(value));
}

static uint64_t size_of(const lanes_emitter *e, LLVMTypeRef type) {
  return LLVMStoreSizeOfType(e->values->data, LLVMGetElementType(type));
}

// --- Candidates --------------------------------------------------------------

// Vectors of two or four numbers of whole bytes.
static bool is_type(const lanes_emitter *e, LLVMTypeRef type) {
  if (LLVMGetTypeKind(type) != LLVMVectorTypeKind) {
    return false;
  }
  const uint32_t count = LLVMGetVectorSize(type);
  LLVMTypeRef element = LLVMGetElementType(type);
  const uint64_t size = size_of(e, type);
  return (count == 2 || count == MOST_COMPONENTS) && size <= 4 &&
         LLVMGetTypeKind(element) != LLVMPointerTypeKind &&
         LLVMSizeOfTypeInBits(e->values->data, element) == 8 * size;
}

// Lanes' vectors lie one behind the other.
static bool is_dense(const lanes_emitter *e, LLVMValueRef access,
                     LLVMValueRef pointer, LLVMTypeRef type) {
  const lanes_packed *whole = whole_of(e, pointer);
  if (!whole || !lanes_is_plain(access) || !is_type(e, type)) {
    return false;
  }
  const lanes_shape shape = lanes_shape_of(e->values, pointer);
  const bool is_private =
      e->values->private_of[whole - e->wholes] != LANES_NONE;
  return !is_private && shape.row >= LEAST_ROW &&
         shape.stride == (int64_t)(LLVMGetVectorSize(type) * size_of(e, type));
}

// Not divisions, whose divisor may be zero where no thread runs.
static bool is_elementwise(LLVMValueRef i) {
  static const char *const calls[] = {
      "llvm.fma.",  "llvm.fmuladd.", "llvm.fabs.", "llvm.sqrt.",
      "llvm.smin.", "llvm.smax.",    "llvm.umin.", "llvm.umax."};
  for (size_t k = 0; LLVMIsACallInst(i) && k < sizeof calls / sizeof *calls;
       k++) {
    if (mtlc_starts_with(lanes_callee_name(i), calls[k])) {
      return true;
    }
  }
  switch (LLVMGetInstructionOpcode(i)) {
    case LLVMUDiv:
    case LLVMSDiv:
    case LLVMURem:
    case LLVMSRem:
    case LLVMFRem:
    case LLVMFPToUI:
    case LLVMFPToSI: return false;
    case LLVMFNeg: return true;
    default: return LLVMIsABinaryOperator(i) || LLVMIsACastInst(i);
  }
}

static bool is_uniform(const lanes_emitter *e, LLVMValueRef operand) {
  return lanes_is_uniform(lanes_shape_of(e->values, operand));
}

// True if all threads come to a phi one way.
static bool comes_one_way(const lanes_emitter *e, LLVMValueRef phi) {
  const lanes_values *values = e->values;
  const uint32_t node = values->nodes[whole_of(e, phi) - e->wholes];
  bool is_one = !values->masked[node] && !lanes_diverges_before(values, node);
  for (unsigned k = 0; k < LLVMCountIncoming(phi); k++) {
    const uint32_t from =
        lanes_map_get(&e->graph->blocks, LLVMGetIncomingBlock(phi, k));
    is_one &= from == LANES_NONE || !values->masked[from];
  }
  return is_one;
}

// True if an instruction may be kept whole if its operands are.
static bool is_candidate(const lanes_emitter *e, LLVMValueRef i) {
  if (LLVMIsALoadInst(i)) {
    return is_dense(e, i, LLVMGetOperand(i, 0), LLVMTypeOf(i));
  }
  if (LLVMIsAStoreInst(i)) {
    return is_dense(e, i, LLVMGetOperand(i, 1),
                    LLVMTypeOf(LLVMGetOperand(i, 0)));
  }
  if (!is_type(e, LLVMTypeOf(i)) || is_uniform(e, i)) {
    return false;
  }
  if (LLVMIsAPHINode(i)) {
    return comes_one_way(e, i);
  }
  for (unsigned k = 0; k < lanes_operand_count(i); k++) {
    LLVMValueRef operand = LLVMGetOperand(i, k);
    if (!is_type(e, LLVMTypeOf(operand)) || count_of(operand) != count_of(i)) {
      return false;
    }
  }
  return is_elementwise(i);
}

static bool parts_segments(LLVMValueRef i) {
  return LLVMIsACallInst(i) && lanes_may_write(i);
}

static void find_candidates(lanes_emitter *e) {
  uint32_t segment = 0;
  for (uint32_t n = 0; n < e->graph->node_count; n++) {
    LLVMBasicBlockRef block = e->graph->nodes[n].block;
    segment++;
    for (LLVMValueRef i = block ? LLVMGetFirstInstruction(block) : NULL; i;
         i = LLVMGetNextInstruction(i)) {
      segment += parts_segments(i);
      lanes_packed *whole = whole_of(e, i);
      if (!whole) {
        continue;
      }
      const uint32_t number = (uint32_t)(whole - e->wholes);
      if (!e->copied[number] && is_candidate(e, i)) {
        *whole =
            (lanes_packed){.segment = segment, .group = number, .is_in = true};
      }
    }
  }
}

// --- Which of them stay whole ------------------------------------------------

static bool are_together(const lanes_emitter *e, LLVMValueRef value,
                         LLVMValueRef user) {
  const lanes_packed *a = whole_of(e, value), *b = whole_of(e, user);
  return a && b && a->is_in && b->is_in;
}

// True if nobody asks for a value's components.
static bool is_only_whole(const lanes_emitter *e, LLVMValueRef value) {
  for (LLVMUseRef use = LLVMGetFirstUse(value); use;
       use = LLVMGetNextUse(use)) {
    if (!are_together(e, value, LLVMGetUser(use))) {
      return false;
    }
  }
  return true;
}

static int first_operand(LLVMValueRef i) {
  return LLVMIsALoadInst(i) ? 1 : 0;  // addresses are no operands here
}

static int operand_count(LLVMValueRef i) {
  return LLVMIsAStoreInst(i) ? 1 : (int)lanes_operand_count(i);
}

// True if all that an instruction works on is whole, or the same for all
// lanes, some of it whole, and asked for by nobody else as components: then
// those are there, and cost nothing.
static bool has_whole_operands(const lanes_emitter *e, LLVMValueRef i) {
  bool any = LLVMIsALoadInst(i) != NULL;
  for (int k = first_operand(i); k < operand_count(i); k++) {
    LLVMValueRef operand = LLVMGetOperand(i, (unsigned)k);
    if (is_uniform(e, operand)) {
      continue;
    }
    if (!are_together(e, operand, i) || !is_only_whole(e, operand)) {
      return false;
    }
    any = true;
  }
  return any;
}

static void leave_out_the_rest(lanes_emitter *e) {
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t n = 0; n < e->values->count; n++) {
      lanes_packed *whole = &e->wholes[n];
      if (whole->is_in && !has_whole_operands(e, e->values->items[n])) {
        whole->is_in = false;
        changed = true;
      }
    }
  }
}

// Gives those that work on each other's results one group.
static void join_groups(lanes_emitter *e) {
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t n = 0; n < e->values->count; n++) {
      LLVMValueRef i = e->values->items[n];
      lanes_packed *whole = &e->wholes[n];
      for (int k = first_operand(i); whole->is_in && k < operand_count(i);
           k++) {
        lanes_packed *other = whole_of(e, LLVMGetOperand(i, (unsigned)k));
        if (other && other->is_in && other->group != whole->group) {
          const uint32_t least =
              other->group < whole->group ? other->group : whole->group;
          other->group = whole->group = least;
          changed = true;
        }
      }
    }
  }
}

// What it costs to take a vector apart, or to put one together: about the
// number of shuffles that a machine with registers of 64 bytes does one by one.
static int32_t cost_of(const lanes_emitter *e, LLVMTypeRef type) {
  static const int32_t by_size[] = {[1] = 14, [2] = 24, [4] = 16};
  return by_size[size_of(e, type)] * (int32_t)LLVMGetVectorSize(type);
}

// How often an instruction is reached, more or less.
static int64_t turns_of(const lanes_emitter *e, uint32_t number) {
  uint32_t depth = 0;
  for (uint32_t loop = e->graph->nodes[e->values->nodes[number]].loop;
       loop != LANES_NONE && depth < MOST_DEPTH;
       loop = e->graph->loops[loop].parent) {
    depth++;
  }
  return INT64_C(1) << TURNS_BITS * depth;
}

// Leaves out groups that take as much apart at their ends as is saved at their
// beginnings.
static void leave_out_losses(lanes_emitter *e) {
  int64_t *gains = lanes_allocate(e->arena, e->values->count, sizeof *gains);
  for (uint32_t n = 0; n < e->values->count; n++) {
    LLVMValueRef i = e->values->items[n];
    lanes_packed *whole = &e->wholes[n];
    if (!whole->is_in) {
      continue;
    }
    const int64_t turns = turns_of(e, n);
    if (LLVMIsAStoreInst(i)) {
      gains[whole->group] +=
          turns * cost_of(e, LLVMTypeOf(LLVMGetOperand(i, 0)));
      continue;
    }
    const int64_t cost = turns * cost_of(e, LLVMTypeOf(i));
    whole->is_apart = !is_only_whole(e, i);
    gains[whole->group] += LLVMIsALoadInst(i) ? cost : 0;
    gains[whole->group] -= whole->is_apart ? cost : 0;
  }
  for (uint32_t n = 0; n < e->values->count; n++) {
    e->wholes[n].is_in &= gains[e->wholes[n].group] > 0;
  }
}

static LLVMTypeRef whole_type(LLVMTypeRef type) {
  return LLVMVectorType(LLVMGetElementType(type),
                        LANES * LLVMGetVectorSize(type));
}

// True if a value is read behind the segment that it is made in, or by a
// phi, whose edges read it.
static bool is_read_elsewhere(const lanes_emitter *e, LLVMValueRef value) {
  for (LLVMUseRef use = LLVMGetFirstUse(value); use;
       use = LLVMGetNextUse(use)) {
    LLVMValueRef user = LLVMGetUser(use);
    const lanes_packed *whole = whole_of(e, user);
    if (whole && whole->is_in &&
        (LLVMIsAPHINode(user) ||
         whole->segment != whole_of(e, value)->segment)) {
      return true;
    }
  }
  return false;
}

static void make_memories(lanes_emitter *e) {
  for (uint32_t n = 0; n < e->values->count; n++) {
    LLVMValueRef i = e->values->items[n];
    lanes_packed *whole = &e->wholes[n];
    if (!whole->is_in || LLVMIsAStoreInst(i)) {
      continue;
    }
    if (is_read_elsewhere(e, i)) {
      whole->memory = lanes_promotable_alloca(e, whole_type(LLVMTypeOf(i)));
    }
    if (LLVMIsAPHINode(i)) {
      whole->phi_memory = lanes_promotable_alloca(e, whole_type(LLVMTypeOf(i)));
    }
  }
}

void lanes_packed_find(lanes_emitter *e) {
  e->wholes = lanes_allocate(e->arena, e->values->count, sizeof *e->wholes);
  find_candidates(e);
  leave_out_the_rest(e);
  join_groups(e);
  leave_out_losses(e);
  make_memories(e);
}

// --- Emission ----------------------------------------------------------------

// The same components for all lanes.
static LLVMValueRef repeated(lanes_emitter *e, LLVMValueRef operand) {
  const uint32_t count = count_of(operand);
  LLVMValueRef components[MOST_COMPONENTS] = {lanes_scalar(e, operand, 0)};
  bool is_splat = true;
  for (uint32_t c = 1; c < count; c++) {
    components[c] = lanes_scalar(e, operand, c);
    is_splat &= components[c] == components[0];
  }
  if (is_splat) {
    return lanes_splat_to(e, e->builder, components[0], LANES * count);
  }
  LLVMValueRef one = LLVMGetPoison(LLVMTypeOf(operand));
  int places[MOST_LANES * MOST_COMPONENTS];
  for (uint32_t c = 0; c < count; c++) {
    one = LLVMBuildInsertElement(e->builder, one, components[c],
                                 mtlc_i32(e->context, c), "");
  }
  for (uint32_t k = 0; k < LANES * count; k++) {
    places[k] = (int)(k % count);
  }
  return lanes_shuffle(e, one, NULL, places, LANES * count);
}

static LLVMValueRef as_whole(lanes_emitter *e, LLVMValueRef operand) {
  if (is_uniform(e, operand)) {
    return repeated(e, operand);
  }
  lanes_packed *whole = whole_of(e, operand);
  if (whole->value && whole->fresh == e->fresh) {
    return whole->value;
  }
  LLVMTypeRef type = whole_type(LLVMTypeOf(operand));
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

// One value, which is whole.
static void access_whole(lanes_emitter *e, const lanes_access *a, bool store,
                         LLVMValueRef *value) {
  const bool by_rows = lanes_is_by_segments(a);
  if (store) {
    (by_rows ? lanes_store_packed_segments : lanes_store_packed)(e, a, *value);
  } else {
    *value = (by_rows ? lanes_load_packed_segments : lanes_load_packed)(e, a);
  }
}

// Where an index wraps between two lanes the components are accessed as they
// are elsewhere, which is all but never so.
static void access_apart(lanes_emitter *e, const lanes_access *a, bool store,
                         LLVMValueRef *value) {
  LLVMValueRef components[MOST_COMPONENTS];
  if (store) {
    lanes_deinterleave_packed(e, *value, a->count, components);
  }
  lanes_access_wrapped(e, a, store, components);
  if (!store) {
    *value = lanes_interleave_components(e, components, a->count, a->count);
  }
}

static void access(lanes_emitter *e, LLVMValueRef i, LLVMValueRef pointer,
                   LLVMTypeRef type, bool store, LLVMValueRef *value) {
  lanes_access_way *ways[] = {access_whole, access_apart};
  const lanes_access a = lanes_access_of(e, i, pointer, type);
  if (a.shape.conditional) {
    lanes_access_conditionally(e, &a, ways, store, 1, value);
  } else {
    access_whole(e, &a, store, value);
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
    return mtlc_call_alike(e->builder, i, type, arguments);
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
  lanes_packed *whole = whole_of(e, i);
  if (!whole || !whole->is_in) {
    return false;
  }
  if (LLVMIsAStoreInst(i)) {
    LLVMValueRef value = as_whole(e, LLVMGetOperand(i, 0));
    access(e, i, LLVMGetOperand(i, 1), LLVMTypeOf(LLVMGetOperand(i, 0)), true,
           &value);
    return true;
  }
  if (LLVMIsALoadInst(i)) {
    access(e, i, LLVMGetOperand(i, 0), LLVMTypeOf(i), false, &whole->value);
  } else {
    whole->value = compute_whole(e, i, whole_type(LLVMTypeOf(i)));
  }
  whole->fresh = e->fresh;
  if (whole->memory) {
    LLVMBuildStore(e->builder, whole->value, whole->memory);
  }
  if (whole->is_apart) {
    LLVMValueRef components[MOST_COMPONENTS];
    lanes_deinterleave_packed(e, whole->value, count_of(i), components);
    for (uint32_t c = 0; c < count_of(i); c++) {
      lanes_set_result(e, i, c, components[c]);
    }
  }
  return true;
}

bool lanes_pass_packed(lanes_emitter *e, LLVMValueRef phi, LLVMValueRef value) {
  const lanes_packed *whole = whole_of(e, phi);
  if (!whole || !whole->is_in) {
    return false;
  }
  LLVMBuildStore(e->builder, as_whole(e, value), whole->phi_memory);
  return true;
}
