// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// load_tiles.c: loads of tiles that wait for memory together, and take a
// thread's two elements, which are neighbours, in one access. That needs rows
// that begin at even elements: the program asks once for all loads of a block,
// and does them one by one where they do not. Tiles of 16 bits in threadgroup
// memory are loaded by ldmatrix, those of the right side turned, if rows begin
// at multiples of 16 bytes (load_matrices.c).
//
// Requires  calls of mettle.tile.load.* as link_functions left them
// Leaves    in the place of those that lie in a row each a choice between
//           mettle.tile.load_pair.* (ir/text/tiles.ll) or ldmatrix and them
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

enum {
  SOURCE = MTLC_PTX_SOURCE,
  ROW = MTLC_PTX_ROW,
  TRANSPOSED = MTLC_PTX_TRANSPOSED,
  MOST_LOADS = MTLC_PTX_MOST_LOADS,
};

static const char load_name[] = "mettle.tile.load.";

typedef struct loading {
  mtlc_kernel *kernel;
  mtlc_types types;
  LLVMBuilderRef builder;
  bool are_all_threads;  // in the current block
} loading;

// How a load is performed if its rows allow it.
typedef struct form {
  bool is_matrix;  // by ldmatrix
  bool is_turned;  // the load yields the tile with rows and columns exchanged
  bool is_transposed;  // rows and columns are exchanged on the way
} form;

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

static bool is_transposed(LLVMValueRef load) {
  return LLVMConstIntGetZExtValue(LLVMGetOperand(load, TRANSPOSED)) != 0;
}

static bool is_matrix(const loading *l, LLVMValueRef load) {
  return l->are_all_threads && mtlc_ptx_is_matrix(load);
}

static bool is_load(const loading *l, LLVMValueRef i) {
  return mtlc_is_call_of(i, load_name) &&
         LLVMIsAConstantInt(LLVMGetOperand(i, TRANSPOSED)) &&
         (!is_transposed(i) || is_matrix(l, i)) && !is_right_of_floats(i);
}

// True if a barrier orders no memory: then loads may be done before it.
static bool orders_nothing(LLVMValueRef call, const char *name) {
  return strcmp(name, "mettle.barrier.simdgroup") == 0 &&
         LLVMIsNull(LLVMGetOperand(call, 0));
}

bool mtlc_ptx_leaves_memory(LLVMValueRef i) {
  const char *name = mtlc_callee_name(i);
  return LLVMIsACallInst(i)
             ? orders_nothing(i, name) || mtlc_starts_with(name, load_name) ||
                   mtlc_ptx_is_product(i) ||
                   mtlc_starts_with(name, "mettle.tile.widen.") ||
                   mtlc_starts_with(name, "llvm.dbg.")
             : !LLVMIsAStoreInst(i) && !LLVMIsAAtomicRMWInst(i) &&
                   !LLVMIsAAtomicCmpXchgInst(i) && !LLVMIsAFenceInst(i);
}

// Collects the loads from first on that can be done there.
static void gather(const loading *l, LLVMValueRef first, mtlc_values *loads) {
  loads->count = 0;
  for (LLVMValueRef i = first;
       i && mtlc_ptx_leaves_memory(i) && loads->count < MOST_LOADS;
       i = LLVMGetNextInstruction(i)) {
    if (is_load(l, i) &&
        mtlc_ptx_hoist(l->builder, LLVMGetOperand(i, SOURCE), first, false) &&
        mtlc_ptx_hoist(l->builder, LLVMGetOperand(i, ROW), first, false)) {
      mtlc_values_add(loads, i);
    }
  }
}

LLVMValueRef mtlc_ptx_address_number(LLVMBuilderRef b, LLVMTypeRef i64,
                                     LLVMValueRef pointer) {
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
      b, mtlc_ptx_address_number(b, i64, LLVMGetOperand(pointer, 0)),
      LLVMBuildMul(b, index, LLVMConstInt(i64, bytes, false), ""), "");
}

