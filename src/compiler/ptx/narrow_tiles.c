// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// narrow_tiles.c: recognises tiles of floats that threads filled by themselves
// with numbers of 16 bits. Programs keep halves or bfloats in memory, widen
// each element and put it into thread_elements(). Products of such tiles are
// products of 16 bits: up to a sixth of the instructions that floats take.
//
// LLVM takes a tile apart into its two elements first, however the program put
// it together.
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "compiler/ir/kernel/kernel.h"
#include "compiler/ir/llvm/calls.h"
#include "compiler/ir/llvm/instructions.h"
#include "compiler/ir/llvm/module.h"
#include "compiler/ir/llvm/types.h"
#include "compiler/ir/llvm/value_list.h"
#include "compiler/ptx/tiles.h"

enum {
  MOST_DEPTH = 8,  // choices behind one another
  MOST_INCOMING = 8,
};

// A tile of two floats, while LLVM looks at them.
static const char elements_name[] = "mettle.tile.elements";

typedef struct narrowing {
  mtlc_kernel *kernel;
  mtlc_types types;
  LLVMTypeRef bfloat;
  LLVMBuilderRef builder;
} narrowing;

// --- Tiles as their elements -------------------------------------------------

// True if a tile is not known to be narrow, or loaded as a whole.
static bool is_of_elements(LLVMValueRef tile) {
  return LLVMIsAInstruction(tile) && !LLVMIsAPHINode(tile) &&
         !mtlc_is_call_of(tile, "mettle.tile.");
}

static LLVMValueRef element(const narrowing *n, LLVMValueRef tile,
                            uint64_t number) {
  LLVMValueRef bits = LLVMBuildLShr(
      n->builder, tile, LLVMConstInt(n->types.i64, 32 * number, false), "");
  return LLVMBuildBitCast(n->builder,
                          LLVMBuildTrunc(n->builder, bits, n->types.i32, ""),
                          n->types.f32, "");
}

static LLVMValueRef elements_function(const narrowing *n) {
  LLVMTypeRef parameters[] = {n->types.f32, n->types.f32};
  return mtlc_declare(n->kernel->module, elements_name,
                      LLVMFunctionType(n->types.i64, parameters, 2, false));
}

// Replaces a tile, where products take it, by a call with its elements.
static void take_apart(const narrowing *n, LLVMValueRef tile,
                       const mtlc_values *products) {
  LLVMPositionBuilderBefore(n->builder, LLVMGetNextInstruction(tile));
  LLVMValueRef floats[] = {element(n, tile, 0), element(n, tile, 1)};
  LLVMValueRef call = mtlc_call(n->builder, elements_function(n), floats, 2);
  for (size_t i = 0; i < products->count; i++) {
    for (unsigned side = MTLC_PTX_LEFT; side <= MTLC_PTX_RIGHT; side++) {
      if (LLVMGetOperand(products->items[i], side) == tile) {
        LLVMSetOperand(products->items[i], side, call);
      }
    }
  }
}

static bool take_all_apart(const narrowing *n) {
  mtlc_values products = {0};
  bool any = false;
  mtlc_collect_calls(n->kernel->module, "mettle.tile.multiply_add", &products);
  for (size_t i = 0; i < products.count; i++) {
    for (unsigned side = MTLC_PTX_LEFT; side <= MTLC_PTX_RIGHT; side++) {
      LLVMValueRef tile = LLVMGetOperand(products.items[i], side);
      if (is_of_elements(tile)) {
        take_apart(n, tile, &products);
        any = true;
      }
    }
  }
  free(products.items);
  return any;
}

// --- Elements of 16 bits -----------------------------------------------------

static LLVMValueRef narrow_element(const narrowing *n, LLVMValueRef value,
                                   LLVMTypeRef type, unsigned depth);

