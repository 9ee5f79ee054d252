// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// source.c: rewrites Metal's attributes, threadgroup variables, program-scope
// inputs and the address spaces of member functions as clang spells them, in
// one pass over a translation unit's tokens. A statement or a constant bounds
// every look ahead or back: the time is linear in the number of tokens.
#include "compiler/frontend/reflect.h"
#include "compiler/frontend/source/source_scan.h"

// --- threadgroup variables ---------------------------------------------------

// True if everything between the statement's start and position is a qualifier.
static bool follows_qualifiers_only(const rewriter *r, size_t position) {
  static const char *const qualifiers[] = {"const", "volatile", "constexpr"};
  enum { MOST_TOKENS = 64 };
  if (position - r->statement > MOST_TOKENS) {
    return false;
  }
  for (size_t i = r->statement; i < position;) {
    if (is_any_word(r, i, qualifiers, 3)) {
      i++;
      continue;
    }
    const bool group = has_group(r, i);
    const bool list = starts_attributes(r, i);
    i = group  ? skip_group(r, i + 1, position)
        : list ? skip_group(r, i, position)
               : 0;
    if (i == 0) {
      return false;
    }
  }
  return true;
}

// The end of the members of a class that is defined at position, which may be
// nameless; 0 if none is.
static size_t skip_members(const rewriter *r, size_t position, size_t end) {
  static const char *const keys[] = {"struct", "union", "class"};
  if (!is_any_word(r, position, keys, 3)) {
    return 0;
  }
  size_t i = position + 1;
  while (i < end && (has_group(r, i) || starts_attributes(r, i))) {
    i = skip_group(r, has_group(r, i) ? i + 1 : i, end);
    if (i == 0) {
      return 0;
    }
  }
  i += i < end && token_at(r, i)->kind == MTLC_TOKEN_WORD;
  return i < end && is_mark(r, i, "{") ? skip_group(r, i, end) : 0;
}

// Reads the specifiers at position up to the end of a declared name. Returns
// where that is, or 0 if they end in something else than a name.
static size_t skip_specifiers_and_name(const rewriter *r, size_t position) {
  size_t words = 0;
  bool last_is_name = false;
  const size_t end = position < r->count ? far_ahead(r, position) : position;
  size_t i = position;
  while (i < end && !is_mark(r, i, ";")) {
    const size_t behind_members = skip_members(r, i, end);
    if (behind_members) {
      words++;
      i = behind_members;
      last_is_name = false;
    } else if (has_group(r, i)) {
      words += is_word(r, i, "decltype");
      i = skip_group(r, i + 1, end);
      last_is_name = false;
    } else if (token_at(r, i)->kind == MTLC_TOKEN_WORD) {
      words++;
      last_is_name = !is_mark(r, i - 1, "::");
      i++;
    } else if (is_mark(r, i, "::")) {
      i++;
    } else if (is_mark(r, i, "<") && words > 0) {
      i = skip_angles(r, i, end);
      last_is_name = false;
    } else {
      break;
    }
    if (i == 0) {
      return 0;
    }
  }
  return words >= 2 && last_is_name ? i : 0;
}

// True if the specifiers at position declare an object, not a pointer, a
// reference or a function.
static bool declares_object(const rewriter *r, size_t position) {
  const size_t i = skip_specifiers_and_name(r, position);
  return i != 0 && !is_mark(r, i, "*") && !is_mark(r, i, "&") &&
         !is_mark(r, i, "&&") &&
         !(is_mark(r, i, "(") &&
           (is_mark(r, i + 1, "*") || is_mark(r, i + 1, "&")));
}

// True if the declared name that ends at i has an initialiser.
static bool has_initializer(const rewriter *r, size_t i) {
  while (i != 0 && is_mark(r, i, "[")) {
    i = skip_group(r, i, far_ahead(r, i));
  }
  return i != 0 &&
         (is_mark(r, i, "=") || is_mark(r, i, "{") || is_mark(r, i, "("));
}

static void put_words(rewriter *r, const char *const *words, size_t count) {
  for (size_t i = 0; i < count; i++) {
    put(r, r->position, words[i]);
  }
}

