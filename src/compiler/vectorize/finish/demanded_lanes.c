// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// demanded_lanes.c: narrows vector operations to the lanes that are used. A
// tree's step may load and store a few lanes only, while the operations between
// are whole vectors. LLVM narrows additions to the store's width, but loads
// whole registers for comparisons, and a processor cannot forward a short store
// that is still in flight to a longer load.
#include "compiler/vectorize/finish/demanded_lanes.h"

#include <llvm-c/DebugInfo.h>
#include <stddef.h>

#include "compiler/ir/llvm/calls.h"
#include "compiler/ir/llvm/instructions.h"
#include "compiler/vectorize/analysis/callees.h"
#include "compiler/vectorize/analysis/shape.h"

enum { DEPTH = 8 };  // operations behind one another

// True if the first lanes of a shuffle are those of its first operand.
static bool begins_alike(LLVMValueRef shuffle, unsigned count) {
  for (unsigned k = 0; k < count; k++) {
    if (LLVMGetMaskValue(shuffle, k) != (int)k) {
      return false;
    }
  }
  return true;
}

static unsigned lanes_of_operand(LLVMValueRef shuffle) {
  return LLVMGetVectorSize(LLVMTypeOf(LLVMGetOperand(shuffle, 0)));
}

static bool takes_first_lanes(LLVMValueRef i) {
  if (!LLVMIsAShuffleVectorInst(i)) {
    return false;
  }
  const unsigned count = LLVMGetNumMaskElements(i);
  return count < lanes_of_operand(i) && begins_alike(i, count);
}

// True if each lane of a result depends on the same lane of the operands, and
// the result has no other user.
static bool is_by_lane(LLVMValueRef value) {
  if (!LLVMIsAInstruction(value) || !LLVMGetFirstUse(value) ||
      LLVMGetNextUse(LLVMGetFirstUse(value))) {
    return false;
  }
  switch (LLVMGetInstructionOpcode(value)) {
    case LLVMFAdd:
    case LLVMFSub:
    case LLVMFMul:
    case LLVMFDiv:
    case LLVMFNeg:
    case LLVMFCmp:
    case LLVMICmp:
    case LLVMSelect: return true;
    case LLVMCall:
      return lanes_callee_of(value) == LANES_CALLEE_ELEMENTWISE &&
             mtlc_is_call_of(value, "llvm.");
    default: return mtlc_is_plain_arithmetic(LLVMGetInstructionOpcode(value));
  }
}

static LLVMValueRef first_lanes(LLVMBuilderRef builder, LLVMValueRef vector,
                                unsigned count) {
  LLVMValueRef lanes[MOST_LANES];
  LLVMTypeRef i32 =
      LLVMInt32TypeInContext(LLVMGetTypeContext(LLVMTypeOf(vector)));
  for (unsigned k = 0; k < count; k++) {
    lanes[k] = LLVMConstInt(i32, k, false);
  }
  LLVMValueRef none = LLVMGetPoison(LLVMTypeOf(vector));
  return LLVMBuildShuffleVector(builder, vector, none,
                                LLVMConstVector(lanes, count), "");
}

static LLVMValueRef narrow(LLVMBuilderRef builder, LLVMValueRef value,
                           unsigned count, uint32_t depth);

// Emits the same operation on fewer lanes.
static LLVMValueRef narrow_operation(LLVMBuilderRef builder, LLVMValueRef i,
                                     unsigned count, uint32_t depth) {
  enum { MOST_OPERANDS = 3 };
  LLVMValueRef operands[MOST_OPERANDS];
  const unsigned operand_count = LLVMIsACallInst(i)
                                     ? LLVMGetNumArgOperands(i)
                                     : (unsigned)LLVMGetNumOperands(i);
  if (operand_count > MOST_OPERANDS) {
    return first_lanes(builder, i, count);
  }
  for (unsigned k = 0; k < operand_count; k++) {
    operands[k] = narrow(builder, LLVMGetOperand(i, k), count, depth);
  }
  LLVMTypeRef type = LLVMVectorType(LLVMGetElementType(LLVMTypeOf(i)), count);
  return mtlc_build_like(builder, i, type, operands);
}

// Returns the first lanes of a vector; any other value unchanged.
static LLVMValueRef narrow(LLVMBuilderRef builder, LLVMValueRef value,
                           unsigned count, uint32_t depth) {
  LLVMTypeRef type = LLVMTypeOf(value);
  if (LLVMGetTypeKind(type) != LLVMVectorTypeKind) {
    return value;
  }
  // A value that was widened for the operation.
  if (LLVMIsAShuffleVectorInst(value) && lanes_of_operand(value) == count &&
      begins_alike(value, count)) {
    return LLVMGetOperand(value, 0);
  }
  return depth > 0 && is_by_lane(value)
             ? narrow_operation(builder, value, count, depth - 1)
             : first_lanes(builder, value, count);
}

bool lanes_demand_lanes(LLVMValueRef function) {
  LLVMBuilderRef builder =
      LLVMCreateBuilderInContext(LLVMGetTypeContext(LLVMTypeOf(function)));
  bool any = false;
  for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block;
       block = LLVMGetNextBasicBlock(block)) {
    LLVMValueRef next = NULL;
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = next) {
      next = LLVMGetNextInstruction(i);
      if (!takes_first_lanes(i) || !is_by_lane(LLVMGetOperand(i, 0))) {
        continue;
      }
      LLVMPositionBuilderBefore(builder, i);
      LLVMSetCurrentDebugLocation2(builder, LLVMInstructionGetDebugLoc(i));
      mtlc_replace(i, narrow_operation(builder, LLVMGetOperand(i, 0),
                                       LLVMGetNumMaskElements(i), DEPTH));
      any = true;
    }
  }
  LLVMDisposeBuilder(builder);
  return any;
}
