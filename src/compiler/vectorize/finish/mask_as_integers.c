// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// mask_as_integers.c: widens masks to 32 bits a lane on machines without mask
// registers. LLVM passes masks between instructions and blocks as bytes, and
// packs and unpacks them at each end: fifteen instructions for one gather after
// a comparison.
//
// Requires  a module that nothing optimises any more
// Leaves    masks that are computed from masks, or cross from block to block,
//           as vectors of 0 and -1, whose signs the accesses and selects take
#include "compiler/vectorize/finish/mask_as_integers.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "compiler/ir/kernel/kernel.h"
#include "compiler/ir/llvm/calls.h"
#include "compiler/ir/llvm/instructions.h"
#include "compiler/ir/llvm/value_list.h"
#include "compiler/vectorize/base/tables.h"
#include "compiler/vectorize/target/machine.h"

enum { WIDEST = 128, NUMBER_BITS = 32 };

// A mask that also exists as a vector of integers.
typedef struct wide_mask {
  LLVMValueRef wide;
  LLVMBasicBlockRef block;  // the last block that it was converted back in,
  LLVMValueRef narrow;      // and the result
} wide_mask;

typedef struct widening {
  mtli_arena arena;
  LLVMBuilderRef builder;
  LLVMTypeRef i32;
  lanes_map numbers;  // masks to masks[]
  wide_mask *masks;   // [mask_count]
  uint32_t mask_count;
  uint32_t mask_capacity;
  mtlc_values replaced;  // instructions on masks
} widening;

// --- Which values ------------------------------------------------------------

// Returns the lanes of a mask type, or 0.
static unsigned lanes_of_mask(LLVMTypeRef type) {
  if (LLVMGetTypeKind(type) != LLVMVectorTypeKind) {
    return 0;
  }
  LLVMTypeRef element = LLVMGetElementType(type);
  const unsigned count = LLVMGetVectorSize(type);
  return LLVMGetTypeKind(element) == LLVMIntegerTypeKind &&
                 LLVMGetIntTypeWidth(element) == 1 && count % 8 == 0 &&
                 count <= WIDEST
             ? count
             : 0;
}

static bool is_mask(LLVMValueRef value) {
  return lanes_of_mask(LLVMTypeOf(value)) > 0;
}

// True if an instruction makes a mask of masks or bits: it is then computed
// with integers.
static bool is_of_masks(LLVMValueRef value) {
  if (!LLVMIsAInstruction(value) || !is_mask(value)) {
    return false;
  }
  switch (LLVMGetInstructionOpcode(value)) {
    case LLVMPHI:
    case LLVMAnd:
    case LLVMOr:
    case LLVMXor:
    case LLVMFreeze:
    case LLVMInsertElement: return true;
    case LLVMSelect:
      return is_mask(LLVMGetOperand(value, 0)) ||
             LLVMGetTypeKind(LLVMTypeOf(LLVMGetOperand(value, 0))) ==
                 LLVMIntegerTypeKind;
    case LLVMShuffleVector: return is_mask(LLVMGetOperand(value, 0));
    case LLVMBitCast:
      return LLVMGetTypeKind(LLVMTypeOf(LLVMGetOperand(value, 0))) ==
                 LLVMIntegerTypeKind &&
             lanes_of_mask(LLVMTypeOf(value)) <= NUMBER_BITS;
    default: return false;
  }
}

static LLVMBasicBlockRef block_of(LLVMValueRef value) {
  return LLVMIsAInstruction(value)
             ? LLVMGetInstructionParent(value)
             : LLVMGetEntryBasicBlock(LLVMGetParamParent(value));
}

// --- Masks as numbers --------------------------------------------------------

static LLVMValueRef wide_of(widening *w, LLVMValueRef mask);

static LLVMTypeRef wide_type(const widening *w, LLVMValueRef mask) {
  return LLVMVectorType(w->i32, LLVMGetVectorSize(LLVMTypeOf(mask)));
}

static LLVMValueRef wide_constant(const widening *w, LLVMValueRef mask) {
  LLVMValueRef elements[WIDEST];
  const unsigned count = LLVMGetVectorSize(LLVMTypeOf(mask));
  for (unsigned i = 0; i < count; i++) {
    LLVMValueRef element = LLVMGetAggregateElement(mask, i);
    elements[i] =
        element && LLVMIsAConstantInt(element)
            ? LLVMConstInt(w->i32, (uint64_t)LLVMConstIntGetSExtValue(element),
                           true)
            : LLVMGetPoison(w->i32);
  }
  return LLVMConstVector(elements, count);
}

