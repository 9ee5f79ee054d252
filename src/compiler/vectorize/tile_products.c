// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tile_products.c: c + a * b of tiles. Each element is eight fused
// multiply-adds, the first column of a and row of b first.
//
// Products of one a by several b go together: as many as have room for their
// sums in registers. Then a column of a, which takes a shuffle for each block,
// serves all of them, and rows of b come from memory, four times at once, for
// which a load is enough. The loop over the two halves of the sum is left a
// loop: its sums stay in registers, and LLVM does not mix it with others.
#include <string.h>

#include "compiler/vectorize/accesses.h"
#include "compiler/vectorize/tiles.h"

enum {
  QUAD = LANES_TILE_QUAD,
  BLOCK = LANES_TILE_BLOCK,
  MOST_PRODUCTS = 4,
  BLOCK_BYTES = BLOCK * 4,
  TILE_BYTES = LANES_TILE_ELEMENTS * 4,
  LIFT_DEPTH = 6,  // two words, extended, shifted, joined
};

bool lanes_is_product(LLVMValueRef instruction) {
  return instruction &&
         LLVMGetInstructionOpcode(instruction) == LLVMCall &&
         strcmp(lanes_callee_name(instruction), "mettle.tile.multiply_add") ==
             0;
}

static bool shares_left(LLVMValueRef product, LLVMValueRef other) {
  return lanes_is_product(other) &&
         LLVMGetOperand(product, 0) == LLVMGetOperand(other, 0);
}

// --- Together ----------------------------------------------------------------

