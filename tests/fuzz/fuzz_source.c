// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// fuzz_source.c: any tokens through the source rewriter: no harm, every token
// of the result stands for one of the input, and brackets that matched still
// do. Needs src/compiler/frontend/*.c.
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/frontend/source/source.h"

#define MOST_TOKENS 65536

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void check(bool condition) {
  if (!condition) {
    abort();
  }
}

typedef struct token_list {
  mtlc_token tokens[MOST_TOKENS];
  size_t count;
} token_list;

static void add(token_list *list, const char *text, size_t length,
                mtlc_token_kind kind) {
  if (list->count < MOST_TOKENS) {
    list->tokens[list->count++] = (mtlc_token){text, (uint32_t)length, kind};
  }
}

// The address space keywords as the prelude's macros expand them.
static bool add_keyword(token_list *list, const char *word, size_t length) {
  static const char *const keywords[][2] = {
      {"device", "opencl_global"},
      {"threadgroup", "opencl_local"},
      {"constant", "opencl_global_host"},
  };
  for (size_t i = 0; i < 3; i++) {
    if (strlen(keywords[i][0]) != length ||
        memcmp(word, keywords[i][0], length) != 0) {
      continue;
    }
    add(list, "__attribute__", 13, MTLC_TOKEN_WORD);
    add(list, "(", 1, MTLC_TOKEN_PUNCTUATION);
    add(list, "(", 1, MTLC_TOKEN_PUNCTUATION);
    add(list, keywords[i][1], strlen(keywords[i][1]), MTLC_TOKEN_WORD);
    add(list, ")", 1, MTLC_TOKEN_PUNCTUATION);
    add(list, ")", 1, MTLC_TOKEN_PUNCTUATION);
    if (i == 2) {
      add(list, "const", 5, MTLC_TOKEN_WORD);
    }
    return true;
  }
  return false;
}

static size_t mark_length(const uint8_t *bytes, size_t size) {
  static const char *const marks[] = {
      "<<=", ">>=", "::", "->", "<<", ">>", "&&", "++", "--",
      "+=",  "-=",  "*=", "/=", "%=", "&=", "|=", "^="};
  for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
    const size_t length = strlen(marks[i]);
    if (length <= size && memcmp(bytes, marks[i], length) == 0) {
      return length;
    }
  }
  return 1;
}

// Cuts bytes into tokens.
static void cut(const uint8_t *bytes, size_t size, token_list *list) {
  for (size_t i = 0; i < size;) {
    const char *text = (const char *)bytes + i;
    size_t length = 1;
    if (isalpha(bytes[i]) || bytes[i] == '_') {
      while (i + length < size &&
             (isalnum(bytes[i + length]) || bytes[i + length] == '_')) {
        length++;
      }
      if (!add_keyword(list, text, length)) {
        add(list, text, length, MTLC_TOKEN_WORD);
      }
    } else if (isdigit(bytes[i]) || bytes[i] == '"') {
      add(list, text, length, MTLC_TOKEN_LITERAL);
    } else if (ispunct(bytes[i])) {
      length = mark_length(bytes + i, size - i);
      add(list, text, length, MTLC_TOKEN_PUNCTUATION);
    } else if (bytes[i] == 0x7f) {
      add(list, "", 0, MTLC_TOKEN_OTHER);
    }
    i += length;
  }
}

// Follows one token; false once a bracket does not match.
static bool follow(char *open, size_t *depth, const char *text, size_t length) {
  static const char pairs[] = "()[]{}";
  const char *found = length == 1 ? strchr(pairs, text[0]) : NULL;
  if (found == NULL || *found == '\0') {
    return true;
  }
  if ((found - pairs) % 2 == 0) {
    open[(*depth)++] = found[1];
    return true;
  }
  return *depth > 0 && open[--*depth] == *found;
}

static bool input_matches(const token_list *list, char *open) {
  size_t depth = 0;
  for (size_t i = 0; i < list->count; i++) {
    const mtlc_token *token = &list->tokens[i];
    if (token->kind == MTLC_TOKEN_PUNCTUATION &&
        !follow(open, &depth, token->text, token->length)) {
      return false;
    }
  }
  return depth == 0;
}

static bool result_matches(const token_list *list, const mtlc_rewrite *result,
                           char *open) {
  size_t depth = 0;
  for (size_t i = 0; i < result->count; i++) {
    const mtlc_rewritten *piece = &result->tokens[i];
    const mtlc_token *token = &list->tokens[piece->origin];
    const char *text = piece->text != NULL ? piece->text : token->text;
    const size_t length =
        piece->text != NULL ? strlen(piece->text) : token->length;
    if ((piece->text != NULL || token->kind == MTLC_TOKEN_PUNCTUATION) &&
        !follow(open, &depth, text, length)) {
      return false;
    }
  }
  return depth == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  static token_list list;
  list.count = 0;
  cut(bytes, size, &list);
  mtlc_rewrite result;
  check(mtlc_rewrite_tokens(list.tokens, list.count, &result));
  for (size_t i = 0; i < result.count; i++) {
    check(result.tokens[i].origin < list.count);
    check(result.tokens[i].text == NULL || result.tokens[i].text[0] != '\0');
  }
  char *open = malloc(list.count + result.count + 1);
  check(open != NULL);
  if (input_matches(&list, open)) {
    check(result_matches(&list, &result, open));
  }
  free(open);
  mtlc_rewrite_clear(&result);
  return 0;
}
