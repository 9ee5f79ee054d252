// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// multiply_tiles.c: in fast math products of tiles by the machine's units for
// matrices. Halves and bfloats go there as they are; a float as two numbers of
// TF32's 11 bits, and of their products all but the smallest: an error of 2^-21
// of each, but infinite floats give NaN.
//
// A fragment of the machine is a tile as docs/ir.md has it, but for two bits of
// the lane's number: so simdgroups are numbered as the machine does, and
// enter_block gives threads their places. The right side is wanted with rows
// and columns exchanged: it is loaded so, or turned by movmatrix. The machine
// multiplies 16 rows: two products of the same right side are one, and one
// alone leaves half of them empty. Of halves and bfloats it multiplies 16
// columns, too: two such that are added to each other are one, for which loops
// of products have two or four turns at once.
//
// Requires  group_class; calls of mettle.tile.* as link_functions left them.
//           Stands back unless the target says "+approximate" (approximate.c),
//           and where threads may be missing or other functions of simdgroups
//           know their lanes.
// Leaves    no calls of mettle.tile.multiply_add; the metadata
//           MTLC_PTX_TURNED; depends_on_whole
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "compiler/ir/kernel/kernel.h"
#include "compiler/ir/llvm/calls.h"
#include "compiler/ir/llvm/instructions.h"
#include "compiler/ir/llvm/marks.h"
#include "compiler/ir/llvm/module.h"
#include "compiler/ir/llvm/types.h"
#include "compiler/ir/llvm/value_list.h"
#include "compiler/ptx/flow.h"
#include "compiler/ptx/ptx.h"
#include "compiler/ptx/tiles.h"

enum {
  LEAST_CAPABILITY = 80,
  LEFT = MTLC_PTX_LEFT,
  RIGHT = MTLC_PTX_RIGHT,
  SUM = MTLC_PTX_SUM,
};

typedef enum elements { FLOAT, HALF, BFLOAT } elements;

typedef struct lowering {
  mtlc_kernel *kernel;
  mtlc_types types;
  LLVMBuilderRef builder;
  mtlc_ptx_flow flow;
} lowering;

// --- code --------------------------------------------------------------------

static void mark(LLVMValueRef call, const char *name) {
  const unsigned number = LLVMGetEnumAttributeKindForName(name, strlen(name));
  LLVMAddCallSiteAttribute(
      call, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
      LLVMCreateEnumAttribute(LLVMGetTypeContext(LLVMTypeOf(call)), number, 0));
}

// Returns an instruction of the machine that all threads execute together; it
// touches no memory.
static LLVMValueRef machine(LLVMBuilderRef b, LLVMTypeRef result,
                            const char *text, const char *constraints,
                            LLVMValueRef *arguments, unsigned count) {
  LLVMTypeRef types[16];
  for (unsigned i = 0; i < count; i++) {
    types[i] = LLVMTypeOf(arguments[i]);
  }
  LLVMTypeRef type = LLVMFunctionType(result, types, count, false);
  LLVMValueRef code = LLVMGetInlineAsm(
      type, (char *)text, strlen(text), (char *)constraints,
      strlen(constraints), false, false, LLVMInlineAsmDialectATT, false);
  LLVMValueRef call = LLVMBuildCall2(b, type, code, arguments, count, "");
  mark(call, "convergent");
  mark(call, "nounwind");
  mark(call, "willreturn");
  mark(call, "memory");  // 0: none
  return call;
}

static LLVMValueRef number(const lowering *l, uint32_t value) {
  return mtlc_i32(l->kernel->context, value);
}

// Returns the two words of a tile of floats.
static LLVMValueRef word(const lowering *l, LLVMValueRef tile, uint32_t i) {
  LLVMTypeRef pair = LLVMVectorType(l->types.i32, 2);
  LLVMValueRef words = LLVMBuildBitCast(l->builder, tile, pair, "");
  return LLVMBuildExtractElement(l->builder, words, number(l, i), "");
}

