// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// skip_idle.c: makes the loop over simdgroups between two barriers skip
// simdgroups without an active thread. Each step of a tree reduction halves the
// active threads: testing every simdgroup would take most of the time.
//
// Such a loop counts threads, in `first`, and goes through the rows of the
// threadgroup, in `x`:
//
//   header  first = phi [0], [first + 32, latch]
//           x = phi [0], [x + 32 < size.x ? x + 32 : 0, latch]
//           x > bound ? latch : body
//   latch   first + 32 < end ? header : done
//
// With one simdgroup past the bound, all behind it are, to the end of the row,
// or to the end of all where the bound is for `first`.
//
// Requires  loops as finish_vectors.c leaves them
// Leaves    another way from their header to the next row, or to their end
#include "compiler/vectorize/finish/simdgroups/skip_idle.h"

#include <stdbool.h>
#include <stddef.h>

#include "compiler/ir/kernel/kernel.h"
#include "compiler/ir/llvm/instructions.h"
#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/finish/simdgroups/fault_position.h"

typedef struct rounds {
  uint32_t lanes;  // of a vector: the step of an iteration
  LLVMBasicBlockRef header;
  LLVMBasicBlockRef latch;
  LLVMBasicBlockRef done;
  LLVMValueRef first;   // phi
  LLVMValueRef x;       // phi, or NULL
  LLVMValueRef size_x;  // threads in a row
  LLVMValueRef end;     // the bound of first
  LLVMValueRef idle;    // true if the simdgroup is past the bound
  bool is_of_row;       // the bound is of x
} rounds;

static bool is_small_constant(LLVMValueRef value, uint64_t number) {
  return LLVMIsAConstantInt(value) && LLVMConstIntGetZExtValue(value) == number;
}

static LLVMValueRef thawed(LLVMValueRef value) {
  return LLVMIsAFreezeInst(value) ? LLVMGetOperand(value, 0) : value;
}

// True if value is base + 32, or + 16 for vectors of 16.
static bool is_next(const rounds *r, LLVMValueRef value, LLVMValueRef base) {
  return mtlc_is_opcode(value, LLVMAdd) &&
         thawed(LLVMGetOperand(value, 0)) == base &&
         is_small_constant(LLVMGetOperand(value, 1), r->lanes);
}

static bool is_comparison(LLVMValueRef value, LLVMIntPredicate predicate) {
  return LLVMIsAICmpInst(value) && LLVMGetICmpPredicate(value) == predicate;
}

static bool is_in(LLVMValueRef value, LLVMBasicBlockRef block) {
  return LLVMIsAInstruction(value) && LLVMGetInstructionParent(value) == block;
}

// Reads the latch's branch to the header: first + 32 < end.
static bool read_latch(rounds *r) {
  LLVMValueRef branch = LLVMGetBasicBlockTerminator(r->latch);
  if (!LLVMIsABranchInst(branch) || !LLVMIsConditional(branch) ||
      LLVMGetSuccessor(branch, 0) != r->header) {
    return false;
  }
  r->done = LLVMGetSuccessor(branch, 1);
  LLVMValueRef more = LLVMGetCondition(branch);
  if (!is_comparison(more, LLVMIntULT) || r->done == r->header ||
      LLVMIsAPHINode(LLVMGetFirstInstruction(r->done))) {
    return false;
  }
  LLVMValueRef next = LLVMGetOperand(more, 0);
  r->first =
      mtlc_is_opcode(next, LLVMAdd) ? thawed(LLVMGetOperand(next, 0)) : NULL;
  r->end = LLVMGetOperand(more, 1);
  return r->first && LLVMIsAPHINode(r->first) && is_next(r, next, r->first) &&
         is_in(r->first, r->header) && !is_in(r->end, r->header) &&
         !is_in(r->end, r->latch);
}