// Marks variables with an initialiser, so that other memory can stay as it is
// when a threadgroup starts.
static void put_threadgroup_storage(rewriter *r, size_t behind_name) {
  static const char *const storage[] = {
      "static", "__attribute__",           "(", "(", "section",
      "(",      "\".mettle.threadgroup\"", ")"};
  static const char *const mark[] = {",", "annotate", "(",
                                     "\"mettle.initialized\"", ")"};
  static const char *const close[] = {")", ")"};
  put_words(r, storage, sizeof storage / sizeof *storage);
  if (has_initializer(r, behind_name)) {
    put_words(r, mark, sizeof mark / sizeof *mark);
  }
  put_words(r, close, sizeof close / sizeof *close);
}

// Finds the address space of a variable's declaration that starts here and has
// it after the type, as `S threadgroup s`. Returns its position, or 0.
static size_t trailing_threadgroup(const rewriter *r) {
  static const char *const statements[] = {"return",  "goto",   "case", "using",
                                           "typedef", "delete", "throw"};
  enum { MOST_TOKENS = 64 };
  if (r->kind != SCOPE_BLOCK || r->depth != 0 || r->position != r->statement ||
      is_any_word(r, r->position, statements, 7)) {
    return 0;
  }
  const size_t limit = far_ahead(r, r->position);
  size_t i = r->position;
  while (i != 0 && i < limit && i - r->position < MOST_TOKENS &&
         !is_threadgroup_keyword(r, i)) {
    if (has_group(r, i)) {
      i = skip_group(r, i + 1, limit);
    } else if (token_at(r, i)->kind == MTLC_TOKEN_WORD || is_mark(r, i, "::")) {
      i++;
    } else if (is_mark(r, i, "<") && i > r->position) {
      i = skip_angles(r, i, limit);
    } else {
      return 0;
    }
  }
  if (i == 0 || i == r->position || !is_threadgroup_keyword(r, i)) {
    return 0;
  }
  size_t name = i + THREADGROUP_KEYWORD_TOKENS;
  while (is_word(r, name, "const") || is_word(r, name, "volatile")) {
    name++;
  }
  return token_at(r, name)->kind == MTLC_TOKEN_WORD &&
                 (is_mark(r, name + 1, ";") || is_mark(r, name + 1, "[") ||
                  is_mark(r, name + 1, "=") || is_mark(r, name + 1, "{") ||
                  is_mark(r, name + 1, ","))
             ? i
             : 0;
}

static bool declares_threadgroup_variable(const rewriter *r) {
  return r->kind == SCOPE_BLOCK && r->depth == 0 &&
         is_threadgroup_keyword(r, r->position) &&
         follows_qualifiers_only(r, r->position) &&
         declares_object(r, r->position + THREADGROUP_KEYWORD_TOKENS);
}

// --- array parameters --------------------------------------------------------

// C++ lets an array in an address space be no parameter, though it is but a
// pointer. Notes the name of one if its declaration starts here.
static void note_array_parameter(rewriter *r) {
  const size_t behind_space = r->depth > 0 ? skip_space(r, r->position) : 0;
  const size_t end =
      behind_space == 0 ? 0 : skip_specifiers_and_name(r, behind_space);
  if (end == 0 || !is_mark(r, end, "[") || starts_attributes(r, end)) {
    return;
  }
  const size_t behind = skip_group(r, end, far_ahead(r, end));
  if (behind == 0) {
    return;
  }
  if (is_mark(r, behind, ",") || is_mark(r, behind, ")") ||
      is_mark(r, behind, "[")) {
    r->array_name = end - 1;
  }
}

// Writes name[n] as (*name).
static void put_array_parameter(rewriter *r) {
  const size_t name = r->position;
  put(r, name, "(");
  put(r, name, "*");
  put(r, name, NULL);
  put(r, name, ")");
  r->position = skip_group(r, name + 1, far_ahead(r, name));
  r->array_name = 0;
}

// --- function constants and inputs at program scope --------------------------

static bool names_input(const rewriter *r, size_t position) {
  char name[64];
  const mtlc_token *token = token_at(r, position);
  if (token->kind != MTLC_TOKEN_WORD || token->length >= sizeof name) {
    return false;
  }
  memcpy(name, token->text, token->length);
  name[token->length] = '\0';
  return mtlc_find_builtin(name) != MTLI_BUILTIN_NONE;
}

static bool comes_from_outside(const rewriter *r, size_t begin, size_t end) {
  for (size_t i = begin; i < end; i++) {
    if (is_word(r, i, "function_constant") || names_input(r, i)) {
      return true;
    }
  }
  return false;
}

