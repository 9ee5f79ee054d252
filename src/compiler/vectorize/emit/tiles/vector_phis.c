// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// vector_phis.c: splits loop-carried vectors that hold several tiles' pairs.
// Programs that keep a thread's part of a 16 x 16 fragment in a vector of eight
// floats leave LLVM one phi, which is four tiles' pairs (tile_phis.c).
#include "compiler/vectorize/emit/tiles/vector_phis.h"

#include <stddef.h>
#include <stdint.h>

#include "compiler/ir/llvm/instructions.h"
#include "compiler/ir/llvm/types.h"
#include "compiler/vectorize/analysis/callees.h"
#include "compiler/vectorize/analysis/words.h"

enum { MOST_PAIRS = 8 };

// A phi that is parted.
typedef struct parted_phi {
  mtlc_types types;
  LLVMTypeRef pair;  // <2 x float>
  LLVMBuilderRef builder;
  LLVMValueRef phi;
  uint32_t count;                  // of pairs; 0: of no vector of such
  LLVMValueRef pairs[MOST_PAIRS];  // [count] phis
} parted_phi;

// Finds the value that holds pair number p of a vector, and which of its pairs
// it is; NULL if the floats come from two places.
static LLVMValueRef source_of(LLVMValueRef vector, uint32_t p,
                              uint32_t *out_pair) {
  const lanes_word first = lanes_word_of(vector, 2 * p);
  const lanes_word second = lanes_word_of(vector, 2 * p + 1);
  *out_pair = first.number / 2;
  return first.value == second.value && first.number % 2 == 0 &&
                 second.number == first.number + 1
             ? first.value
             : NULL;
}

static uint32_t pairs_of(const parted_phi *parted, LLVMValueRef phi) {
  LLVMTypeRef type = LLVMTypeOf(phi);
  const bool is_vector = LLVMGetTypeKind(type) == LLVMVectorTypeKind &&
                         LLVMGetElementType(type) == parted->types.f32;
  const uint32_t size = is_vector ? LLVMGetVectorSize(type) : 0;
  return size > 2 && size % 2 == 0 && size <= 2 * MOST_PAIRS ? size / 2 : 0;
}

// True if one of the pairs is split from a tile or a vector.
static bool has_tiles(const parted_phi *parted) {
  for (unsigned k = 0; k < LLVMCountIncoming(parted->phi); k++) {
    for (uint32_t p = 0; p < parted->count; p++) {
      uint32_t pair = 0;
      LLVMValueRef source =
          source_of(LLVMGetIncomingValue(parted->phi, k), p, &pair);
      if (source &&
          (lanes_is_product(source) ||
           (LLVMIsAPHINode(source) && LLVMTypeOf(source) == parted->pair))) {
        return true;
      }
    }
  }
  return false;
}

static LLVMValueRef extracted(const parted_phi *parted, LLVMValueRef vector,
                              uint32_t p) {
  LLVMValueRef items[2];
  for (uint32_t i = 0; i < 2; i++) {
    items[i] = LLVMConstInt(parted->types.i32, 2 * p + i, false);
  }
  return LLVMBuildShuffleVector(parted->builder, vector,
                                LLVMGetPoison(LLVMTypeOf(vector)),
                                LLVMConstVector(items, 2), "");
}

static LLVMValueRef incoming_pair(const parted_phi *parted, unsigned k,
                                  uint32_t p) {
  LLVMValueRef vector = LLVMGetIncomingValue(parted->phi, k);
  uint32_t pair = 0;
  LLVMValueRef source = source_of(vector, p, &pair);
  LLVMPositionBuilderBefore(
      parted->builder,
      LLVMGetBasicBlockTerminator(LLVMGetIncomingBlock(parted->phi, k)));
  if (source && source == parted->phi) {
    return parted->pairs[pair];
  }
  if (source && LLVMIsAInstruction(source) && pair == 0 &&
      LLVMTypeOf(source) == parted->types.i64) {
    return LLVMBuildBitCast(parted->builder, source, parted->pair, "");
  }
  return source && LLVMTypeOf(source) == parted->pair
             ? source
             : extracted(parted, vector, p);
}

static void make_pairs(parted_phi *parted) {
  LLVMPositionBuilderBefore(parted->builder, parted->phi);
  for (uint32_t p = 0; p < parted->count; p++) {
    parted->pairs[p] = LLVMBuildPhi(parted->builder, parted->pair, "");
  }
  for (uint32_t p = 0; p < parted->count; p++) {
    for (unsigned k = 0; k < LLVMCountIncoming(parted->phi); k++) {
      LLVMValueRef value = incoming_pair(parted, k, p);
      LLVMBasicBlockRef from = LLVMGetIncomingBlock(parted->phi, k);
      LLVMAddIncoming(parted->pairs[p], &value, &from, 1);
    }
  }
}

