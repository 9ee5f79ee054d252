// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// byte_products.c: emits dot products of words of four bytes: one instruction
// with VNNI (vpdpbusd). Without it a word's even and odd bytes are widened to
// 16 bits, which x86 multiplies and adds in pairs (vpmaddwd); without that,
// byte by byte. Products by rows split the bytes once for all products of a
// side.
#include "compiler/vectorize/emit/tiles/byte_products.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "compiler/ir/llvm/calls.h"
#include "compiler/ir/llvm/types.h"
#include "compiler/vectorize/analysis/callees.h"
#include "compiler/vectorize/emit/values/builder.h"
#include "compiler/vectorize/emit/values/sum_memory.h"

enum { BYTE_BITS = 8, HALF_BITS = 16, WORD_BITS = 32 };

// Returns a vector type of count integers of so many bits.
static LLVMTypeRef numbers(const lanes_emitter *e, unsigned bits,
                           uint32_t count) {
  return LLVMVectorType(LLVMIntTypeInContext(e->context, bits), count);
}

static LLVMValueRef splat(lanes_emitter *e, LLVMTypeRef vector,
                          uint64_t value) {
  return lanes_splat_to(e, e->builder,
                        LLVMConstInt(LLVMGetElementType(vector), value, false),
                        LLVMGetVectorSize(vector));
}

// Returns a byte of each number, the lowest first, signed or not.
static LLVMValueRef byte_of(lanes_emitter *e, LLVMValueRef values,
                            unsigned byte, bool is_signed) {
  LLVMTypeRef type = LLVMTypeOf(values);
  const unsigned bits = LLVMGetIntTypeWidth(LLVMGetElementType(type));
  LLVMValueRef high = LLVMBuildShl(
      e->builder, values, splat(e, type, bits - BYTE_BITS * (byte + 1)), "");
  LLVMValueRef down = splat(e, type, bits - BYTE_BITS);
  return is_signed ? LLVMBuildAShr(e->builder, high, down, "")
                   : LLVMBuildLShr(e->builder, high, down, "");
}

// Returns the name of the instruction for that many words; NULL if the machine
// has none.
static const char *dot_instruction(const lanes_emitter *e, uint32_t words) {
  if (!e->machine.sums_bytes) {
    return NULL;
  }
  return words == 16  ? "llvm.x86.avx512.vpdpbusd.512"
         : words == 8 ? "llvm.x86.avx512.vpdpbusd.256"
                      : NULL;
}

static const char *pair_instruction(const lanes_emitter *e, uint32_t words) {
  return words > e->machine.dot_words ? NULL
         : words == 16                ? "llvm.x86.avx512.pmaddw.d.512"
         : words == 8                 ? "llvm.x86.avx2.pmadd.wd"
         : words == 4                 ? "llvm.x86.sse2.pmadd.wd"
                                      : NULL;
}

bool lanes_splits_bytes(const lanes_emitter *e, LLVMValueRef product) {
  return lanes_is_byte_product(product) && lanes_multiplies_by_rows(e) &&
         !e->machine.sums_bytes && pair_instruction(e, LANES_TILE_SIDE);
}

bool lanes_is_left_signed(LLVMValueRef product) {
  return strcmp(mtlc_callee_name(product), "mettle.tile.dot.su") == 0;
}

LLVMValueRef lanes_split_bytes(lanes_emitter *e, LLVMValueRef words,
                               bool is_signed, unsigned odd) {
  LLVMTypeRef type = LLVMTypeOf(words);
  LLVMTypeRef halves = numbers(e, HALF_BITS, 2 * LLVMGetVectorSize(type));
  LLVMValueRef bytes = byte_of(
      e, LLVMBuildBitCast(e->builder, words, halves, ""), odd, is_signed);
  return LLVMBuildBitCast(e->builder, bytes, type, "");
}

// Returns the sums of two products in each word, of numbers of 16 bits.
static LLVMValueRef pair_products(lanes_emitter *e, LLVMValueRef a,
                                  LLVMValueRef b) {
  const uint32_t words = LLVMGetVectorSize(LLVMTypeOf(a));
  LLVMTypeRef halves = numbers(e, HALF_BITS, 2 * words);
  LLVMValueRef sides[] = {LLVMBuildBitCast(e->builder, a, halves, ""),
                          LLVMBuildBitCast(e->builder, b, halves, "")};
  return lanes_intrinsic(e, pair_instruction(e, words), NULL, 0, sides, 2);
}

// Returns the sums of two products in each word: of its even bytes, or of its
// odd ones.
static LLVMValueRef pairs(lanes_emitter *e, LLVMValueRef bytes,
                          LLVMValueRef signed_bytes, unsigned odd) {
  return pair_products(e, lanes_split_bytes(e, bytes, false, odd),
                       lanes_split_bytes(e, signed_bytes, true, odd));
}

LLVMValueRef lanes_add_split_products(lanes_emitter *e, LLVMValueRef a,
                                      LLVMValueRef b, LLVMValueRef sum) {
  LLVMTypeRef words = numbers(e, WORD_BITS, LLVMGetVectorSize(LLVMTypeOf(sum)));
  LLVMValueRef products = pair_products(e, a, b);
  LLVMValueRef total = LLVMBuildAdd(
      e->builder, LLVMBuildBitCast(e->builder, sum, words, ""), products, "");
  return LLVMBuildBitCast(e->builder, total, LLVMTypeOf(sum), "");
}

static LLVMValueRef add_in_words(lanes_emitter *e, LLVMValueRef bytes,
                                 LLVMValueRef signed_bytes, LLVMValueRef sum) {
  const uint32_t words = LLVMGetVectorSize(LLVMTypeOf(sum));
  const char *instruction = dot_instruction(e, words);
  if (instruction) {
    LLVMValueRef operands[] = {sum, bytes, signed_bytes};
    return lanes_intrinsic(e, instruction, NULL, 0, operands, 3);
  }
  const bool by_pairs = pair_instruction(e, words);
  for (unsigned i = 0; i < (by_pairs ? 2 : WORD_BITS / BYTE_BITS); i++) {
    LLVMValueRef products =
        by_pairs ? pairs(e, bytes, signed_bytes, i)
                 : LLVMBuildMul(e->builder, byte_of(e, bytes, i, false),
                                byte_of(e, signed_bytes, i, true), "");
    sum = LLVMBuildAdd(e->builder, sum, products, "");
  }
  return sum;
}

LLVMValueRef lanes_add_byte_products(lanes_emitter *e, LLVMValueRef product,
                                     LLVMValueRef a, LLVMValueRef b,
                                     LLVMValueRef sum) {
  LLVMTypeRef floats = LLVMTypeOf(sum);
  LLVMTypeRef words = numbers(e, WORD_BITS, LLVMGetVectorSize(floats));
  LLVMBuilderRef builder = e->builder;
  a = LLVMBuildBitCast(builder, a, words, "");
  b = LLVMBuildBitCast(builder, b, words, "");
  sum = LLVMBuildBitCast(builder, sum, words, "");
  const bool is_left_signed = lanes_is_left_signed(product);
  sum = add_in_words(e, is_left_signed ? b : a, is_left_signed ? a : b, sum);
  return LLVMBuildBitCast(builder, sum, floats, "");
}
