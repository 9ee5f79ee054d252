// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// version_row.c: versions divisions of a flat index into row and column for
// simdgroups within one row:
//
//   const uint row = i / columns, column = i % columns;
//   x[row * stride + column]
//
// In such a simdgroup the quotient is uniform, and remainders of neighbours are
// contiguous. One check confirms it, and those simdgroups run a version
// (version_interior.c) without gathers.
#include "compiler/vectorize/prepare/versions/version_row.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "compiler/ir/llvm/attributes.h"
#include "compiler/ir/llvm/calls.h"
#include "compiler/ir/llvm/instructions.h"
#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/analysis/uniformity.h"
#include "compiler/vectorize/base/tables.h"
#include "compiler/vectorize/prepare/versions/clone_region.h"
#include "compiler/vectorize/prepare/versions/hoist_checks.h"

enum {
  MOST_DEPTH = 8,      // operations in quotients' operands
  MOST_WAY = 10,       // operations from an address to a quotient
  MOST_STRIDE = 4096,  // largest stride for which shapes test wrapping
};

static bool is_signed(LLVMValueRef division) {
  const LLVMOpcode opcode = LLVMGetInstructionOpcode(division);
  return opcode == LLVMSDiv || opcode == LLVMSRem;
}

static bool is_remainder(LLVMValueRef division) {
  const LLVMOpcode opcode = LLVMGetInstructionOpcode(division);
  return opcode == LLVMURem || opcode == LLVMSRem;
}

static bool is_division(LLVMValueRef i) {
  const LLVMOpcode opcode = LLVMGetInstructionOpcode(i);
  return (opcode == LLVMUDiv || is_remainder(i) || is_signed(i)) &&
         LLVMGetTypeKind(LLVMTypeOf(i)) == LLVMIntegerTypeKind;
}

// True if a divisor may exceed a simdgroup's count of elements.
static bool is_large(LLVMValueRef divisor, lanes_shape run) {
  return !LLVMIsAConstantInt(divisor) ||
         LLVMConstIntGetSExtValue(divisor) > run.stride * (run.lanes - 1);
}

static bool is_wanted(const lanes_clone *part, LLVMValueRef i) {
  if (!is_division(i)) {
    return false;
  }
  LLVMValueRef dividend = LLVMGetOperand(i, 0), divisor = LLVMGetOperand(i, 1);
  const lanes_shape run = lanes_shape_of(part->values, dividend);
  return run.row == run.lanes && run.stride > 0 && run.stride < MOST_STRIDE &&
         !run.conditional &&
         lanes_is_uniform(lanes_shape_of(part->values, divisor)) &&
         is_large(divisor, run) &&
         !lanes_is_scalar(lanes_shape_of(part->values, i)) &&
         lanes_hoist_can(part, dividend, MOST_DEPTH) &&
         lanes_hoist_can(part, divisor, MOST_DEPTH);
}

static bool has(const lanes_quotients *quotients, LLVMValueRef value) {
  for (uint32_t k = 0; k < quotients->count; k++) {
    if (quotients->items[k].value == value) {
      return true;
    }
  }
  return false;
}

// True if a varying value depends on a quotient.
static bool hangs_on_one(const lanes_clone *part,
                         const lanes_quotients *quotients, LLVMValueRef value,
                         uint32_t depth) {
  if (!LLVMIsAInstruction(value) || depth == 0 ||
      lanes_is_scalar(lanes_shape_of(part->values, value))) {
    return false;
  }
  if (has(quotients, value)) {
    return true;
  }
  bool any = false;
  for (int k = 0; !any && !LLVMIsAPHINode(value) && !LLVMIsACallInst(value) &&
                  k < LLVMGetNumOperands(value);
       k++) {
    any = hangs_on_one(part, quotients, LLVMGetOperand(value, (unsigned)k),
                       depth - 1);
  }
  return any;
}

static LLVMValueRef address_of(LLVMValueRef i) {
  return mtlc_is_opcode(i, LLVMLoad)    ? LLVMGetOperand(i, 0)
         : mtlc_is_opcode(i, LLVMStore) ? LLVMGetOperand(i, 1)
                                        : NULL;
}

// True if any of the region's instructions satisfies a predicate.
static bool any_is(const lanes_clone *part, lanes_quotients *quotients,
                   bool (*is)(const lanes_clone *, lanes_quotients *,
                              LLVMValueRef)) {
  for (uint32_t n = lanes_set_next(part->nodes, 0); n != LANES_NONE;
       n = lanes_set_next(part->nodes, n + 1)) {
    LLVMBasicBlockRef block = lanes_clone_block(part, n);
    for (LLVMValueRef i = block ? LLVMGetFirstInstruction(block) : NULL; i;
         i = LLVMGetNextInstruction(i)) {
      if (is(part, quotients, i)) {
        return true;
      }
    }
  }
  return false;
}

// Records a quotient. True if there is no room for more.
static bool is_last(const lanes_clone *part, lanes_quotients *quotients,
                    LLVMValueRef i) {
  if (is_wanted(part, i)) {
    quotients->items[quotients->count++] = (lanes_quotient){.value = i};
  }
  return quotients->count == LANES_MOST_QUOTIENTS;
}

