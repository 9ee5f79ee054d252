// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// pieces.c: computes one piece, a register's lanes, of a tiled loop's values
// (register_tiling.c).
#include "compiler/vectorize/finish/tiling/pieces.h"

#include <llvm-c/DebugInfo.h>
#include <llvm-c/Target.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "compiler/ir/llvm/calls.h"
#include "compiler/ir/llvm/instructions.h"
#include "compiler/ir/llvm/types.h"
#include "compiler/vectorize/analysis/callees.h"
#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/base/alignment.h"
#include "compiler/vectorize/finish/tiling/bundles.h"
#include "compiler/vectorize/finish/tiling/items.h"
#include "compiler/vectorize/finish/tiling/register_tiling.h"

// --- Making a piece ----------------------------------------------------------

static LLVMTypeRef piece_type(const lanes_region *l, LLVMValueRef value) {
  return LLVMVectorType(LLVMGetElementType(LLVMTypeOf(value)),
                        lanes_in_piece(l));
}

void lanes_take_line(lanes_region *l, LLVMValueRef i) {
  LLVMSetCurrentDebugLocation2(l->builder, LLVMInstructionGetDebugLoc(i));
}

LLVMValueRef lanes_copy_whole(lanes_region *l, LLVMValueRef value) {
  lanes_item *own = lanes_item_of(l, value);
  if (!own) {
    return value;
  }
  if (!own->whole) {
    LLVMValueRef copy = LLVMInstructionClone(value);
    for (int k = 0; k < LLVMGetNumOperands(value); k++) {
      LLVMSetOperand(copy, (unsigned)k,
                     lanes_copy_whole(l, LLVMGetOperand(value, (unsigned)k)));
    }
    lanes_take_line(l, value);
    LLVMInsertIntoBuilder(l->builder, copy);
    own->whole = copy;
  }
  return own->whole;
}

static LLVMValueRef shuffled(lanes_region *l, LLVMBuilderRef builder,
                             LLVMValueRef a, LLVMValueRef b, const int *lanes) {
  LLVMValueRef items[MOST_LANES];
  for (uint32_t i = 0; i < lanes_in_piece(l); i++) {
    LLVMTypeRef i32 = LLVMInt32TypeInContext(l->kernel->context);
    items[i] = lanes[i] == LLVMGetUndefMaskElem()
                   ? LLVMGetPoison(i32)
                   : LLVMConstInt(i32, (uint64_t)lanes[i], false);
  }
  return LLVMBuildShuffleVector(builder, a, b,
                                LLVMConstVector(items, lanes_in_piece(l)), "");
}

LLVMValueRef lanes_cut(lanes_region *l, LLVMBuilderRef builder,
                       LLVMValueRef value, uint32_t first) {
  int lanes[MOST_LANES];
  for (uint32_t i = 0; i < lanes_in_piece(l); i++) {
    lanes[i] = (int)(first + i);
  }
  return shuffled(l, builder, value, LLVMGetPoison(LLVMTypeOf(value)), lanes);
}

// Returns a shuffle's lanes as part of an operand, if they are adjacent there.
static LLVMValueRef from_shuffle(lanes_region *l, LLVMValueRef shuffle,
                                 uint32_t first) {
  LLVMValueRef sides[] = {LLVMGetOperand(shuffle, 0),
                          LLVMGetOperand(shuffle, 1)};
  const uint32_t side_lanes = lanes_in(sides[0]);
  int lanes[MOST_LANES];
  bool is_run = true;
  for (uint32_t i = 0; i < lanes_in_piece(l); i++) {
    lanes[i] = LLVMGetMaskValue(shuffle, first + i);
    is_run &= lanes[i] >= 0 && lanes[i] == lanes[0] + (int)i;
  }
  const uint32_t side = is_run && (uint32_t)lanes[0] >= side_lanes;
  const uint32_t start = is_run ? (uint32_t)lanes[0] - side * side_lanes : 0;
  if (is_run && start + lanes_in_piece(l) <= side_lanes) {
    return start == 0 && side_lanes == lanes_in_piece(l)
               ? lanes_copy_whole(l, sides[side])
               : lanes_copy_piece(l, sides[side], start);
  }
  lanes_take_line(l, shuffle);
  return shuffled(l, l->builder, lanes_copy_whole(l, sides[0]),
                  lanes_copy_whole(l, sides[1]), lanes);
}

