// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// check_option.c: --check and its related options, for the verbs that run
// something. They set the METTLE_CHECK variables, which libmettle reads.
#include <stdlib.h>
#include <string.h>

#include "cli/base/cli.h"
#include "cli/base/suggest.h"
#include "mettle/check.h"

typedef struct check_option {
  const char *name;
  const char *variable;
  const char *otherwise;  // without "=VALUE"; NULL: the next word is the value
} check_option;

static const check_option options[] = {
    {"--check", "METTLE_CHECK", "default"},
    {"--check-report", "METTLE_CHECK_REPORT", NULL},
    {"--check-suppress", "METTLE_CHECK_SUPPRESS", NULL},
    {"--schedule", "METTLE_CHECK_SCHEDULE", NULL},
};
enum { OPTION_COUNT = sizeof options / sizeof *options };

bool cli_is_checked(void) {
  const char *setting = getenv("METTLE_CHECK");
  return setting && *setting && strcmp(setting, "0") != 0;
}

bool cli_check_has_found(void) {
  uint64_t findings;
  mtl_check_counts(&findings, NULL, NULL, NULL);
  return findings > 0;
}

static const check_option *find(const char *word, const char **out_value) {
  for (size_t i = 0; i < OPTION_COUNT; ++i) {
    const size_t length = strlen(options[i].name);
    if (strncmp(word, options[i].name, length) == 0 &&
        (word[length] == '\0' || word[length] == '=')) {
      *out_value = word[length] ? word + length + 1 : NULL;
      return &options[i];
    }
  }
  return NULL;
}

// Tells of the option where libmettle tells of its variable, and suggests the
// nearest of the words that it lists.
static bool fail_setting(const char *const given[OPTION_COUNT],
                         cli_error *error) {
  static const char *const words[] = {
      "races",   "bounds", "init",    "sync",   "align", "nan",
      "integer", "host",   "uniform", "stop",   "all",   "forward",
      "reverse", "random", "stale",   "explore"};
  const char *text = mtl_last_error();
  const char *rule = strstr(text, "\": it may be ");
  for (size_t i = 0; i < OPTION_COUNT && rule != NULL; ++i) {
    const size_t length = strlen(options[i].variable);
    if (given[i] == NULL || strncmp(text, options[i].variable, length) != 0 ||
        strncmp(text + length, " is \"", 5) != 0) {
      continue;
    }
    char suggestion[CLI_SUGGESTION_SIZE] = "";
    for (const char *word = given[i]; *word && !suggestion[0];) {
      const size_t size = strcspn(word, ",:");
      const char *near =
          cli_near_name(word, size, words, sizeof words / sizeof *words);
      if (near != NULL &&
          (strlen(near) != size || strncmp(near, word, size) != 0)) {
        cli_suggest(suggestion, word, size, words,
                    sizeof words / sizeof *words);
      }
      word += size + (word[size] != '\0');
    }
    return cli_fail(error, CLI_USAGE, "%s %.80s: %s%s", options[i].name,
                    given[i], rule + strlen("\": it may be "), suggestion);
  }
  return cli_fail(error, CLI_USAGE, "%s", text);
}

bool cli_take_check(char **arguments, cli_error *error) {
  const char *given[OPTION_COUNT] = {NULL};
  char **to = arguments;
  bool needs_check = false;
  const char *needing = NULL;
  for (char **word = arguments; *word; ++word) {
    const char *value = NULL;
    const check_option *option = find(*word, &value);
    if (!option) {
      *to++ = *word;
      continue;
    }
    if (!value) {
      value = option->otherwise ? option->otherwise : *++word;
    }
    if (!value || !*value) {
      return cli_fail(error, CLI_USAGE, "%s needs a value", option->name);
    }
    given[option - options] = value;
    needs_check |= option != &options[0];
    needing = option != &options[0] ? option->name : needing;
    if (setenv(option->variable, value, 1) != 0) {
      return cli_fail(error, CLI_FAILED, "out of memory");
    }
  }
  *to = NULL;
  if (needs_check && !cli_is_checked()) {
    return cli_fail(error, CLI_USAGE, "%s needs --check", needing);
  }
  const mtl_status status = mtl_check_settings();
  return status == MTL_OK || fail_setting(given, error);
}
