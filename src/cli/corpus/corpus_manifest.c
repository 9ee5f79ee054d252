// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// corpus_manifest.c: reads how a project compiles its sources.
#include <fnmatch.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/corpus/corpus.h"

#include "cli/base/suggest.h"

static char *trim(char *text) {
  text += strspn(text, " \t\r");
  size_t length = strlen(text);
  while (length > 0 && strchr(" \t\r", text[length - 1]) != NULL) {
    text[--length] = '\0';
  }
  return text;
}

// PATH as seen from the working directory: relative ones start at the
// manifest's folder. NULL without memory.
static char *resolve(const char *manifest_path, const char *path) {
  if (path[0] == '/') {
    return strdup(path);
  }
  char *copy = strdup(manifest_path);
  char *resolved = NULL;
  if (copy != NULL && asprintf(&resolved, "%s/%s", dirname(copy), path) < 0) {
    resolved = NULL;
  }
  free(copy);
  return resolved;
}

static bool take_include(const char *manifest_path, const char *value,
                         program_options *options, corpus_manifest *manifest,
                         cli_error *error) {
  char *path = resolve(manifest_path, value);
  if (path == NULL) {
    return cli_fail(error, CLI_FAILED, "out of memory");
  }
  manifest->paths[manifest->path_count++] = path;
  return program_options_take(options, OPTION_INCLUDE, path, error);
}

static bool take_line(const char *manifest_path, char *line,
                      program_options *options, corpus_manifest *manifest,
                      cli_error *error) {
  char *value = line + strcspn(line, " \t");
  if (*value != '\0') {
    *value++ = '\0';
  }
  value = trim(value);
  if (*value == '\0') {
    return cli_fail(error, CLI_USAGE, "'%s' needs a value", line);
  }
  if (strcmp(line, "include") == 0) {
    return take_include(manifest_path, value, options, manifest, error);
  }
  if (strcmp(line, "define") == 0) {
    return program_options_take(options, OPTION_DEFINE, value, error);
  }
  if (strcmp(line, "math") == 0) {
    return program_options_take(options, OPTION_MATH, value, error);
  }
  if (strcmp(line, "std") == 0) {
    return program_options_take(options, OPTION_STD, value, error);
  }
  if (strcmp(line, "skip") == 0) {
    manifest->skips[manifest->skip_count++] = value;
    return true;
  }
  static const char *const names[] = {"include", "define", "math", "std",
                                      "skip"};
  char suggestion[CLI_SUGGESTION_SIZE];
  cli_suggest(suggestion, line, strlen(line), names, 5);
  return cli_fail(error, CLI_USAGE,
                  "there is no '%.200s'; there are: include, define, math, "
                  "std, skip%s",
                  line, suggestion);
}

// Puts the file and the line before an error's text.
static bool fail_at(const char *path, size_t line, cli_error *error) {
  const cli_error inner = *error;
  return cli_fail(error, inner.exit_code, "%s:%zu: %.700s", path, line,
                  inner.text);
}

static bool take_lines(const char *path, program_options *options,
                       corpus_manifest *manifest, cli_error *error) {
  char *rest = manifest->text;
  for (size_t number = 1; rest != NULL; ++number) {
    char *line = trim(strsep(&rest, "\n"));
    if (*line == '\0' || *line == '#') {
      continue;
    }
    if (number > CORPUS_MAX_OPTIONS) {
      return cli_fail(error, CLI_USAGE, "%s: more than %d lines", path,
                      CORPUS_MAX_OPTIONS);
    }
    if (!take_line(path, line, options, manifest, error)) {
      return fail_at(path, number, error);
    }
  }
  return true;
}

bool corpus_manifest_read(const char *path, bool may_be_missing,
                          program_options *options,
                          corpus_manifest *out_manifest, cli_error *error) {
  memset(out_manifest, 0, sizeof *out_manifest);
  if (may_be_missing && access(path, F_OK) != 0) {
    return true;
  }
  char *bytes;
  size_t size;
  if (!read_whole_file(path, &bytes, &size, error)) {
    return false;
  }
  out_manifest->text = strndup(bytes, size);
  free(bytes);
  out_manifest->skips = calloc(CORPUS_MAX_OPTIONS, sizeof(char *));
  out_manifest->paths = calloc(CORPUS_MAX_OPTIONS, sizeof(char *));
  if (out_manifest->text == NULL || out_manifest->skips == NULL ||
      out_manifest->paths == NULL) {
    return cli_fail(error, CLI_FAILED, "out of memory");
  }
  return take_lines(path, options, out_manifest, error);
}

void corpus_manifest_clear(corpus_manifest *manifest) {
  for (size_t i = 0; i < manifest->path_count; ++i) {
    free(manifest->paths[i]);
  }
  free(manifest->paths);
  free(manifest->skips);
  free(manifest->text);
  memset(manifest, 0, sizeof *manifest);
}

bool corpus_manifest_skips(const corpus_manifest *manifest, const char *name) {
  for (size_t i = 0; i < manifest->skip_count; ++i) {
    if (fnmatch(manifest->skips[i], name, 0) == 0) {
      return true;
    }
  }
  return false;
}
