// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// arguments.c: walks a command line.
#include "cli/base/arguments.h"

#include <string.h>

#include "cli/base/suggest.h"

// True if argument is the option, alone or with its value joined to it.
static bool matches(const option_spec *option, const char *argument,
                    const char **out_joined) {
  const size_t length = strlen(option->name);
  *out_joined = NULL;
  if (strncmp(argument, option->name, length) != 0) {
    return false;
  }
  if (argument[length] == '\0') {
    return true;
  }
  const bool is_long = option->name[1] == '-';
  if (is_long && argument[length] == '=') {
    *out_joined = argument + length + 1;
    return true;
  }
  if (!is_long && option->takes_value) {
    *out_joined = argument + length;
    return true;
  }
  return false;
}

static int take_option(argument_walk *walk, const option_spec *option,
                       const char *joined, const char **out_value,
                       cli_error *error) {
  *out_value = joined;
  if (!option->takes_value && joined != NULL) {
    cli_fail(error, CLI_USAGE, "%s takes no value", option->name);
    return ARGUMENT_WRONG;
  }
  if (option->takes_value && joined == NULL) {
    if (*walk->next == NULL) {
      cli_fail(error, CLI_USAGE, "%s needs a value", option->name);
      return ARGUMENT_WRONG;
    }
    *out_value = *walk->next++;
  }
  return option->id;
}

static void fail_option(const argument_walk *walk, const char *argument,
                        cli_error *error) {
  enum { MOST = 64 };
  const char *names[MOST] = {"--help", "--version"};
  size_t count = 2;
  for (const option_spec *option = walk->options; option->name && count < MOST;
       ++option) {
    names[count++] = option->name;
  }
  char suggestion[CLI_SUGGESTION_SIZE];
  cli_suggest(suggestion, argument, strcspn(argument, "="), names, count);
  cli_fail(error, CLI_USAGE, "there is no option %.200s%s", argument,
           suggestion);
}

int argument_walk_next(argument_walk *walk, const char **out_value,
                       cli_error *error) {
  const char *argument = *walk->next;
  *out_value = argument;
  if (argument == NULL) {
    return ARGUMENT_END;
  }
  ++walk->next;
  if (walk->options_ended || argument[0] != '-' || argument[1] == '\0') {
    return ARGUMENT_POSITIONAL;
  }
  if (strcmp(argument, "--") == 0) {
    walk->options_ended = true;
    return argument_walk_next(walk, out_value, error);
  }
  for (const option_spec *option = walk->options; option->name; ++option) {
    const char *joined;
    if (matches(option, argument, &joined)) {
      return take_option(walk, option, joined, out_value, error);
    }
  }
  fail_option(walk, argument, error);
  return ARGUMENT_WRONG;
}