// --- Users -------------------------------------------------------------------

// Replaces an extraction of a float, or of a tile, from the vector or its bits.
static bool replace_extraction(parted_phi *parted, LLVMValueRef user) {
  if (!mtlc_is_opcode(user, LLVMExtractElement) ||
      !LLVMIsAConstantInt(LLVMGetOperand(user, 1))) {
    return false;
  }
  const uint32_t bits = lanes_bits_of(user);
  if (bits != 32 && bits != 64) {
    return false;
  }
  const uint64_t place = LLVMConstIntGetZExtValue(LLVMGetOperand(user, 1));
  const uint64_t pair = bits == 64 ? place : place / 2;
  if (pair >= parted->count) {
    return false;
  }
  LLVMPositionBuilderBefore(parted->builder, user);
  LLVMValueRef value = parted->pairs[pair];
  if (bits == 32) {
    value = LLVMBuildExtractElement(
        parted->builder, value,
        LLVMConstInt(parted->types.i32, place % 2, false), "");
  }
  mtlc_replace(user,
               LLVMBuildBitCast(parted->builder, value, LLVMTypeOf(user), ""));
  return true;
}

static bool replace_shuffle(parted_phi *parted, LLVMValueRef user) {
  if (!mtlc_is_opcode(user, LLVMShuffleVector) ||
      LLVMTypeOf(user) != parted->pair ||
      LLVMGetOperand(user, 0) != parted->phi ||
      LLVMGetOperand(user, 1) == parted->phi) {
    return false;
  }
  const int first = LLVMGetMaskValue(user, 0);
  if (first < 0 || first % 2 || first >= 2 * (int)parted->count ||
      LLVMGetMaskValue(user, 1) != first + 1) {
    return false;
  }
  mtlc_replace(user, parted->pairs[first / 2]);
  return true;
}

// Replaces extractions of floats or tiles by the phi's parts, without the
// vector.
static void replace_extractions(parted_phi *parted, LLVMValueRef vector) {
  LLVMUseRef next = NULL;
  for (LLVMUseRef use = LLVMGetFirstUse(vector); use; use = next) {
    next = LLVMGetNextUse(use);
    LLVMValueRef user = LLVMGetUser(use);
    if (mtlc_is_opcode(user, LLVMBitCast)) {
      replace_extractions(parted, user);
      if (!LLVMGetFirstUse(user)) {
        LLVMInstructionEraseFromParent(user);
      }
    } else if (!replace_extraction(parted, user)) {
      replace_shuffle(parted, user);
    }
  }
}

// Returns the whole vector, for users of all of it.
static LLVMValueRef joined(parted_phi *parted) {
  LLVMValueRef vector = LLVMGetPoison(LLVMTypeOf(parted->phi));
  mtlc_position_behind_phis(parted->builder, parted->phi);
  for (uint32_t i = 0; i < 2 * parted->count; i++) {
    LLVMValueRef element = LLVMBuildExtractElement(
        parted->builder, parted->pairs[i / 2],
        LLVMConstInt(parted->types.i32, i % 2, false), "");
    vector =
        LLVMBuildInsertElement(parted->builder, vector, element,
                               LLVMConstInt(parted->types.i32, i, false), "");
  }
  return vector;
}

static void part(parted_phi *parted) {
  make_pairs(parted);
  replace_extractions(parted, parted->phi);
  if (LLVMGetFirstUse(parted->phi)) {
    LLVMReplaceAllUsesWith(parted->phi, joined(parted));
  }
  LLVMInstructionEraseFromParent(parted->phi);
}

static bool part_in(parted_phi *parted, LLVMBasicBlockRef block) {
  bool changed = false;
  LLVMValueRef next = NULL;
  for (LLVMValueRef i = LLVMGetFirstInstruction(block); i && LLVMIsAPHINode(i);
       i = next) {
    next = LLVMGetNextInstruction(i);
    parted->phi = i;
    parted->count = pairs_of(parted, i);
    if (parted->count && has_tiles(parted)) {
      part(parted);
      changed = true;
    }
  }
  return changed;
}

bool lanes_part_vector_phis(LLVMContextRef context, LLVMValueRef function) {
  parted_phi parted = {.types = mtlc_types_of(context),
                       .builder = LLVMCreateBuilderInContext(context)};
  parted.pair = LLVMVectorType(parted.types.f32, 2);
  bool any = false;
  // Behind a loop, a phi has the same form as the loop's.
  for (bool changed = true; changed; any |= changed) {
    changed = false;
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block;
         block = LLVMGetNextBasicBlock(block)) {
      changed |= part_in(&parted, block);
    }
  }
  LLVMDisposeBuilder(parted.builder);
  return any;
}
