// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tile_products.c: c + a * b of tiles. Each element is eight fused
// multiply-adds, the first column of a and row of b first.
// Products of one a by several b go together: as many as have room for their
// sums in registers.
#include "compiler/vectorize/emit/tiles/tile_products.h"

#include <stdbool.h>
#include <stddef.h>

#include "compiler/ir/llvm/calls.h"
#include "compiler/ir/llvm/instructions.h"
#include "compiler/ir/llvm/names.h"
#include "compiler/vectorize/analysis/callees.h"
#include "compiler/vectorize/analysis/effects.h"
#include "compiler/vectorize/emit/tiles/block_products.h"
#include "compiler/vectorize/emit/tiles/byte_products.h"
#include "compiler/vectorize/emit/tiles/product_functions.h"
#include "compiler/vectorize/emit/tiles/row_products.h"
#include "compiler/vectorize/emit/tiles/tile_homes.h"
#include "compiler/vectorize/emit/tiles/tiles.h"
#include "compiler/vectorize/emit/values/emitter.h"
#include "compiler/vectorize/emit/values/sum_memory.h"
#include "compiler/vectorize/emit/values/values.h"

enum { LIFT_DEPTH = 6 };  // two words, extended, shifted and joined

static bool shares_left(LLVMValueRef product, LLVMValueRef other) {
  return lanes_is_product(other) &&
         LLVMGetOperand(product, 0) == LLVMGetOperand(other, 0);
}

// --- Together ----------------------------------------------------------------

bool lanes_is_there_before(LLVMValueRef operand, LLVMValueRef instruction) {
  if (!LLVMIsAInstruction(operand) ||
      LLVMGetInstructionParent(operand) !=
          LLVMGetInstructionParent(instruction)) {
    return true;
  }
  for (LLVMValueRef i = instruction; i; i = LLVMGetNextInstruction(i)) {
    if (i == operand) {
      return false;
    }
  }
  return true;
}

static bool is_widening(LLVMValueRef instruction) {
  return mtlc_is_opcode(instruction, LLVMCall) &&
         mtlc_is_call_of(instruction, "mettle.tile.widen.");
}

static bool is_tile_load(LLVMValueRef instruction) {
  if (!mtlc_is_opcode(instruction, LLVMCall)) {
    return false;
  }
  const char *name = mtlc_callee_name(instruction);
  return mtlc_starts_with(name, "mettle.tile.load.") ||
         mtlc_starts_with(name, "mettle.tile.own.") ||
         mtlc_starts_with(name, "mettle.tile.spread.");
}

// True for operations that only assemble a tile's bits or its address.
static bool only_computes(LLVMValueRef value) {
  switch (LLVMGetInstructionOpcode(value)) {
    case LLVMBitCast:
    case LLVMZExt:
    case LLVMSExt:
    case LLVMTrunc:
    case LLVMShl:
    case LLVMLShr:
    case LLVMOr:
    case LLVMAdd:
    case LLVMMul:
    case LLVMInsertElement:
    case LLVMExtractElement:
    case LLVMShuffleVector:
    case LLVMGetElementPtr: return true;
    default: return is_widening(value);
  }
}

// True if a load of a tile would read the same before an instruction.
static bool loads_same(LLVMValueRef load, LLVMValueRef instruction) {
  for (LLVMValueRef i = instruction; i != load; i = LLVMGetNextInstruction(i)) {
    if (lanes_may_write(i) && !lanes_is_product(i) && !is_tile_load(i) &&
        !is_widening(i)) {
      return false;
    }
  }
  return true;
}

// True if an operand is available before an instruction or can be moved there.
static bool can_lift(LLVMValueRef operand, LLVMValueRef instruction,
                     uint32_t depth) {
  if (lanes_is_there_before(operand, instruction)) {
    return true;
  }
  bool can =
      depth && (only_computes(operand) ||
                (is_tile_load(operand) && loads_same(operand, instruction)));
  for (int i = 0; can && i < LLVMGetNumOperands(operand); i++) {
    can =
        can_lift(LLVMGetOperand(operand, (unsigned)i), instruction, depth - 1);
  }
  return can;
}

