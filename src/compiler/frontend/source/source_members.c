// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// source_members.c: rewrites the address space of a member function's object,
// as in `float get() const device;`, as a qualifier that clang parses there.
// repairs.cpp makes it part of the function's type. Constructors cannot have
// one: it is removed, and so are constructors that differ from an earlier one
// in it alone.
#include "compiler/frontend/source/source_scan.h"

typedef struct member {
  uint64_t signature;
  bool has_space;
} member;

// The limit of the search for a repeated member.
enum { MOST_MEMBERS = 1024 };

// Skips what may follow a function's parameters. Returns where its body,
// initialisers or end is, or 0 if that does not come next.
static size_t skip_qualifiers(const rewriter *r, size_t position,
                              bool *out_has_space) {
  static const char *const words[] = {"const", "volatile", "override", "final"};
  static const char *const ends[] = {"{", ";", ":", "=", "->"};
  *out_has_space = false;
  for (size_t i = position; i < r->count;) {
    const size_t behind_space = skip_space(r, i);
    if (behind_space != 0) {
      *out_has_space = true;
      i = behind_space;
    } else if (is_any_word(r, i, words, 4) || is_mark(r, i, "&") ||
               is_mark(r, i, "&&")) {
      i++;
    } else if (is_word(r, i, "noexcept")) {
      i++;
      if (is_mark(r, i, "(")) {
        i = skip_group(r, i, far_ahead(r, i));
      }
    } else {
      for (size_t e = 0; e < sizeof ends / sizeof *ends; e++) {
        if (is_mark(r, i, ends[e])) {
          return i;
        }
      }
      return 0;
    }
    if (i == 0) {
      return 0;
    }
  }
  return 0;
}

bool mtlc_put_object_space(rewriter *r) {
  bool has_space = false;
  const bool follows_declarator =
      r->position > 0 && (is_mark(r, r->position - 1, ")") ||
                          is_word(r, r->position - 1, "const") ||
                          is_word(r, r->position - 1, "noexcept") ||
                          is_mark(r, r->position - 1, "&"));
  const size_t end = follows_declarator ? skip_space(r, r->position) : 0;
  if (end == 0 || skip_qualifiers(r, end, &has_space) == 0) {
    return false;
  }
  const bool is_constant =
      is_word(r, r->position + SPACE_WORD, "opencl_global_host");
  if (!r->is_constructor) {
    put(r, r->position,
        is_constant                              ? "__constant"
        : is_threadgroup_keyword(r, r->position) ? "__local"
                                                 : "__global");
    if (is_constant) {
      put(r, r->position, "const");
    }
  }
  r->position = end;
  return true;
}

static bool is_closing(const rewriter *r, size_t position) {
  return is_mark(r, position, ")") || is_mark(r, position, "]") ||
         is_mark(r, position, "}");
}

// Skips `operator` and the first token of its name, or both brackets of () and
// []. Returns 0 if another bracket follows.
static size_t behind_operator(const rewriter *r, size_t position) {
  const size_t name = position + 1;
  if (is_mark(r, name, "(") || is_mark(r, name, "[")) {
    return is_closing(r, name + 1) ? skip_group(r, name, r->count) : 0;
  }
  return is_mark(r, name, "{") || is_closing(r, name) ? 0 : name + 1;
}

// Finds the end of the parameters of the function that is declared at the
// current position, or returns 0.
static size_t parameters_end(const rewriter *r) {
  const size_t limit = far_ahead(r, r->position);
  for (size_t i = r->position; i < limit;) {
    if (is_word(r, i, "template") && is_mark(r, i + 1, "<")) {
      i = skip_angles(r, i + 1, limit);
    } else if (has_group(r, i)) {
      i = skip_group(r, i + 1, limit);
    } else if (is_mark(r, i, "[")) {
      i = skip_group(r, i, limit);
    } else if (is_word(r, i, "operator")) {
      i = behind_operator(r, i);
    } else if (is_mark(r, i, "(")) {
      return skip_group(r, i, limit);
    } else if (is_mark(r, i, ";") || is_mark(r, i, "{") || is_closing(r, i) ||
               is_mark(r, i, "=") || is_mark(r, i, ":")) {
      return 0;
    } else {
      i++;
    }
    if (i == 0) {
      return 0;
    }
  }
  return 0;
}

