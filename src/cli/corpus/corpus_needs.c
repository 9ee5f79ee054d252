// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// corpus_needs.c: which other source of the folder has what a source only
// declares. Metal's tools compile such a source alone and link the project's
// sources to one library.
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "cli/corpus/corpus.h"

static const char error_mark[] = "error: ";

// Finds the name in "function 'NAME' is called but nowhere defined", or the
// same of a variable, without namespace and parameters. Returns its length, 0
// for any other error.
static size_t undefined_name(const char *error, const char **out_name) {
  static const char end[] = " but nowhere defined\n";
  const size_t line = strcspn(error, "\n");
  const char *const open = memchr(error, '\'', line);
  const char *const close = open ? memchr(open + 1, '\'', line) : NULL;
  const char *const said = strstr(error, end);
  if (!close || said != error + line + 1 - strlen(end)) {
    return 0;
  }
  const char *name = open + 1;
  size_t length = strcspn(name, "'(<");
  for (size_t i = 0; i + 1 < length; ++i) {
    if (name[i] == ':' && name[i + 1] == ':') {
      name += i + 2;
      length -= i + 2;
      i = 0;
    }
  }
  *out_name = name;
  return length;
}

static bool is_word(char letter) {
  return isalnum((unsigned char)letter) || letter == '_';
}

// The end of the parentheses that open here; NULL without one.
static const char *skip_parentheses(const char *open) {
  size_t depth = 0;
  for (const char *at = open; *at != '\0'; ++at) {
    depth += *at == '(';
    depth -= *at == ')';
    if (depth == 0) {
      return at + 1;
    }
  }
  return NULL;
}

static const char *skip_space(const char *at) {
  return at + strspn(at, " \t\r\n");
}

// True if what follows a name makes it a definition: parameters and a body, or
// a value.
static bool begins_definition(const char *after) {
  after = skip_space(after);
  if (*after == '(') {
    after = skip_parentheses(after);
    return after != NULL && *skip_space(after) == '{';
  }
  return *after != '\0' && strchr("=[{", *after) != NULL;
}

// True if a source's text defines a name, as far as its tokens tell.
static bool defines(const char *text, const char *name) {
  const size_t length = strlen(name);
  for (const char *at = text; (at = strstr(at, name)) != NULL; at += length) {
    const bool is_whole =
        (at == text || !is_word(at[-1])) && !is_word(at[length]);
    if (is_whole && begins_definition(at + length)) {
      return true;
    }
  }
  return false;
}

// The first other source that defines a name; NULL if none does.
static const corpus_row *find_definer(const corpus_files *files,
                                      const corpus_row *row, const char *name) {
  for (size_t i = 0; i < files->count; ++i) {
    char *bytes;
    size_t size;
    cli_error error = {0};
    if (&files->rows[i] == row ||
        !read_whole_file(files->rows[i].path, &bytes, &size, &error)) {
      continue;
    }
    const bool found = defines(bytes, name);
    free(bytes);
    if (found) {
      return &files->rows[i];
    }
  }
  return NULL;
}

const char *corpus_needs(const corpus_files *files, const corpus_row *row,
                         const char *errors) {
  const char *needed = NULL;
  const char *at = errors;
  while ((at = strstr(at, error_mark)) != NULL) {
    at += strlen(error_mark);
    const char *start;
    const size_t length = undefined_name(at, &start);
    char *name = length > 0 ? strndup(start, length) : NULL;
    const corpus_row *definer = name ? find_definer(files, row, name) : NULL;
    free(name);
    if (definer == NULL) {
      return NULL;
    }
    needed = needed ? needed : definer->name;
  }
  return needed;
}
