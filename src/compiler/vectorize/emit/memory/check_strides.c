// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// check_strides.c: addresses whose stride from lane to lane is a number of the
// program's, as in tensors with strides:
//
//   x[position.x * strides.x + position.y * strides.y]
//
// Mostly that is one, and lanes are neighbours; where a tensor is broadcast it
// is none, and all read the same element. Two questions cost a small part of
// what a gather does.
#include "compiler/vectorize/emit/memory/check_strides.h"

#include <llvm-c/Target.h>
#include <stddef.h>

#include "compiler/ir/instructions.h"
#include "compiler/ir/marks.h"
#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/analysis/uniformity.h"
#include "compiler/vectorize/base/tables.h"
#include "compiler/vectorize/emit/address/access.h"
#include "compiler/vectorize/emit/address/segment_addresses.h"
#include "compiler/vectorize/emit/memory/check_adjacent.h"
#include "compiler/vectorize/emit/memory/gathers.h"
#include "compiler/vectorize/emit/values/builder.h"
#include "compiler/vectorize/emit/values/emitter.h"
#include "compiler/vectorize/emit/values/masks.h"
#include "compiler/vectorize/emit/values/values.h"

enum { MOST_STEPS = 24, MOST_REPEATED = 64, LEAST_ROW = 8 };

// --- What they are -----------------------------------------------------------

static bool is_run(const lanes_emitter *e, LLVMValueRef value) {
  const lanes_shape shape = lanes_shape_of(e->values, value);
  return shape.row >= e->values->row && shape.stride > 0 && !shape.conditional;
}

static bool follow(const lanes_emitter *e, LLVMValueRef value, lanes_stride_factors *f,
                   uint32_t steps);

static bool follow_extended(const lanes_emitter *e, LLVMValueRef value,
                            lanes_stride_factors *f, uint32_t steps) {
  if (!follow(e, LLVMGetOperand(value, 0), f, steps) ||
      f->extension_count == LANES_EXTENSIONS) {
    return false;
  }
  f->extensions[f->extension_count] = value;
  f->strides[f->extension_count++] = f->stride;
  return true;
}

static bool follow_product(const lanes_emitter *e, LLVMValueRef value,
                           uint32_t own, lanes_stride_factors *f, uint32_t steps) {
  LLVMValueRef factor = LLVMGetOperand(value, 1 - own);
  if (!lanes_is_uniform(lanes_shape_of(e->values, factor)) ||
      !follow(e, LLVMGetOperand(value, own), f, steps)) {
    return false;
  }
  if (LLVMIsAConstantInt(factor)) {
    return !__builtin_mul_overflow(f->stride, LLVMConstIntGetSExtValue(factor),
                                   &f->stride) &&
           f->stride > 0;
  }
  if (f->count == LANES_FACTORS) {
    return false;
  }
  f->items[f->count++] = factor;
  return true;
}

static bool follow_shifted(const lanes_emitter *e, LLVMValueRef value,
                           lanes_stride_factors *f, uint32_t steps) {
  enum { MOST_SHIFTED = 8 };
  LLVMValueRef by = LLVMGetOperand(value, 1);
  if (!LLVMIsAConstantInt(by) || LLVMConstIntGetZExtValue(by) > MOST_SHIFTED ||
      !follow(e, LLVMGetOperand(value, 0), f, steps)) {
    return false;
  }
  const int64_t factor = INT64_C(1) << LLVMConstIntGetZExtValue(by);
  return !__builtin_mul_overflow(f->stride, factor, &f->stride);
}

// --- Sums that a loop goes on with -------------------------------------------

// Phis that hand on one number, to which is added what is the same for all
// lanes of a row.
typedef struct phi_web {
  LLVMValueRef phis[LANES_FACTORS];
  uint32_t count;
  LLVMValueRef begin;
  bool has_constant;  // something known is added
  bool is_masked;     // some lanes may not have come by
} phi_web;

static bool is_in(const phi_web *web, LLVMValueRef value) {
  for (uint32_t i = 0; i < web->count; i++) {
    if (web->phis[i] == value) {
      return true;
    }
  }
  return false;
}

