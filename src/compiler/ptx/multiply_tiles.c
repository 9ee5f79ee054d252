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
// alone leaves half of them empty.
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
#include "compiler/ir/llvm/names.h"
#include "compiler/ir/llvm/types.h"
#include "compiler/ir/llvm/value_list.h"
#include "compiler/ptx/flow.h"
#include "compiler/ptx/ptx.h"

enum { LEAST_CAPABILITY = 80, LEFT = 0, RIGHT = 1, SUM = 2 };

typedef enum elements { FLOAT, HALF, BFLOAT } elements;

typedef struct lowering {
  mtlc_kernel *kernel;
  mtlc_types types;
  LLVMBuilderRef builder;
  mtlc_ptx_flow flow;
} lowering;

// --- code --------------------------------------------------------------------

static void mark(const lowering *l, LLVMValueRef call, const char *name) {
  const unsigned number = LLVMGetEnumAttributeKindForName(name, strlen(name));
  LLVMAddCallSiteAttribute(
      call, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
      LLVMCreateEnumAttribute(l->kernel->context, number, 0));
}

// An instruction of the machine that all threads execute together; it touches
// no memory.
static LLVMValueRef machine(const lowering *l, LLVMTypeRef result,
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
  LLVMValueRef call =
      LLVMBuildCall2(l->builder, type, code, arguments, count, "");
  mark(l, call, "convergent");
  mark(l, call, "nounwind");
  mark(l, call, "willreturn");
  mark(l, call, "memory");  // 0: none
  return call;
}

static LLVMValueRef number(const lowering *l, uint32_t value) {
  return mtlc_i32(l->kernel->context, value);
}

// The two words of a tile of floats.
static LLVMValueRef word(const lowering *l, LLVMValueRef tile, uint32_t i) {
  LLVMTypeRef pair = LLVMVectorType(l->types.i32, 2);
  LLVMValueRef words = LLVMBuildBitCast(l->builder, tile, pair, "");
  return LLVMBuildExtractElement(l->builder, words, number(l, i), "");
}

static LLVMValueRef as_float(const lowering *l, LLVMValueRef bits) {
  return LLVMBuildBitCast(l->builder, bits, l->types.f32, "");
}

// --- operands ----------------------------------------------------------------

