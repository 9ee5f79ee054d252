// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// source_scan.h: the rewriter's state and its token queries, shared by
// source.c, source_attributes.c and source_members.c.
#ifndef MTLC_SOURCE_SCAN_H
#define MTLC_SOURCE_SCAN_H

#include <stdlib.h>
#include <string.h>

#include "compiler/frontend/source/source.h"

typedef enum scope_kind {
  SCOPE_NAMESPACE,  // declarations, extern "C" included
  SCOPE_CLASS,
  SCOPE_BLOCK,  // statements
  SCOPE_OTHER,  // enumerators, initialisers
} scope_kind;

typedef struct scope {
  scope_kind kind;
  uint32_t depth;       // the enclosing statement's, to return to
  size_t statement;     // likewise
  size_t member_count;  // of the scopes around it
} scope;

typedef struct rewriter {
  const mtlc_token *tokens;  // [count]
  size_t count;
  size_t position;
  mtlc_rewrite *result;
  size_t capacity;
  bool failed;
  scope *scopes;  // [scope_count] the file's own namespace is not among them
  size_t scope_count;
  size_t scope_capacity;
  scope_kind kind;         // of the innermost scope
  uint32_t depth;          // of ( and [ in the current statement
  size_t statement;        // position of its first token
  bool is_constant;        // it declares a function constant
  bool is_constructor;     // it declares a constructor
  struct member *members;  // [member_count] in open scopes, source_members.c
  size_t member_count;
  size_t member_capacity;
  size_t array_name;  // position of an array parameter's name; 0 for none
  size_t late_begin;  // attributes between a function's name and parameters,
  size_t late_end;    // to be written behind these; 0 for none
} rewriter;

// No declaration or attribute list is longer; keeps the whole linear.
enum { MOST_TOKENS_AHEAD = 2048 };

static const mtlc_token end_token = {"", 0, MTLC_TOKEN_OTHER};

static inline const mtlc_token *token_at(const rewriter *r, size_t position) {
  return position < r->count ? &r->tokens[position] : &end_token;
}

static inline bool has_text(const mtlc_token *token, const char *text) {
  const size_t length = strlen(text);
  return token->length == length && memcmp(token->text, text, length) == 0;
}

static inline bool is_mark(const rewriter *r, size_t position,
                           const char *text) {
  const mtlc_token *token = token_at(r, position);
  return token->kind == MTLC_TOKEN_PUNCTUATION && has_text(token, text);
}

static inline bool is_word(const rewriter *r, size_t position,
                           const char *text) {
  const mtlc_token *token = token_at(r, position);
  return token->kind == MTLC_TOKEN_WORD && has_text(token, text);
}

static inline bool is_any_word(const rewriter *r, size_t position,
                               const char *const *words, size_t word_count) {
  for (size_t i = 0; i < word_count; i++) {
    if (is_word(r, position, words[i])) {
      return true;
    }
  }
  return false;
}

// --- the result --------------------------------------------------------------

static inline void put(rewriter *r, size_t origin, const char *text) {
  if (r->result->count == r->capacity) {
    const size_t capacity = r->capacity * 2 + 64;
    mtlc_rewritten *const grown =
        realloc(r->result->tokens, capacity * sizeof *grown);
    if (grown == NULL) {
      r->failed = true;
      return;
    }
    r->result->tokens = grown;
    r->capacity = capacity;
  }
  r->result->tokens[r->result->count++] = (mtlc_rewritten){origin, text};
}

static inline void put_range(rewriter *r, size_t begin, size_t end) {
  for (size_t i = begin; i < end; i++) {
    put(r, i, NULL);
  }
}

// --- reading ahead -----------------------------------------------------------

static inline size_t far_ahead(const rewriter *r, size_t position) {
  return r->count - position > MOST_TOKENS_AHEAD ? position + MOST_TOKENS_AHEAD
                                                 : r->count;
}