static LLVMValueRef without_same(const lanes_emitter *e, phi_web *web,
                                 LLVMValueRef value) {
  while (mtlc_is_opcode(value, LLVMAdd)) {
    const bool is_first = lanes_is_same_in_segments(e, LLVMGetOperand(value, 0));
    if (!is_first && !lanes_is_same_in_segments(e, LLVMGetOperand(value, 1))) {
      break;
    }
    web->has_constant |=
        LLVMIsAConstantInt(LLVMGetOperand(value, is_first ? 0 : 1)) != NULL;
    value = LLVMGetOperand(value, is_first ? 1 : 0);
  }
  return value;
}

static uint32_t node_of(const lanes_emitter *e, LLVMValueRef value) {
  return e->values->nodes[lanes_map_get(&e->values->numbers, value)];
}

// Adds a phi with what it is made from; false if there are two beginnings, or
// threads may have come by different ways, and have different sums.
static bool add_phi(const lanes_emitter *e, phi_web *web, LLVMValueRef phi) {
  const uint32_t node = node_of(e, phi);
  if (web->count == LANES_FACTORS || lanes_diverges_before(e->values, node)) {
    return false;
  }
  web->phis[web->count++] = phi;
  web->is_masked |= e->values->masked[node];
  for (unsigned k = 0; k < LLVMCountIncoming(phi); k++) {
    if (lanes_is_temporal(e->values, LLVMGetIncomingValue(phi, k), node)) {
      return false;
    }
    LLVMValueRef from = without_same(e, web, LLVMGetIncomingValue(phi, k));
    if (is_in(web, from)) {
      continue;
    }
    if (LLVMIsAPHINode(from) ? !add_phi(e, web, from)
                             : web->begin && web->begin != from) {
      return false;
    }
    if (!LLVMIsAPHINode(from)) {
      web->begin = from;
    }
  }
  return true;
}

static bool follow_phi(const lanes_emitter *e, LLVMValueRef phi,
                       lanes_stride_factors *f, uint32_t steps) {
  phi_web web = {0};
  if (!add_phi(e, &web, phi) || !web.begin) {
    return false;
  }
  f->is_moved = !web.has_constant;
  f->is_masked = web.is_masked;
  return follow(e, web.begin, f, steps);
}

// Follows a value down to the run that it comes from, past what is the same for
// all lanes of a row.
static bool follow(const lanes_emitter *e, LLVMValueRef value, lanes_stride_factors *f,
                   uint32_t steps) {
  if (is_run(e, value)) {
    f->stride = lanes_shape_of(e->values, value).stride;
    return true;
  }
  if (!LLVMIsAInstruction(value) || steps == 0) {
    return false;
  }
  const LLVMOpcode opcode = LLVMGetInstructionOpcode(value);
  switch (opcode) {
    case LLVMTrunc:
    case LLVMFreeze: return follow(e, LLVMGetOperand(value, 0), f, steps - 1);
    case LLVMZExt:
    case LLVMSExt: return follow_extended(e, value, f, steps - 1);
    case LLVMShl: return follow_shifted(e, value, f, steps - 1);
    case LLVMPHI: return follow_phi(e, value, f, steps - 1);
    case LLVMOr:
      if (!LLVMGetIsDisjoint(value)) {
        return false;
      }
      break;
    case LLVMAdd:
    case LLVMSub:
    case LLVMMul: break;
    default: return false;
  }
  const uint32_t own =
      lanes_is_same_in_segments(e, LLVMGetOperand(value, 0)) && opcode != LLVMSub
          ? 1
          : 0;
  if (!lanes_is_same_in_segments(e, LLVMGetOperand(value, 1 - own))) {
    return false;
  }
  return opcode == LLVMMul
             ? follow_product(e, value, own, f, steps - 1)
             : follow(e, LLVMGetOperand(value, own), f, steps - 1);
}

// --- Whether they are at hand ------------------------------------------------