// Skips the specifiers that may precede a constructor's name.
static size_t skip_function_specifiers(const rewriter *r, size_t end) {
  static const char *const words[] = {"constexpr", "inline", "explicit",
                                      "friend"};
  size_t i = r->position;
  while (i < end) {
    if (is_word(r, i, "template") && is_mark(r, i + 1, "<")) {
      i = skip_angles(r, i + 1, end);
    } else if (has_group(r, i)) {
      i = skip_group(r, i + 1, end);
    } else if (starts_attributes(r, i)) {
      i = skip_group(r, i, end);
    } else if (is_any_word(r, i, words, 4)) {
      i++;
    } else {
      return i;
    }
    if (i == 0) {
      return end;
    }
  }
  return end;
}

// True if the declaration here is a constructor, as `name(` or `scope::name(`.
static bool declares_constructor(const rewriter *r, size_t parameters) {
  size_t i = skip_function_specifiers(r, parameters);
  while (i < parameters && token_at(r, i)->kind == MTLC_TOKEN_WORD &&
         !is_word(r, i, "operator")) {
    if (is_mark(r, i + 1, "(")) {
      return true;
    }
    i++;
    if (is_mark(r, i, "<")) {
      i = skip_angles(r, i, parameters);
      if (i != 0 && is_mark(r, i, "(")) {  // name<T>(
        return true;
      }
    }
    if (i == 0 || !is_mark(r, i, "::")) {
      return false;
    }
    i++;
  }
  return false;
}

// FNV-1a over the tokens but for address spaces of the object.
static uint64_t signature_of(const rewriter *r, size_t parameters, size_t end) {
  uint64_t hash = UINT64_C(0xcbf29ce484222325);
  for (size_t i = r->position; i < end;) {
    const size_t behind_space = i >= parameters ? skip_space(r, i) : 0;
    if (behind_space != 0) {
      i = behind_space;
      continue;
    }
    const mtlc_token *token = &r->tokens[i++];
    for (uint32_t c = 0; c <= token->length; c++) {
      const unsigned char byte =
          c < token->length ? (unsigned char)token->text[c] : ' ';
      hash = (hash ^ byte) * UINT64_C(0x100000001b3);
    }
  }
  return hash;
}

// Skips a function's initialisers and body, or its ; at end. Returns 0 if the
// scope ends before it does.
static size_t skip_definition(const rewriter *r, size_t position) {
  for (size_t i = position; i < r->count;) {
    if (is_mark(r, i, ";")) {
      return i + 1;
    }
    if (is_closing(r, i)) {
      return 0;
    }
    const bool is_body = is_mark(r, i, "{") &&
                         (i == position || !is_mark(r, position, ":") ||
                          is_mark(r, i - 1, ")") || is_mark(r, i - 1, "}"));
    if (is_mark(r, i, "(") || is_mark(r, i, "[") || is_mark(r, i, "{")) {
      const size_t end = skip_group(r, i, r->count);
      if (end == 0 || is_body) {
        return end;
      }
      i = end;
    } else {
      i++;
    }
  }
  return 0;
}

static void remember(rewriter *r, const member *added) {
  if (r->member_count == r->member_capacity) {
    const size_t capacity = r->member_capacity * 2 + 64;
    member *const grown = realloc(r->members, capacity * sizeof *grown);
    if (grown == NULL) {
      r->failed = true;
      return;
    }
    r->members = grown;
    r->member_capacity = capacity;
  }
  r->members[r->member_count++] = *added;
}

size_t mtlc_repeated_member_end(rewriter *r) {
  const size_t parameters = parameters_end(r);
  r->is_constructor = parameters != 0 && declares_constructor(r, parameters);
  if (!r->is_constructor) {
    return 0;
  }
  member found = {0};
  const size_t end =
      parameters == 0 ? 0 : skip_qualifiers(r, parameters, &found.has_space);
  if (end == 0 || (r->kind == SCOPE_NAMESPACE && !found.has_space)) {
    return 0;
  }
  found.signature = signature_of(r, parameters, end);
  const size_t base =
      r->scope_count == 0 ? 0 : r->scopes[r->scope_count - 1].member_count;
  for (size_t i = r->member_count;
       i > base && r->member_count - i < MOST_MEMBERS; i--) {
    const member *earlier = &r->members[i - 1];
    if (earlier->signature == found.signature &&
        (earlier->has_space || found.has_space)) {
      return skip_definition(r, end);
    }
  }
  remember(r, &found);
  return 0;
}