static LLVMValueRef vector_of_shifts(const widening *w, unsigned count,
                                     bool are_equal) {
  LLVMValueRef shifts[NUMBER_BITS];
  for (unsigned i = 0; i < count; i++) {
    shifts[i] = LLVMConstInt(
        w->i32, are_equal ? NUMBER_BITS - 1 : NUMBER_BITS - 1 - i, false);
  }
  return LLVMConstVector(shifts, count);
}

// Turns each lane's bit into its sign, and the sign into the whole lane.
static LLVMValueRef wide_bits(widening *w, LLVMValueRef mask) {
  const unsigned count = LLVMGetVectorSize(LLVMTypeOf(mask));
  LLVMTypeRef type = wide_type(w, mask);
  LLVMValueRef bits =
      LLVMBuildZExt(w->builder, LLVMGetOperand(mask, 0), w->i32, "");
  LLVMValueRef all = LLVMBuildInsertElement(
      w->builder, LLVMGetPoison(type), bits, LLVMConstNull(w->i32), "");
  all = LLVMBuildShuffleVector(w->builder, all, LLVMGetPoison(type),
                               LLVMConstNull(type), "");
  LLVMValueRef signs =
      LLVMBuildShl(w->builder, all, vector_of_shifts(w, count, false), "");
  return LLVMBuildAShr(w->builder, signs, vector_of_shifts(w, count, true), "");
}

static LLVMValueRef sign_mask(widening *w, LLVMValueRef wide) {
  return LLVMBuildICmp(w->builder, LLVMIntSLT, wide,
                       LLVMConstNull(LLVMTypeOf(wide)), "");
}

static bool is_all(LLVMValueRef mask, bool value) {
  return LLVMIsConstant(mask) &&
         mask == (value ? LLVMConstAllOnes(LLVMTypeOf(mask))
                        : LLVMConstNull(LLVMTypeOf(mask)));
}

// Freezes a mask: a lane that the condition does not choose may be poison,
// which `and` and `or` would propagate. A mask made of an integer's bits is
// frozen already.
static LLVMValueRef without_poison(widening *w, LLVMValueRef mask,
                                   LLVMValueRef wide) {
  return LLVMIsABitCastInst(mask) ? wide
                                  : LLVMBuildFreeze(w->builder, wide, "");
}

static LLVMValueRef wide_select(widening *w, LLVMValueRef mask) {
  LLVMValueRef condition = LLVMGetOperand(mask, 0);
  LLVMValueRef yes = LLVMGetOperand(mask, 1), no = LLVMGetOperand(mask, 2);
  LLVMValueRef wide_yes = wide_of(w, yes), wide_no = wide_of(w, no);
  LLVMValueRef wide = is_mask(condition) ? wide_of(w, condition) : NULL;
  LLVMPositionBuilderBefore(w->builder, mask);
  if (wide && is_all(no, false)) {
    return LLVMBuildAnd(w->builder, wide, without_poison(w, yes, wide_yes), "");
  }
  if (wide && is_all(yes, true)) {
    return LLVMBuildOr(w->builder, wide, without_poison(w, no, wide_no), "");
  }
  return LLVMBuildSelect(w->builder, wide ? sign_mask(w, wide) : condition,
                         wide_yes, wide_no, "");
}

static LLVMValueRef wide_of_two(widening *w, LLVMValueRef mask) {
  LLVMValueRef a = wide_of(w, LLVMGetOperand(mask, 0));
  LLVMValueRef b = wide_of(w, LLVMGetOperand(mask, 1));
  LLVMPositionBuilderBefore(w->builder, mask);
  return LLVMBuildBinOp(w->builder, LLVMGetInstructionOpcode(mask), a, b, "");
}

static LLVMValueRef wide_shuffle(widening *w, LLVMValueRef mask) {
  LLVMValueRef lanes[WIDEST];
  const unsigned count = LLVMGetNumMaskElements(mask);
  for (unsigned i = 0; i < count; i++) {
    const int from = LLVMGetMaskValue(mask, i);
    lanes[i] = from == LLVMGetUndefMaskElem()
                   ? LLVMGetPoison(w->i32)
                   : LLVMConstInt(w->i32, (uint64_t)from, false);
  }
  LLVMValueRef a = wide_of(w, LLVMGetOperand(mask, 0));
  LLVMValueRef b = wide_of(w, LLVMGetOperand(mask, 1));
  LLVMPositionBuilderBefore(w->builder, mask);
  return LLVMBuildShuffleVector(w->builder, a, b,
                                LLVMConstVector(lanes, count), "");
}