static LLVMValueRef as_float(const lowering *l, LLVMValueRef bits) {
  return LLVMBuildBitCast(l->builder, bits, l->types.f32, "");
}

// --- operands ----------------------------------------------------------------

// Returns the narrow tile that a tile of floats was widened from; NULL if none.
static LLVMValueRef narrow(LLVMValueRef tile, elements *out_kind) {
  const char *name = mtlc_callee_name(tile);
  *out_kind = strcmp(name, "mettle.tile.widen.f16") == 0    ? HALF
              : strcmp(name, "mettle.tile.widen.bf16") == 0 ? BFLOAT
                                                            : FLOAT;
  return *out_kind == FLOAT ? NULL : LLVMGetOperand(tile, 0);
}

static elements kind_of(LLVMValueRef call) {
  elements left, right;
  (void)narrow(LLVMGetOperand(call, LEFT), &left);
  (void)narrow(LLVMGetOperand(call, RIGHT), &right);
  return left == right ? left : FLOAT;
}

bool mtlc_ptx_is_narrow_product(LLVMValueRef product) {
  return kind_of(product) != FLOAT;
}

static const char movmatrix[] = "movmatrix.sync.aligned.m8n8.trans.b16 $0, $1;";

LLVMValueRef mtlc_ptx_turn(LLVMContextRef context, LLVMBuilderRef builder,
                           LLVMValueRef tile) {
  return machine(builder, LLVMInt32TypeInContext(context), movmatrix, "=r,r",
                 &tile, 1);
}

// Returns the tile that was turned to make another; NULL if none was.
static LLVMValueRef turned_from(LLVMValueRef tile) {
  LLVMValueRef code = LLVMIsACallInst(tile) ? LLVMGetCalledValue(tile) : NULL;
  size_t length = 0;
  return code && LLVMIsAInlineAsm(code) &&
                 strcmp(LLVMGetInlineAsmAsmString(code, &length), movmatrix) ==
                     0
             ? LLVMGetOperand(tile, 0)
             : NULL;
}

static LLVMValueRef turn_word(const lowering *l, LLVMValueRef tile) {
  return mtlc_ptx_turn(l->kernel->context, l->builder, tile);
}

// Transposes the lower and the upper halves of two words, each as a tile.
static LLVMValueRef turn_floats(const lowering *l, LLVMValueRef tile) {
  LLVMBuilderRef b = l->builder;
  LLVMValueRef first = word(l, tile, 0), second = word(l, tile, 1);
  LLVMValueRef sixteen = number(l, 16), low = number(l, 0xffff);
  LLVMValueRef high = number(l, 0xffff0000);
  LLVMValueRef lows =
      turn_word(l, LLVMBuildOr(b, LLVMBuildAnd(b, first, low, ""),
                               LLVMBuildShl(b, second, sixteen, ""), ""));
  LLVMValueRef highs =
      turn_word(l, LLVMBuildOr(b, LLVMBuildLShr(b, first, sixteen, ""),
                               LLVMBuildAnd(b, second, high, ""), ""));
  LLVMValueRef words[2] = {LLVMBuildOr(b, LLVMBuildAnd(b, lows, low, ""),
                                       LLVMBuildShl(b, highs, sixteen, ""), ""),
                           LLVMBuildOr(b, LLVMBuildLShr(b, lows, sixteen, ""),
                                       LLVMBuildAnd(b, highs, high, ""), "")};
  LLVMTypeRef pair = LLVMVectorType(l->types.i32, 2);
  LLVMValueRef both = LLVMGetPoison(pair);
  for (uint32_t i = 0; i < 2; i++) {
    both = LLVMBuildInsertElement(b, both, words[i], number(l, i), "");
  }
  return LLVMBuildBitCast(b, both, l->types.i64, "");
}