// Returns the position behind the bracket that closes the one at position, or
// 0 if none does. Only round, square and curly brackets count.
static inline size_t skip_group(const rewriter *r, size_t position,
                                size_t end) {
  size_t depth = 0;
  for (size_t i = position; i < end; i++) {
    const mtlc_token *token = &r->tokens[i];
    if (token->kind != MTLC_TOKEN_PUNCTUATION || token->length != 1) {
      continue;
    }
    if (strchr("([{", token->text[0]) != NULL) {
      depth++;
    } else if (strchr(")]}", token->text[0]) != NULL && --depth == 0) {
      return i + 1;
    }
  }
  return 0;
}

// The same for < at position, which must start template arguments.
static inline size_t skip_angles(const rewriter *r, size_t position,
                                 size_t end) {
  size_t depth = 0;
  for (size_t i = position; i < end;) {
    if (is_mark(r, i, "<")) {
      depth++;
    } else if (is_mark(r, i, ">") && --depth == 0) {
      return i + 1;
    } else if (is_mark(r, i, ">>")) {
      if (depth <= 2) {
        return i + 1;
      }
      depth -= 2;
    } else if (is_mark(r, i, ";") || is_mark(r, i, "{")) {
      return 0;
    } else if (is_mark(r, i, "(") || is_mark(r, i, "[")) {
      i = skip_group(r, i, end);
      if (i == 0) {
        return 0;
      }
      continue;
    }
    i++;
  }
  return 0;
}

// True if __attribute__((word... starts here; *out_word is the word's position.
static inline bool is_gnu_attribute(const rewriter *r, size_t position,
                                    size_t *out_word) {
  *out_word = position + 3;
  return is_word(r, position, "__attribute__") &&
         is_mark(r, position + 1, "(") && is_mark(r, position + 2, "(");
}

// The index of the word in the tokens of an address space keyword.
enum { SPACE_WORD = 3 };

// Skips an address space keyword, as the prelude's macros expand it, with the
// const that belongs to constant. Returns 0 if there is none.
static inline size_t skip_space(const rewriter *r, size_t position) {
  static const char *const spaces[] = {"opencl_global", "opencl_local",
                                       "opencl_global_host"};
  size_t word = 0;
  if (!is_gnu_attribute(r, position, &word) ||
      !is_any_word(r, word, spaces, 3) || !is_mark(r, word + 1, ")") ||
      !is_mark(r, word + 2, ")")) {
    return 0;
  }
  const size_t end = word + 3;
  return end +
         (is_word(r, word, "opencl_global_host") && is_word(r, end, "const"));
}

// True for the threadgroup keyword, as the prelude's macro expands it.
static inline bool is_threadgroup_keyword(const rewriter *r, size_t position) {
  size_t word = 0;
  return is_gnu_attribute(r, position, &word) &&
         is_word(r, word, "opencl_local") && is_mark(r, word + 1, ")") &&
         is_mark(r, word + 2, ")");
}
enum { THREADGROUP_KEYWORD_TOKENS = 6 };

static const char *const specifiers_with_group[] = {"__attribute__", "alignas",
                                                    "__declspec", "decltype"};

static inline bool has_group(const rewriter *r, size_t position) {
  return is_any_word(r, position, specifiers_with_group, 4) &&
         is_mark(r, position + 1, "(");
}

static inline bool starts_attributes(const rewriter *r, size_t position) {
  return is_mark(r, position, "[") && is_mark(r, position + 1, "[");
}

// source_attributes.c: rewrites the run of [[...]] at the current position.
void mtlc_rewrite_attributes(rewriter *r);
void mtlc_put_late_attributes(rewriter *r);
// source_attributes.c: the end of [[...]] at position; 0 if it is not closed.
size_t mtlc_attributes_end(const rewriter *r, size_t position);

// source_members.c: looks at the declaration that starts here, in a namespace
// or a class. If it is a constructor that differs from an earlier one in the
// address space of its object alone, returns the position behind it, else 0.
size_t mtlc_repeated_member_end(rewriter *r);
// source_members.c: rewrites the address space of the object at the end of a
// function's declarator. Returns false if there is none at the position.
bool mtlc_put_object_space(rewriter *r);

#endif
