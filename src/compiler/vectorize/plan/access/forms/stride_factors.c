// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// stride_factors.c: addresses whose stride from lane to lane is a number of the
// program's, as in tensors with strides:
//
//   x[position.x * strides.x + position.y * strides.y]
#include "compiler/vectorize/plan/access/forms/stride_factors.h"

#include <llvm-c/Target.h>
#include <stddef.h>

#include "compiler/ir/llvm/instructions.h"
#include "compiler/ir/llvm/marks.h"
#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/analysis/uniformity.h"
#include "compiler/vectorize/base/tables.h"
#include "compiler/vectorize/plan/access/access.h"
#include "compiler/vectorize/plan/access/planning.h"

enum { MOST_STEPS = 24, MOST_REPEATED = 64, LEAST_ROW = 8 };

bool lanes_is_plain_run(const lanes_values *values, LLVMValueRef value) {
  const lanes_shape shape = lanes_shape_of(values, value);
  return shape.row >= values->row && shape.stride > 0 && !shape.conditional;
}

static bool follow(const lanes_planning *p, LLVMValueRef value,
                   lanes_stride_factors *f, uint32_t steps);

static bool follow_extended(const lanes_planning *p, LLVMValueRef value,
                            lanes_stride_factors *f, uint32_t steps) {
  if (!follow(p, LLVMGetOperand(value, 0), f, steps) ||
      f->extension_count == LANES_EXTENSIONS) {
    return false;
  }
  f->extensions[f->extension_count] = value;
  f->strides[f->extension_count++] = f->stride;
  return true;
}

