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

// Follows a word back through casts, insertions, extractions and shuffles of
// whole words, to the value that it is first a word of.
lanes_word lanes_word_of(LLVMValueRef value, uint32_t number);

// Returns the size in bits of a number, a pointer or a vector of these; 0 for
// other values.
uint32_t lanes_bits_of(LLVMValueRef value);

#endif