// Loads the same tile again with rows and columns exchanged; NULL if the tile
// is not loaded here.
static LLVMValueRef load_turned(const lowering *l, LLVMValueRef tile) {
  if (!mtlc_is_call_of(tile, "mettle.tile.load.")) {
    return NULL;
  }
  LLVMPositionBuilderBefore(l->builder, LLVMGetNextInstruction(tile));
  LLVMValueRef arguments[] = {
      LLVMGetOperand(tile, 0), LLVMGetOperand(tile, 1),
      LLVMBuildNot(l->builder, LLVMGetOperand(tile, 2), "")};
  return mtlc_call(l->builder, mtlc_callee(tile), arguments, 3);
}

// Returns the right side's tile, turned, where it can be used; each only once.
static LLVMValueRef turned(const lowering *l, LLVMValueRef tile,
                           LLVMValueRef at, mtlc_values *tiles,
                           mtlc_values *made) {
  for (size_t i = 0; i < tiles->count; i++) {
    if (tiles->items[i] == tile) {
      return made->items[i];
    }
  }
  const bool is_narrow = LLVMTypeOf(tile) == l->types.i32;
  LLVMValueRef before = is_narrow ? turned_from(tile) : NULL;
  if (before) {
    return before;
  }
  LLVMValueRef result = is_narrow ? NULL : load_turned(l, tile);
  if (!result) {
    const bool is_early =
        LLVMIsAInstruction(tile) && mtlc_ptx_is_for_all(&l->flow, tile);
    if (is_early) {
      mtlc_position_behind_phis(l->builder, LLVMGetNextInstruction(tile));
    } else {
      LLVMPositionBuilderBefore(l->builder, at);
    }
    result = is_narrow ? turn_word(l, tile) : turn_floats(l, tile);
    if (!is_early) {
      return result;  // its result is not used elsewhere
    }
  }
  mtlc_values_add(tiles, tile);
  mtlc_values_add(made, result);
  return result;
}

// --- products ----------------------------------------------------------------

typedef struct product {
  LLVMValueRef left[4];   // tiles above each other, then those beside them;
                          // NULL for none
  LLVMValueRef right[2];  // transposed; the second NULL for none
  LLVMValueRef sum[4];    // floats: two of each
} product;

static void multiply(const lowering *l, product *p, const char *text,
                     LLVMValueRef *factors, unsigned count,
                     const char *constraints) {
  LLVMValueRef arguments[16];
  memcpy(arguments, factors, count * sizeof *factors);
  memcpy(arguments + count, p->sum, sizeof p->sum);
  LLVMTypeRef floats[] = {l->types.f32, l->types.f32, l->types.f32,
                          l->types.f32};
  LLVMTypeRef four =
      LLVMStructTypeInContext(l->kernel->context, floats, 4, false);
  LLVMValueRef result =
      machine(l->builder, four, text, constraints, arguments, count + 4);
  for (unsigned i = 0; i < 4; i++) {
    p->sum[i] = LLVMBuildExtractValue(l->builder, result, i, "");
  }
}

static void multiply_narrow(const lowering *l, product *p, elements kind) {
  static const char *const texts[2][2] = {
      {"mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 "
       "{$0,$1,$2,$3}, {$4,$5}, {$6}, {$7,$8,$9,$10};",
       "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 "
       "{$0,$1,$2,$3}, {$4,$5}, {$6}, {$7,$8,$9,$10};"},
      {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
       "{$0,$1,$2,$3}, {$4,$5,$6,$7}, {$8,$9}, {$10,$11,$12,$13};",
       "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
       "{$0,$1,$2,$3}, {$4,$5,$6,$7}, {$8,$9}, {$10,$11,$12,$13};"}};
  const bool is_long = p->right[1] != NULL;
  LLVMValueRef factors[6];
  unsigned count = 0;
  for (int i = 0; i < (is_long ? 4 : 2); i++) {
    factors[count++] = p->left[i] ? p->left[i] : number(l, 0);
  }
  factors[count++] = p->right[0];
  if (is_long) {
    factors[count++] = p->right[1];
  }
  multiply(l, p, texts[is_long][kind == BFLOAT], factors, count,
           is_long ? "=f,=f,=f,=f,r,r,r,r,r,r,f,f,f,f"
                   : "=f,=f,=f,=f,r,r,r,f,f,f,f");
}

