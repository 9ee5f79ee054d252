// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// program_options.c: reads the options that every verb with a FILE shares.
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/program/program.h"
#include "cli/base/suggest.h"

bool program_options_create(char **arguments, program_options *out_options,
                            cli_error *error) {
  size_t count = 0;
  while (arguments[count] != NULL) {
    ++count;
  }
  memset(out_options, 0, sizeof *out_options);
  out_options->macros = calloc(count + 1, sizeof(mtl_macro));
  // One more: the directory of FILE itself.
  out_options->include_paths = calloc(count + 1, sizeof(char *));
  out_options->constants = calloc(count + 1, sizeof(constant_value));
  out_options->compile.include_path_count = 1;
  if (out_options->macros == NULL || out_options->include_paths == NULL ||
      out_options->constants == NULL) {
    program_options_clear(out_options);
    return cli_fail(error, CLI_FAILED, "out of memory");
  }
  out_options->include_paths[0] = ".";
  return true;
}

void program_options_clear(program_options *options) {
  for (size_t i = 0; i < options->compile.macro_count; ++i) {
    free((char *)options->macros[i].name);
  }
  free(options->macros);
  free(options->include_paths);
  free(options->constants);
  free(options->directory);
  memset(options, 0, sizeof *options);
}

static bool is_identifier(const char *text, size_t length) {
  for (size_t i = 0; i < length; ++i) {
    const unsigned char letter = (unsigned char)text[i];
    if (letter != '_' && !isalpha(letter) && (i == 0 || !isdigit(letter))) {
      return false;
    }
  }
  return length > 0;
}

static bool take_macro(program_options *options, const char *value,
                       cli_error *error) {
  const size_t length = strcspn(value, "=");
  const size_t name_length = strcspn(value, "=(");
  const bool is_closed = name_length == length || value[length - 1] == ')';
  if (!is_identifier(value, name_length) || !is_closed) {
    return cli_fail(error, CLI_USAGE,
                    "-D %s: NAME, NAME=VALUE or NAME(PARAMETERS)=VALUE is "
                    "needed",
                    value);
  }
  char *name = strndup(value, length);
  if (name == NULL) {
    return cli_fail(error, CLI_FAILED, "out of memory");
  }
  options->macros[options->compile.macro_count++] = (mtl_macro){
      .name = name, .value = value[length] ? value + length + 1 : NULL};
  return true;
}

static bool take_math(program_options *options, const char *value,
                      cli_error *error) {
  if (strcmp(value, "safe") == 0) {
    options->compile.math_mode = MTL_MATH_SAFE;
  } else if (strcmp(value, "relaxed") == 0) {
    options->compile.math_mode = MTL_MATH_RELAXED;
  } else if (strcmp(value, "fast") == 0) {
    options->compile.math_mode = MTL_MATH_FAST;
  } else {
    static const char *const modes[] = {"safe", "relaxed", "fast"};
    char suggestion[CLI_SUGGESTION_SIZE];
    cli_suggest(suggestion, value, strlen(value), modes, 3);
    return cli_fail(error, CLI_USAGE, "--math %.100s: safe, relaxed or fast%s",
                    value, suggestion);
  }
  return true;
}

// True if value is a version before 2.4, the first that is told apart.
static bool is_early_metal(const char *value) {
  static const char *const names[] = {"metal1.0", "metal1.1", "metal1.2",
                                      "metal2.0", "metal2.1", "metal2.2",
                                      "metal2.3"};
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
    if (strcmp(names[i], value) == 0) {
      return true;
    }
  }
  return false;
}

// The name of a version without the system that Apple's compilers before Metal
// 3 wanted in front of it.
static const char *without_system(const char *value) {
  static const char *const systems[] = {"macos-", "ios-"};
  for (size_t i = 0; i < sizeof systems / sizeof *systems; ++i) {
    const size_t length = strlen(systems[i]);
    if (strncmp(value, systems[i], length) == 0) {
      return value + length;
    }
  }
  return value;
}

