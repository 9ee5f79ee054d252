// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// split_geps.c: splits addresses with several indices into the address of a row
// and an index. affine.c sees adjacent elements only where a single index
// differs. The row becomes an address of its own where several accesses share
// it or a loop walks along it.
#include "compiler/vectorize/prepare/split_geps.h"

#include <llvm-c/DebugInfo.h>
#include <stdbool.h>
#include <stddef.h>

enum {
  SEEN = 32,  // earlier addresses that the next one is compared with
  MOST_INDICES = 8,
};

typedef struct splitter {
  LLVMBuilderRef builder;
  LLVMValueRef seen[SEEN];  // the latest [count, at most SEEN], as a ring
  LLVMValueRef rows[SEEN];  // the row of each, or NULL
  uint32_t count;
} splitter;

static unsigned last_of(LLVMValueRef address) {
  return (unsigned)LLVMGetNumOperands(address) - 1;
}

// Returns the array element's type if an address's last index is into an array;
// else NULL.
static LLVMTypeRef element_of(LLVMValueRef address) {
  LLVMTypeRef type = LLVMGetGEPSourceElementType(address);
  LLVMTypeKind kind = LLVMVoidTypeKind;  // the kind of the type that the last
                                         // index selects from
  for (unsigned i = 2; i <= last_of(address); i++) {
    kind = LLVMGetTypeKind(type);
    if (kind == LLVMArrayTypeKind) {
      type = LLVMGetElementType(type);
    } else if (kind == LLVMStructTypeKind) {
      const uint64_t field =
          LLVMConstIntGetZExtValue(LLVMGetOperand(address, i));
      type = LLVMStructGetTypeAtIndex(type, (unsigned)field);
    } else {
      return NULL;
    }
  }
  return kind == LLVMArrayTypeKind ? type : NULL;
}

// True if an address is of an array's element, by an index that is known
// at run time alone, in a row that is.
static bool has_row(LLVMValueRef address) {
  if (!LLVMIsAGetElementPtrInst(address)) {
    return false;
  }
  const unsigned last = last_of(address);
  if (last < 2 || last > MOST_INDICES ||
      LLVMIsAConstant(LLVMGetOperand(address, last)) || !element_of(address)) {
    return false;
  }
  bool any = false;
  for (unsigned i = 1; i < last; i++) {
    any |= !LLVMIsAConstant(LLVMGetOperand(address, i));
  }
  return any;
}

static bool share_row(LLVMValueRef a, LLVMValueRef b) {
  bool same = last_of(a) == last_of(b) &&
              LLVMGetGEPSourceElementType(a) == LLVMGetGEPSourceElementType(b);
  for (unsigned i = 0; same && i < last_of(a); i++) {
    same = LLVMGetOperand(a, i) == LLVMGetOperand(b, i);
  }
  return same && LLVMTypeOf(LLVMGetOperand(a, last_of(a))) ==
                     LLVMTypeOf(LLVMGetOperand(b, last_of(b)));
}

static void position_before(splitter *s, LLVMValueRef address) {
  LLVMPositionBuilderBefore(s->builder, address);
  LLVMSetCurrentDebugLocation2(s->builder, LLVMInstructionGetDebugLoc(address));
}

// Makes the address of a row in front of an address.
static LLVMValueRef make_row(splitter *s, LLVMValueRef address) {
  LLVMValueRef indices[MOST_INDICES];
  const unsigned count = last_of(address) - 1;
  for (unsigned i = 0; i < count; i++) {
    indices[i] = LLVMGetOperand(address, i + 1);
  }
  position_before(s, address);
  return LLVMBuildGEP2(s->builder, LLVMGetGEPSourceElementType(address),
                       LLVMGetOperand(address, 0), indices, count, "");
}

static void step_from(splitter *s, LLVMValueRef row, LLVMValueRef address) {
  LLVMValueRef index = LLVMGetOperand(address, last_of(address));
  position_before(s, address);
  LLVMReplaceAllUsesWith(address, LLVMBuildGEP2(s->builder, element_of(address),
                                                row, &index, 1, ""));
}

// Returns the index in `seen` of an earlier address of the block that shares a
// row with this one; SEEN if there is none.
static uint32_t find_before(const splitter *s, LLVMValueRef address) {
  const uint32_t count = s->count < SEEN ? s->count : SEEN;
  for (uint32_t i = 0; i < count; i++) {
    if (share_row(s->seen[i], address)) {
      return i;
    }
  }
  return SEEN;
}

// Drops the oldest row, which is removed if no other address shares it.
static void forget(splitter *s, uint32_t number) {
  if (s->rows[number]) {
    LLVMInstructionEraseFromParent(s->seen[number]);
  }
}

static void remember(splitter *s, LLVMValueRef address) {
  const uint32_t number = s->count % SEEN;
  if (s->count++ >= SEEN) {
    forget(s, number);
  }
  s->seen[number] = address;
  s->rows[number] = NULL;
}

// True if an address's row comes from another block and its last index from its
// own: in a loop along the row, the row's address is then invariant.
static bool is_row_walk(LLVMValueRef address) {
  LLVMBasicBlockRef block = LLVMGetInstructionParent(address);
  const unsigned last = last_of(address);
  for (unsigned i = 0; i <= last; i++) {
    LLVMValueRef operand = LLVMGetOperand(address, i);
    const bool is_here = LLVMIsAInstruction(operand) &&
                         LLVMGetInstructionParent(operand) == block;
    const bool is_counter = i == last && LLVMIsAPHINode(operand);
    if (is_here != (i == last) && !is_counter) {
      return false;
    }
  }
  return true;
}

// Returns the row that an address is to step from; NULL if it stays.
static LLVMValueRef row_for(splitter *s, LLVMValueRef address) {
  const uint32_t before = find_before(s, address);
  if (before == SEEN) {
    return is_row_walk(address) ? make_row(s, address) : NULL;
  }
  if (!s->rows[before]) {
    s->rows[before] = make_row(s, s->seen[before]);
    step_from(s, s->rows[before], s->seen[before]);
  }
  return s->rows[before];
}

static void split(splitter *s, LLVMValueRef address) {
  LLVMValueRef row = row_for(s, address);
  if (row) {
    step_from(s, row, address);
    LLVMInstructionEraseFromParent(address);
  } else {
    remember(s, address);
  }
}

static void split_block(splitter *s, LLVMBasicBlockRef block) {
  s->count = 0;
  for (LLVMValueRef i = LLVMGetFirstInstruction(block), next; i; i = next) {
    next = LLVMGetNextInstruction(i);
    if (has_row(i)) {
      split(s, i);
    }
  }
  for (uint32_t n = 0; n < s->count && n < SEEN; n++) {
    forget(s, n);
  }
}

void lanes_split_geps(LLVMContextRef context, LLVMValueRef function) {
  splitter s = {.builder = LLVMCreateBuilderInContext(context)};
  for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block;
       block = LLVMGetNextBasicBlock(block)) {
    split_block(&s, block);
  }
  LLVMDisposeBuilder(s.builder);
}
