// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hoist_checks.c: computes values of a region once more before the region, for
// its versioning check.
#include "compiler/vectorize/prepare/versions/hoist_checks.h"

#include "compiler/ir/llvm/marks.h"
#include "compiler/vectorize/analysis/addresses/affine.h"
#include "compiler/vectorize/analysis/callees.h"
#include "compiler/vectorize/base/tables.h"
#include "compiler/vectorize/prepare/versions/clone_region.h"

static bool is_of_part(const lanes_clone *part, LLVMValueRef value) {
  return LLVMIsAInstruction(value) &&
         lanes_clone_has(part, LLVMGetInstructionParent(value));
}

// True for a load of invariant data at a constant place in an argument: it can
// be loaded before the region as well.
static bool is_parameter(const lanes_clone *part, LLVMValueRef load) {
  lanes_affine at;
  lanes_affine_find(part->values, LLVMGetOperand(load, 0), &at);
  return mtlc_is_invariant(load) && !at.index_type &&
         LLVMIsACallInst(at.base) &&
         lanes_callee_of(at.base) == LANES_CALLEE_ARGUMENT;
}

bool lanes_hoist_can(const lanes_clone *part, LLVMValueRef value,
                     uint32_t depth) {
  if (!is_of_part(part, value)) {
    return true;
  }
  switch (LLVMGetInstructionOpcode(value)) {
    case LLVMPHI: return false;
    case LLVMLoad:
      if (!is_parameter(part, value)) {
        return false;
      }
      break;
    case LLVMCall: {
      const lanes_callee callee = lanes_callee_of(value);
      if (callee != LANES_CALLEE_ARGUMENT && callee != LANES_CALLEE_POSITION &&
          callee != LANES_CALLEE_ELEMENTWISE) {
        return false;
      }
      break;
    }
    case LLVMUDiv:
    case LLVMSDiv:
    case LLVMURem:
    case LLVMSRem:
    case LLVMFPToSI:
    case LLVMFPToUI: return false;
    case LLVMShl:
    case LLVMLShr:
    case LLVMAShr:
      if (!LLVMIsAConstantInt(LLVMGetOperand(value, 1))) {
        return false;
      }
      break;
    default:
      if (!LLVMIsABinaryOperator(value) && !LLVMIsACastInst(value) &&
          !LLVMIsAGetElementPtrInst(value) && !LLVMIsASelectInst(value) &&
          !LLVMIsACmpInst(value) && !LLVMIsAExtractElementInst(value)) {
        return false;
      }
  }
  bool can = depth > 0;
  for (int k = 0; can && k < LLVMGetNumOperands(value); k++) {
    can = lanes_hoist_can(part, LLVMGetOperand(value, (unsigned)k), depth - 1);
  }
  return can;
}

lanes_hoisted lanes_hoist_begin(const lanes_clone *part) {
  return (lanes_hoisted){
      .part = part,
      .values = lanes_allocate(part->graph->arena, part->instructions + 1,
                               sizeof(LLVMValueRef))};
}

// Drops flags and metadata: before the region, operands may have values that
// they never have inside.
LLVMValueRef lanes_hoist_make(lanes_hoisted *front, LLVMValueRef value) {
  if (!is_of_part(front->part, value)) {
    return value;
  }
  const uint32_t known = lanes_map_get(&front->made, value);
  if (known != LANES_NONE) {
    return front->values[known];
  }
  LLVMValueRef clone = LLVMInstructionClone(value);
  for (int k = 0; k < LLVMGetNumOperands(value); k++) {
    LLVMValueRef operand = LLVMGetOperand(value, (unsigned)k);
    if (!LLVMIsAFunction(operand)) {
      LLVMSetOperand(clone, (unsigned)k, lanes_hoist_make(front, operand));
    }
  }
  mtlc_drop_flags(clone);
  LLVMInsertIntoBuilder(front->part->builder, clone);
  front->values[front->made.count] = clone;
  lanes_map_set(front->part->graph->arena, &front->made, value,
                front->made.count);
  return clone;
}