// The narrow tile that a tile of floats was widened from; NULL if none.
static LLVMValueRef narrow(LLVMValueRef tile, elements *out_kind) {
  LLVMValueRef callee =
      LLVMIsACallInst(tile) ? mtlc_callee(tile) : NULL;
  const char *name = callee ? mtlc_name(callee) : "";
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

// Rows and columns of 16-bit elements exchanged.
static LLVMValueRef turn_word(const lowering *l, LLVMValueRef tile) {
  return machine(l, l->types.i32,
                 "movmatrix.sync.aligned.m8n8.trans.b16 $0, $1;", "=r,r",
                 &tile, 1);
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
  LLVMValueRef words[2] = {
      LLVMBuildOr(b, LLVMBuildAnd(b, lows, low, ""),
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
  LLVMValueRef callee =
      LLVMIsACallInst(tile) ? mtlc_callee(tile) : NULL;
  if (!callee || !mtlc_starts_with(mtlc_name(callee), "mettle.tile.load.")) {
    return NULL;
  }
  LLVMPositionBuilderBefore(l->builder, LLVMGetNextInstruction(tile));
  LLVMValueRef arguments[] = {
      LLVMGetOperand(tile, 0), LLVMGetOperand(tile, 1),
      LLVMBuildNot(l->builder, LLVMGetOperand(tile, 2), "")};
  return mtlc_call(l->builder, callee, arguments, 3);
}

// The right side's tile, turned, where it can be used; each only once.
static LLVMValueRef turned(const lowering *l, LLVMValueRef tile,
                           LLVMValueRef at, mtlc_values *tiles,
                           mtlc_values *made) {
  for (size_t i = 0; i < tiles->count; i++) {
    if (tiles->items[i] == tile) {
      return made->items[i];
    }
  }
  LLVMValueRef result = load_turned(l, tile);
  if (!result) {
    const bool is_early = LLVMIsAInstruction(tile) && !LLVMIsAPHINode(tile) &&
                          mtlc_ptx_is_for_all(&l->flow, tile);
    LLVMPositionBuilderBefore(l->builder,
                              is_early ? LLVMGetNextInstruction(tile) : at);
    result = LLVMTypeOf(tile) == l->types.i32 ? turn_word(l, tile)
                                              : turn_floats(l, tile);
    if (!is_early) {
      return result;  // it is of no use elsewhere
    }
  }
  mtlc_values_add(tiles, tile);
  mtlc_values_add(made, result);
  return result;
}

// --- products ----------------------------------------------------------------

typedef struct product {
  LLVMValueRef left[2];   // tiles above each other; the second may be NULL
  LLVMValueRef right;     // turned
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
      machine(l, four, text, constraints, arguments, count + 4);
  for (unsigned i = 0; i < 4; i++) {
    p->sum[i] = LLVMBuildExtractValue(l->builder, result, i, "");
  }
}

static void multiply_narrow(const lowering *l, product *p, elements kind) {
  LLVMValueRef factors[] = {
      p->left[0], p->left[1] ? p->left[1] : number(l, 0), p->right};
  multiply(l, p,
           kind == HALF
               ? "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 "
                 "{$0,$1,$2,$3}, {$4,$5}, {$6}, {$7,$8,$9,$10};"
               : "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 "
                 "{$0,$1,$2,$3}, {$4,$5}, {$6}, {$7,$8,$9,$10};",
           factors, 3, "=f,=f,=f,=f,r,r,r,f,f,f,f");
}

// Splits a float into two TF32 numbers of 11 significant bits: the rounded
// value, and the rounded remainder.
static void split(const lowering *l, LLVMValueRef bits, LLVMValueRef *large,
                  LLVMValueRef *small) {
  static const char text[] = "cvt.rna.tf32.f32 $0, $1;";
  LLVMValueRef value = as_float(l, bits);
  *large = machine(l, l->types.i32, text, "=r,f", &value, 1);
  LLVMValueRef rest =
      LLVMBuildFSub(l->builder, value, as_float(l, *large), "");
  *small = machine(l, l->types.i32, text, "=r,f", &rest, 1);
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
    split(l, word(l, p->right, i), &right[0][i], &right[1][i]);
  }
  static const int order[3][2] = {{1, 0}, {0, 1}, {0, 0}};
  for (int i = 0; i < 3; i++) {
    const LLVMValueRef *a = left[order[i][0]], *b = right[order[i][1]];
    LLVMValueRef factors[] = {a[0], a[1], a[2], a[3], b[0], b[1]};
    multiply(l, p, text, factors, 6, constraints);
  }
}

static LLVMValueRef join(const lowering *l, const LLVMValueRef *floats) {
  LLVMTypeRef pair = LLVMVectorType(l->types.f32, 2);
  LLVMValueRef both = LLVMGetPoison(pair);
  for (uint32_t i = 0; i < 2; i++) {
    both = LLVMBuildInsertElement(l->builder, both, floats[i], number(l, i),
                                  "");
  }
  return LLVMBuildBitCast(l->builder, both, l->types.i64, "");
}

// Replaces one product, or two of the same right side at the second's place.
static void replace(const lowering *l, LLVMValueRef first, LLVMValueRef second,
                    mtlc_values *tiles, mtlc_values *made) {
  LLVMValueRef calls[] = {first, second};
  LLVMValueRef at = second ? second : first;
  const elements kind = kind_of(first);
  LLVMValueRef right = LLVMGetOperand(first, RIGHT);
  product p = {
      .right = turned(l, kind == FLOAT ? right : LLVMGetOperand(right, 0), at,
                      tiles, made)};
  LLVMPositionBuilderBefore(l->builder, at);
  LLVMValueRef zero = LLVMConstReal(l->types.f32, 0);
  for (int i = 0; i < 2; i++) {
    if (calls[i]) {
      LLVMValueRef left = LLVMGetOperand(calls[i], LEFT);
      LLVMValueRef sum = LLVMGetOperand(calls[i], SUM);
      p.left[i] = kind == FLOAT ? left : LLVMGetOperand(left, 0);
      p.sum[2 * i] = as_float(l, word(l, sum, 0));
      p.sum[2 * i + 1] = as_float(l, word(l, sum, 1));
    } else {
      p.sum[2 * i] = p.sum[2 * i + 1] = zero;
    }
  }
  if (kind == FLOAT) {
    multiply_floats(l, &p);
  } else {
    multiply_narrow(l, &p, kind);
  }
  for (int i = 0; i < 2; i++) {
    if (calls[i]) {
      mtlc_replace(calls[i], join(l, &p.sum[2 * i]));
    }
  }
}

// --- pairs -------------------------------------------------------------------

static bool uses(LLVMValueRef instruction, LLVMValueRef value) {
  const int count = LLVMGetNumOperands(instruction);
  for (int i = 0; i < count; i++) {
    if (LLVMGetOperand(instruction, (unsigned)i) == value) {
      return true;
    }
  }
  return false;
}

static bool is_product(LLVMValueRef instruction) {
  LLVMValueRef callee =
      LLVMIsACallInst(instruction) ? mtlc_callee(instruction) : NULL;
  return callee && strcmp(mtlc_name(callee), "mettle.tile.multiply_add") == 0;
}

// Returns the next product with the same right side and kind, before the
// first's result is used; NULL if there is none.
static LLVMValueRef find_second(LLVMValueRef first) {
  for (LLVMValueRef at = LLVMGetNextInstruction(first); at;
       at = LLVMGetNextInstruction(at)) {
    if (uses(at, first)) {
      return NULL;
    }
    if (is_product(at) &&
        LLVMGetOperand(at, RIGHT) == LLVMGetOperand(first, RIGHT) &&
        kind_of(at) == kind_of(first)) {
      return at;
    }
  }
  return NULL;
}

static void replace_block(const lowering *l, LLVMBasicBlockRef block,
                          mtlc_values *tiles, mtlc_values *made) {
  LLVMValueRef at = LLVMGetFirstInstruction(block);
  while (at) {
    LLVMValueRef next = LLVMGetNextInstruction(at);
    if (is_product(at)) {
      LLVMValueRef second = find_second(at);
      next = next == second ? LLVMGetNextInstruction(next) : next;
      replace(l, at, second, tiles, made);
    }
    at = next;
  }
}

// --- the kernel --------------------------------------------------------------

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
  if (!kernel->may_approximate ||
      kernel->library->math_mode != MTL_MATH_FAST ||
      mtlc_ptx_capability(kernel->target) < LEAST_CAPABILITY ||
      count_calls(kernel, "mettle.tile.multiply_add") == 0 ||
      count_calls(kernel, "mettle.simd.") != 0) {
    return MTL_OK;
  }
  kernel->facts.depends_on_whole = true;
  lowering l = {.kernel = kernel,
                .types = mtlc_types_of(kernel->context),
                .builder = LLVMCreateBuilderInContext(kernel->context)};
  mtlc_ptx_find_flow(kernel, &l.flow);
  if (are_for_all(&l)) {
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
  return MTL_OK;
}