// True if the declaration at the current position, in a namespace, has
// [[function_constant(n)]] or the attribute of a built-in input on what it
// declares, not on a parameter.
static bool declares_outside_value(const rewriter *r) {
  const size_t limit = far_ahead(r, r->position);
  for (size_t i = r->position; i < limit;) {
    if (is_mark(r, i, ";") || is_mark(r, i, "{") || is_mark(r, i, "}")) {
      return false;
    }
    if (!is_mark(r, i, "(") && !is_mark(r, i, "[")) {
      i++;
      continue;
    }
    const size_t end = skip_group(r, i, limit);
    if (end == 0) {
      return false;
    }
    if (starts_attributes(r, i) && comes_from_outside(r, i, end)) {
      return true;
    }
    i = end;
  }
  return false;
}

// --- scopes ------------------------------------------------------------------

// Classifies the scope that { opens, by the statement before it.
static scope_kind classify_brace(const rewriter *r) {
  static const char *const class_keys[] = {"struct", "class", "union"};
  if (r->kind == SCOPE_OTHER) {
    return SCOPE_OTHER;
  }
  if (r->depth > 0) {
    return r->kind == SCOPE_BLOCK ? SCOPE_BLOCK : SCOPE_OTHER;
  }
  const bool in_block = r->kind == SCOPE_BLOCK;
  bool has_class_key = false;
  bool has_parameters = false;
  for (size_t i = r->statement; i < r->position;) {
    size_t behind = i + 1;
    if (is_word(r, i, "template") && is_mark(r, i + 1, "<")) {
      behind = skip_angles(r, i + 1, r->position);
    } else if (has_group(r, i)) {
      behind = skip_group(r, i + 1, r->position);
    } else if (is_word(r, i, "namespace")) {
      return SCOPE_NAMESPACE;
    } else if (is_word(r, i, "extern") && i + 2 == r->position) {
      return SCOPE_NAMESPACE;
    } else if (is_word(r, i, "enum")) {
      return SCOPE_OTHER;
    } else if (is_any_word(r, i, class_keys, 3)) {
      has_class_key = true;
    } else if (is_mark(r, i, ":") && has_class_key && !has_parameters) {
      return SCOPE_CLASS;
    } else if (is_mark(r, i, "=") && !in_block &&
               !(i > 0 && is_word(r, i - 1, "operator"))) {
      return SCOPE_OTHER;
    } else if (is_mark(r, i, "(")) {
      has_parameters = true;
      behind = skip_group(r, i, r->position);
    }
    i = behind == 0 ? r->position : behind;
  }
  if (has_class_key && !has_parameters) {
    return SCOPE_CLASS;
  }
  return in_block || has_parameters ? SCOPE_BLOCK : SCOPE_OTHER;
}

static void open_scope(rewriter *r) {
  if (r->scope_count == r->scope_capacity) {
    const size_t capacity = r->scope_capacity * 2 + 16;
    scope *const grown = realloc(r->scopes, capacity * sizeof *grown);
    if (grown == NULL) {
      r->failed = true;
      return;
    }
    r->scopes = grown;
    r->scope_capacity = capacity;
  }
  const scope_kind inner = classify_brace(r);
  r->scopes[r->scope_count++] =
      (scope){r->kind, r->depth, r->statement, r->member_count};
  r->kind = inner;
  r->depth = 0;
  r->statement = r->position + 1;
}

static void close_scope(rewriter *r) {
  if (r->scope_count == 0) {
    return;
  }
  const scope outer = r->scopes[--r->scope_count];
  r->kind = outer.kind;
  r->depth = outer.depth;
  r->member_count = outer.member_count;
  r->statement = r->depth == 0 ? r->position + 1 : outer.statement;
}

static bool ends_label(const rewriter *r) {
  return r->depth == 0 &&
         (r->position == r->statement + 1 || is_word(r, r->statement, "case"));
}

// Copies a token and follows it through scopes and statements.
static void copy_token(rewriter *r) {
  put(r, r->position, NULL);
  const mtlc_token *token = &r->tokens[r->position];
  if (token->kind == MTLC_TOKEN_PUNCTUATION && token->length == 1) {
    switch (token->text[0]) {
      case '(':
      case '[': r->depth++; break;
      case ')':
      case ']': r->depth -= r->depth > 0; break;
      case '{': open_scope(r); break;
      case '}': close_scope(r); break;
      case ';':
        if (r->depth == 0) {
          r->statement = r->position + 1;
        }
        break;
      case ':':
        if (ends_label(r)) {
          r->statement = r->position + 1;
        }
        break;
      default: break;
    }
  }
  r->position++;
}

