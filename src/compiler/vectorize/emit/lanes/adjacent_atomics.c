// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// adjacent_atomics.c: emits atomic read-modify-writes of adjacent words, as
// where rows are added to a table's rows. A 16-byte compare-and-exchange
// updates four lanes at once and leaves unwanted words unchanged. Otherwise
// each float would need a loop of its own.
#include "compiler/vectorize/emit/lanes/adjacent_atomics.h"

#include <stddef.h>

#include "compiler/ir/llvm/types.h"
#include "compiler/vectorize/analysis/effects.h"
#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/analysis/uniformity.h"
#include "compiler/vectorize/base/debug_lines.h"
#include "compiler/vectorize/emit/address/prefetch_lines.h"
#include "compiler/vectorize/emit/address/wrap_checks.h"
#include "compiler/vectorize/emit/lanes/atomic_updates.h"
#include "compiler/vectorize/emit/lanes/scalarise.h"
#include "compiler/vectorize/emit/values/builder.h"
#include "compiler/vectorize/emit/values/check_arms.h"
#include "compiler/vectorize/emit/values/emitter.h"
#include "compiler/vectorize/emit/values/values.h"

enum { BLOCK_WORDS = 4, BLOCK_BYTES = 16, WORD_BYTES = 4 };

static bool may_be_block(const lanes_emitter *e, LLVMValueRef atomic) {
  LLVMValueRef address = LLVMGetOperand(atomic, 0);
  const lanes_shape shape = lanes_shape_of(e->values, address);
  LLVMTypeRef type = LLVMTypeOf(atomic);
  return e->machine.has_gathers &&
         (type == e->types.i32 || type == e->types.f32) && shape.row == e->lanes &&
         shape.stride == WORD_BYTES && !LLVMGetFirstUse(atomic) &&
         !LLVMGetVolatile(atomic) &&
         LLVMGetOrdering(atomic) == LLVMAtomicOrderingMonotonic &&
         LLVMGetAtomicRMWBinOp(atomic) != LLVMAtomicRMWBinOpXchg &&
         !lanes_is_in_threadgroup(e->kernel, address) &&
         lanes_can_update(LLVMGetAtomicRMWBinOp(atomic));
}

// Loads eight bytes atomically.
static LLVMValueRef load_half(lanes_emitter *e, LLVMValueRef block,
                              uint64_t offset) {
  LLVMValueRef half = LLVMBuildLoad2(e->builder, e->types.i64,
                                     lanes_address_at(e, block, offset), "");
  LLVMSetAlignment(half, 8);
  LLVMSetOrdering(half, LLVMAtomicOrderingMonotonic);
  return half;
}

// Loads a block; correct unless another thread changes it meanwhile.
static LLVMValueRef load_block(lanes_emitter *e, LLVMValueRef block) {
  LLVMBuilderRef b = e->builder;
  LLVMTypeRef i128 = LLVMIntTypeInContext(e->context, 8 * BLOCK_BYTES);
  LLVMValueRef low = LLVMBuildZExt(b, load_half(e, block, 0), i128, "");
  LLVMValueRef high =
      LLVMBuildZExt(b, load_half(e, block, BLOCK_BYTES / 2), i128, "");
  return LLVMBuildOr(
      b, LLVMBuildShl(b, high, LLVMConstInt(i128, 64, false), ""), low, "");
}

// Makes a lane of each of four bits.
static LLVMValueRef lanes_of_bits(lanes_emitter *e, LLVMValueRef bits) {
  LLVMTypeRef i4 = LLVMIntTypeInContext(e->context, BLOCK_WORDS);
  return LLVMBuildBitCast(e->builder, LLVMBuildTrunc(e->builder, bits, i4, ""),
                          LLVMVectorType(e->types.i1, BLOCK_WORDS), "");
}

// Updates the words of a block whose bit is set, again until no other thread
// has changed the block meanwhile.
static void update_block(lanes_emitter *e, LLVMValueRef atomic,
                         LLVMValueRef block, LLVMValueRef operands,
                         LLVMValueRef bits) {
  LLVMBuilderRef b = e->builder;
  LLVMTypeRef i128 = LLVMIntTypeInContext(e->context, 8 * BLOCK_BYTES);
  LLVMValueRef lanes = lanes_of_bits(e, bits);
  LLVMValueRef first = load_block(e, block);
  LLVMBasicBlockRef before = LLVMGetInsertBlock(b);
  LLVMBasicBlockRef again = lanes_block(e, "exchange");
  LLVMBasicBlockRef done = lanes_block(e, "exchanged");
  LLVMBuildBr(b, again);
  LLVMPositionBuilderAtEnd(b, again);
  LLVMValueRef expected = LLVMBuildPhi(b, i128, "");
  LLVMValueRef old = LLVMBuildBitCast(b, expected, LLVMTypeOf(operands), "");
  LLVMValueRef new = LLVMBuildSelect(
      b, lanes, lanes_updated(e, LLVMGetAtomicRMWBinOp(atomic), old, operands),
      old, "");
  LLVMValueRef exchanged = LLVMBuildAtomicCmpXchg(
      b, block, expected, LLVMBuildBitCast(b, new, i128, ""),
      LLVMAtomicOrderingMonotonic, LLVMAtomicOrderingMonotonic, false);
  LLVMSetAlignment(exchanged, BLOCK_BYTES);
  LLVMValueRef values[] = {first, LLVMBuildExtractValue(b, exchanged, 0, "")};
  LLVMBasicBlockRef from[] = {before, again};
  LLVMAddIncoming(expected, values, from, 2);
  LLVMBuildCondBr(b, LLVMBuildExtractValue(b, exchanged, 1, ""), done, again);
  LLVMPositionBuilderAtEnd(b, done);
}

