// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// words.c: traces the origin of a value's 32-bit words: a pair of floats may be
// a 64-bit integer, or two elements of a vector of eight.
#include "compiler/vectorize/analysis/words.h"

#include <stdbool.h>
#include <stddef.h>

#include "compiler/ir/llvm/instructions.h"

enum { WORD_BITS = 32, POINTER_BITS = 64 };

static uint32_t bits_of_type(LLVMTypeRef type) {
  switch (LLVMGetTypeKind(type)) {
    case LLVMIntegerTypeKind: return LLVMGetIntTypeWidth(type);
    case LLVMHalfTypeKind:
    case LLVMBFloatTypeKind: return 16;
    case LLVMFloatTypeKind: return 32;
    case LLVMPointerTypeKind: return POINTER_BITS;
    case LLVMVectorTypeKind:
      return LLVMGetVectorSize(type) * bits_of_type(LLVMGetElementType(type));
    default: return 0;
  }
}

uint32_t lanes_bits_of(LLVMValueRef value) {
  return bits_of_type(LLVMTypeOf(value));
}

// Words of each element of a vector; 0 if they are no whole ones.
static uint32_t words_of_element(LLVMValueRef vector) {
  const uint32_t bits = bits_of_type(LLVMGetElementType(LLVMTypeOf(vector)));
  return bits % WORD_BITS ? 0 : bits / WORD_BITS;
}

static bool to(lanes_word *word, LLVMValueRef value, uint32_t number) {
  *word = (lanes_word){value, number};
  return true;
}

static bool through_element(lanes_word *word, LLVMValueRef i) {
  const bool is_insertion = mtlc_is_opcode(i, LLVMInsertElement);
  LLVMValueRef vector = LLVMGetOperand(i, 0);
  LLVMValueRef place = LLVMGetOperand(i, is_insertion ? 2 : 1);
  const uint32_t words = words_of_element(vector);
  if (!words || !LLVMIsAConstantInt(place)) {
    return false;
  }
  const uint32_t first = (uint32_t)LLVMConstIntGetZExtValue(place) * words;
  if (!is_insertion) {
    return to(word, vector, first + word->number);
  }
  const bool is_inside = word->number >= first && word->number < first + words;
  return is_inside ? to(word, LLVMGetOperand(i, 1), word->number - first)
                   : to(word, vector, word->number);
}

static bool through_shuffle(lanes_word *word, LLVMValueRef i) {
  LLVMValueRef first = LLVMGetOperand(i, 0);
  const uint32_t words = words_of_element(first);
  const int count = (int)LLVMGetVectorSize(LLVMTypeOf(first));
  if (!words) {
    return false;
  }
  const int item = LLVMGetMaskValue(i, word->number / words);
  if (item < 0) {
    return false;
  }
  return to(word, item < count ? first : LLVMGetOperand(i, 1),
            (uint32_t)(item % count) * words + word->number % words);
}

static bool through_shift(lanes_word *word, LLVMValueRef i) {
  LLVMValueRef by = LLVMGetOperand(i, 1);
  if (!LLVMIsAConstantInt(by) ||
      LLVMConstIntGetZExtValue(by) % WORD_BITS != 0) {
    return false;
  }
  const uint32_t words = (uint32_t)LLVMConstIntGetZExtValue(by) / WORD_BITS;
  const uint32_t all = lanes_bits_of(i) / WORD_BITS;
  if (mtlc_is_opcode(i, LLVMLShr)) {
    return to(word, word->number + words < all ? LLVMGetOperand(i, 0) : NULL,
              word->number + words);
  }
  return to(word, word->number >= words ? LLVMGetOperand(i, 0) : NULL,
            word->number - words);
}

static bool through_union(lanes_word *word, LLVMValueRef i) {
  const lanes_word a = lanes_word_of(LLVMGetOperand(i, 0), word->number);
  const lanes_word b = lanes_word_of(LLVMGetOperand(i, 1), word->number);
  if (a.value && b.value) {
    return false;
  }
  *word = a.value ? a : b;
  return true;
}

// Returns false at the value that has the word first.
static bool follow(lanes_word *word) {
  LLVMValueRef i = word->value;
  if (!i || !LLVMIsAInstruction(i)) {
    return false;
  }
  switch (LLVMGetInstructionOpcode(i)) {
    case LLVMBitCast:
    case LLVMFreeze: return to(word, LLVMGetOperand(i, 0), word->number);
    case LLVMTrunc:
      return LLVMGetTypeKind(LLVMTypeOf(i)) == LLVMIntegerTypeKind &&
             lanes_bits_of(i) % WORD_BITS == 0 &&
             to(word, LLVMGetOperand(i, 0), word->number);
    case LLVMZExt: {
      const uint32_t bits = lanes_bits_of(LLVMGetOperand(i, 0));
      if (LLVMGetTypeKind(LLVMTypeOf(i)) != LLVMIntegerTypeKind ||
          bits % WORD_BITS) {
        return false;
      }
      return to(word,
                word->number * WORD_BITS < bits ? LLVMGetOperand(i, 0) : NULL,
                word->number);
    }
    case LLVMShl:
    case LLVMLShr:
      return LLVMGetTypeKind(LLVMTypeOf(i)) == LLVMIntegerTypeKind &&
             through_shift(word, i);
    case LLVMOr:
      return LLVMGetTypeKind(LLVMTypeOf(i)) == LLVMIntegerTypeKind &&
             through_union(word, i);
    case LLVMInsertElement:
    case LLVMExtractElement: return through_element(word, i);
    case LLVMShuffleVector: return through_shuffle(word, i);
    default: return false;
  }
}

lanes_word lanes_word_of(LLVMValueRef value, uint32_t number) {
  lanes_word word = {value, number};
  while (follow(&word)) {
  }
  return word;
}