// Reads the header's other phi: x + 32 < size.x ? x + 32 : 0.
static bool read_row(rounds *r, LLVMValueRef phi) {
  LLVMValueRef next = NULL;
  for (unsigned k = 0; k < LLVMCountIncoming(phi); k++) {
    if (LLVMGetIncomingBlock(phi, k) == r->latch) {
      next = LLVMGetIncomingValue(phi, k);
    } else if (!is_small_constant(LLVMGetIncomingValue(phi, k), 0)) {
      return false;
    }
  }
  if (!next || !LLVMIsASelectInst(next)) {
    return false;
  }
  LLVMValueRef ends = LLVMGetOperand(next, 0);
  if (!is_comparison(ends, LLVMIntUGE) ||
      !is_small_constant(LLVMGetOperand(next, 1), 0) ||
      !is_next(r, LLVMGetOperand(next, 2), phi) ||
      LLVMGetOperand(ends, 0) != LLVMGetOperand(next, 2)) {
    return false;
  }
  r->x = phi;
  r->size_x = LLVMGetOperand(ends, 1);
  return !is_in(r->size_x, r->header) && !is_in(r->size_x, r->latch);
}

static bool read_phis(rounds *r) {
  for (LLVMValueRef i = LLVMGetFirstInstruction(r->header);
       i && LLVMIsAPHINode(i); i = LLVMGetNextInstruction(i)) {
    if (LLVMCountIncoming(i) != 2 ||
        (i != r->first && (r->x || !read_row(r, i)))) {
      return false;
    }
  }
  return true;
}

// True if a condition is that first or x is past an invariant bound; tells
// which.
static bool read_bound(rounds *r, LLVMValueRef condition) {
  if (!is_comparison(condition, LLVMIntUGT) &&
      !is_comparison(condition, LLVMIntUGE)) {
    return false;
  }
  LLVMValueRef what = thawed(LLVMGetOperand(condition, 0));
  LLVMValueRef bound = LLVMGetOperand(condition, 1);
  r->idle = condition;
  r->is_of_row = r->x && what == r->x;
  return (what == r->first || r->is_of_row) && !is_in(bound, r->header);
}

// True if values that the latch defines are used in the loop alone.
static bool is_closed(const rounds *r) {
  for (LLVMValueRef i = LLVMGetFirstInstruction(r->latch); i;
       i = LLVMGetNextInstruction(i)) {
    for (LLVMUseRef use = LLVMGetFirstUse(i); use; use = LLVMGetNextUse(use)) {
      LLVMBasicBlockRef at = LLVMGetInstructionParent(LLVMGetUser(use));
      if (at != r->latch && at != r->header) {
        return false;
      }
    }
  }
  return !LLVMIsAPHINode(LLVMGetFirstInstruction(r->latch));
}

// True if an instruction only computes, or notes the running simdgroup.
static bool is_harmless(const rounds *r, LLVMValueRef i) {
  switch (LLVMGetInstructionOpcode(i)) {
    case LLVMPHI:
    case LLVMICmp:
    case LLVMSelect:
    case LLVMZExt:
    case LLVMSExt:
    case LLVMTrunc:
    case LLVMBitCast:
    case LLVMFreeze:
    case LLVMGetElementPtr:
    case LLVMInsertElement:
    case LLVMExtractElement:
    case LLVMShuffleVector:
    case LLVMBr: return true;
    case LLVMCall: {
      if (!lanes_notes_fault_position(i)) {
        return false;
      }
      LLVMValueRef value = LLVMGetOperand(i, 1);
      value = LLVMIsATruncInst(value) ? LLVMGetOperand(value, 0) : value;
      return value == r->first;
    }
    default: return mtlc_is_plain_arithmetic(LLVMGetInstructionOpcode(i));
  }
}

// True if an iteration past the bound does nothing.
static bool does_nothing(const rounds *r, LLVMBasicBlockRef block) {
  for (LLVMValueRef i = LLVMGetFirstInstruction(block); i;
       i = LLVMGetNextInstruction(i)) {
    if (!is_harmless(r, i)) {
      return false;
    }
  }
  return true;
}