// Loops over the 16-byte blocks with a running lane, from the first lane's
// block on. The addends are stored in an array at the same distances as the
// words that they are added to.
static void update_blocks(lanes_emitter *e, LLVMValueRef atomic,
                          LLVMValueRef first, LLVMValueRef operand) {
  LLVMBuilderRef b = e->builder;
  LLVMTypeRef i64 = e->types.i64;
  LLVMTypeRef words =
      LLVMVectorType(LLVMGetElementType(LLVMTypeOf(operand)), BLOCK_WORDS);
  LLVMValueRef memory =
      lanes_fixed_alloca(e, LLVMVectorType(e->types.i32, 2 * e->lanes));
  LLVMValueRef skipped =
      LLVMBuildAnd(b, LLVMBuildPtrToInt(b, first, i64, ""),
                   mtlc_i64(e->context, BLOCK_BYTES - WORD_BYTES), "");
  // A compare-and-exchange waits for all earlier memory accesses, so both lines
  // are prefetched together.
  lanes_prefetch_for_write(e, first, 2 * e->lanes * WORD_BYTES + 1);
  LLVMValueRef back = LLVMBuildNeg(b, skipped, "");
  LLVMValueRef base = LLVMBuildGEP2(b, e->types.i8, first, &back, 1, "");
  LLVMSetAlignment(
      LLVMBuildStore(b, operand,
                     LLVMBuildGEP2(b, e->types.i8, memory, &skipped, 1, "")),
      WORD_BYTES);
  LLVMValueRef all =
      LLVMBuildShl(b, LLVMBuildZExt(b, lanes_mask_bits(e, e->mask), i64, ""),
                   LLVMBuildLShr(b, skipped, mtlc_i64(e->context, 2), ""), "");
  LLVMBasicBlockRef before = LLVMGetInsertBlock(b);
  LLVMBasicBlockRef header = lanes_block(e, "blocks");
  LLVMBasicBlockRef body = lanes_block(e, "block");
  LLVMBasicBlockRef runs = lanes_block(e, "runs");
  LLVMBasicBlockRef latch = lanes_block(e, "updated");
  LLVMBasicBlockRef done = lanes_block(e, "done");
  LLVMBuildBr(b, header);
  LLVMPositionBuilderAtEnd(b, header);
  LLVMValueRef offset = LLVMBuildPhi(b, i64, "");
  LLVMValueRef bits = LLVMBuildPhi(b, i64, "");
  LLVMValueRef zero = mtlc_i64(e->context, 0);
  LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntNE, bits, zero, ""), body, done);
  LLVMPositionBuilderAtEnd(b, body);
  LLVMValueRef own =
      LLVMBuildAnd(b, bits, mtlc_i64(e->context, (1 << BLOCK_WORDS) - 1), "");
  LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntNE, own, zero, ""), runs, latch);
  LLVMPositionBuilderAtEnd(b, runs);
  LLVMValueRef operands = LLVMBuildLoad2(
      b, words, LLVMBuildGEP2(b, e->types.i8, memory, &offset, 1, ""), "");
  LLVMSetAlignment(operands, BLOCK_BYTES);
  update_block(e, atomic, LLVMBuildGEP2(b, e->types.i8, base, &offset, 1, ""),
               operands, own);
  LLVMBuildBr(b, latch);
  LLVMPositionBuilderAtEnd(b, latch);
  LLVMValueRef offsets[] = {
      zero, LLVMBuildAdd(b, offset, mtlc_i64(e->context, BLOCK_BYTES), "")};
  LLVMValueRef rest[] = {
      all, LLVMBuildLShr(b, bits, mtlc_i64(e->context, BLOCK_WORDS), "")};
  LLVMBasicBlockRef from[] = {before, latch};
  LLVMAddIncoming(offset, offsets, from, 2);
  LLVMAddIncoming(bits, rest, from, 2);
  lanes_keep_loop(LLVMBuildBr(b, header));
  LLVMPositionBuilderAtEnd(b, done);
}

bool lanes_emit_adjacent_atomic(lanes_emitter *e, LLVMValueRef atomic) {
  if (!may_be_block(e, atomic)) {
    return false;
  }
  LLVMValueRef address = LLVMGetOperand(atomic, 0);
  const bool may_wrap = lanes_shape_of(e->values, address).conditional;
  LLVMBasicBlockRef apart = NULL, done = NULL;
  const bool uncached = e->uncached;
  if (may_wrap) {
    LLVMBasicBlockRef neighbours = lanes_block(e, "neighbours");
    apart = lanes_block(e, "apart");
    done = lanes_block(e, "done");
    lanes_mark_check(LLVMBuildCondBr(
        e->builder, lanes_stride_holds(e, address), neighbours, apart));
    LLVMPositionBuilderAtEnd(e->builder, neighbours);
    e->uncached = true;
  }
  update_blocks(e, atomic, lanes_scalar(e, address, 0),
                lanes_vector(e, LLVMGetOperand(atomic, 1), 0));
  if (may_wrap) {
    LLVMBuildBr(e->builder, done);
    LLVMPositionBuilderAtEnd(e->builder, apart);
    const lanes_lines serials = e->serials;
    lanes_scalarise(e, atomic);
    e->serials = serials;
    LLVMBuildBr(e->builder, done);
    e->uncached = uncached;
    LLVMPositionBuilderAtEnd(e->builder, done);
  }
  return true;
}