static void lift(LLVMBuilderRef builder, LLVMValueRef operand,
                 LLVMValueRef instruction) {
  if (lanes_is_there_before(operand, instruction)) {
    return;
  }
  for (int i = 0; i < LLVMGetNumOperands(operand); i++) {
    lift(builder, LLVMGetOperand(operand, (unsigned)i), instruction);
  }
  LLVMInstructionRemoveFromParent(operand);
  LLVMPositionBuilderBefore(builder, instruction);
  LLVMInsertIntoBuilder(builder, operand);
}

// Moves the products that can follow the leading one behind it, and their
// operands, loads of right sides among them, before it; returns the last of the
// group.
static LLVMValueRef gather_behind(LLVMBuilderRef builder, LLVMValueRef leader) {
  LLVMValueRef last = leader;
  LLVMValueRef next = LLVMGetNextInstruction(leader);
  for (LLVMValueRef i = next; i; i = next) {
    next = LLVMGetNextInstruction(i);
    if (!shares_left(leader, i) ||
        !can_lift(LLVMGetOperand(i, 1), leader, LIFT_DEPTH) ||
        !can_lift(LLVMGetOperand(i, 2), leader, LIFT_DEPTH)) {
      continue;
    }
    lift(builder, LLVMGetOperand(i, 1), leader);
    lift(builder, LLVMGetOperand(i, 2), leader);
    if (LLVMGetNextInstruction(last) != i) {
      LLVMInstructionRemoveFromParent(i);
      LLVMPositionBuilderBefore(builder, LLVMGetNextInstruction(last));
      LLVMInsertIntoBuilder(builder, i);
    }
    last = i;
  }
  return last;
}

// Moves conversions to right after their operand, where no product is in
// between.
static void lift_widenings(LLVMBuilderRef builder, LLVMBasicBlockRef block) {
  LLVMValueRef next = NULL;
  for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = next) {
    next = LLVMGetNextInstruction(i);
    LLVMValueRef tile = is_widening(i) ? LLVMGetOperand(i, 0) : NULL;
    if (!tile || !LLVMIsAInstruction(tile) || LLVMIsAPHINode(tile) ||
        LLVMGetInstructionParent(tile) != block ||
        LLVMGetNextInstruction(tile) == i) {
      continue;
    }
    LLVMInstructionRemoveFromParent(i);
    LLVMPositionBuilderBefore(builder, LLVMGetNextInstruction(tile));
    LLVMInsertIntoBuilder(builder, i);
  }
}

static bool uses(LLVMValueRef user, LLVMValueRef value) {
  for (int k = 0; k < LLVMGetNumOperands(user); k++) {
    if (LLVMGetOperand(user, (unsigned)k) == value) {
      return true;
    }
  }
  return false;
}

// Sinks a load, or a conversion, to its first use, unless memory may be written
// before. While products of one tile run a processor loads the next ones.
static void sink(LLVMBuilderRef builder, LLVMValueRef tile) {
  LLVMValueRef user = LLVMGetNextInstruction(tile);
  while (user && !uses(user, tile)) {
    if (lanes_may_write(user) && !lanes_is_product(user) &&
        !is_tile_load(user) && !is_widening(user)) {
      return;
    }
    user = LLVMGetNextInstruction(user);
  }
  if (!user || user == LLVMGetNextInstruction(tile) ||
      LLVMIsATerminatorInst(user)) {
    return;
  }
  LLVMInstructionRemoveFromParent(tile);
  LLVMPositionBuilderBefore(builder, user);
  LLVMInsertIntoBuilder(builder, tile);
}

static void sink_loads(LLVMBuilderRef builder, LLVMBasicBlockRef block) {
  LLVMValueRef next = NULL;
  for (LLVMValueRef i = LLVMGetLastInstruction(block); i; i = next) {
    next = LLVMGetPreviousInstruction(i);
    if (is_widening(i) || is_tile_load(i)) {
      sink(builder, i);
    }
  }
}

void lanes_gather_products(LLVMValueRef function) {
  LLVMBuilderRef builder = LLVMCreateBuilderInContext(
      LLVMGetModuleContext(LLVMGetGlobalParent(function)));
  for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block;
       block = LLVMGetNextBasicBlock(block)) {
    sink_loads(builder, block);
    lift_widenings(builder, block);
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i;
         i = LLVMGetNextInstruction(i)) {
      if (lanes_is_product(i)) {
        i = gather_behind(builder, i);
      }
    }
  }
  LLVMDisposeBuilder(builder);
}