// True if a pragma that clang's lexer makes one token of stands in front of
// the statement: the statement starts behind it.
static bool starts_with_pragma(const rewriter *r) {
  return r->depth == 0 && token_at(r, r->position)->kind == MTLC_TOKEN_OTHER;
}

// Classifies the statement that starts here. Returns true if it is skipped.
static bool start_statement(rewriter *r) {
  if (starts_with_pragma(r)) {
    put(r, r->position, NULL);
    r->position++;
    r->statement = r->position;
    return true;
  }
  const size_t space = trailing_threadgroup(r);
  if (space != 0) {
    size_t behind_name = space + THREADGROUP_KEYWORD_TOKENS + 1;
    while (is_word(r, behind_name - 1, "const") ||
           is_word(r, behind_name - 1, "volatile")) {
      behind_name++;
    }
    put_threadgroup_storage(r, behind_name);
  }
  r->is_constant = r->kind == SCOPE_NAMESPACE && declares_outside_value(r);
  if (r->is_constant) {
    put(r, r->position, "extern");
    return false;
  }
  const bool holds_functions =
      r->kind == SCOPE_NAMESPACE || r->kind == SCOPE_CLASS;
  const size_t end = holds_functions ? mtlc_repeated_member_end(r) : 0;
  if (end == 0) {
    return false;
  }
  r->position = end;
  r->statement = end;
  return true;
}

static bool put_object_space(rewriter *r) {
  return r->depth == 0 &&
         (r->kind == SCOPE_NAMESPACE || r->kind == SCOPE_CLASS) &&
         mtlc_put_object_space(r);
}

// Drops `coherent` and `coherent(device)` in front of a type: memory is
// coherent between the threads of every device here, and with the host.
static bool skip_coherent(rewriter *r) {
  static const char *const scopes[] = {"system", "simdgroup", "quadgroup"};
  if (!is_word(r, r->position, "coherent")) {
    return false;
  }
  size_t end = r->position + 1;
  if (is_mark(r, end, "(") &&
      (is_word(r, end + 1, "__attribute__") || is_mark(r, end + 1, ")") ||
       is_any_word(r, end + 1, scopes, 3))) {
    end = skip_group(r, end, far_ahead(r, end));
  }
  if (end == 0 || token_at(r, end)->kind != MTLC_TOKEN_WORD) {
    return false;
  }
  r->position = end;
  return true;
}

static const char *const replaced_by_extern[] = {"static", "constexpr",
                                                 "inline"};

bool mtlc_rewrite_tokens(const mtlc_token *tokens, size_t count,
                         mtlc_rewrite *out_rewrite) {
  *out_rewrite = (mtlc_rewrite){0};
  rewriter r = {.tokens = tokens, .count = count, .result = out_rewrite};
  while (r.position < count && !r.failed) {
    if (r.position == r.statement && start_statement(&r)) {
      continue;
    }
    mtlc_put_late_attributes(&r);
    note_array_parameter(&r);
    if (r.array_name != 0 && r.array_name == r.position) {
      put_array_parameter(&r);
    } else if (starts_attributes(&r, r.position)) {
      mtlc_rewrite_attributes(&r);
    } else if (r.is_constant && r.depth == 0 &&
               is_any_word(&r, r.position, replaced_by_extern, 3)) {
      r.position++;
    } else if (put_object_space(&r)) {
      continue;
    } else if (skip_coherent(&r)) {
      continue;
    } else if (declares_threadgroup_variable(&r)) {
      put_threadgroup_storage(&r,
                              skip_specifiers_and_name(
                                  &r, r.position + THREADGROUP_KEYWORD_TOKENS));
      put_range(&r, r.position, r.position + THREADGROUP_KEYWORD_TOKENS);
      r.position += THREADGROUP_KEYWORD_TOKENS;
    } else {
      copy_token(&r);
    }
  }
  free(r.scopes);
  free(r.members);
  if (r.failed) {
    mtlc_rewrite_clear(out_rewrite);
  }
  return !r.failed;
}

void mtlc_rewrite_clear(mtlc_rewrite *rewrite) {
  free(rewrite->tokens);
  *rewrite = (mtlc_rewrite){0};
}