static bool take_std(program_options *options, const char *value,
                     cli_error *error) {
  static const struct {
    const char *name;
    mtl_language_version version;
  } versions[] = {
      {"metal2.4", MTL_LANGUAGE_2_4}, {"metal3.0", MTL_LANGUAGE_3_0},
      {"metal3.1", MTL_LANGUAGE_3_1}, {"metal3.2", MTL_LANGUAGE_3_2},
      {"metal4.0", MTL_LANGUAGE_4_0}, {"metal4.1", MTL_LANGUAGE_4_1},
  };
  const char *wanted = without_system(value);
  if (is_early_metal(wanted)) {
    wanted = "metal2.4";
  }
  for (size_t i = 0; i < sizeof versions / sizeof *versions; ++i) {
    if (strcmp(versions[i].name, wanted) == 0) {
      options->compile.language_version = versions[i].version;
      return true;
    }
  }
  const char *names[sizeof versions / sizeof *versions];
  for (size_t i = 0; i < sizeof versions / sizeof *versions; ++i) {
    names[i] = versions[i].name;
  }
  char suggestion[CLI_SUGGESTION_SIZE];
  cli_suggest(suggestion, value, strlen(value), names,
              sizeof names / sizeof *names);
  return cli_fail(
      error, CLI_USAGE,
      "--std %.100s: metal2.4, metal3.0, metal3.1, metal3.2, metal4.0 or "
      "metal4.1%s",
      value, suggestion);
}

static bool take_constant(program_options *options, const char *value,
                          cli_error *error) {
  constant_value *constant = &options->constants[options->constant_count];
  if (!constant_value_parse(value, constant, error)) {
    return false;
  }
  for (size_t i = 0; i < options->constant_count; ++i) {
    const constant_value *earlier = &options->constants[i];
    const bool same_name =
        earlier->name && constant->name &&
        earlier->name_length == constant->name_length &&
        memcmp(earlier->name, constant->name, constant->name_length) == 0;
    const bool same_index =
        !earlier->name && !constant->name && earlier->index == constant->index;
    if (same_name || same_index) {
      return cli_fail(error, CLI_USAGE, "--constant %s: given twice", value);
    }
  }
  ++options->constant_count;
  return true;
}

// Records options that act on a source only: a code container was written after
// their effect.
static void note_source_option(program_options *options, int id) {
  switch (id) {
    case OPTION_INCLUDE: options->source_option = "-I"; break;
    case OPTION_DEFINE: options->source_option = "-D"; break;
    case OPTION_MATH: options->source_option = "--math"; break;
    case OPTION_STD: options->source_option = "--std"; break;
    case OPTION_PERMISSIVE: options->source_option = "-fpermissive"; break;
    default: break;
  }
}

bool program_options_take(program_options *options, int id, const char *value,
                          cli_error *error) {
  note_source_option(options, id);
  switch (id) {
    case OPTION_INCLUDE:
      options->include_paths[options->compile.include_path_count++] = value;
      return true;
    case OPTION_DEFINE: return take_macro(options, value, error);
    case OPTION_MATH: return take_math(options, value, error);
    case OPTION_STD: return take_std(options, value, error);
    case OPTION_DEBUG: options->compile.debug = true; return true;
    case OPTION_PERMISSIVE: options->compile.permissive = true; return true;
    case OPTION_DEVICE: options->device_name = value; return true;
    case OPTION_CONSTANT: return take_constant(options, value, error);
    default: return cli_fail(error, CLI_USAGE, "an option is unknown");
  }
}

bool program_options_check_file(const program_options *options,
                                cli_error *error) {
  return strcmp(options->file, "-") == 0 || access(options->file, R_OK) == 0 ||
         cli_fail(error, CLI_FAILED, "%s: %s", options->file, strerror(errno));
}
