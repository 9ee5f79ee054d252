// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// marks.c: metadata and flags of instructions, wishes of loops, lines.
#include "compiler/ir/llvm/marks.h"

#include <llvm-c/DebugInfo.h>
#include <stddef.h>
#include <string.h>

#include "compiler/ir/llvm/instructions.h"
#include "compiler/ir/llvm/types.h"

static const char invariant[] = "invariant.load";
static const char hold[] = "mettle.held";

static unsigned mark_kind(LLVMValueRef instruction, const char *name) {
  return LLVMGetMDKindIDInContext(LLVMGetTypeContext(LLVMTypeOf(instruction)),
                                  name, (unsigned)strlen(name));
}

void mtlc_mark(LLVMValueRef instruction, const char *name) {
  LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(instruction));
  LLVMMetadataRef none = LLVMMDNodeInContext2(context, NULL, 0);
  LLVMSetMetadata(instruction, mark_kind(instruction, name),
                  LLVMMetadataAsValue(context, none));
}

bool mtlc_is_marked(LLVMValueRef instruction, const char *name) {
  return LLVMHasMetadata(instruction) &&
         LLVMGetMetadata(instruction, mark_kind(instruction, name)) != NULL;
}

void mtlc_hold_operand(LLVMBuilderRef builder, LLVMValueRef user, unsigned k) {
  LLVMPositionBuilderBefore(builder, user);
  LLVMValueRef held = LLVMBuildFreeze(builder, LLVMGetOperand(user, k), "");
  mtlc_mark(held, hold);
  LLVMSetOperand(user, k, held);
}

void mtlc_release_held(LLVMValueRef function) {
  for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block;
       block = LLVMGetNextBasicBlock(block)) {
    LLVMValueRef next;
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = next) {
      next = LLVMGetNextInstruction(i);
      if (mtlc_is_opcode(i, LLVMFreeze) && mtlc_is_marked(i, hold)) {
        mtlc_replace(i, LLVMGetOperand(i, 0));
      }
    }
  }
}

void mtlc_mark_invariant(LLVMValueRef load) {
  mtlc_mark(load, invariant);
}

bool mtlc_is_invariant(LLVMValueRef load) {
  return mtlc_is_marked(load, invariant);
}

// Copies the flags of another instruction of the kind; clears them for NULL.
static void set_flags(LLVMValueRef to, LLVMValueRef from) {
  switch (LLVMGetInstructionOpcode(to)) {
    case LLVMAdd:
    case LLVMSub:
    case LLVMMul:
    case LLVMShl:
      LLVMSetNUW(to, from && LLVMGetNUW(from));
      LLVMSetNSW(to, from && LLVMGetNSW(from));
      break;
    case LLVMUDiv:
    case LLVMSDiv:
    case LLVMLShr:
    case LLVMAShr: LLVMSetExact(to, from && LLVMGetExact(from)); break;
    case LLVMOr: LLVMSetIsDisjoint(to, from && LLVMGetIsDisjoint(from)); break;
    case LLVMZExt: LLVMSetNNeg(to, from && LLVMGetNNeg(from)); break;
    default: break;
  }
}

void mtlc_keep_flags(LLVMValueRef from, LLVMValueRef made) {
  if (mtlc_is_opcode(made, LLVMGetInstructionOpcode(from)) &&
      !LLVMGetFirstUse(made)) {
    set_flags(made, from);
  }
}

void mtlc_drop_flags(LLVMValueRef i) {
  set_flags(i, NULL);
  if (LLVMIsATruncInst(i)) {
    LLVMSetNUW(i, false);
    LLVMSetNSW(i, false);
  } else if (LLVMIsAGetElementPtrInst(i)) {
    LLVMSetIsInBounds(i, false);
  }
}

// --- wishes of loops ---------------------------------------------------------

static unsigned loop_kind(LLVMContextRef context) {
  static const char name[] = "llvm.loop";
  return LLVMGetMDKindIDInContext(context, name, sizeof name - 1);
}

// Sets metadata in a loop's node, which refers to itself to be distinct.
static void set_hint(LLVMValueRef latch, LLVMMetadataRef hint) {
  LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(latch));
  LLVMMetadataRef self = LLVMTemporaryMDNode(context, NULL, 0);
  LLVMMetadataRef parts[] = {self, hint};
  LLVMMetadataRef node = LLVMMDNodeInContext2(context, parts, 2);
  LLVMMetadataReplaceAllUsesWith(self, node);
  LLVMSetMetadata(latch, loop_kind(context),
                  LLVMMetadataAsValue(context, node));
}

void mtlc_set_loop_hint(LLVMValueRef latch, const char *hint) {
  LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(latch));
  LLVMMetadataRef text = LLVMMDStringInContext2(context, hint, strlen(hint));
  set_hint(latch, LLVMMDNodeInContext2(context, &text, 1));
}

void mtlc_set_unrolling_count(LLVMValueRef latch, uint32_t count) {
  static const char name[] = "llvm.loop.unroll.count";
  LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(latch));
  LLVMMetadataRef pair[] = {
      LLVMMDStringInContext2(context, name, sizeof name - 1),
      LLVMValueAsMetadata(mtlc_i32(context, count))};
  set_hint(latch, LLVMMDNodeInContext2(context, pair, 2));
}

static bool is_text(LLVMValueRef operand, const char *text) {
  unsigned length = 0;
  const char *found = operand && LLVMIsAMDString(operand)
                          ? LLVMGetMDString(operand, &length)
                          : NULL;
  return found && length == strlen(text) && memcmp(found, text, length) == 0;
}

bool mtlc_has_unroll_hint(LLVMValueRef latch) {
  enum { MOST_OPERANDS = 16 };
  LLVMValueRef node = LLVMGetMetadata(
      latch, loop_kind(LLVMGetTypeContext(LLVMTypeOf(latch))));
  LLVMValueRef operands[MOST_OPERANDS];
  if (!node || LLVMGetMDNodeNumOperands(node) > MOST_OPERANDS) {
    return node != NULL;
  }
  LLVMGetMDNodeOperands(node, operands);
  const unsigned count = LLVMGetMDNodeNumOperands(node);
  for (unsigned i = 1; i < count; ++i) {
    LLVMValueRef first[MOST_OPERANDS] = {0};
    if (!operands[i] || !LLVMIsAMDNode(operands[i]) ||
        LLVMGetMDNodeNumOperands(operands[i]) == 0 ||
        LLVMGetMDNodeNumOperands(operands[i]) > MOST_OPERANDS) {
      continue;
    }
    LLVMGetMDNodeOperands(operands[i], first);
    if (is_text(first[0], "llvm.loop.unroll.disable") ||
        is_text(first[0], "llvm.loop.unroll.count")) {
      return true;
    }
  }
  return false;
}

// --- lines -------------------------------------------------------------------

void mtlc_set_location(LLVMValueRef instruction, LLVMValueRef function) {
  LLVMMetadataRef subprogram = LLVMGetSubprogram(function);
  LLVMContextRef context = LLVMGetModuleContext(LLVMGetGlobalParent(function));
  if (!subprogram) {
    return;
  }
  LLVMInstructionSetDebugLoc(
      instruction, LLVMDIBuilderCreateDebugLocation(
                       context, LLVMDISubprogramGetLine(subprogram), 0,
                       subprogram, NULL));
}