static LLVMValueRef from_load(lanes_region *l, LLVMValueRef load,
                              uint32_t first) {
  LLVMTypeRef element = LLVMGetElementType(LLVMTypeOf(load));
  const uint64_t bytes =
      LLVMStoreSizeOfType(LLVMGetModuleDataLayout(l->kernel->module), element);
  lanes_take_line(l, load);
  LLVMValueRef own = LLVMBuildLoad2(
      l->builder, piece_type(l, load),
      mtlc_offset(l->builder, lanes_copy_whole(l, LLVMGetOperand(load, 0)),
                  first * bytes),
      "");
  LLVMSetAlignment(
      own, lanes_common_alignment(LLVMGetAlignment(load), first * bytes));
  return own;
}

// Emits the same operation on a piece of each operand.
static LLVMValueRef operation(lanes_region *l, LLVMValueRef i,
                              LLVMValueRef *operands) {
  lanes_take_line(l, i);
  return mtlc_build_like(l->builder, i, piece_type(l, i), operands);
}

static LLVMValueRef make_lanes(lanes_region *l, LLVMValueRef i,
                               uint32_t first) {
  if (LLVMIsAShuffleVectorInst(i)) {
    return from_shuffle(l, i, first);
  }
  if (LLVMIsALoadInst(i)) {
    return from_load(l, i, first);
  }
  if (!lanes_is_lanewise(i) || LLVMIsAPHINode(i)) {
    return lanes_cut(l, l->builder, lanes_copy_whole(l, i), first);
  }
  LLVMValueRef operands[4];
  for (unsigned k = 0; k < lanes_operand_count(i); k++) {
    LLVMValueRef operand = LLVMGetOperand(i, k);
    operands[k] = lanes_in(operand) > 1 ? lanes_copy_piece(l, operand, first)
                                        : lanes_copy_whole(l, operand);
  }
  return operation(l, i, operands);
}

// Returns a piece of a vector.
LLVMValueRef lanes_copy_piece(lanes_region *l, LLVMValueRef value,
                              uint32_t first) {
  lanes_item *own = lanes_item_of(l, value);
  if (!own) {
    return lanes_cut(l, LLVMIsAConstant(value) ? l->builder : l->before_builder,
                     value, first);
  }
  // A piece is computed once; any other lanes are of values that are not kept.
  if (lanes_in(value) != l->lanes || first % lanes_in_piece(l)) {
    return make_lanes(l, value, first);
  }
  LLVMValueRef *piece = &own->pieces[first / lanes_in_piece(l)];
  *piece = *piece ? *piece : make_lanes(l, value, first);
  return *piece;
}

// --- As elements lie in memory -----------------------------------------------

static LLVMValueRef whole_load(lanes_region *l, const lanes_element *first,
                               LLVMTypeRef type, uint32_t k) {
  LLVMTargetDataRef data = LLVMGetModuleDataLayout(l->kernel->module);
  const uint64_t size = LLVMStoreSizeOfType(data, LLVMGetElementType(type));
  const uint64_t bytes =
      (uint64_t)first->bytes + (uint64_t)k * lanes_in_piece(l) * size;
  lanes_take_line(l, first->load);
  LLVMValueRef own = LLVMBuildLoad2(
      l->builder, type,
      mtlc_offset(l->builder, lanes_copy_whole(l, first->base), bytes), "");
  const uint32_t alignment = LLVMGetAlignment(first->load);
  LLVMSetAlignment(own, alignment < size ? alignment : (uint32_t)size);
  return own;
}

