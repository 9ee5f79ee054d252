// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// product_functions.c: out-of-line functions for products of tiles. A kernel
// with dozens of products, for the middle of a matrix and its edges, would
// compile several times as long with inline code, and would be no faster: a
// product is some hundred multiplications on memory.
#include "compiler/vectorize/emit/tiles/product_functions.h"

#include <stdio.h>
#include <string.h>

#include "compiler/ir/llvm/attributes.h"
#include "compiler/ir/llvm/calls.h"
#include "compiler/vectorize/analysis/callees.h"
#include "compiler/vectorize/emit/tiles/tile_products.h"
#include "compiler/vectorize/emit/tiles/tiles.h"
#include "compiler/vectorize/emit/values/builder.h"
#include "compiler/vectorize/emit/values/emitter.h"

enum {
  NAME_BYTES = 64,
  MOST_PARAMETERS = 2 + 3 * LANES_MOST_PRODUCTS,
};

// The arguments of such a function, in order.
typedef struct arguments {
  LLVMValueRef values[MOST_PARAMETERS];  // [count]
  LLVMTypeRef types[MOST_PARAMETERS];
  uint32_t count;
} arguments;

static void add(arguments *a, LLVMValueRef value) {
  a->types[a->count] = LLVMTypeOf(value);
  a->values[a->count++] = value;
}

static void add_side(arguments *a, const lanes_tile_home *home) {
  add(a, home->first_row ? home->first_row : home->memory);
  if (home->first_row) {
    add(a, home->row_bytes);
  }
}

static arguments arguments_of(const lanes_products *products) {
  arguments a = {0};
  add_side(&a, &products->left);
  for (uint32_t i = 0; i < products->count; i++) {
    add_side(&a, &products->right[i]);
    add(&a, products->sums[i]);
  }
  return a;
}

static void take_side(LLVMValueRef function, unsigned *next,
                      lanes_tile_home *home) {
  if (home->first_row) {
    home->first_row = LLVMGetParam(function, (*next)++);
    home->row_bytes = LLVMGetParam(function, (*next)++);
  } else {
    home->memory = LLVMGetParam(function, (*next)++);
  }
}

// Returns the products with a function's parameters as operands.
static lanes_products given(const lanes_products *products,
                            LLVMValueRef function) {
  lanes_products own = *products;
  unsigned next = 0;
  take_side(function, &next, &own.left);
  for (uint32_t i = 0; i < own.count; i++) {
    take_side(function, &next, &own.right[i]);
    own.sums[i] = LLVMGetParam(function, next++);
  }
  return own;
}

static char letter_of(const lanes_tile_home *home) {
  static const char orders[] = {
      [LANES_BY_BLOCKS] = 'b',         [LANES_BY_ROWS] = 'r',
      [LANES_BY_COLUMNS] = 'c',        [LANES_LEFT_PAIRS] = 'p',
      [LANES_RIGHT_PAIRS] = 'p',       [LANES_LEFT_BYTES] = 'u',
      [LANES_LEFT_SIGNED_BYTES] = 'i', [LANES_RIGHT_BYTES] = 'u',
      [LANES_RIGHT_SIGNED_BYTES] = 'i'};
  return home->first_row ? 's' : orders[home->order];
}

// Names a function after its operands' types and how the sides are stored.
static void name_of(const lanes_products *products, char name[NAME_BYTES]) {
  char rights[LANES_MOST_PRODUCTS + 1] = "";
  for (uint32_t i = 0; i < products->count; i++) {
    rights[i] = letter_of(&products->right[i]);
  }
  const char *product = mtlc_callee_name(products->calls[0]);
  snprintf(name, NAME_BYTES, "mettle.products.%s.%c.%s",
           product + strlen("mettle.tile."), letter_of(&products->left),
           rights);
}

static LLVMValueRef define(lanes_emitter *e, const lanes_products *products,
                           const char *name, LLVMTypeRef type) {
  LLVMValueRef function = LLVMAddFunction(e->kernel->module, name, type);
  LLVMSetLinkage(function, LLVMInternalLinkage);
  mtlc_set_attribute(function, "nounwind", 0);
  mtlc_set_attribute(function, "noinline", 0);
  lanes_emitter own = *e;
  own.function = function;
  own.builder = LLVMCreateBuilderInContext(e->context);
  LLVMPositionBuilderAtEnd(own.builder, lanes_block(&own, "entry"));
  const lanes_products inside = given(products, function);
  lanes_emit_products(&own, &inside);
  LLVMBuildRetVoid(own.builder);
  LLVMDisposeBuilder(own.builder);
  return function;
}

static bool have_places(const lanes_emitter *e,
                        const lanes_products *products) {
  for (uint32_t i = 0; i < products->count; i++) {
    if (e->has_one_sum || !products->sums[i]) {
      return false;
    }
  }
  return true;
}

bool lanes_call_products(lanes_emitter *e, const lanes_products *products) {
  char name[NAME_BYTES];
  if (!have_places(e, products)) {
    return false;
  }
  arguments a = arguments_of(products);
  LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(e->context),
                                      a.types, a.count, false);
  name_of(products, name);
  LLVMValueRef function = LLVMGetNamedFunction(e->kernel->module, name);
  if (!function) {
    function = define(e, products, name, type);
  }
  LLVMBuildCall2(e->builder, type, function, a.values, a.count, "");
  return true;
}
