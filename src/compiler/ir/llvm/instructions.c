// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// instructions.c: reads, replaces and moves instructions.
#include "compiler/ir/llvm/instructions.h"

#include <llvm-c/DebugInfo.h>
#include <stddef.h>
#include <string.h>

#include "compiler/ir/llvm/calls.h"
#include "compiler/ir/llvm/types.h"

void mtlc_for_each_instruction(LLVMValueRef function, mtlc_visit *visit,
                               void *context) {
  for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block;
       block = LLVMGetNextBasicBlock(block)) {
    LLVMValueRef next;
    for (LLVMValueRef instruction = LLVMGetFirstInstruction(block); instruction;
         instruction = next) {
      next = LLVMGetNextInstruction(instruction);
      visit(instruction, context);
    }
  }
}

void mtlc_for_each_in_module(LLVMModuleRef module, mtlc_visit *visit,
                             void *context) {
  for (LLVMValueRef function = LLVMGetFirstFunction(module); function;
       function = LLVMGetNextFunction(function)) {
    mtlc_for_each_instruction(function, visit, context);
  }
}

static LLVMValueRef build_like(LLVMBuilderRef builder, LLVMValueRef i,
                               LLVMTypeRef type, LLVMValueRef *operands) {
  const LLVMOpcode opcode = LLVMGetInstructionOpcode(i);
  switch (opcode) {
    case LLVMCall: return mtlc_call_overload(builder, i, type, operands);
    case LLVMFNeg: return LLVMBuildFNeg(builder, operands[0], "");
    case LLVMFreeze: return LLVMBuildFreeze(builder, operands[0], "");
    case LLVMICmp:
      return LLVMBuildICmp(builder, LLVMGetICmpPredicate(i), operands[0],
                           operands[1], "");
    case LLVMFCmp:
      return LLVMBuildFCmp(builder, LLVMGetFCmpPredicate(i), operands[0],
                           operands[1], "");
    case LLVMSelect:
      return LLVMBuildSelect(builder, operands[0], operands[1], operands[2],
                             "");
    default:
      return LLVMIsABinaryOperator(i)
                 ? LLVMBuildBinOp(builder, opcode, operands[0], operands[1], "")
                 : LLVMBuildCast(builder, opcode, operands[0], type, "");
  }
}

LLVMValueRef mtlc_build_like(LLVMBuilderRef builder, LLVMValueRef instruction,
                             LLVMTypeRef type, LLVMValueRef *operands) {
  LLVMValueRef made = build_like(builder, instruction, type, operands);
  if (LLVMIsAInstruction(made) && LLVMCanValueUseFastMathFlags(instruction) &&
      LLVMCanValueUseFastMathFlags(made)) {
    LLVMSetFastMathFlags(made, LLVMGetFastMathFlags(instruction));
  }
  return made;
}

void mtlc_replace(LLVMValueRef instruction, LLVMValueRef value) {
  LLVMReplaceAllUsesWith(instruction, value);
  LLVMInstructionEraseFromParent(instruction);
}

LLVMValueRef mtlc_root_of(LLVMValueRef address) {
  while (LLVMIsAGetElementPtrInst(address)) {
    address = LLVMGetOperand(address, 0);
  }
  return address;
}

bool mtlc_is_constant_aggregate(LLVMValueRef value) {
  return LLVMIsAConstantStruct(value) || LLVMIsAConstantArray(value) ||
         LLVMIsAConstantVector(value);
}

bool mtlc_names_threadgroup_memory(LLVMValueRef value) {
  if (LLVMIsAGlobalVariable(value)) {
    const char *section = LLVMGetSection(value);
    return section && strcmp(section, ".mettle.threadgroup") == 0;
  }
  if (!LLVMIsAConstantExpr(value) && !mtlc_is_constant_aggregate(value)) {
    return false;
  }
  for (int i = 0; i < LLVMGetNumOperands(value); ++i) {
    if (mtlc_names_threadgroup_memory(LLVMGetOperand(value, (unsigned)i))) {
      return true;
    }
  }
  return false;
}

bool mtlc_is_opcode(LLVMValueRef value, LLVMOpcode opcode) {
  return LLVMIsAInstruction(value) && LLVMGetInstructionOpcode(value) == opcode;
}

bool mtlc_is_plain_arithmetic(LLVMOpcode opcode) {
  switch (opcode) {
    case LLVMAdd:
    case LLVMSub:
    case LLVMMul:
    case LLVMShl:
    case LLVMLShr:
    case LLVMAShr:
    case LLVMAnd:
    case LLVMOr:
    case LLVMXor: return true;
    default: return false;
  }
}

uint32_t mtlc_count_in_block(LLVMBasicBlockRef block) {
  uint32_t count = 0;
  for (LLVMValueRef i = LLVMGetFirstInstruction(block); i;
       i = LLVMGetNextInstruction(i)) {
    count++;
  }
  return count;
}

uint32_t mtlc_count_instructions(LLVMValueRef function) {
  uint32_t count = 0;
  for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block;
       block = LLVMGetNextBasicBlock(block)) {
    count += mtlc_count_in_block(block);
  }
  return count;
}

uint64_t mtlc_common_divisor(uint64_t a, uint64_t b) {
  while (b != 0) {
    const uint64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

LLVMValueRef mtlc_offset(LLVMBuilderRef builder, LLVMValueRef pointer,
                         uint64_t bytes) {
  LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(pointer));
  LLVMValueRef index = mtlc_i64(context, bytes);
  return LLVMBuildGEP2(builder, LLVMInt8TypeInContext(context), pointer, &index,
                       1, "");
}

void mtlc_position_at_entry(LLVMBuilderRef builder, LLVMValueRef function) {
  LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(function);
  LLVMValueRef at = LLVMGetFirstInstruction(entry);
  while (at && LLVMIsAAllocaInst(at) && LLVMIsConstant(LLVMGetOperand(at, 0))) {
    at = LLVMGetNextInstruction(at);
  }
  LLVMPositionBuilder(builder, entry, at);
}

void mtlc_position_behind_phis(LLVMBuilderRef builder,
                               LLVMValueRef instruction) {
  while (LLVMIsAPHINode(instruction)) {
    instruction = LLVMGetNextInstruction(instruction);
  }
  LLVMPositionBuilderBefore(builder, instruction);
}

static void move_to_end(LLVMBuilderRef builder, LLVMValueRef instruction,
                        LLVMBasicBlockRef block) {
  LLVMMetadataRef location = LLVMInstructionGetDebugLoc(instruction);
  LLVMInstructionRemoveFromParent(instruction);
  LLVMPositionBuilderAtEnd(builder, block);
  LLVMInsertIntoBuilder(builder, instruction);
  LLVMInstructionSetDebugLoc(instruction, location);
}

LLVMBasicBlockRef mtlc_split_above(LLVMBuilderRef builder,
                                   LLVMValueRef branch) {
  LLVMBasicBlockRef block = LLVMGetInstructionParent(branch);
  LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(branch));
  LLVMBasicBlockRef above = LLVMInsertBasicBlockInContext(context, block, "");
  LLVMValueRef next = NULL;
  for (LLVMValueRef i = LLVMGetFirstInstruction(block); i != branch; i = next) {
    next = LLVMGetNextInstruction(i);
    move_to_end(builder, i, above);
  }
  // LLVM renames a block in phis only while it ends in a branch, so the branch
  // is there and comes back.
  move_to_end(builder, branch, above);
  LLVMReplaceAllUsesWith(LLVMBasicBlockAsValue(block),
                         LLVMBasicBlockAsValue(above));
  move_to_end(builder, branch, block);
  return above;
}