static LLVMValueRef narrow_constant(LLVMValueRef value, LLVMTypeRef type) {
  LLVMBool is_inexact = false;
  const double number = LLVMConstRealGetDouble(value, &is_inexact);
  LLVMValueRef narrow = LLVMConstReal(type, number);
  return LLVMConstRealGetDouble(narrow, &is_inexact) == number ? narrow : NULL;
}

static LLVMValueRef narrow_select(const narrowing *n, LLVMValueRef choice,
                                  LLVMTypeRef type, unsigned depth) {
  LLVMValueRef yes = narrow_element(n, LLVMGetOperand(choice, 1), type, depth);
  LLVMValueRef no =
      yes ? narrow_element(n, LLVMGetOperand(choice, 2), type, depth) : NULL;
  LLVMPositionBuilderBefore(n->builder, choice);
  return no ? LLVMBuildSelect(n->builder, LLVMGetOperand(choice, 0), yes, no,
                              "")
            : NULL;
}

static LLVMValueRef narrow_phi(const narrowing *n, LLVMValueRef phi,
                               LLVMTypeRef type, unsigned depth) {
  LLVMValueRef values[MOST_INCOMING];
  const unsigned count = LLVMCountIncoming(phi);
  if (count > MOST_INCOMING) {
    return NULL;
  }
  for (unsigned i = 0; i < count; i++) {
    values[i] = narrow_element(n, LLVMGetIncomingValue(phi, i), type, depth);
    if (!values[i]) {
      return NULL;
    }
  }
  LLVMPositionBuilderBefore(n->builder, phi);
  LLVMValueRef narrow = LLVMBuildPhi(n->builder, type, "");
  for (unsigned i = 0; i < count; i++) {
    LLVMBasicBlockRef from = LLVMGetIncomingBlock(phi, i);
    LLVMAddIncoming(narrow, &values[i], &from, 1);
  }
  return narrow;
}

// Returns the bfloat that becomes the upper half of a float's bits.
static LLVMValueRef narrow_shift(const narrowing *n, LLVMValueRef shift,
                                 LLVMTypeRef type) {
  LLVMValueRef by = LLVMGetOperand(shift, 1);
  if (type != n->bfloat || !LLVMIsAConstantInt(by) ||
      LLVMConstIntGetZExtValue(by) != 16) {
    return NULL;
  }
  LLVMPositionBuilderBefore(n->builder, shift);
  LLVMValueRef half = LLVMGetOperand(shift, 0);
  const bool is_widened = mtlc_is_opcode(half, LLVMZExt) &&
                          LLVMTypeOf(LLVMGetOperand(half, 0)) == n->types.i16;
  half = is_widened ? LLVMGetOperand(half, 0)
                    : LLVMBuildTrunc(n->builder, half, n->types.i16, "");
  return LLVMBuildBitCast(n->builder, half, type, "");
}

// Returns an element of the vector that a vector of floats was widened from.
static LLVMValueRef narrow_of_vector(const narrowing *n, LLVMValueRef value,
                                     LLVMTypeRef type) {
  LLVMValueRef vector = LLVMGetOperand(value, 0);
  LLVMValueRef narrow =
      mtlc_is_opcode(vector, LLVMFPExt) ? LLVMGetOperand(vector, 0) : NULL;
  if (!narrow || LLVMGetElementType(LLVMTypeOf(narrow)) != type) {
    return NULL;
  }
  LLVMPositionBuilderBefore(n->builder, value);
  return LLVMBuildExtractElement(n->builder, narrow, LLVMGetOperand(value, 1),
                                 "");
}

// True if a value holds a float in its lower 32 bits.
static bool is_word(const narrowing *n, LLVMValueRef value) {
  LLVMTypeRef type = LLVMTypeOf(value);
  return type == n->types.f32 || type == n->types.i32 || type == n->types.i64;
}