static bool follow_product(const lanes_planning *p, LLVMValueRef value,
                           uint32_t own, lanes_stride_factors *f,
                           uint32_t steps) {
  LLVMValueRef factor = LLVMGetOperand(value, 1 - own);
  if (!lanes_is_uniform(lanes_shape_of(p->values, factor)) ||
      !follow(p, LLVMGetOperand(value, own), f, steps)) {
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

static bool follow_shifted(const lanes_planning *p, LLVMValueRef value,
                           lanes_stride_factors *f, uint32_t steps) {
  enum { MOST_SHIFTED = 8 };
  LLVMValueRef by = LLVMGetOperand(value, 1);
  if (!LLVMIsAConstantInt(by) || LLVMConstIntGetZExtValue(by) > MOST_SHIFTED ||
      !follow(p, LLVMGetOperand(value, 0), f, steps)) {
    return false;
  }
  const int64_t factor = INT64_C(1) << LLVMConstIntGetZExtValue(by);
  return !__builtin_mul_overflow(f->stride, factor, &f->stride);
}

// Phis that pass on one value, plus additions that are uniform over each
// segment.
typedef struct phi_web {
  LLVMValueRef phis[LANES_FACTORS];
  uint32_t count;
  LLVMValueRef begin;
  bool has_constant;  // a constant is added
  bool is_masked;     // some lanes may have skipped the additions
} phi_web;

static bool is_in(const phi_web *web, LLVMValueRef value) {
  for (uint32_t i = 0; i < web->count; i++) {
    if (web->phis[i] == value) {
      return true;
    }
  }
  return false;
}

static LLVMValueRef without_same(const lanes_planning *p, phi_web *web,
                                 LLVMValueRef value) {
  while (mtlc_is_opcode(value, LLVMAdd)) {
    const bool is_first =
        lanes_is_same_in_segments(p->values, LLVMGetOperand(value, 0));
    if (!is_first &&
        !lanes_is_same_in_segments(p->values, LLVMGetOperand(value, 1))) {
      break;
    }
    web->has_constant |=
        LLVMIsAConstantInt(LLVMGetOperand(value, is_first ? 0 : 1)) != NULL;
    value = LLVMGetOperand(value, is_first ? 1 : 0);
  }
  return value;
}

static uint32_t node_of(const lanes_planning *p, LLVMValueRef value) {
  return p->values->nodes[lanes_map_get(&p->values->numbers, value)];
}

// Adds a phi and its incoming values. False if a second value comes from
// outside the cycle, or if threads may have taken different paths, with
// different sums.
static bool add_phi(const lanes_planning *p, phi_web *web, LLVMValueRef phi) {
  const uint32_t node = node_of(p, phi);
  if (web->count == LANES_FACTORS || lanes_diverges_before(p->values, node)) {
    return false;
  }
  web->phis[web->count++] = phi;
  web->is_masked |= p->values->masked[node];
  for (unsigned k = 0; k < LLVMCountIncoming(phi); k++) {
    if (lanes_is_temporal(p->values, LLVMGetIncomingValue(phi, k), node)) {
      return false;
    }
    LLVMValueRef from = without_same(p, web, LLVMGetIncomingValue(phi, k));
    if (is_in(web, from)) {
      continue;
    }
    if (LLVMIsAPHINode(from) ? !add_phi(p, web, from)
                             : web->begin && web->begin != from) {
      return false;
    }
    if (!LLVMIsAPHINode(from)) {
      web->begin = from;
    }
  }
  return true;
}

static bool follow_phi(const lanes_planning *p, LLVMValueRef phi,
                       lanes_stride_factors *f, uint32_t steps) {
  phi_web web = {0};
  if (!add_phi(p, &web, phi) || !web.begin) {
    return false;
  }
  f->is_moved = !web.has_constant;
  f->is_masked = web.is_masked;
  return follow(p, web.begin, f, steps);
}

// Follows a value to the consecutive value that it depends on, past operands
// that are uniform over each segment.
static bool follow(const lanes_planning *p, LLVMValueRef value,
                   lanes_stride_factors *f, uint32_t steps) {
  if (lanes_is_plain_run(p->values, value)) {
    f->stride = lanes_shape_of(p->values, value).stride;
    return true;
  }
  if (!LLVMIsAInstruction(value) || steps == 0) {
    return false;
  }
  const LLVMOpcode opcode = LLVMGetInstructionOpcode(value);
  switch (opcode) {
    case LLVMTrunc:
    case LLVMFreeze: return follow(p, LLVMGetOperand(value, 0), f, steps - 1);
    case LLVMZExt:
    case LLVMSExt: return follow_extended(p, value, f, steps - 1);
    case LLVMShl: return follow_shifted(p, value, f, steps - 1);
    case LLVMPHI: return follow_phi(p, value, f, steps - 1);
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
      lanes_is_same_in_segments(p->values, LLVMGetOperand(value, 0)) &&
              opcode != LLVMSub
          ? 1
          : 0;
  if (!lanes_is_same_in_segments(p->values, LLVMGetOperand(value, 1 - own))) {
    return false;
  }
  return opcode == LLVMMul
             ? follow_product(p, value, own, f, steps - 1)
             : follow(p, LLVMGetOperand(value, own), f, steps - 1);
}

// True if a uniform value that is not kept can be computed again here; its
// definition dominates the access, which some thread reaches. looks is how many
// more values the search may visit.
static bool can_be_repeated(lanes_planning *p, LLVMValueRef value,
                            uint32_t *looks) {
  if (lanes_will_be_at_hand(p, value)) {
    return true;
  }
  if (!lanes_is_uniform(lanes_shape_of(p->values, value)) || *looks == 0) {
    return false;
  }
  (*looks)--;
  switch (LLVMGetInstructionOpcode(value)) {
    case LLVMLoad:
      if (!mtlc_is_invariant(value) || !lanes_has_some_lane(p)) {
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
    if (!can_be_repeated(p, LLVMGetOperand(value, (unsigned)k), looks)) {
      return false;
    }
  }
  return true;
}

// True if a segment's first value is available here.
static bool has_first(lanes_planning *p, LLVMValueRef value, uint32_t *looks) {
  if (lanes_is_same_in_segments(p->values, value)) {
    return can_be_repeated(p, value, looks);
  }
  if (lanes_is_plain_run(p->values, value) || LLVMIsAPHINode(value)) {
    return lanes_will_be_at_hand(p, value);
  }
  for (int k = 0; k < LLVMGetNumOperands(value); k++) {
    if (!has_first(p, LLVMGetOperand(value, (unsigned)k), looks)) {
      return false;
    }
  }
  return true;
}

static bool can_be_had(lanes_planning *p, const lanes_stride_factors *f) {
  uint32_t looks = MOST_REPEATED;
  bool can = has_first(p, f->index, &looks);
  for (uint32_t i = 0; can && i < f->count; i++) {
    can = can_be_repeated(p, f->items[i], &looks);
  }
  for (uint32_t i = 0; can && i < f->extension_count; i++) {
    can = has_first(p, LLVMGetOperand(f->extensions[i], 0), &looks);
  }
  return can;
}

bool lanes_find_stride_factors(lanes_planning *p, const lanes_access *a,
                               lanes_stride_factors *out_factors,
                               lanes_shape *out_shape) {
  LLVMTypeRef type =
      a->pointer ? lanes_type_indexed(p->values, a->pointer) : NULL;
  if (type == NULL || p->values->row < LEAST_ROW) {
    return false;
  }
  lanes_stride_factors f = {.index = lanes_index_of(a->pointer)};
  if (LLVMTypeOf(f.index) != LLVMInt64TypeInContext(LLVMGetTypeContext(type)) ||
      !follow(p, f.index, &f, MOST_STEPS) || !f.count) {
    return false;
  }
  // In a loop a thread seldom walks over its neighbours' elements, but along a
  // row of run-time length, or by the factor over a few elements of its own.
  const bool is_walk =
      p->graph->nodes[p->node].loop != LANES_NONE && !f.is_moved;
  if (is_walk || !can_be_had(p, &f)) {
    return false;
  }
  const int64_t size = (int64_t)LLVMABISizeOfType(p->values->data, type);
  int64_t stride;
  if (__builtin_mul_overflow(f.stride, size, &stride)) {
    return false;
  }
  *out_factors = f;
  *out_shape = lanes_shape_strided(p->values->lanes, p->values->row, stride);
  return true;
}