static bool is_access(const lanes_clone *part, lanes_quotients *quotients,
                      LLVMValueRef i) {
  LLVMValueRef address = address_of(i);
  return address && hangs_on_one(part, quotients, address, MOST_WAY);
}

void lanes_quotients_find(const lanes_clone *part, lanes_quotients *out) {
  *out = (lanes_quotients){0};
  any_is(part, out, is_last);
  if (out->count > 0 && !any_is(part, out, is_access)) {
    out->count = 0;
  }
}

// --- In front of the part ----------------------------------------------------

static bool is_alike(LLVMValueRef a, LLVMValueRef b) {
  return LLVMGetOperand(a, 0) == LLVMGetOperand(b, 0) &&
         LLVMGetOperand(a, 1) == LLVMGetOperand(b, 1) &&
         is_signed(a) == is_signed(b);
}

// Returns the quotient of an equal division, if there is one.
static LLVMValueRef known(const lanes_quotients *quotients, uint32_t end) {
  for (uint32_t k = 0; k < end; k++) {
    if (is_alike(quotients->items[k].value, quotients->items[end].value)) {
      return quotients->items[k].common;
    }
  }
  return NULL;
}

static LLVMValueRef first_of(const lanes_clone *part, LLVMValueRef value) {
  LLVMTypeRef type = LLVMTypeOf(value);
  char name[32];
  snprintf(name, sizeof name, "mettle.first.i%u", LLVMGetIntTypeWidth(type));
  LLVMValueRef function = mtlc_declare(part->kernel->module, name,
                                       LLVMFunctionType(type, &type, 1, false));
  mtlc_set_attribute(function, "nounwind", 0);
  mtlc_set_attribute(function, "willreturn", 0);
  mtlc_set_attribute(function, "memory", 0);
  return mtlc_call(part->builder, function, &value, 1);
}

// Emits the first thread's quotient; the divisor may be anything. Signed
// numbers that are not negative are divided as unsigned ones.
static LLVMValueRef quotient(const lanes_clone *part, LLVMValueRef dividend,
                             LLVMValueRef divisor) {
  LLVMBuilderRef b = part->builder;
  LLVMTypeRef type = LLVMTypeOf(divisor);
  LLVMValueRef is_none =
      LLVMBuildICmp(b, LLVMIntEQ, divisor, LLVMConstNull(type), "");
  divisor =
      LLVMBuildSelect(b, is_none, LLVMConstInt(type, 1, false), divisor, "");
  return LLVMBuildUDiv(b, first_of(part, dividend), divisor, "");
}

static LLVMValueRef holds(LLVMBuilderRef b, LLVMValueRef division,
                          LLVMValueRef dividend, LLVMValueRef divisor,
                          LLVMValueRef common) {
  LLVMValueRef zero = LLVMConstNull(LLVMTypeOf(divisor));
  LLVMValueRef rest =
      LLVMBuildSub(b, dividend, LLVMBuildMul(b, common, divisor, ""), "");
  LLVMValueRef holds = LLVMBuildICmp(b, LLVMIntULT, rest, divisor, "");
  if (!is_signed(division)) {
    return holds;
  }
  LLVMValueRef above = LLVMBuildICmp(b, LLVMIntSGT, divisor, zero, "");
  LLVMValueRef is_number = LLVMBuildICmp(b, LLVMIntSGE, dividend, zero, "");
  return LLVMBuildAnd(b, LLVMBuildAnd(b, holds, above, ""), is_number, "");
}

LLVMValueRef lanes_quotients_hold(lanes_quotients *quotients,
                                  lanes_hoisted *front) {
  LLVMValueRef all = NULL;
  for (uint32_t k = 0; k < quotients->count; k++) {
    lanes_quotient *q = &quotients->items[k];
    q->common = known(quotients, k);
    if (q->common) {
      continue;
    }
    LLVMBuilderRef b = front->part->builder;
    LLVMValueRef dividend =
        lanes_hoist_make(front, LLVMGetOperand(q->value, 0));
    LLVMValueRef divisor = lanes_hoist_make(front, LLVMGetOperand(q->value, 1));
    q->common = quotient(front->part, dividend, divisor);
    LLVMValueRef own = holds(b, q->value, dividend, divisor, q->common);
    all = all ? LLVMBuildAnd(b, all, own, "") : own;
  }
  return all;
}

void lanes_quotients_use(const lanes_quotients *quotients,
                         const lanes_clone *part) {
  for (uint32_t k = 0; k < quotients->count; k++) {
    const lanes_quotient *q = &quotients->items[k];
    LLVMValueRef copy = lanes_clone_copy_of(part, q->value);
    LLVMValueRef value = q->common;
    if (is_remainder(copy)) {
      LLVMPositionBuilderBefore(part->builder, copy);
      LLVMValueRef whole =
          LLVMBuildNUWMul(part->builder, value, LLVMGetOperand(copy, 1), "");
      value =
          LLVMBuildNUWSub(part->builder, LLVMGetOperand(copy, 0), whole, "");
    }
    LLVMReplaceAllUsesWith(copy, value);
    LLVMInstructionEraseFromParent(copy);
  }
}