// Returns the half or bfloat that a float was made of; NULL if it may be
// another number. The float may be given as an integer's lower 32 bits.
static LLVMValueRef narrow_element(const narrowing *n, LLVMValueRef value,
                                   LLVMTypeRef type, unsigned depth) {
  if (LLVMIsAConstantInt(value)) {
    LLVMValueRef bits =
        mtlc_i32(n->kernel->context, (uint32_t)LLVMConstIntGetZExtValue(value));
    value = LLVMConstBitCast(bits, n->types.f32);
  }
  if (LLVMIsAConstantFP(value)) {
    return narrow_constant(value, type);
  }
  if (!LLVMIsAInstruction(value) || depth == MOST_DEPTH) {
    return NULL;
  }
  LLVMValueRef first = LLVMGetOperand(value, 0);
  switch (LLVMGetInstructionOpcode(value)) {
    case LLVMFPExt: return LLVMTypeOf(first) == type ? first : NULL;
    case LLVMShl: return narrow_shift(n, value, type);
    case LLVMSelect: return narrow_select(n, value, type, depth + 1);
    case LLVMPHI: return narrow_phi(n, value, type, depth + 1);
    case LLVMExtractElement: return narrow_of_vector(n, value, type);
    case LLVMTrunc:
    case LLVMZExt:
    case LLVMBitCast:
      return is_word(n, value) && is_word(n, first)
                 ? narrow_element(n, first, type, depth + 1)
                 : NULL;
    default: return NULL;
  }
}

static LLVMValueRef narrow_tile(const narrowing *n, LLVMValueRef call,
                                LLVMTypeRef type) {
  LLVMValueRef elements[2];
  for (unsigned i = 0; i < 2; i++) {
    elements[i] = narrow_element(n, LLVMGetOperand(call, i), type, 0);
    if (!elements[i]) {
      return NULL;
    }
  }
  LLVMPositionBuilderBefore(n->builder, call);
  LLVMValueRef bits =
      mtlc_ptx_join(n->kernel->context, n->builder, elements, n->types.i32);
  LLVMTypeRef parameters[] = {n->types.i32};
  LLVMValueRef widen = mtlc_declare(
      n->kernel->module,
      type == n->bfloat ? "mettle.tile.widen.bf16" : "mettle.tile.widen.f16",
      LLVMFunctionType(n->types.i64, parameters, 1, false));
  return mtlc_call(n->builder, widen, &bits, 1);
}

static LLVMValueRef wide_tile(const narrowing *n, LLVMValueRef call) {
  const LLVMValueRef elements[] = {LLVMGetOperand(call, 0),
                                   LLVMGetOperand(call, 1)};
  LLVMPositionBuilderBefore(n->builder, call);
  return mtlc_ptx_join(n->kernel->context, n->builder, elements, n->types.i64);
}

static void put_together(const narrowing *n) {
  mtlc_values calls = {0};
  mtlc_collect_calls(n->kernel->module, elements_name, &calls);
  for (size_t i = 0; i < calls.count; i++) {
    LLVMValueRef call = calls.items[i];
    LLVMPositionBuilderBefore(n->builder, call);
    LLVMValueRef tile = narrow_tile(n, call, n->types.f16);
    tile = tile ? tile : narrow_tile(n, call, n->bfloat);
    mtlc_replace(call, tile ? tile : wide_tile(n, call));
  }
  free(calls.items);
}

mtl_status mtlc_ptx_narrow_tiles(mtlc_kernel *kernel) {
  narrowing n = {.kernel = kernel,
                 .types = mtlc_types_of(kernel->context),
                 .bfloat = LLVMBFloatTypeInContext(kernel->context),
                 .builder = LLVMCreateBuilderInContext(kernel->context)};
  mtl_status status = MTL_OK;
  if (take_all_apart(&n)) {
    status = mtlc_run_llvm_passes(kernel, "function(instcombine)");
    put_together(&n);
  }
  LLVMDisposeBuilder(n.builder);
  return status;
}
