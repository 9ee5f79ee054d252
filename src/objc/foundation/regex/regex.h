// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// regex.h: regular expressions of ICU's syntax over UTF-16, by backtracking.
#ifndef METTLE_OBJC_REGEX_H
#define METTLE_OBJC_REGEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// NSRegularExpressionOptions
enum {
  REGEX_CASE_INSENSITIVE = 1 << 0,
  REGEX_COMMENTS = 1 << 1,  // space and #... in the pattern are ignored
  REGEX_LITERAL = 1 << 2,   // every character stands for itself
  REGEX_DOT_MATCHES_LINES = 1 << 3,
  REGEX_ANCHORS_MATCH_LINES = 1 << 4,
};

enum { REGEX_MAX_GROUPS = 64 };

typedef struct regex regex;

// A part of the text; start is SIZE_MAX where a group did not take part.
typedef struct regex_span {
  size_t start, end;
} regex_span;

// Compiles a pattern. NULL, with a message and where it is in the pattern, if
// it is none or has what is not supported.
regex *regex_create(const uint16_t *pattern, size_t count, unsigned options,
                    const char **out_error, size_t *out_at);
void regex_free(regex *of);
// How many groups capture, without the whole match.
size_t regex_groups(const regex *of);
// Returns the number of the group with this name; 0 if there is none.
size_t regex_group_named(const regex *of, const char *name, size_t length);

// What a search may look at: text [count], of which [first, last) is searched.
typedef struct regex_text {
  const uint16_t *units;
  size_t count, first, last;
  bool anchors;      // ^ and $ match at first and last, too
  bool transparent;  // lookarounds and \b see what lies outside
} regex_text;

typedef enum regex_result {
  REGEX_NO_MATCH,
  REGEX_MATCH,
  REGEX_TOO_HARD,  // over the limit of steps or depth
} regex_result;

// Finds the first match from start on, and sets out [REGEX_MAX_GROUPS + 1], the
// whole match first. With at_start it must begin there.
regex_result regex_find(const regex *of, const regex_text *text, size_t start,
                        bool at_start, regex_span *out);

#endif