// Returns register k of the next values of a bundle, or of values computed from
// its phis.
LLVMValueRef lanes_copy_register(lanes_region *l, const lanes_bundle *b,
                                 LLVMValueRef *values, uint32_t k) {
  const uint32_t first = l->piece * lanes_in_piece(l);
  if (values[0] == l->items[b->phis[0]].value) {
    return b->current;
  }
  if (lanes_are_all(values, b->count)) {
    return lanes_copy_piece(l, values[0], first);
  }
  lanes_element from;
  if (lanes_lie_side_by_side(l, values, b->count, first, &from)) {
    return whole_load(l, &from, piece_type(l, values[0]), k);
  }
  LLVMValueRef made[4];
  const unsigned count = lanes_operand_count(values[0]);
  for (unsigned o = 0; o < count; o++) {
    LLVMValueRef operands[MOST_SIDE_BY_SIDE];
    lanes_take_operands(values, b->count, o, operands);
    made[o] = lanes_copy_register(l, b, operands, k);
  }
  return operation(l, values[0], made);
}

// Concatenates a power of two of vectors.
LLVMValueRef lanes_joined_pieces(lanes_region *l, LLVMBuilderRef builder,
                                 LLVMValueRef *vectors, uint32_t count) {
  LLVMValueRef parts[MOST_PIECES] = {NULL};
  memcpy(parts, vectors, count * sizeof *parts);
  uint32_t lanes = lanes_in(vectors[0]);
  for (; count > 1; count /= 2, lanes *= 2) {
    LLVMValueRef order[MOST_PIECES * MOST_LANES];
    for (uint32_t i = 0; i < 2 * lanes; i++) {
      order[i] = mtlc_i32(l->kernel->context, i);
    }
    for (uint32_t k = 0; k < count / 2; k++) {
      parts[k] = LLVMBuildShuffleVector(builder, parts[2 * k], parts[2 * k + 1],
                                        LLVMConstVector(order, 2 * lanes), "");
    }
  }
  return parts[0];
}

// Interleaves the lanes of two vectors, or returns the even or the odd lanes of
// both.
static LLVMValueRef zipped(lanes_region *l, LLVMBuilderRef builder,
                           LLVMValueRef a, LLVMValueRef b, bool second) {
  const uint32_t count = lanes_in_piece(l);
  int lanes[MOST_LANES];
  for (uint32_t i = 0; i < count; i++) {
    lanes[i] = (int)(i % 2 * count + i / 2 + (second ? count / 2 : 0));
  }
  return shuffled(l, builder, a, b, lanes);
}

static LLVMValueRef unzipped(lanes_region *l, LLVMBuilderRef builder,
                             LLVMValueRef a, LLVMValueRef b, bool odd) {
  int lanes[MOST_LANES];
  for (uint32_t i = 0; i < lanes_in_piece(l); i++) {
    lanes[i] = (int)(2 * i + odd);
  }
  return shuffled(l, builder, a, b, lanes);
}

// Interleaves count registers, as their elements are in memory.
void lanes_interleave_registers(lanes_region *l, LLVMBuilderRef builder,
                                LLVMValueRef *registers, uint32_t count) {
  LLVMValueRef halves[2][MOST_SIDE_BY_SIDE / 2];
  if (count == 1) {
    return;
  }
  for (uint32_t i = 0; i < count; i++) {
    halves[i % 2][i / 2] = registers[i];
  }
  lanes_interleave_registers(l, builder, halves[0], count / 2);
  lanes_interleave_registers(l, builder, halves[1], count / 2);
  for (uint32_t i = 0; i < count; i++) {
    registers[i] =
        zipped(l, builder, halves[0][i / 2], halves[1][i / 2], i % 2);
  }
}

// Deinterleaves count registers.
void lanes_take_apart_registers(lanes_region *l, LLVMBuilderRef builder,
                                LLVMValueRef *registers, uint32_t count) {
  LLVMValueRef halves[2][MOST_SIDE_BY_SIDE / 2];
  if (count == 1) {
    return;
  }
  for (uint32_t i = 0; i < count; i++) {
    halves[i % 2][i / 2] =
        unzipped(l, builder, registers[i & ~1u], registers[i | 1u], i % 2);
  }
  lanes_take_apart_registers(l, builder, halves[0], count / 2);
  lanes_take_apart_registers(l, builder, halves[1], count / 2);
  for (uint32_t i = 0; i < count; i++) {
    registers[i] = halves[i % 2][i / 2];
  }
}