// True if a tile, widened, is the right side of products of 16 bits alone.
static bool is_right_only(LLVMValueRef load) {
  for (LLVMUseRef use = LLVMGetFirstUse(load); use; use = LLVMGetNextUse(use)) {
    LLVMValueRef wide = LLVMGetUser(use);
    if (!mtlc_is_call_of(wide, "mettle.tile.widen.")) {
      return false;
    }
    for (LLVMUseRef of = LLVMGetFirstUse(wide); of; of = LLVMGetNextUse(of)) {
      LLVMValueRef product = LLVMGetUser(of);
      if (!mtlc_ptx_is_product(product) ||
          !mtlc_ptx_is_narrow_product(product) ||
          LLVMGetOperand(product, MTLC_PTX_RIGHT) != wide ||
          LLVMGetOperand(product, MTLC_PTX_LEFT) == wide) {
        return false;
      }
    }
  }
  return true;
}

static form form_of(const loading *l, LLVMValueRef load) {
  const bool is = is_matrix(l, load);
  const bool is_turned = is && is_right_only(load);
  return (form){.is_matrix = is,
                .is_turned = is_turned,
                .is_transposed = is_turned != is_transposed(load)};
}

// Returns the bits of address and length of a row that a load's form must not
// have.
static LLVMValueRef odd_bits(const loading *l, LLVMValueRef load) {
  LLVMBuilderRef b = l->builder;
  const uint64_t element = LLVMTypeOf(load) == l->types.i32 ? 2 : 4;
  LLVMTypeRef i64 = l->types.i64;
  LLVMValueRef address =
      mtlc_ptx_address_number(b, i64, LLVMGetOperand(load, SOURCE));
  LLVMValueRef row = LLVMBuildMul(b, LLVMGetOperand(load, ROW),
                                  LLVMConstInt(i64, element, false), "");
  return LLVMBuildAnd(
      b, LLVMBuildOr(b, address, row, ""),
      LLVMConstInt(
          i64,
          is_matrix(l, load) ? MTLC_PTX_MATRIX_ROW_BYTES - 1 : 2 * element - 1,
          false),
      "");
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

// The order of loads in which one machine product's operands are in
// neighbouring registers.
typedef struct places {
  size_t items[MOST_LOADS], count;
} places;

static void add_place(places *p, const mtlc_values *loads, LLVMValueRef tile) {
  size_t place = 0, at = 0;
  while (place < loads->count && loads->items[place] != tile) {
    place++;
  }
  while (at < p->count && p->items[at] != place) {
    at++;
  }
  if (place < loads->count && at == p->count) {
    p->items[p->count++] = place;
  }
}

static void order_loads(const mtlc_values *loads, places *out_places) {
  mtlc_values done = {0};
  out_places->count = 0;
  for (LLVMValueRef at = mtlc_ptx_next_product(loads->items[0]); at;
       at = mtlc_ptx_next_product(LLVMGetNextInstruction(at))) {
    LLVMValueRef calls[4];
    if (mtlc_values_has(&done, at)) {
      continue;
    }
    (void)mtlc_ptx_find_products(at, calls);
    for (unsigned i = 0; i < 8; i++) {
      LLVMValueRef call = calls[i % 4];
      if (call) {
        add_place(
            out_places, loads,
            mtlc_ptx_factor(call, i < 4 ? MTLC_PTX_LEFT : MTLC_PTX_RIGHT));
        mtlc_values_add(&done, call);
      }
    }
  }
  free(done.items);
  for (size_t i = 0; i < loads->count; i++) {
    add_place(out_places, loads, loads->items[i]);
  }
}

// Emits the loads that ldmatrix does alike.
static void load_matrices(const loading *l, const mtlc_values *loads,
                          const form *forms, const places *order,
                          bool is_transposed, LLVMValueRef *made) {
  LLVMValueRef these[MOST_LOADS] = {0}, tiles[MOST_LOADS];
  size_t from[MOST_LOADS], count = 0;
  for (size_t n = 0; n < order->count; n++) {
    const size_t i = order->items[n];
    if (forms[i].is_matrix && forms[i].is_transposed == is_transposed) {
      from[count] = i;
      these[count++] = loads->items[i];
    }
  }
  mtlc_ptx_load_matrices(l->kernel, l->builder, these, count, is_transposed,
                         tiles);
  for (size_t i = 0; i < count; i++) {
    made[from[i]] = tiles[i];
  }
}

static void load_as_rows_allow(const loading *l, const mtlc_values *loads,
                               const form *forms, const places *order,
                               LLVMValueRef *made) {
  for (size_t i = 0; i < loads->count; i++) {
    LLVMValueRef load = loads->items[i];
    if (!forms[i].is_matrix) {
      LLVMValueRef arguments[] = {LLVMGetOperand(load, SOURCE),
                                  LLVMGetOperand(load, ROW)};
      made[i] = mtlc_call(l->builder, pair_function(l, LLVMTypeOf(load)),
                          arguments, 2);
    }
  }
  load_matrices(l, loads, forms, order, false, made);
  load_matrices(l, loads, forms, order, true, made);
}

static void load_one_by_one(const loading *l, const mtlc_values *loads,
                            const form *forms, LLVMValueRef *made) {
  for (size_t i = 0; i < loads->count; i++) {
    LLVMValueRef load = loads->items[i];
    LLVMValueRef arguments[] = {LLVMGetOperand(load, SOURCE),
                                LLVMGetOperand(load, ROW),
                                LLVMGetOperand(load, TRANSPOSED)};
    made[i] = mtlc_call(l->builder, mtlc_callee(load), arguments, 3);
    if (forms[i].is_turned) {
      made[i] = mtlc_ptx_turn(l->kernel->context, l->builder, made[i]);
    }
  }
}

// Emits both forms of all loads, each in a block of its own, in front of the
// block that begins with the first, which is returned. A tile of the right side
// is loaded transposed, and transposed back for other users.
static LLVMBasicBlockRef replace_all(const loading *l, const mtlc_values *loads,
                                     LLVMValueRef do_rows_allow) {
  LLVMBuilderRef b = l->builder;
  places order;
  order_loads(loads, &order);
  LLVMBasicBlockRef above = LLVMGetInsertBlock(b);
  LLVMBasicBlockRef rest = mtlc_split_before(loads->items[0], b);
  LLVMBasicBlockRef ways[2];
  LLVMValueRef made[2][MOST_LOADS];
  form forms[MOST_LOADS];
  for (size_t i = 0; i < loads->count; i++) {
    forms[i] = form_of(l, loads->items[i]);
  }
  for (int way = 0; way < 2; way++) {
    ways[way] = LLVMInsertBasicBlockInContext(l->kernel->context, rest, "");
    LLVMPositionBuilderAtEnd(b, ways[way]);
    if (way == 0) {
      load_as_rows_allow(l, loads, forms, &order, made[way]);
    } else {
      load_one_by_one(l, loads, forms, made[way]);
    }
    LLVMBuildBr(b, rest);
  }
  LLVMInstructionEraseFromParent(LLVMGetBasicBlockTerminator(above));
  LLVMPositionBuilderAtEnd(b, above);
  LLVMBuildCondBr(b, do_rows_allow, ways[0], ways[1]);
  for (size_t i = 0; i < loads->count; i++) {
    LLVMPositionBuilderBefore(b, LLVMGetFirstInstruction(rest));
    LLVMValueRef tile = LLVMBuildPhi(b, LLVMTypeOf(loads->items[i]), "");
    LLVMValueRef values[] = {made[0][i], made[1][i]};
    LLVMAddIncoming(tile, values, ways, 2);
    if (forms[i].is_turned) {
      LLVMPositionBuilderBefore(b, loads->items[i]);
      tile = mtlc_ptx_turn(l->kernel->context, b, tile);
    }
    mtlc_replace(loads->items[i], tile);
  }
  return rest;
}

// Splits the block behind the first load and returns the second part.
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

// Finds the first loads of a block that can be done together; false if there
// are none.
static bool find_loads(const loading *l, LLVMBasicBlockRef block,
                       mtlc_values *loads) {
  for (LLVMValueRef i = LLVMGetFirstInstruction(block); i;
       i = LLVMGetNextInstruction(i)) {
    if (is_load(l, i)) {
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
    l.are_all_threads =  // as in the product's block
        mtlc_ptx_next_product(LLVMGetFirstInstruction(block)) != NULL;
    while (find_loads(&l, block, &loads)) {
      block = load_together(&l, &loads);
    }
  }
  free(loads.items);
  LLVMDisposeBuilder(l.builder);
}
