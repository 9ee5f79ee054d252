// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// load_tiles.c: loads of tiles that wait for memory together, and take a
// thread's two elements, which are neighbours, in one access. That needs rows
// that begin at even elements: the program asks once for all loads of a block,
// and does them one by one where they do not.
//
// Requires  calls of mettle.tile.load.* as link_functions left them
// Leaves    in the place of those that lie in a row each a choice between
//           mettle.tile.load_pair.* (ir/text/tiles.ll) and them
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/ir/llvm/calls.h"
#include "compiler/ir/llvm/instructions.h"
#include "compiler/ir/llvm/names.h"
#include "compiler/ir/llvm/split_calls.h"
#include "compiler/ir/llvm/types.h"
#include "compiler/ir/llvm/value_list.h"
#include "compiler/ptx/hoist.h"
#include "compiler/ptx/tiles.h"

enum { SOURCE = 0, ROW = 1, TRANSPOSED = 2, MOST_LOADS = 32 };

static const char load_name[] = "mettle.tile.load.";

typedef struct loading {
  mtlc_kernel *kernel;
  mtlc_types types;
  LLVMBuilderRef builder;
} loading;

static const char *callee_name(LLVMValueRef i) {
  LLVMValueRef callee = LLVMIsACallInst(i) ? mtlc_callee(i) : NULL;
  return callee ? mtlc_name(callee) : "";
}

// True if a tile of floats is the right side of a product, which is loaded with
// rows and columns exchanged.
static bool is_right_of_floats(LLVMValueRef load) {
  for (LLVMUseRef use = LLVMGetFirstUse(load); use; use = LLVMGetNextUse(use)) {
    LLVMValueRef user = LLVMGetUser(use);
    if (mtlc_ptx_is_product(user) && LLVMGetOperand(user, 1) == load) {
      return true;
    }
  }
  return false;
}

static bool is_load(LLVMValueRef i) {
  return mtlc_starts_with(callee_name(i), load_name) &&
         LLVMIsAConstantInt(LLVMGetOperand(i, TRANSPOSED)) &&
         LLVMConstIntGetZExtValue(LLVMGetOperand(i, TRANSPOSED)) == 0 &&
         !is_right_of_floats(i);
}

bool mtlc_ptx_leaves_memory(LLVMValueRef i) {
  const char *name = callee_name(i);
  return LLVMIsACallInst(i)
             ? mtlc_starts_with(name, load_name) || mtlc_ptx_is_product(i) ||
                   mtlc_starts_with(name, "mettle.tile.widen.") ||
                   mtlc_starts_with(name, "llvm.dbg.")
             : !LLVMIsAStoreInst(i) && !LLVMIsAAtomicRMWInst(i) &&
                   !LLVMIsAAtomicCmpXchgInst(i) && !LLVMIsAFenceInst(i);
}

// The loads from first on that can be done there.
static void gather(const loading *l, LLVMValueRef first, mtlc_values *loads) {
  loads->count = 0;
  for (LLVMValueRef i = first;
       i && mtlc_ptx_leaves_memory(i) && loads->count < MOST_LOADS;
       i = LLVMGetNextInstruction(i)) {
    if (is_load(i) &&
        mtlc_ptx_hoist(l->builder, LLVMGetOperand(i, SOURCE), first, false) &&
        mtlc_ptx_hoist(l->builder, LLVMGetOperand(i, ROW), first, false)) {
      mtlc_values_add(loads, i);
    }
  }
}

// An address as a number, in parts, so that LLVM sees which of its low bits a
// loop leaves alone.
static LLVMValueRef number_of(const loading *l, LLVMValueRef pointer) {
  LLVMBuilderRef b = l->builder;
  LLVMTypeRef i64 = l->types.i64;
  LLVMTypeRef element = LLVMIsAGetElementPtrInst(pointer)
                            ? LLVMGetGEPSourceElementType(pointer)
                            : NULL;
  const LLVMTypeKind kind =
      element ? LLVMGetTypeKind(element) : LLVMVoidTypeKind;
  const uint64_t bytes =
      kind == LLVMIntegerTypeKind ? LLVMGetIntTypeWidth(element) / 8
      : kind == LLVMHalfTypeKind || kind == LLVMBFloatTypeKind ? 2
      : kind == LLVMFloatTypeKind                              ? 4
                                                               : 0;
  LLVMValueRef index = bytes ? LLVMGetOperand(pointer, 1) : NULL;
  if (!index || LLVMGetNumOperands(pointer) != 2 || LLVMTypeOf(index) != i64) {
    return LLVMBuildPtrToInt(b, pointer, i64, "");
  }
  return LLVMBuildAdd(
      b, number_of(l, LLVMGetOperand(pointer, 0)),
      LLVMBuildMul(b, index, LLVMConstInt(i64, bytes, false), ""), "");
}