// Finds such a loop by its header, which branches to the latch at once if a
// simdgroup has nothing to do.
static bool read_rounds(const mtlc_kernel *kernel, LLVMBasicBlockRef header,
                        rounds *out) {
  *out = (rounds){.lanes = kernel->vector_lanes, .header = header};
  LLVMValueRef branch = LLVMGetBasicBlockTerminator(header);
  if (!LLVMIsAPHINode(LLVMGetFirstInstruction(header)) ||
      !LLVMIsABranchInst(branch) || !LLVMIsConditional(branch)) {
    return false;
  }
  out->latch = LLVMGetSuccessor(branch, 0);
  LLVMValueRef condition = LLVMGetCondition(branch);
  // The condition is "past the bound, or no lane is within another bound".
  if (LLVMIsASelectInst(condition) &&
      is_small_constant(LLVMGetOperand(condition, 1), 1)) {
    condition = LLVMGetOperand(condition, 0);
  }
  return out->latch != header &&
         !LLVMIsAPHINode(
             LLVMGetFirstInstruction(LLVMGetSuccessor(branch, 1))) &&
         read_latch(out) && read_phis(out) && read_bound(out, condition) &&
         is_closed(out) && does_nothing(out, out->header) &&
         does_nothing(out, out->latch);
}

static void add_incoming(LLVMValueRef phi, LLVMValueRef value,
                         LLVMBasicBlockRef from) {
  LLVMAddIncoming(phi, &value, &from, 1);
}

// Makes the header branch past idle simdgroups: to the next row, or to the
// loop's end.
static void add_way(mtlc_kernel *kernel, const rounds *r,
                    LLVMBuilderRef builder) {
  LLVMValueRef function = LLVMGetBasicBlockParent(r->header);
  LLVMValueRef branch = LLVMGetBasicBlockTerminator(r->header);
  LLVMValueRef condition = LLVMGetCondition(branch);
  LLVMBasicBlockRef body = LLVMGetSuccessor(branch, 1);
  if (condition != r->idle) {
    body = LLVMInsertBasicBlockInContext(kernel->context, body, "");
    LLVMPositionBuilderAtEnd(builder, body);
    LLVMBuildCondBr(builder, LLVMGetOperand(condition, 2), r->latch,
                    LLVMGetSuccessor(branch, 1));
  }
  LLVMBasicBlockRef skip = r->done;
  if (r->is_of_row) {
    skip = LLVMAppendBasicBlockInContext(kernel->context, function, "");
    LLVMMoveBasicBlockBefore(skip, r->done);
    LLVMPositionBuilderAtEnd(builder, skip);
    LLVMValueRef left = LLVMBuildIntCast2(
        builder, LLVMBuildSub(builder, r->size_x, r->x, ""),
        LLVMTypeOf(r->first), false, "");  // either may be an i64
    LLVMValueRef next = LLVMBuildAdd(builder, r->first, left, "");
    LLVMValueRef more = LLVMBuildICmp(builder, LLVMIntULT, next, r->end, "");
    LLVMBuildCondBr(builder, more, r->header, r->done);
    add_incoming(r->first, next, skip);
    add_incoming(r->x, LLVMConstNull(LLVMTypeOf(r->x)), skip);
  }
  LLVMPositionBuilderBefore(builder, branch);
  LLVMBuildCondBr(builder, r->idle, skip, body);
  LLVMInstructionEraseFromParent(branch);
}

void lanes_skip_idle(mtlc_kernel *kernel) {
  LLVMBuilderRef builder = LLVMCreateBuilderInContext(kernel->context);
  for (LLVMValueRef f = LLVMGetFirstFunction(kernel->module); f;
       f = LLVMGetNextFunction(f)) {
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(f); block;
         block = LLVMGetNextBasicBlock(block)) {
      rounds r;
      if (read_rounds(kernel, block, &r)) {
        add_way(kernel, &r, builder);
      }
    }
  }
  LLVMDisposeBuilder(builder);
}
