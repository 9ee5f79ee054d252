// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tile_phis.c: keeps tiles that a loop carries as tiles. A program that takes
// tiles apart after the loop, as MLX does with thread_elements(), makes LLVM
// carry pairs of floats, which each iteration would convert to tiles and back.
// The phis become tiles, and pairs are extracted where they are used.
#include "compiler/vectorize/emit/tiles/tile_phis.h"

#include <stddef.h>

#include "compiler/ir/llvm/types.h"
#include "compiler/vectorize/analysis/callees.h"

typedef struct phi_finder {
  mtlc_types types;
  LLVMTypeRef pair;  // <2 x float>
  LLVMBuilderRef builder;
} phi_finder;

static LLVMValueRef next_phi(LLVMValueRef i) {
  i = LLVMGetNextInstruction(i);
  return i && LLVMIsAPHINode(i) ? i : NULL;
}

// Returns the tile that a pair was taken from, or NULL.
static LLVMValueRef tile_before(const phi_finder *f, LLVMValueRef pair) {
  LLVMValueRef tile = LLVMIsABitCastInst(pair) ? LLVMGetOperand(pair, 0) : NULL;
  return tile && LLVMTypeOf(tile) == f->types.i64 &&
                 (lanes_is_product(tile) || LLVMIsAPHINode(tile))
             ? tile
             : NULL;
}

static bool becomes_tile(const phi_finder *f, LLVMValueRef user) {
  return LLVMIsABitCastInst(user) && LLVMTypeOf(user) == f->types.i64;
}

// True if a phi of pairs is an accumulator: it comes in as a tile and goes out
// as one, or is a loop's result.
static bool is_sum(const phi_finder *f, LLVMValueRef phi) {
  bool comes = false;
  bool goes = true;
  for (unsigned k = 0; k < LLVMCountIncoming(phi); k++) {
    const bool is_tile = tile_before(f, LLVMGetIncomingValue(phi, k)) != NULL;
    comes |= is_tile;
    goes &= is_tile;
  }
  for (LLVMUseRef use = LLVMGetFirstUse(phi); use; use = LLVMGetNextUse(use)) {
    goes |= becomes_tile(f, LLVMGetUser(use));
  }
  return comes && goes;
}

// Returns the incoming value as a tile.
static LLVMValueRef incoming_tile(phi_finder *f, LLVMValueRef phi, unsigned k) {
  LLVMValueRef value = LLVMGetIncomingValue(phi, k);
  LLVMValueRef tile = tile_before(f, value);
  if (tile) {
    return tile;
  }
  LLVMPositionBuilderBefore(
      f->builder, LLVMGetBasicBlockTerminator(LLVMGetIncomingBlock(phi, k)));
  return LLVMBuildBitCast(f->builder, value, f->types.i64, "");
}

// Returns a tile as a pair, made after the last call before its user. Made
// where the tile is, it would be computed in each iteration, or kept across a
// barrier.
static LLVMValueRef pair_before(phi_finder *f, LLVMValueRef tile,
                                LLVMValueRef user) {
  LLVMValueRef first = user;
  for (LLVMValueRef i = LLVMGetPreviousInstruction(user);
       i && !LLVMIsAPHINode(i) && !LLVMIsACallInst(i);
       i = LLVMGetPreviousInstruction(i)) {
    if (LLVMIsABitCastInst(i) && LLVMGetOperand(i, 0) == tile) {
      return i;
    }
    first = i;
  }
  LLVMPositionBuilderBefore(f->builder, first);
  return LLVMBuildBitCast(f->builder, tile, f->pair, "");
}

static void replace_in_phi(phi_finder *f, LLVMValueRef user, LLVMValueRef phi,
                           LLVMValueRef tile) {
  for (unsigned k = 0; k < LLVMCountIncoming(user); k++) {
    if (LLVMGetIncomingValue(user, k) == phi) {
      LLVMSetOperand(user, k,
                     pair_before(f, tile,
                                 LLVMGetBasicBlockTerminator(
                                     LLVMGetIncomingBlock(user, k))));
    }
  }
}

static void replace_in(phi_finder *f, LLVMValueRef user, LLVMValueRef phi,
                       LLVMValueRef tile) {
  if (LLVMIsAPHINode(user)) {
    replace_in_phi(f, user, phi, tile);
    return;
  }
  if (becomes_tile(f, user)) {
    LLVMReplaceAllUsesWith(user, tile);
    LLVMInstructionEraseFromParent(user);
    return;
  }
  LLVMValueRef pair = pair_before(f, tile, user);
  for (int k = 0; k < LLVMGetNumOperands(user); k++) {
    if (LLVMGetOperand(user, (unsigned)k) == phi) {
      LLVMSetOperand(user, (unsigned)k, pair);
    }
  }
}

static bool are_same(LLVMValueRef a, LLVMValueRef b) {
  bool same = LLVMTypeOf(a) == LLVMTypeOf(b) &&
              LLVMCountIncoming(a) == LLVMCountIncoming(b);
  for (unsigned k = 0; same && k < LLVMCountIncoming(a); k++) {
    same = LLVMGetIncomingBlock(a, k) == LLVMGetIncomingBlock(b, k) &&
           LLVMGetIncomingValue(a, k) == LLVMGetIncomingValue(b, k);
  }
  return same;
}

// Joins two phis of the same tile's pairs: they would be two accumulators.
static LLVMValueRef only_one(LLVMValueRef tile) {
  LLVMBasicBlockRef block = LLVMGetInstructionParent(tile);
  for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = next_phi(i)) {
    if (i != tile && are_same(i, tile)) {
      LLVMInstructionEraseFromParent(tile);
      return i;
    }
  }
  return tile;
}

static void carry_tile(phi_finder *f, LLVMValueRef phi) {
  LLVMPositionBuilderBefore(f->builder, phi);
  LLVMValueRef tile = LLVMBuildPhi(f->builder, f->types.i64, "");
  for (unsigned k = 0; k < LLVMCountIncoming(phi); k++) {
    LLVMValueRef value = incoming_tile(f, phi, k);
    LLVMBasicBlockRef from = LLVMGetIncomingBlock(phi, k);
    LLVMAddIncoming(tile, &value, &from, 1);
  }
  tile = only_one(tile);
  while (LLVMGetFirstUse(phi)) {
    replace_in(f, LLVMGetUser(LLVMGetFirstUse(phi)), phi, tile);
  }
  LLVMInstructionEraseFromParent(phi);
}

static bool carry_tiles_into(phi_finder *f, LLVMBasicBlockRef block) {
  bool changed = false;
  LLVMValueRef next = NULL;
  for (LLVMValueRef i = LLVMGetFirstInstruction(block);
       i && LLVMIsAPHINode(i); i = next) {
    next = next_phi(i);
    if (LLVMTypeOf(i) == f->pair && is_sum(f, i)) {
      carry_tile(f, i);
      changed = true;
    }
  }
  return changed;
}

bool lanes_carry_tiles(LLVMContextRef context, LLVMValueRef function) {
  phi_finder f = {.types = mtlc_types_of(context),
                  .builder = LLVMCreateBuilderInContext(context)};
  f.pair = LLVMVectorType(f.types.f32, 2);
  bool any = false;
  // An outer loop's phi is an incoming value of the inner one's.
  for (bool changed = true; changed; any |= changed) {
    changed = false;
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block;
         block = LLVMGetNextBasicBlock(block)) {
      changed |= carry_tiles_into(&f, block);
    }
  }
  LLVMDisposeBuilder(f.builder);
  return any;
}