// Says whether an operand is there before an instruction of the same block.
static bool is_there_before(LLVMValueRef operand, LLVMValueRef instruction) {
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

// What only puts a tile's bits together.
static bool is_of_bits(LLVMValueRef value) {
  switch (LLVMGetInstructionOpcode(value)) {
    case LLVMBitCast:
    case LLVMZExt:
    case LLVMTrunc:
    case LLVMShl:
    case LLVMLShr:
    case LLVMOr:
    case LLVMInsertElement:
    case LLVMExtractElement:
    case LLVMShuffleVector: return true;
    default: return false;
  }
}

// Says whether an operand is there before an instruction, or can be made there.
static bool can_lift(LLVMValueRef operand, LLVMValueRef instruction,
                     uint32_t depth) {
  if (is_there_before(operand, instruction)) {
    return true;
  }
  bool can = depth && is_of_bits(operand);
  for (int i = 0; can && i < LLVMGetNumOperands(operand); i++) {
    can = can_lift(LLVMGetOperand(operand, (unsigned)i), instruction,
                   depth - 1);
  }
  return can;
}

static void lift(LLVMBuilderRef builder, LLVMValueRef operand,
                 LLVMValueRef instruction) {
  if (is_there_before(operand, instruction)) {
    return;
  }
  for (int i = 0; i < LLVMGetNumOperands(operand); i++) {
    lift(builder, LLVMGetOperand(operand, (unsigned)i), instruction);
  }
  LLVMInstructionRemoveFromParent(operand);
  LLVMPositionBuilderBefore(builder, instruction);
  LLVMInsertIntoBuilder(builder, operand);
}

// Moves what can be to behind leader; returns the last of those together.
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

static bool is_widening(LLVMValueRef instruction) {
  return LLVMGetInstructionOpcode(instruction) == LLVMCall &&
         mtlc_starts_with(lanes_callee_name(instruction), "mettle.tile.widen.");
}

// Moves conversions to behind what they convert, where they are in no
// product's way.
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

void lanes_gather_products(LLVMValueRef function) {
  LLVMBuilderRef builder =
      LLVMCreateBuilderInContext(LLVMGetModuleContext(
          LLVMGetGlobalParent(function)));
  for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block;
       block = LLVMGetNextBasicBlock(block)) {
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

typedef struct product_batch {
  LLVMValueRef calls[MOST_PRODUCTS];
  uint32_t count;
} product_batch;

static bool uses_result(const product_batch *batch, LLVMValueRef call) {
  for (uint32_t i = 0; i < batch->count; i++) {
    for (unsigned operand = 0; operand < 3; operand++) {
      if (LLVMGetOperand(call, operand) == batch->calls[i]) {
        return true;
      }
    }
  }
  return false;
}

// With 32 registers of 512 bits, 16 hold the sums of four products.
uint32_t lanes_most_products(const lanes_emitter *e) {
  return e->machine.has_avx512 ? MOST_PRODUCTS : 1;
}

// The products that are emitted together with a call. A row of neighbours with
// one left side is cut into batches from its beginning.
static product_batch batch_of(const lanes_emitter *e, LLVMValueRef call) {
  const uint32_t most = lanes_most_products(e);
  LLVMValueRef first = call;
  while (shares_left(call, LLVMGetPreviousInstruction(first))) {
    first = LLVMGetPreviousInstruction(first);
  }
  product_batch batch = {0};
  bool found = false;
  for (LLVMValueRef i = first; shares_left(call, i);
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

// --- In memory ---------------------------------------------------------------

static LLVMValueRef new_home(lanes_emitter *e) {
  LLVMValueRef home =
      lanes_reserve(e, LLVMArrayType(e->types.f32, LANES_TILE_ELEMENTS));
  LLVMSetAlignment(home, BLOCK_BYTES);
  return home;
}

// Says whether all that a load is for are right sides further on in its block,
// with no wait in between.
static bool is_right_side_here(LLVMValueRef load) {
  LLVMBasicBlockRef block = LLVMGetInstructionParent(load);
  LLVMValueRef last = NULL;
  uint32_t uses = 0;
  for (LLVMUseRef use = LLVMGetFirstUse(load); use;
       use = LLVMGetNextUse(use), uses++) {
    LLVMValueRef user = LLVMGetUser(use);
    if (LLVMGetInstructionParent(user) != block || !lanes_is_product(user) ||
        LLVMGetOperand(user, 0) == load || LLVMGetOperand(user, 2) == load) {
      return false;
    }
  }
  for (LLVMValueRef i = load; i && uses; i = LLVMGetNextInstruction(i)) {
    if (lanes_is_product(i) && LLVMGetOperand(i, 1) == load) {
      last = i;
      uses--;
    } else if (LLVMGetInstructionOpcode(i) == LLVMCall &&
               lanes_callee_of(i) == LANES_CALLEE_THREADGROUP_BARRIER) {
      return false;
    }
  }
  return last != NULL;
}

static lanes_tile_home *home_of(lanes_emitter *e, LLVMValueRef value) {
  if (e->homes_fresh != e->fresh) {
    e->home_count = 0;
    e->homes_fresh = e->fresh;
  }
  for (uint32_t i = 0; i < e->home_count; i++) {
    if (e->homes[i].value == value) {
      return &e->homes[i];
    }
  }
  return NULL;
}

static lanes_tile_home *add_home(lanes_emitter *e, LLVMValueRef value,
                                 bool by_rows) {
  if (e->home_count == e->home_capacity) {
    const uint32_t capacity = e->home_capacity ? e->home_capacity * 2 : 16;
    lanes_tile_home *grown =
        lanes_allocate(e->arena, capacity, sizeof *grown);
    if (e->home_capacity) {
      memcpy(grown, e->homes, e->home_capacity * sizeof *grown);
    }
    e->homes = grown;
    e->home_capacity = capacity;
  }
  lanes_tile_home *home = &e->homes[e->home_count++];
  if (!home->memory) {
    home->memory = new_home(e);
  }
  home->value = value;
  home->by_rows = by_rows;
  return home;
}

LLVMValueRef lanes_home_of_rows(lanes_emitter *e, LLVMValueRef load) {
  if (!is_right_side_here(load)) {
    return NULL;
  }
  home_of(e, load);
  return add_home(e, load, true)->memory;
}

// Returns where an operand is in memory, block by block unless it was loaded
// otherwise.
static lanes_tile_home *kept_home(lanes_emitter *e, LLVMValueRef operand) {
  lanes_tile_home *home = home_of(e, operand);
  if (!home) {
    home = add_home(e, operand, false);
    LLVMValueRef store = LLVMBuildStore(
        e->builder, lanes_tile_of(e, operand, e->types.f32), home->memory);
    LLVMSetAlignment(store, BLOCK_BYTES);
  }
  return home;
}

// --- The loop ----------------------------------------------------------------

typedef struct product_loop {
  LLVMTypeRef block_type;
  product_batch batch;
  lanes_tile_home *left;
  lanes_tile_home *right[MOST_PRODUCTS];
  LLVMValueRef half;                    // i64, 0 or 1: which four steps
  LLVMValueRef sums[MOST_PRODUCTS][4];  // by block
} product_loop;

static LLVMValueRef load_at(lanes_emitter *e, LLVMTypeRef type,
                            LLVMValueRef home, LLVMValueRef half,
                            uint32_t bytes_per_half, uint32_t offset) {
  LLVMValueRef by = LLVMBuildMul(e->builder, half,
                                 mtlc_i64(e->context, bytes_per_half), "");
  LLVMValueRef at = LLVMBuildGEP2(e->builder, e->types.i8, home, &by, 1, "");
  LLVMValueRef load =
      LLVMBuildLoad2(e->builder, type, lanes_address_at(e, at, offset), "");
  LLVMSetAlignment(load, LLVMGetVectorSize(type) * 4);
  return load;
}

// A row of b's block, in all rows of a block.
static LLVMValueRef repeated_row(lanes_emitter *e, const product_loop *loop,
                                 uint32_t product, uint32_t column,
                                 uint32_t row) {
  const lanes_tile_home *home = loop->right[product];
  const uint32_t quad_bytes = QUAD * 4;
  const uint32_t offset =
      home->by_rows ? row * 2 * quad_bytes + column * quad_bytes
                    : column * BLOCK_BYTES + row * quad_bytes;
  LLVMValueRef quad = load_at(e, LLVMVectorType(e->types.f32, QUAD),
                              home->memory, loop->half, TILE_BYTES / 2, offset);
  int items[BLOCK];
  for (int i = 0; i < BLOCK; i++) {
    items[i] = i % QUAD;
  }
  return lanes_shuffle(e, quad, NULL, items, BLOCK);
}

// Each row's element in a column, over its row.
static LLVMValueRef repeated_column(lanes_emitter *e, LLVMValueRef block,
                                    int column) {
  int items[BLOCK];
  for (int i = 0; i < BLOCK; i++) {
    items[i] = i / QUAD * QUAD + column;
  }
  return lanes_shuffle(e, block, NULL, items, BLOCK);
}

static void emit_step(lanes_emitter *e, product_loop *loop,
                      LLVMValueRef left[2], uint32_t k) {
  LLVMValueRef columns[2];
  for (int row = 0; row < 2; row++) {
    columns[row] = repeated_column(e, left[row], (int)k);
  }
  for (uint32_t p = 0; p < loop->batch.count; p++) {
    for (uint32_t column = 0; column < 2; column++) {
      LLVMValueRef row_of_b = repeated_row(e, loop, p, column, k);
      for (uint32_t row = 0; row < 2; row++) {
        LLVMValueRef *sum = &loop->sums[p][row * 2 + column];
        LLVMValueRef factors[] = {columns[row], row_of_b, *sum};
        *sum = lanes_intrinsic(e, "llvm.fma", &loop->block_type, 1, factors, 3);
      }
    }
  }
}

static void emit_half(lanes_emitter *e, product_loop *loop) {
  LLVMValueRef left[2];
  for (uint32_t row = 0; row < 2; row++) {
    left[row] = load_at(e, loop->block_type, loop->left->memory, loop->half,
                        BLOCK_BYTES, row * 2 * BLOCK_BYTES);
  }
  for (uint32_t k = 0; k < QUAD; k++) {
    emit_step(e, loop, left, k);
  }
}

// Two turns are what LLVM would unroll.
static void keep_loop(lanes_emitter *e, LLVMValueRef latch) {
  static const char wish[] = "llvm.loop.unroll.disable";
  LLVMMetadataRef text =
      LLVMMDStringInContext2(e->context, wish, sizeof wish - 1);
  mtlc_set_loop_metadata(latch, LLVMMDNodeInContext2(e->context, &text, 1));
}

static void emit_loop(lanes_emitter *e, product_loop *loop) {
  LLVMBasicBlockRef before = LLVMGetInsertBlock(e->builder);
  LLVMBasicBlockRef body = lanes_block(e, "products");
  LLVMBasicBlockRef after = lanes_block(e, "multiplied");
  LLVMBuildBr(e->builder, body);
  LLVMPositionBuilderAtEnd(e->builder, body);
  LLVMValueRef phis[MOST_PRODUCTS][4];
  loop->half = LLVMBuildPhi(e->builder, e->types.i64, "");
  for (uint32_t p = 0; p < loop->batch.count; p++) {
    for (uint32_t b = 0; b < 4; b++) {
      phis[p][b] = LLVMBuildPhi(e->builder, loop->block_type, "");
      LLVMAddIncoming(phis[p][b], &loop->sums[p][b], &before, 1);
      loop->sums[p][b] = phis[p][b];
    }
  }
  emit_half(e, loop);
  LLVMValueRef first = mtlc_i64(e->context, 0);
  LLVMValueRef next = LLVMBuildAdd(e->builder, loop->half,
                                   mtlc_i64(e->context, 1), "");
  LLVMAddIncoming(loop->half, &first, &before, 1);
  LLVMAddIncoming(loop->half, &next, &body, 1);
  for (uint32_t p = 0; p < loop->batch.count; p++) {
    for (uint32_t b = 0; b < 4; b++) {
      LLVMAddIncoming(phis[p][b], &loop->sums[p][b], &body, 1);
    }
  }
  LLVMValueRef again = LLVMBuildICmp(e->builder, LLVMIntULT, next,
                                     mtlc_i64(e->context, 2), "");
  keep_loop(e, LLVMBuildCondBr(e->builder, again, body, after));
  LLVMPositionBuilderAtEnd(e->builder, after);
}

// The sums that a product adds to, by block.
static void read_sums(lanes_emitter *e, LLVMValueRef c, LLVMTypeRef block_type,
                      LLVMValueRef *out_blocks) {
  LLVMValueRef home = lanes_sum_home(e, c);
  if (!home) {
    LLVMValueRef tile = lanes_tile_of(e, c, e->types.f32);
    for (int b = 0; b < 4; b++) {
      out_blocks[b] = lanes_block_of_tile(e, tile, b / 2, b % 2);
    }
    return;
  }
  for (uint32_t b = 0; b < 4; b++) {
    out_blocks[b] = LLVMBuildLoad2(e->builder, block_type,
                                   lanes_address_at(e, home, b * BLOCK_BYTES),
                                   "");
    lanes_keep_in_home(out_blocks[b]);
  }
}

static void write_sums(lanes_emitter *e, LLVMValueRef product,
                       LLVMValueRef *blocks) {
  LLVMValueRef home = lanes_sum_home(e, product);
  if (!home) {
    lanes_set_tile(e, product, lanes_tile_of_blocks(e, blocks));
    return;
  }
  for (uint32_t b = 0; b < 4; b++) {
    lanes_keep_in_home(
        LLVMBuildStore(e->builder, blocks[b],
                       lanes_address_at(e, home, b * BLOCK_BYTES)));
  }
}

void lanes_emit_product(lanes_emitter *e, LLVMValueRef call) {
  product_loop loop = {.block_type = LLVMVectorType(e->types.f32, BLOCK),
                       .batch = batch_of(e, call)};
  if (loop.batch.calls[0] != call) {
    return;  // the first has done it
  }
  e->product_count += loop.batch.count;
  e->batch_count++;
  uint32_t places[MOST_PRODUCTS + 1];
  for (uint32_t p = 0; p <= loop.batch.count; p++) {
    LLVMValueRef side = p == 0 ? LLVMGetOperand(call, 0)
                               : LLVMGetOperand(loop.batch.calls[p - 1], 1);
    places[p] = (uint32_t)(kept_home(e, side) - e->homes);
  }
  loop.left = &e->homes[places[0]];
  for (uint32_t p = 0; p < loop.batch.count; p++) {
    loop.right[p] = &e->homes[places[p + 1]];
    read_sums(e, LLVMGetOperand(loop.batch.calls[p], 2), loop.block_type,
              loop.sums[p]);
  }
  emit_loop(e, &loop);
  for (uint32_t p = 0; p < loop.batch.count; p++) {
    write_sums(e, loop.batch.calls[p], loop.sums[p]);
  }
}