static LLVMValueRef wide_insertion(widening *w, LLVMValueRef mask) {
  LLVMValueRef vector = wide_of(w, LLVMGetOperand(mask, 0));
  LLVMPositionBuilderBefore(w->builder, mask);
  LLVMValueRef element =
      LLVMBuildSExt(w->builder, LLVMGetOperand(mask, 1), w->i32, "");
  return LLVMBuildInsertElement(w->builder, vector, element,
                                LLVMGetOperand(mask, 2), "");
}

static LLVMValueRef wide_instruction(widening *w, LLVMValueRef mask) {
  switch (LLVMGetInstructionOpcode(mask)) {
    case LLVMSelect: return wide_select(w, mask);
    case LLVMShuffleVector: return wide_shuffle(w, mask);
    case LLVMInsertElement: return wide_insertion(w, mask);
    case LLVMBitCast:
      LLVMPositionBuilderBefore(w->builder, mask);
      return wide_bits(w, mask);
    case LLVMFreeze: {
      LLVMValueRef wide = wide_of(w, LLVMGetOperand(mask, 0));
      LLVMPositionBuilderBefore(w->builder, mask);
      return LLVMBuildFreeze(w->builder, wide, "");
    }
    default: return wide_of_two(w, mask);
  }
}

// Comparisons, arguments and the like stay masks, with an integer vector made
// of each.
static LLVMValueRef wide_source(widening *w, LLVMValueRef mask) {
  LLVMValueRef before =
      LLVMIsAInstruction(mask)
          ? LLVMGetNextInstruction(mask)
          : LLVMGetFirstInstruction(block_of(mask));
  LLVMPositionBuilderBefore(w->builder, before);
  return LLVMBuildSExt(w->builder, mask, wide_type(w, mask), "");
}

static void add_mask(widening *w, LLVMValueRef mask, LLVMValueRef wide) {
  w->masks = lanes_make_room(&w->arena, w->masks, w->mask_count,
                             &w->mask_capacity, 64, sizeof *w->masks);
  lanes_map_set(&w->arena, &w->numbers, mask, w->mask_count);
  w->masks[w->mask_count++] = (wide_mask){.wide = wide};
}

static LLVMValueRef wide_of(widening *w, LLVMValueRef mask) {
  if (LLVMIsConstant(mask)) {
    return wide_constant(w, mask);
  }
  const uint32_t known = lanes_map_get(&w->numbers, mask);
  if (known != LANES_NONE) {
    return w->masks[known].wide;
  }
  LLVMValueRef wide =
      is_of_masks(mask) ? wide_instruction(w, mask) : wide_source(w, mask);
  add_mask(w, mask, wide);
  return wide;
}

// Adds phis of integers before their incoming values exist, as loops need.
static void add_phis(widening *w, LLVMBasicBlockRef block) {
  for (LLVMValueRef i = LLVMGetFirstInstruction(block); i && LLVMIsAPHINode(i);
       i = LLVMGetNextInstruction(i)) {
    if (is_mask(i)) {
      LLVMPositionBuilderBefore(w->builder, i);
      add_mask(w, i, LLVMBuildPhi(w->builder, wide_type(w, i), ""));
    }
  }
}

static void fill_phi(widening *w, LLVMValueRef phi) {
  LLVMValueRef wide = wide_of(w, phi);
  for (unsigned i = 0; i < LLVMCountIncoming(phi); i++) {
    LLVMValueRef value = wide_of(w, LLVMGetIncomingValue(phi, i));
    LLVMBasicBlockRef from = LLVMGetIncomingBlock(phi, i);
    LLVMAddIncoming(wide, &value, &from, 1);
  }
}

// --- Their uses --------------------------------------------------------------

// Returns the mask of an integer vector, converted once for each block.
static LLVMValueRef narrow_of(widening *w, LLVMValueRef mask,
                              LLVMValueRef use) {
  LLVMValueRef wide = wide_of(w, mask);
  wide_mask *known = &w->masks[lanes_map_get(&w->numbers, mask)];
  LLVMBasicBlockRef block = LLVMGetInstructionParent(use);
  if (known->block != block) {
    LLVMPositionBuilderBefore(w->builder, use);
    known->narrow = sign_mask(w, wide);
    known->block = block;
  }
  return known->narrow;
}

