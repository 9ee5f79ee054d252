// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// suggest.h: finds the known name closest to a mistyped word.
#ifndef METTLE_CLI_SUGGEST_H
#define METTLE_CLI_SUGGEST_H

#include <stdbool.h>
#include <stddef.h>

// Returns the name most like word [length], or NULL if none is like it.
//
//   names  [count] those that are NULL are left out
const char *cli_near_name(const char *word, size_t length,
                          const char *const *names, size_t count);

#define CLI_SUGGESTION_SIZE 112

// Writes "; did you mean 'NAME'?" for an error's end, or "" if no name is like
// word; returns target.
const char *cli_suggest(char target[CLI_SUGGESTION_SIZE], const char *word,
                        size_t length, const char *const *names, size_t count);

// Suggests one of the names listed at the end of an error text of libmettle,
// which has the form "...; there are: a, b, c".
const char *cli_suggest_listed(char target[CLI_SUGGESTION_SIZE],
                               const char *word, const char *text);

#endif