// Splits a float into two TF32 numbers of 11 significant bits: the rounded
// value, and the rounded remainder.
static void split(const lowering *l, LLVMValueRef bits, LLVMValueRef *large,
                  LLVMValueRef *small) {
  static const char text[] = "cvt.rna.tf32.f32 $0, $1;";
  LLVMValueRef value = as_float(l, bits);
  *large = machine(l->builder, l->types.i32, text, "=r,f", &value, 1);
  LLVMValueRef rest = LLVMBuildFSub(l->builder, value, as_float(l, *large), "");
  *small = machine(l->builder, l->types.i32, text, "=r,f", &rest, 1);
}

// Elements 2 t and 2 t + 1 of a row's eight become t and t + 4: the order is
// free.
static void multiply_floats(const lowering *l, product *p) {
  static const char text[] =
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
      "{$0,$1,$2,$3}, {$4,$5,$6,$7}, {$8,$9}, {$10,$11,$12,$13};";
  static const char constraints[] = "=f,=f,=f,=f,r,r,r,r,r,r,f,f,f,f";
  LLVMValueRef left[2][4], right[2][2];  // large, small
  for (uint32_t i = 0; i < 4; i++) {
    LLVMValueRef tile = p->left[i % 2];
    left[0][i] = left[1][i] = number(l, 0);
    if (tile) {
      split(l, word(l, tile, i / 2), &left[0][i], &left[1][i]);
    }
  }
  for (uint32_t i = 0; i < 2; i++) {
    split(l, word(l, p->right[0], i), &right[0][i], &right[1][i]);
  }
  static const int order[3][2] = {{1, 0}, {0, 1}, {0, 0}};
  for (int i = 0; i < 3; i++) {
    const LLVMValueRef *a = left[order[i][0]], *b = right[order[i][1]];
    LLVMValueRef factors[] = {a[0], a[1], a[2], a[3], b[0], b[1]};
    multiply(l, p, text, factors, 6, constraints);
  }
}

LLVMValueRef mtlc_ptx_join(LLVMContextRef context, LLVMBuilderRef builder,
                           const LLVMValueRef own[2], LLVMTypeRef tile) {
  LLVMTypeRef pair = LLVMVectorType(LLVMTypeOf(own[0]), 2);
  LLVMValueRef both = LLVMGetPoison(pair);
  for (uint32_t i = 0; i < 2; i++) {
    both =
        LLVMBuildInsertElement(builder, both, own[i], mtlc_i32(context, i), "");
  }
  return LLVMBuildBitCast(builder, both, tile, "");
}

// --- products that are one ---------------------------------------------------

static bool uses(LLVMValueRef instruction, LLVMValueRef value) {
  const int count = LLVMGetNumOperands(instruction);
  for (int i = 0; i < count; i++) {
    if (LLVMGetOperand(instruction, (unsigned)i) == value) {
      return true;
    }
  }
  return false;
}

// Moves the casts of a product's result to where the block uses them, or to its
// end: products are merged before the first use of their results.
static void sink_casts(LLVMBuilderRef builder, LLVMValueRef call) {
  LLVMBasicBlockRef block = LLVMGetInstructionParent(call);
  for (LLVMUseRef use = LLVMGetFirstUse(call); use; use = LLVMGetNextUse(use)) {
    LLVMValueRef cast = LLVMGetUser(use);
    if (!LLVMIsABitCastInst(cast) || LLVMGetInstructionParent(cast) != block) {
      continue;
    }
    LLVMValueRef at = LLVMGetNextInstruction(cast);
    while (!LLVMIsATerminatorInst(at) && !uses(at, cast)) {
      at = LLVMGetNextInstruction(at);
    }
    LLVMInstructionRemoveFromParent(cast);
    LLVMPositionBuilderBefore(builder, at);
    LLVMInsertIntoBuilder(builder, cast);
  }
}

