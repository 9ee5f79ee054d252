// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// words.h: where the 32-bit words of a value come from.
#ifndef MTLC_WORDS_H
#define MTLC_WORDS_H

#include <llvm-c/Core.h>
#include <stdint.h>

// Word number of a value, the lowest first; of a vector in the order of its
// elements. A word that is 0 has no value.
typedef struct lanes_word {
  LLVMValueRef value;
  uint32_t number;
} lanes_word;

// Follows a word through casts, insertions, extractions and shuffles, whole
// words each, to the value that has it first.
lanes_word lanes_word_of(LLVMValueRef value, uint32_t number);

// Returns the bits of a value of a number, a vector of such or a pointer; 0 for
// others.
uint32_t lanes_bits_of(LLVMValueRef value);

#endif
