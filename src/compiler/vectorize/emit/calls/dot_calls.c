// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// dot_calls.c: emits the calls that prepare/dot_products.c makes: two 16-bit
// products in a word, as x86 multiplies them.
#include "compiler/vectorize/emit/calls/dot_calls.h"

#include <stddef.h>
#include <string.h>

#include "compiler/vectorize/analysis/components.h"
#include "compiler/vectorize/analysis/shape.h"
#include "compiler/vectorize/emit/values/builder.h"
#include "compiler/vectorize/emit/values/emitter.h"
#include "compiler/vectorize/emit/values/values.h"

enum {
  HALF_BITS = 16,
  LEAST_WORDS = 4,  // of a register
};

static bool ends_with(LLVMValueRef call, const char *end) {
  size_t length = 0;
  const char *name = LLVMGetValueName2(LLVMGetCalledValue(call), &length);
  return length > strlen(end) && !strcmp(name + length - strlen(end), end);
}

bool lanes_is_dot(LLVMValueRef call) {
  size_t length = 0;
  const char *name = LLVMGetValueName2(LLVMGetCalledValue(call), &length);
  return !strncmp(name, "mettle.pairs.", strlen("mettle.pairs."));
}

static LLVMValueRef halves_of(lanes_emitter *e, LLVMValueRef words,
                              uint32_t width) {
  LLVMTypeRef half = LLVMIntTypeInContext(e->context, HALF_BITS);
  return LLVMBuildBitCast(e->builder, words, LLVMVectorType(half, 2 * width),
                          "");
}

// Returns the odd, or the even, bytes of 16-bit elements as signed numbers.
static LLVMValueRef bytes_of(lanes_emitter *e, LLVMValueRef halves, bool odd) {
  const uint32_t count = LLVMGetVectorSize(LLVMTypeOf(halves));
  LLVMTypeRef half = LLVMGetElementType(LLVMTypeOf(halves));
  LLVMValueRef items[2 * MOST_LANES];
  for (uint32_t i = 0; i < count; i++) {
    items[i] = LLVMConstInt(half, HALF_BITS / 2, false);
  }
  LLVMValueRef by = LLVMConstVector(items, count);
  halves = odd ? halves : LLVMBuildShl(e->builder, halves, by, "");
  return LLVMBuildAShr(e->builder, halves, by, "");
}

// Emits the products of one register.
static LLVMValueRef multiply(lanes_emitter *e, LLVMValueRef x, LLVMValueRef y,
                             uint32_t words) {
  const char *name = words == 16  ? "llvm.x86.avx512.pmaddw.d.512"
                     : words == 8 ? "llvm.x86.avx2.pmadd.wd"
                                  : "llvm.x86.sse2.pmadd.wd";
  LLVMValueRef sides[] = {x, y};
  return lanes_intrinsic(e, name, NULL, 0, sides, 2);
}

// Pads a vector to a register; the added elements are not used.
static LLVMValueRef padded(lanes_emitter *e, LLVMValueRef halves,
                           uint32_t count) {
  int items[MOST_LANES];
  const int own = (int)LLVMGetVectorSize(LLVMTypeOf(halves));
  for (int i = 0; i < (int)count; i++) {
    items[i] = i < own ? i : -1;
  }
  return lanes_shuffle(e, halves, NULL, items, count);
}

static LLVMValueRef dot(lanes_emitter *e, LLVMValueRef x, LLVMValueRef y,
                        uint32_t width) {
  const uint32_t most = e->machine.dot_words;
  x = halves_of(e, x, width);
  y = halves_of(e, y, width);
  if (width < LEAST_WORDS) {
    return lanes_subvector(e,
                       multiply(e, padded(e, x, 2 * LEAST_WORDS),
                                padded(e, y, 2 * LEAST_WORDS), LEAST_WORDS),
                       0, width);
  }
  const uint32_t words = width < most ? width : most;
  LLVMValueRef parts[MOST_LANES];
  for (uint32_t i = 0; i < width / words; i++) {
    parts[i] = multiply(e, lanes_subvector(e, x, 2 * words * i, 2 * words),
                        lanes_subvector(e, y, 2 * words * i, 2 * words), words);
  }
  return lanes_concatenated(e, parts, width / words);
}

void lanes_emit_dot(lanes_emitter *e, LLVMValueRef call) {
  const uint32_t width = lanes_width(e, call);
  LLVMValueRef x = lanes_at_width(e, LLVMGetOperand(call, 0), 0, width);
  LLVMValueRef value = NULL;
  if (ends_with(call, ".dot")) {
    value = dot(e, x, lanes_at_width(e, LLVMGetOperand(call, 1), 0, width), width);
  } else {
    value = bytes_of(e, halves_of(e, x, width), ends_with(call, ".odd"));
  }
  lanes_set_result(
      e, call, 0,
      LLVMBuildBitCast(e->builder, value, lanes_wide(e->types.i32, width), ""));
}