bool mtlc_ptx_is_product(LLVMValueRef instruction) {
  return strcmp(mtlc_callee_name(instruction), "mettle.tile.multiply_add") == 0;
}

// Returns the next product with the same right side and kind, before the
// first's result is used; NULL if there is none.
static LLVMValueRef find_second(LLVMValueRef first) {
  for (LLVMValueRef at = LLVMGetNextInstruction(first); at;
       at = LLVMGetNextInstruction(at)) {
    if (uses(at, first)) {
      return NULL;
    }
    if (mtlc_ptx_is_product(at) &&
        LLVMGetOperand(at, RIGHT) == LLVMGetOperand(first, RIGHT) &&
        kind_of(at) == kind_of(first)) {
      return at;
    }
  }
  return NULL;
}

// Returns the product of the same kind and block that is the only user of the
// first's result, as its addend; NULL if there is none.
static LLVMValueRef find_next(LLVMValueRef first) {
  LLVMUseRef use = LLVMGetFirstUse(first);
  LLVMValueRef user = use && !LLVMGetNextUse(use) ? LLVMGetUser(use) : NULL;
  return user && mtlc_ptx_is_product(user) &&
                 LLVMGetInstructionParent(user) ==
                     LLVMGetInstructionParent(first) &&
                 LLVMGetOperand(user, SUM) == first &&
                 kind_of(user) == kind_of(first)
             ? user
             : NULL;
}

LLVMValueRef mtlc_ptx_find_products(LLVMValueRef first, LLVMValueRef calls[4]) {
  calls[0] = first;
  calls[1] = find_second(first);
  calls[2] = calls[3] = NULL;
  LLVMValueRef last = calls[1] ? calls[1] : first;
  LLVMValueRef next = kind_of(first) == FLOAT ? NULL : find_next(first);
  if (next && !calls[1]) {
    calls[2] = next;
    return next;
  }
  LLVMValueRef below = next ? find_next(calls[1]) : NULL;
  if (below && (find_second(next) == below || find_second(below) == next)) {
    calls[2] = next;
    calls[3] = below;
    return find_second(next) == below ? below : next;
  }
  return last;
}

// --- code in their place -----------------------------------------------------

LLVMValueRef mtlc_ptx_factor(LLVMValueRef call, unsigned side) {
  LLVMValueRef tile = LLVMGetOperand(call, side);
  return kind_of(call) == FLOAT ? tile : LLVMGetOperand(tile, 0);
}

static void build(const lowering *l, product *p, LLVMValueRef calls[4],
                  LLVMValueRef at) {
  LLVMPositionBuilderBefore(l->builder, at);
  LLVMValueRef zero = LLVMConstReal(l->types.f32, 0);
  for (int i = 0; i < 4; i++) {
    p->left[i] = calls[i] ? mtlc_ptx_factor(calls[i], LEFT) : NULL;
  }
  for (int i = 0; i < 2; i++) {
    LLVMValueRef sum = calls[i] ? LLVMGetOperand(calls[i], SUM) : NULL;
    for (uint32_t n = 0; n < 2; n++) {
      p->sum[2 * i + (int)n] = sum ? as_float(l, word(l, sum, n)) : zero;
    }
  }
  const elements kind = kind_of(calls[0]);
  if (kind == FLOAT) {
    multiply_floats(l, p);
  } else {
    multiply_narrow(l, p, kind);
  }
}

// Replaces all products that are merged with the first.
static void replace(const lowering *l, LLVMValueRef first, mtlc_values *tiles,
                    mtlc_values *made) {
  LLVMValueRef calls[4];
  LLVMValueRef at = mtlc_ptx_find_products(first, calls);
  product p = {0};
  for (int i = 0; i < 2; i++) {
    if (calls[2 * i]) {
      p.right[i] =
          turned(l, mtlc_ptx_factor(calls[2 * i], RIGHT), at, tiles, made);
    }
  }
  build(l, &p, calls, at);
  for (int i = 0; i < 2; i++) {
    LLVMValueRef last = calls[2 + i] ? calls[2 + i] : calls[i];
    if (!last) {
      continue;
    }
    mtlc_replace(last, mtlc_ptx_join(l->kernel->context, l->builder,
                                     &p.sum[2 * i], l->types.i64));
    if (last != calls[i]) {
      LLVMInstructionEraseFromParent(calls[i]);
    }
  }
}

