// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// suggest.c: finds the known name closest to a mistyped word, for "did you
// mean".
#include "cli/base/suggest.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 64, FAR = 1000 };

static bool same(char a, char b) {
  return tolower((unsigned char)a) == tolower((unsigned char)b);
}

static unsigned least(unsigned a, unsigned b) {
  return a < b ? a : b;
}

// Counts the letters to insert, drop, replace or swap with their neighbour
// (optimal string alignment); case makes no difference. FAR if they are more
// than most: lengths tell at once, and so does a row with nothing nearer, since
// no later row has a smaller least.
static unsigned distance(const char *a, size_t a_length, const char *b,
                         size_t b_length, size_t most) {
  unsigned rows[3][LONGEST + 1];
  if (a_length > LONGEST || b_length > LONGEST || a_length > b_length + most ||
      b_length > a_length + most) {
    return FAR;
  }
  for (size_t j = 0; j <= b_length; ++j) {
    rows[0][j] = (unsigned)j;
  }
  for (size_t i = 1; i <= a_length; ++i) {
    unsigned *row = rows[i % 3];
    const unsigned *above = rows[(i + 2) % 3];
    row[0] = (unsigned)i;
    unsigned row_least = row[0];
    for (size_t j = 1; j <= b_length; ++j) {
      const bool equal = same(a[i - 1], b[j - 1]);
      row[j] = least(above[j - 1] + !equal, least(above[j], row[j - 1]) + 1);
      if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) &&
          same(a[i - 2], b[j - 1])) {
        row[j] = least(row[j], rows[(i + 1) % 3][j - 2] + 1);
      }
      row_least = least(row_least, row[j]);
    }
    if (row_least > most) {
      return FAR;
    }
  }
  return rows[a_length % 3][b_length];
}

// A third of the letters may be wrong. In names of two letters none may: too
// many names are as similar.
static unsigned allowance(size_t length) {
  return length < 3 ? 0 : length < 6 ? 1 : (unsigned)(length / 3);
}

// Returns the only name of three letters that a word of two is part of; NULL if
// there are none or several.
static const char *longer_name(const char *word, const char *const *names,
                               size_t count) {
  const char *found = NULL;
  for (size_t i = 0; i < count; ++i) {
    if (names[i] == NULL || strlen(names[i]) != 3 ||
        distance(word, 2, names[i], 3, 1) != 1) {
      continue;
    }
    if (found != NULL) {
      return NULL;
    }
    found = names[i];
  }
  return found;
}

const char *cli_near_name(const char *word, size_t length,
                          const char *const *names, size_t count) {
  if (length == 2) {
    return longer_name(word, names, count);
  }
  const char *nearest = NULL;
  unsigned best = allowance(length) + 1;
  for (size_t i = 0; i < count; ++i) {
    if (names[i] == NULL) {
      continue;
    }
    const size_t name_length = strlen(names[i]);
    unsigned far = distance(word, length, names[i], name_length, best - 1);
    // An abbreviation: "--rep" for "--repeat".
    if (length >= 3 && length < name_length &&
        memcmp(word, names[i], length) == 0) {
      far = least(far, 1);
    }
    if (far < best) {
      best = far;
      nearest = names[i];
    }
  }
  return nearest;
}

const char *cli_suggest(char target[CLI_SUGGESTION_SIZE], const char *word,
                        size_t length, const char *const *names, size_t count) {
  const char *near = cli_near_name(word, length, names, count);
  target[0] = '\0';
  if (near != NULL) {
    snprintf(target, CLI_SUGGESTION_SIZE, "; did you mean '%.80s'?", near);
  }
  return target;
}

const char *cli_suggest_listed(char target[CLI_SUGGESTION_SIZE],
                               const char *word, const char *text) {
  enum { MOST = 256 };
  static const char start[] = "there are: ";
  const char *names[MOST];
  size_t count = 0;
  const char *found = strstr(text, start);
  char *list = strdup(found ? found + strlen(start) : "");
  char *rest = list;
  while (rest != NULL && count < MOST) {
    char *name = strsep(&rest, ",\n");
    names[count++] = name + strspn(name, " ");
  }
  cli_suggest(target, word, strlen(word), names, count);
  free(list);
  return target;
}
