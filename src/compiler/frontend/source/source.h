// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// source.h: rewrites the few constructs of MSL that a C++ parser does not
// accept. It works on preprocessed tokens: comments, strings, macros and
// #include are resolved. The new tokens keep their origin, so that diagnostics
// show the user's text.
#ifndef MTLC_SOURCE_H
#define MTLC_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum mtlc_token_kind {
  MTLC_TOKEN_WORD = 0,  // identifier or keyword
  MTLC_TOKEN_PUNCTUATION,
  MTLC_TOKEN_LITERAL,  // number, character or string
  MTLC_TOKEN_OTHER,    // anything that the rewriter copies unread
} mtlc_token_kind;

typedef struct mtlc_token {
  const char *text;  // [length] not terminated
  uint32_t length;
  mtlc_token_kind kind;
} mtlc_token;

// A token of the result: token number `origin` of the input, or, if text is
// not NULL, a new one that stands for it in diagnostics.
typedef struct mtlc_rewritten {
  size_t origin;
  const char *text;  // terminated; a word, a punctuator or a string literal
} mtlc_rewritten;

typedef struct mtlc_rewrite {
  mtlc_rewritten *tokens;  // [count] malloc'ed
  size_t count;
} mtlc_rewrite;

// Rewrites a translation unit's tokens:
//
//   [[kernel, buffer(n)]]       GNU attributes annotate("mettle.kernel") and
//                               annotate("mettle.buffer", n); names that Metal
//                               does not know stay, for clang to judge
//   threadgroup float x[4];     in a block: static, and in the section
//                               .mettle.threadgroup; float threadgroup x too
//   constant int c [[function_constant(n)]];
//   uint i [[thread_position_in_grid]];    at program scope: extern
//   float get() const device;   float get() const __global; a constructor's
//                               goes, and the constructor if repeated
//   void f(constant int x[4])   constant int (*x)
//
//   tokens  [count] any tokens, sense or no sense
//
// Returns false when out of memory.
//
// Ownership  *out_rewrite is yours: mtlc_rewrite_clear. Its texts are
//            constants or belong to tokens.
bool mtlc_rewrite_tokens(const mtlc_token *tokens, size_t count,
                         mtlc_rewrite *out_rewrite);
void mtlc_rewrite_clear(mtlc_rewrite *rewrite);

// Returns the name of the attribute of Metal's with that index, NULL behind the
// last.
const char *mtlc_attribute_name(size_t index);

#ifdef __cplusplus
}
#endif
#endif
