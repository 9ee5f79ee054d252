// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// suppress.c: suppresses known findings: by a comment in the source, `//
// mettle-check: ignore race.device`, on one of the finding's lines, or by lines
// KIND:KERNEL:FILE:LINE of globs in the file METTLE_CHECK_SUPPRESS.
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "check/findings.h"

static bool is_named(const char *kinds, const char *kind) {
  while (*kinds) {
    kinds += strspn(kinds, " ,\t");
    const size_t length = strcspn(kinds, " ,\t");
    if (length == 0) {
      break;
    }
    char word[64];
    snprintf(word, sizeof word, "%.*s", (int)length, kinds);
    if (fnmatch(word, kind, 0) == 0) {
      return true;
    }
    kinds += length;
  }
  return false;
}

static bool says_ignore(const mtl_check_place *place, const char *kind) {
  static const char mark[] = "mettle-check: ignore";
  char line[512];
  if (!check_source_line(place->file, place->line, line, sizeof line)) {
    return false;
  }
  const char *at = strstr(line, mark);
  if (!at) {
    return false;
  }
  at += sizeof mark - 1;
  return at[strspn(at, " \t")] == '\0' || is_named(at, kind);
}

// A glob for each part; those that are left out are "*".
static bool matches(char *rule, const mtl_check_finding *it,
                    const mtl_check_place *place) {
  char line[16];
  snprintf(line, sizeof line, "%u", place->line);
  const char *slash = strrchr(place->file, '/');
  const char *const parts[] = {it->kind, place->kernel,
                               slash ? slash + 1 : place->file, line};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; ++i) {
    char *glob = strsep(&rule, ":");
    if (glob && *glob && fnmatch(glob, parts[i], 0) != 0 &&
        (i != 2 || fnmatch(glob, place->file, 0) != 0)) {
      return false;
    }
  }
  return true;
}

static bool file_names(const mtl_check_finding *it) {
  const char *path = secure_getenv("METTLE_CHECK_SUPPRESS");
  FILE *file = path && *path ? fopen(path, "r") : NULL;
  if (!file) {
    if (path && *path) {
      mtli_check_note_unchecked("METTLE_CHECK_SUPPRESS: %s cannot be read",
                                path);
    }
    return false;
  }
  char line[1024];
  bool found = false;
  while (!found && fgets(line, sizeof line, file)) {
    line[strcspn(line, "\r\n")] = '\0';
    if (line[0] == '\0' || line[0] == '#') {
      continue;
    }
    char rule[sizeof line];
    strcpy(rule, line);
    found = matches(rule, it, &it->first);
    strcpy(rule, line);
    found = found || (it->second.line && matches(rule, it, &it->second));
  }
  fclose(file);
  return found;
}

bool check_is_suppressed(const mtl_check_finding *it) {
  return says_ignore(&it->first, it->kind) ||
         says_ignore(&it->second, it->kind) || file_names(it);
}