// True if a mask's bits are only compared with 0.
static bool is_any_test(LLVMValueRef bits) {
  if (!LLVMIsABitCastInst(bits) || !LLVMGetFirstUse(bits) ||
      LLVMGetTypeKind(LLVMTypeOf(bits)) != LLVMIntegerTypeKind) {
    return false;
  }
  const unsigned count = lanes_of_mask(LLVMTypeOf(LLVMGetOperand(bits, 0)));
  if (count == 0 || count > NUMBER_BITS) {
    return false;
  }
  for (LLVMUseRef use = LLVMGetFirstUse(bits); use; use = LLVMGetNextUse(use)) {
    LLVMValueRef test = LLVMGetUser(use);
    if (!LLVMIsAICmpInst(test) ||
        (LLVMGetICmpPredicate(test) != LLVMIntEQ &&
         LLVMGetICmpPredicate(test) != LLVMIntNE) ||
        !LLVMIsNull(LLVMGetOperand(test, 1))) {
      return false;
    }
  }
  return true;
}

// Emits a test of a whole register for 0.
static LLVMValueRef any_bits(widening *w, LLVMValueRef bits) {
  LLVMValueRef wide = wide_of(w, LLVMGetOperand(bits, 0));
  LLVMTypeRef type = LLVMTypeOf(wide);
  LLVMPositionBuilderBefore(w->builder, bits);
  LLVMValueRef any = mtlc_call_intrinsic(w->builder, "llvm.vector.reduce.or",
                                         &type, 1, &wide, 1);
  if (LLVMTypeOf(bits) == w->i32) {
    return any;
  }
  LLVMValueRef is_any = LLVMBuildICmp(w->builder, LLVMIntNE, any,
                                      LLVMConstNull(w->i32), "");
  return LLVMBuildSExt(w->builder, is_any, LLVMTypeOf(bits), "");
}

static void use_numbers(widening *w, LLVMValueRef i) {
  for (int k = 0; k < LLVMGetNumOperands(i); k++) {
    LLVMValueRef mask = LLVMGetOperand(i, (unsigned)k);
    if (LLVMIsConstant(mask) || LLVMValueIsBasicBlock(mask) ||
        !is_mask(mask)) {
      continue;
    }
    if (is_of_masks(mask) || block_of(mask) != LLVMGetInstructionParent(i)) {
      LLVMSetOperand(i, (unsigned)k, narrow_of(w, mask, i));
    }
  }
}

static void widen_uses(widening *w, LLVMBasicBlockRef block) {
  LLVMValueRef next = NULL;
  for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = next) {
    next = LLVMGetNextInstruction(i);
    if (is_of_masks(i)) {
      mtlc_values_add(&w->replaced, i);
    } else if (is_any_test(i)) {
      mtlc_replace(i, any_bits(w, i));
    } else {
      use_numbers(w, i);
    }
  }
}

static void widen_in_function(widening *w, LLVMValueRef function) {
  w->numbers = (lanes_map){0};
  w->mask_count = 0;
  w->replaced.count = 0;
  for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block;
       block = LLVMGetNextBasicBlock(block)) {
    add_phis(w, block);
  }
  for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block;
       block = LLVMGetNextBasicBlock(block)) {
    widen_uses(w, block);
  }
  for (size_t n = 0; n < w->replaced.count; n++) {
    if (LLVMIsAPHINode(w->replaced.items[n])) {
      fill_phi(w, w->replaced.items[n]);
    }
  }
  for (size_t n = 0; n < w->replaced.count; n++) {
    LLVMValueRef i = w->replaced.items[n];
    LLVMReplaceAllUsesWith(i, LLVMGetPoison(LLVMTypeOf(i)));
  }
  for (size_t n = 0; n < w->replaced.count; n++) {
    LLVMInstructionEraseFromParent(w->replaced.items[n]);
  }
}

mtl_status mtlc_mask_as_integers(mtlc_kernel *kernel) {
  const lanes_machine machine = lanes_machine_of(kernel->target);
  if (!kernel->is_vectorized || !machine.has_gathers || machine.has_masks) {
    return MTL_OK;
  }
  widening w = {.builder = LLVMCreateBuilderInContext(kernel->context),
                .i32 = LLVMInt32TypeInContext(kernel->context)};
  for (LLVMValueRef function = LLVMGetFirstFunction(kernel->module); function;
       function = LLVMGetNextFunction(function)) {
    if (!LLVMIsDeclaration(function)) {
      widen_in_function(&w, function);
    }
  }
  LLVMDisposeBuilder(w.builder);
  free(w.replaced.items);
  mtli_arena_clear(&w.arena);
  return MTL_OK;
}