// What is the same for all lanes and was not kept up to here is computed again;
// its definition dominates the access, which some thread comes to. looks says
// how many more values that may take.
static bool can_be_repeated(lanes_emitter *e, LLVMValueRef value,
                            uint32_t *looks) {
  if (lanes_is_at_hand(e, value)) {
    return true;
  }
  if (!lanes_is_uniform(lanes_shape_of(e->values, value)) || *looks == 0) {
    return false;
  }
  (*looks)--;
  switch (LLVMGetInstructionOpcode(value)) {
    case LLVMLoad:
      if (!mtlc_is_invariant(value) || !lanes_has_thread(e)) {
        return false;
      }
      break;
    case LLVMGetElementPtr:
    case LLVMTrunc:
    case LLVMZExt:
    case LLVMSExt: break;
    default:
      if (!mtlc_is_plain_arithmetic(LLVMGetInstructionOpcode(value))) {
        return false;
      }
  }
  for (int k = 0; k < LLVMGetNumOperands(value); k++) {
    if (!can_be_repeated(e, LLVMGetOperand(value, (unsigned)k), looks)) {
      return false;
    }
  }
  return true;
}

static LLVMValueRef repeated(lanes_emitter *e, LLVMValueRef value) {
  if (lanes_is_at_hand(e, value)) {
    return lanes_scalar(e, value, 0);
  }
  LLVMValueRef copy = LLVMInstructionClone(value);
  for (int k = 0; k < LLVMGetNumOperands(value); k++) {
    LLVMSetOperand(copy, (unsigned)k,
                   repeated(e, LLVMGetOperand(value, (unsigned)k)));
  }
  LLVMInsertIntoBuilder(e->builder, copy);
  return copy;
}

// The first lane's value, of a row's.
static bool has_first(lanes_emitter *e, LLVMValueRef value, uint32_t *looks) {
  if (lanes_is_same_in_segments(e, value)) {
    return can_be_repeated(e, value, looks);
  }
  if (is_run(e, value) || LLVMIsAPHINode(value)) {
    return lanes_is_at_hand(e, value);
  }
  for (int k = 0; k < LLVMGetNumOperands(value); k++) {
    if (!has_first(e, LLVMGetOperand(value, (unsigned)k), looks)) {
      return false;
    }
  }
  return true;
}

static LLVMValueRef first_of(lanes_emitter *e, LLVMValueRef value,
                             uint32_t row) {
  if (lanes_is_same_in_segments(e, value) && !lanes_is_at_hand(e, value)) {
    return repeated(e, value);
  }
  if (lanes_is_same_in_segments(e, value) || is_run(e, value)) {
    return lanes_segment_first(e, value, LANES / e->values->row, row);
  }
  if (LLVMIsAPHINode(value)) {
    return lanes_segment_first(e, value, LANES, row * e->values->row);
  }
  LLVMValueRef a = first_of(e, LLVMGetOperand(value, 0), row);
  switch (LLVMGetInstructionOpcode(value)) {
    case LLVMFreeze: return LLVMBuildFreeze(e->builder, a, "");
    case LLVMTrunc:
    case LLVMZExt:
    case LLVMSExt:
      return LLVMBuildCast(e->builder, LLVMGetInstructionOpcode(value), a,
                           LLVMTypeOf(value), "");
    default: break;
  }
  LLVMValueRef b = first_of(e, LLVMGetOperand(value, 1), row);
  const LLVMOpcode opcode = LLVMGetInstructionOpcode(value);
  // An or is a sum of threads that run; the first may not.
  return LLVMBuildBinOp(e->builder, opcode == LLVMOr ? LLVMAdd : opcode, a, b,
                        "");
}

static bool can_be_had(lanes_emitter *e, const lanes_stride_factors *f) {
  uint32_t looks = MOST_REPEATED;
  bool can = has_first(e, f->index, &looks);
  for (uint32_t i = 0; can && i < f->count; i++) {
    can = can_be_repeated(e, f->items[i], &looks);
  }
  for (uint32_t i = 0; can && i < f->extension_count; i++) {
    can = has_first(e, LLVMGetOperand(f->extensions[i], 0), &looks);
  }
  return can;
}