// The bits of address and length of a row that a pair must not have.
static LLVMValueRef odd_bits(const loading *l, LLVMValueRef load) {
  LLVMBuilderRef b = l->builder;
  const uint64_t element = LLVMTypeOf(load) == l->types.i32 ? 2 : 4;
  LLVMTypeRef i64 = l->types.i64;
  LLVMValueRef address = number_of(l, LLVMGetOperand(load, SOURCE));
  LLVMValueRef row = LLVMBuildMul(b, LLVMGetOperand(load, ROW),
                                  LLVMConstInt(i64, element, false), "");
  return LLVMBuildAnd(b, LLVMBuildOr(b, address, row, ""),
                      LLVMConstInt(i64, 2 * element - 1, false), "");
}

static LLVMValueRef pair_function(const loading *l, LLVMTypeRef type) {
  const char *name = type == l->types.i32 ? "mettle.tile.load_pair.i32"
                                          : "mettle.tile.load_pair.i64";
  LLVMValueRef found = LLVMGetNamedFunction(l->kernel->module, name);
  LLVMTypeRef parameters[] = {l->types.pointer, l->types.i64};
  return found ? found
               : LLVMAddFunction(l->kernel->module, name,
                                 LLVMFunctionType(type, parameters, 2, false));
}

// Both forms of all loads, each in a block of its own, in front of the block
// that begins with the first, which is returned.
static LLVMBasicBlockRef replace_all(const loading *l, const mtlc_values *loads,
                                     LLVMValueRef are_pairs) {
  LLVMBuilderRef b = l->builder;
  LLVMBasicBlockRef above = LLVMGetInsertBlock(b);
  LLVMBasicBlockRef rest = mtlc_split_before(loads->items[0], b);
  LLVMBasicBlockRef ways[2];
  LLVMValueRef made[2][MOST_LOADS];
  for (int way = 0; way < 2; way++) {
    ways[way] = LLVMInsertBasicBlockInContext(l->kernel->context, rest, "");
    LLVMPositionBuilderAtEnd(b, ways[way]);
    for (size_t i = 0; i < loads->count; i++) {
      LLVMValueRef load = loads->items[i];
      LLVMValueRef arguments[] = {LLVMGetOperand(load, SOURCE),
                                  LLVMGetOperand(load, ROW),
                                  LLVMGetOperand(load, TRANSPOSED)};
      LLVMValueRef callee =
          way ? mtlc_callee(load) : pair_function(l, LLVMTypeOf(load));
      made[way][i] = mtlc_call(b, callee, arguments, way ? 3 : 2);
    }
    LLVMBuildBr(b, rest);
  }
  LLVMInstructionEraseFromParent(LLVMGetBasicBlockTerminator(above));
  LLVMPositionBuilderAtEnd(b, above);
  LLVMBuildCondBr(b, are_pairs, ways[0], ways[1]);
  for (size_t i = 0; i < loads->count; i++) {
    LLVMPositionBuilderBefore(b, LLVMGetFirstInstruction(rest));
    LLVMValueRef phi = LLVMBuildPhi(b, LLVMTypeOf(loads->items[i]), "");
    LLVMValueRef values[] = {made[0][i], made[1][i]};
    LLVMAddIncoming(phi, values, ways, 2);
    mtlc_replace(loads->items[i], phi);
  }
  return rest;
}

// Returns the block of what is behind the first load.
static LLVMBasicBlockRef load_together(const loading *l,
                                       const mtlc_values *loads) {
  LLVMValueRef first = loads->items[0], odd = NULL;
  for (size_t i = 0; i < loads->count; i++) {
    mtlc_ptx_hoist(l->builder, LLVMGetOperand(loads->items[i], SOURCE), first,
                   true);
    mtlc_ptx_hoist(l->builder, LLVMGetOperand(loads->items[i], ROW), first,
                   true);
  }
  LLVMPositionBuilderBefore(l->builder, first);
  LLVMSetCurrentDebugLocation2(l->builder, NULL);
  for (size_t i = 0; i < loads->count; i++) {
    LLVMValueRef bits = odd_bits(l, loads->items[i]);
    odd = odd ? LLVMBuildOr(l->builder, odd, bits, "") : bits;
  }
  return replace_all(l, loads,
                     LLVMBuildICmp(l->builder, LLVMIntEQ, odd,
                                   LLVMConstNull(l->types.i64), ""));
}

// The first loads of a block that can be done together; false if there are
// none.
static bool find_loads(const loading *l, LLVMBasicBlockRef block,
                       mtlc_values *loads) {
  for (LLVMValueRef i = LLVMGetFirstInstruction(block); i;
       i = LLVMGetNextInstruction(i)) {
    if (is_load(i)) {
      gather(l, i, loads);
      if (loads->count > 1) {
        return true;
      }
    }
  }
  return false;
}

void mtlc_ptx_load_tiles(mtlc_kernel *kernel) {
  loading l = {.kernel = kernel,
               .types = mtlc_types_of(kernel->context),
               .builder = LLVMCreateBuilderInContext(kernel->context)};
  mtlc_values loads = {0};
  for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(kernel->thread); block;
       block = LLVMGetNextBasicBlock(block)) {
    while (find_loads(&l, block, &loads)) {
      block = load_together(&l, &loads);
    }
  }
  free(loads.items);
  LLVMDisposeBuilder(l.builder);
}
