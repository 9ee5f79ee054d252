// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// wrap_checks.c: tests at run time whether a conditional stride holds: no
// narrow index wraps between two lanes, and no minimum or maximum clamps one.
// Also finds the addresses if an index wraps.
#include "compiler/vectorize/emit/address/wrap_checks.h"

#include <stdbool.h>
#include <stddef.h>

#include "compiler/ir/llvm/types.h"
#include "compiler/vectorize/analysis/addresses/affine.h"
#include "compiler/vectorize/analysis/callees.h"
#include "compiler/vectorize/analysis/components.h"
#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/analysis/uniformity.h"
#include "compiler/vectorize/emit/address/segment_addresses.h"
#include "compiler/vectorize/emit/values/builder.h"
#include "compiler/vectorize/emit/values/emitter.h"
#include "compiler/vectorize/emit/values/values.h"
#include "compiler/vectorize/plan/access/access.h"
#include "compiler/vectorize/plan/access/forms/wraps.h"

static bool is_extension(LLVMValueRef value) {
  const LLVMOpcode opcode = LLVMGetInstructionOpcode(value);
  return opcode == LLVMZExt || opcode == LLVMSExt;
}

// True if an index may both be clamped and then wrap at its extension: each
// makes the stride conditional.
static bool is_root_as_well(const lanes_emitter *e, LLVMValueRef value) {
  return is_extension(value) && !lanes_is_wrap_root(e->values, value) &&
         !lanes_shape_of(e->values, value).no_signed_wrap;
}

// A segment's first narrow index, and how far it is from wrapping.
typedef struct narrow_run {
  LLVMValueRef index;
  LLVMTypeRef type;
  lanes_shape shape;
  bool is_signed;
  uint64_t smallest;
  uint64_t largest;
} narrow_run;

static narrow_run run_of(const lanes_emitter *e, LLVMValueRef extension) {
  narrow_run run = {
      .index = LLVMGetOperand(extension, 0),
      .is_signed = LLVMGetInstructionOpcode(extension) == LLVMSExt};
  run.type = LLVMTypeOf(run.index);
  run.shape = lanes_shape_of(e->values, run.index);
  const uint64_t ones = ~UINT64_C(0) >> (64 - LLVMGetIntTypeWidth(run.type));
  run.largest = run.is_signed ? ones >> 1 : ones;
  run.smallest = run.is_signed ? ~run.largest : 0;
  return run;
}

// True if each segment is tested by a scalar: there are few, and their
// addresses are scalars as well.
static bool tests_each_segment(const lanes_emitter *e, const lanes_affine *at,
                      const narrow_run *run) {
  const uint32_t width = lanes_width_of(run->shape);
  return width > 1 && width <= 4 && at->sum == run->index &&
         lanes_is_sum_of_segments(e->values, at, width);
}

// Returns whether the last lane of a segment does not wrap. Lanes that do not
// run count too: that is the simplest test.
static LLVMValueRef root_holds(lanes_emitter *e, LLVMValueRef extension,
                               const lanes_affine *at) {
  const narrow_run run = run_of(e, extension);
  const uint32_t width = lanes_width_of(run.shape);
  const uint64_t span =
      (uint64_t)(run.shape.row - 1) * (uint64_t)run.shape.stride;
  const bool rising = run.shape.stride > 0;
  const LLVMIntPredicate predicate =
      rising ? (run.is_signed ? LLVMIntSLE : LLVMIntULE)
             : (run.is_signed ? LLVMIntSGE : LLVMIntUGE);
  LLVMValueRef limit = LLVMConstInt(
      run.type, (rising ? run.largest : run.smallest) - span, false);
  if (tests_each_segment(e, at, &run)) {
    LLVMValueRef all = NULL;
    for (uint32_t r = 0; r < width; r++) {
      LLVMValueRef index = lanes_segment_index(e, at, width, r);
      LLVMValueRef one = LLVMBuildICmp(e->builder, predicate, index, limit, "");
      all = all ? LLVMBuildAnd(e->builder, all, one, "") : one;
    }
    return all;
  }
  LLVMValueRef each =
      LLVMBuildICmp(e->builder, predicate, lanes_scalar(e, run.index, 0),
                    lanes_splat_to(e, e->builder, limit, width), "");
  return width == 1 ? each : lanes_all(e, each);
}

