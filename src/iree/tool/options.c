// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// options.c: reads the command line of `mettle iree run`.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool.h"

static bool complain(const char *what, const char *argument) {
  fprintf(stderr, "mettle iree: %s%s\nTry 'mettle iree --help'.\n", what,
          argument);
  return false;
}

// Adds a value of the command line. A file of an array gets the @ before its
// name that IREE's parser expects.
static bool add_value(tool_options *options, const char *text,
                      iree_string_view_t *values, iree_host_size_t *count) {
  char *copy = options->texts[options->text_count];
  const size_t length = strlen(text);
  const bool is_file =
      length > 4 && strcmp(text + length - 4, ".npy") == 0 && text[0] != '@';
  if (*count == MAX_VALUES) {
    return complain("too many values at ", text);
  }
  if (length + 2 > sizeof options->texts[0]) {
    return complain("too long: ", text);
  }
  const int written = snprintf(copy, sizeof options->texts[0], "%s%s",
                               is_file ? "@" : "", text);
  options->text_count++;
  values[(*count)++] = iree_make_string_view(copy, (size_t)written);
  return true;
}

static bool set_repeats(tool_options *options, const char *text) {
  char *end = NULL;
  const long number = strtol(text, &end, 10);
  if (*text == '\0' || *end != '\0' || number < 1 || number > MAX_REPEATS) {
    return complain("--repeat wants 1 to 1000000, not ", text);
  }
  options->repeats = (uint32_t)number;
  return true;
}

static bool set_option(tool_options *options, const char *name,
                       const char *value) {
  if (strcmp(name, "--function") == 0) {
    options->function = value;
    return true;
  }
  if (strcmp(name, "--device") == 0) {
    options->device = value;
    return true;
  }
  if (strcmp(name, "--input") == 0) {
    return add_value(options, value, options->inputs, &options->input_count);
  }
  if (strcmp(name, "--output") == 0) {
    return add_value(options, value, options->outputs, &options->output_count);
  }
  if (strcmp(name, "--repeat") == 0) {
    return set_repeats(options, value);
  }
  return complain("there is no option ", name);
}

// --name=value and --name value are the same.
static bool take_option(char ***arguments, tool_options *options) {
  char name[32];
  const char *argument = **arguments;
  const char *equals = strchr(argument, '=');
  const size_t length = equals ? (size_t)(equals - argument) : strlen(argument);
  if (strcmp(argument, "--json") == 0) {
    options->as_json = true;
    return true;
  }
  if (length >= sizeof name) {
    return complain("there is no option ", argument);
  }
  memcpy(name, argument, length);
  name[length] = '\0';
  const char *value = equals ? equals + 1 : NULL;
  if (!value && (*arguments)[1]) {
    value = *++*arguments;
  }
  return value ? set_option(options, name, value)
               : complain("no value behind ", argument);
}

bool tool_parse(char **arguments, tool_options *options) {
  memset(options, 0, sizeof *options);
  options->repeats = 1;
  if (!*arguments || strcmp(*arguments, "run") != 0) {
    return complain("the only thing to do is run, not ",
                    *arguments ? *arguments : "nothing");
  }
  for (arguments++; *arguments; arguments++) {
    if (strncmp(*arguments, "--", 2) == 0) {
      if (!take_option(&arguments, options)) {
        return false;
      }
    } else if (options->program) {
      return complain("a second program: ", *arguments);
    } else {
      options->program = *arguments;
    }
  }
  return options->program ? true : complain("no program", "");
}