static bool uses_result(const lanes_products *batch, LLVMValueRef call) {
  for (uint32_t i = 0; i < batch->count; i++) {
    for (unsigned operand = 0; operand < 3; operand++) {
      if (LLVMGetOperand(call, operand) == batch->calls[i]) {
        return true;
      }
    }
  }
  return false;
}

// Returns how many products' accumulators fit in registers: 16 of 32 512-bit
// registers hold four. By rows, parts of two tiles that share a left side fill
// them.
static uint32_t most_products(const lanes_emitter *e) {
  return e->machine.has_masks || lanes_multiplies_by_rows(e) ? LANES_MOST_PRODUCTS
                                                        : 1;
}

uint32_t lanes_most_sums(const lanes_emitter *e) {
  return e->machine.has_masks ? LANES_MOST_PRODUCTS : 1;
}

static bool joins_group(const lanes_emitter *e, LLVMValueRef product,
                      LLVMValueRef other) {
  return shares_left(product, other) &&
         LLVMGetCalledValue(product) == LLVMGetCalledValue(other) &&
         lanes_is_of_pairs(e, product) == lanes_is_of_pairs(e, other);
}

// Returns the products emitted with a call: of adjacent ones with one left
// side, batches from the beginning.
static lanes_products batch_of(const lanes_emitter *e, LLVMValueRef call) {
  const uint32_t most = most_products(e);
  LLVMValueRef first = call;
  while (joins_group(e, call, LLVMGetPreviousInstruction(first))) {
    first = LLVMGetPreviousInstruction(first);
  }
  lanes_products batch = {0};
  bool found = false;
  for (LLVMValueRef i = first; joins_group(e, call, i);
       i = LLVMGetNextInstruction(i)) {
    if (batch.count == most || uses_result(&batch, i)) {
      if (found) {
        break;
      }
      batch.count = 0;
    }
    batch.calls[batch.count++] = i;
    found |= i == call;
  }
  return batch;
}

// --- The loop ----------------------------------------------------------------

// Finds the memory of a product's left or right side.
static lanes_tile_home side_of(lanes_emitter *e, LLVMValueRef product,
                               bool is_right) {
  LLVMValueRef side = LLVMGetOperand(product, is_right);
  if (lanes_splits_bytes(e, product)) {
    const bool is_signed = lanes_is_left_signed(product) != is_right;
    const lanes_tile_order first =
        is_right ? LANES_RIGHT_BYTES : LANES_LEFT_BYTES;
    return lanes_bytes_home(e, side, first + is_signed);
  }
  if (lanes_is_of_pairs(e, product)) {
    return lanes_pairs_home(e, side,
                            is_right ? LANES_RIGHT_PAIRS : LANES_LEFT_PAIRS);
  }
  return is_right ? lanes_right_home(e, side) : lanes_left_home(e, side);
}

// Finds the memory of sides and accumulators; stores an accumulator's start
// value there.
static void find_memory(lanes_emitter *e, lanes_products *batch) {
  batch->left = side_of(e, batch->calls[0], false);
  for (uint32_t i = 0; i < batch->count; i++) {
    batch->right[i] = side_of(e, batch->calls[i], true);
  }
  for (uint32_t i = 0; i < batch->count; i++) {
    LLVMValueRef start = LLVMGetOperand(batch->calls[i], 2);
    batch->sums[i] = lanes_sum_home(e, batch->calls[i]);
    if (batch->sums[i] && !lanes_has_home_of(e, start, batch->calls[i])) {
      lanes_write_sum(e, batch->sums[i], lanes_vector(e, start, 0));
    }
  }
}

void lanes_emit_products(lanes_emitter *e, const lanes_products *products) {
  if (lanes_multiplies_by_rows(e)) {
    lanes_emit_row_products(e, products);
  } else {
    lanes_emit_block_products(e, products);
  }
}

void lanes_emit_product(lanes_emitter *e, LLVMValueRef call) {
  lanes_products batch = batch_of(e, call);
  if (batch.calls[0] != call) {
    return;  // emitted with an earlier product
  }
  e->product_count += batch.count;
  e->batch_count++;
  find_memory(e, &batch);
  if (!lanes_call_products(e, &batch)) {
    lanes_emit_products(e, &batch);
  }
}