bool lanes_find_stride_factors(lanes_emitter *e, const lanes_access *a,
                        lanes_stride_factors *out_factors, lanes_shape *out_shape) {
  LLVMTypeRef type = a->pointer ? lanes_type_indexed(e, a->pointer) : NULL;
  if (type == NULL || e->uncached || e->values->row < LEAST_ROW) {
    return false;
  }
  lanes_stride_factors f = {.index = lanes_index_of(a->pointer)};
  if (LLVMTypeOf(f.index) != e->types.i64 ||
      !follow(e, f.index, &f, MOST_STEPS) || !f.count) {
    return false;
  }
  // What a thread walks through in a loop is seldom its neighbours': a row, of
  // a length that the program says. Or it goes on by the factor, in a few
  // elements that are its own.
  const bool is_walk =
      e->graph->nodes[e->node].loop != LANES_NONE && !f.is_moved;
  if (is_walk || !can_be_had(e, &f)) {
    return false;
  }
  const int64_t size = (int64_t)LLVMABISizeOfType(e->values->data, type);
  int64_t stride;
  if (__builtin_mul_overflow(f.stride, size, &stride)) {
    return false;
  }
  *out_factors = f;
  *out_shape = lanes_shape_strided(e->values->row, stride);
  return true;
}

// --- What they come to -------------------------------------------------------

void lanes_firsts_by_strides(lanes_emitter *e, const lanes_access *a,
                             const lanes_stride_factors *f, LLVMValueRef *out_firsts) {
  LLVMTypeRef type = lanes_type_indexed(e, a->pointer);
  LLVMValueRef base = lanes_base_indexed(e, a->pointer);
  for (uint32_t r = 0; r < (uint32_t)LANES / e->values->row; r++) {
    LLVMValueRef index = first_of(e, f->index, r);
    out_firsts[r] = LLVMBuildGEP2(e->builder, type, base, &index, 1, "");
  }
}

static LLVMValueRef both(lanes_emitter *e, LLVMValueRef a, LLVMValueRef b) {
  return a ? LLVMBuildAnd(e->builder, a, b, "") : b;
}

// Returns i1: no row of a narrow number wraps on its way to its last lane.
static LLVMValueRef is_whole(lanes_emitter *e, const lanes_stride_factors *f,
                             uint32_t extension) {
  LLVMValueRef narrow = LLVMGetOperand(f->extensions[extension], 0);
  LLVMTypeRef type = LLVMTypeOf(narrow);
  const bool is_signed = LLVMIsASExtInst(f->extensions[extension]);
  const uint32_t row = e->values->row;
  const uint64_t ones = ~UINT64_C(0) >> (64 - LLVMGetIntTypeWidth(type));
  const uint64_t largest = is_signed ? ones >> 1 : ones;
  const uint64_t span = (uint64_t)f->strides[extension] * (row - 1);
  if (span > largest) {
    return LLVMConstInt(e->types.i1, 0, false);
  }
  LLVMValueRef all = NULL;
  for (uint32_t r = 0; r < LANES / row; r++) {
    all = both(e, all,
               LLVMBuildICmp(e->builder, is_signed ? LLVMIntSLE : LLVMIntULE,
                             first_of(e, narrow, r),
                             LLVMConstInt(type, largest - span, false), ""));
  }
  return all;
}

LLVMValueRef lanes_check_stride_one(lanes_emitter *e, const lanes_stride_factors *f) {
  LLVMValueRef all = f->is_masked ? lanes_all(e, e->mask) : NULL;
  for (uint32_t i = 0; i < f->count; i++) {
    LLVMValueRef factor = repeated(e, f->items[i]);
    LLVMValueRef one = LLVMConstInt(LLVMTypeOf(factor), 1, false);
    all = both(e, all, LLVMBuildICmp(e->builder, LLVMIntEQ, factor, one, ""));
  }
  for (uint32_t i = 0; i < f->extension_count; i++) {
    all = both(e, all, is_whole(e, f, i));
  }
  return all;
}

LLVMValueRef lanes_check_stride_zero(lanes_emitter *e, const lanes_stride_factors *f) {
  LLVMValueRef any = NULL;
  for (uint32_t i = 0; i < f->count; i++) {
    LLVMValueRef factor = repeated(e, f->items[i]);
    LLVMValueRef is_none = LLVMBuildICmp(e->builder, LLVMIntEQ, factor,
                                         LLVMConstNull(LLVMTypeOf(factor)), "");
    any = any ? LLVMBuildOr(e->builder, any, is_none, "") : is_none;
  }
  return f->is_masked ? both(e, lanes_all(e, e->mask), any) : any;
}