LLVMValueRef mtlc_ptx_next_product(LLVMValueRef at) {
  while (at && !mtlc_ptx_is_product(at)) {
    at = LLVMGetNextInstruction(at);
  }
  return at;
}

static void replace_block(const lowering *l, LLVMBasicBlockRef block,
                          mtlc_values *tiles, mtlc_values *made) {
  LLVMValueRef first;
  while ((first = mtlc_ptx_next_product(LLVMGetFirstInstruction(block))) !=
         NULL) {
    replace(l, first, tiles, made);
  }
}

// --- the kernel --------------------------------------------------------------

static void sink_all_casts(const lowering *l) {
  mtlc_values calls = {0};
  mtlc_collect_calls(l->kernel->module, "mettle.tile.multiply_add", &calls);
  for (size_t i = 0; i < calls.count; i++) {
    sink_casts(l->builder, calls.items[i]);
  }
  free(calls.items);
}

static size_t count_calls(const mtlc_kernel *kernel, const char *prefix) {
  mtlc_values calls = {0};
  mtlc_collect_calls(kernel->module, prefix, &calls);
  free(calls.items);
  return calls.count;
}

// True if all products are where no thread is missing, in the thread itself.
static bool are_for_all(const lowering *l) {
  mtlc_values calls = {0};
  mtlc_collect_calls(l->kernel->module, "mettle.tile.multiply_add", &calls);
  bool are = true;
  for (size_t i = 0; i < calls.count && are; i++) {
    LLVMValueRef function =
        LLVMGetBasicBlockParent(LLVMGetInstructionParent(calls.items[i]));
    are = function == l->kernel->thread &&
          mtlc_ptx_is_for_all(&l->flow, calls.items[i]);
  }
  free(calls.items);
  return are;
}

mtl_status mtlc_ptx_multiply_tiles(mtlc_kernel *kernel) {
  if (!kernel->may_approximate || kernel->library->math_mode != MTL_MATH_FAST ||
      mtlc_ptx_capability(kernel->target) < LEAST_CAPABILITY ||
      count_calls(kernel, "mettle.tile.multiply_add") == 0 ||
      count_calls(kernel, "mettle.simd.") != 0) {
    return MTL_OK;
  }
  MTL_TRY(mtlc_ptx_narrow_tiles(kernel));
  kernel->facts.depends_on_whole = true;
  lowering l = {.kernel = kernel,
                .types = mtlc_types_of(kernel->context),
                .builder = LLVMCreateBuilderInContext(kernel->context)};
  mtlc_ptx_find_flow(kernel, &l.flow);
  mtl_status status = MTL_OK;
  const bool are = are_for_all(&l);
  if (are) {
    status = mtlc_ptx_unroll_products(kernel);
    if (status == MTL_OK) {
      sink_all_casts(&l);
      mtlc_ptx_load_tiles(kernel);
    }
    mtli_arena_clear(&l.flow.arena);
    mtlc_ptx_find_flow(kernel, &l.flow);  // there are other blocks now
  }
  if (are && status == MTL_OK) {
    mtlc_values tiles = {0}, made = {0};
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(kernel->thread);
         block; block = LLVMGetNextBasicBlock(block)) {
      replace_block(&l, block, &tiles, &made);
    }
    free(tiles.items);
    free(made.items);
    LLVMGetOrInsertNamedMetadata(kernel->module, MTLC_PTX_TURNED,
                                 sizeof MTLC_PTX_TURNED - 1);
  }
  LLVMDisposeBuilder(l.builder);
  mtli_arena_clear(&l.flow.arena);
  return status;
}