// Returns whether neither the first nor the last lane is clamped and nothing
// between wraps.
static LLVMValueRef limit_holds(lanes_emitter *e, LLVMValueRef call,
                                lanes_limit limit) {
  const lanes_shape shape = lanes_shape_of(e->values, call);
  const uint32_t width = lanes_width_of(shape);
  const uint32_t number =
      lanes_shape_of(e->values, LLVMGetOperand(call, 0)).stride ? 0 : 1;
  LLVMTypeRef wide = lanes_wide(e->types.i64, width);
  const LLVMOpcode extend = limit.is_signed ? LLVMSExt : LLVMZExt;
  LLVMValueRef ends[2], inside[2];
  ends[0] = LLVMBuildCast(e->builder, extend,
                          lanes_at_width(e, LLVMGetOperand(call, number), 0, width),
                          wide, "");
  LLVMValueRef bound = LLVMBuildCast(
      e->builder, extend,
      lanes_at_width(e, LLVMGetOperand(call, 1 - number), 0, width), wide, "");
  LLVMValueRef span =
      mtlc_i64(e->context, (shape.row - 1u) * (uint64_t)shape.stride);
  LLVMValueRef largest =
      mtlc_i64(e->context, limit.is_signed ? INT32_MAX : UINT32_MAX);
  ends[1] = LLVMBuildAdd(e->builder, ends[0],
                         lanes_splat_to(e, e->builder, span, width), "");
  inside[0] = LLVMBuildICmp(e->builder, LLVMIntSGE, ends[0], bound, "");
  inside[1] = LLVMBuildICmp(
      e->builder, LLVMIntSLE, ends[1],
      limit.is_max ? lanes_splat_to(e, e->builder, largest, width) : bound, "");
  LLVMValueRef holds = limit.is_max
                           ? LLVMBuildAnd(e->builder, inside[0], inside[1], "")
                           : inside[1];
  return width == 1 ? holds : lanes_all(e, holds);
}

static LLVMValueRef stride_holds(lanes_emitter *e, LLVMValueRef value,
                                 const lanes_affine *at) {
  if (lanes_is_wrap_root(e->values, value)) {
    return root_holds(e, value, at);
  }
  lanes_limit limit;
  LLVMValueRef holds = lanes_limit_find(value, &limit)
                           ? limit_holds(e, value, limit)
                       : is_root_as_well(e, value) ? root_holds(e, value, at)
                                                   : NULL;
  const int count = LLVMGetNumOperands(value);
  for (int i = 0; i < count; i++) {
    LLVMValueRef operand = LLVMGetOperand(value, (unsigned)i);
    if (!lanes_shape_of(e->values, operand).conditional) {
      continue;
    }
    LLVMValueRef this = stride_holds(e, operand, at);
    holds = holds ? LLVMBuildAnd(e->builder, holds, this, "") : this;
  }
  return holds ? holds : LLVMConstInt(e->types.i1, 1, false);
}

LLVMValueRef lanes_stride_holds(lanes_emitter *e, LLVMValueRef address) {
  lanes_affine at;
  lanes_affine_find(e->values, address, &at);
  return stride_holds(e, address, &at);
}

// --- What the addresses are if an index wraps --------------------------------

LLVMValueRef lanes_before_wrap(lanes_emitter *e, LLVMValueRef address,
                               LLVMValueRef *out_jump_bytes) {
  lanes_wrap wrap;
  if (!lanes_find_wrap(e->values, address, &wrap)) {
    lanes_refuse(e, "an index that wraps in no known way");
    return LLVMGetPoison(lanes_vector_of(e->lanes, e->types.i1));
  }
  const narrow_run run = run_of(e, wrap.root);
  const bool rising = run.shape.stride > 0;
  const uint64_t step =
      (uint64_t)(rising ? run.shape.stride : -run.shape.stride);
  LLVMValueRef first = lanes_scalar(e, run.index, 0);
  LLVMValueRef edge =
      LLVMConstInt(run.type, rising ? run.largest : run.smallest, false);
  LLVMValueRef room = rising ? LLVMBuildSub(e->builder, edge, first, "")
                             : LLVMBuildSub(e->builder, first, edge, "");
  LLVMValueRef last =
      LLVMBuildUDiv(e->builder, room, LLVMConstInt(run.type, step, false), "");
  const int64_t jump = (INT64_C(1) << 32) * wrap.factor;
  *out_jump_bytes = mtlc_i64(e->context, (uint64_t)(rising ? -jump : jump));
  return LLVMBuildICmp(e->builder, LLVMIntULE, lanes_steps(e->lanes, run.type, 0, 1),
                       lanes_splat(e, e->builder, last), "");
}
