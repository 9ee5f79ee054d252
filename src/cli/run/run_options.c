// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// run_options.c: reads the command line of `mettle run`.
#include <stdlib.h>
#include <string.h>

#include "cli/run/run.h"

enum {
  OPTION_GRID = OPTION_VERB,
  OPTION_GROUP,
  OPTION_SAVE,
  OPTION_PRINT,
  OPTION_REPEAT,
  OPTION_CALL_DEPTH,
  OPTION_JSON,
  OPTION_LOG,
  OPTION_TIMEOUT,
  OPTION_UNCHECKED,
};

static const option_spec run_option_specs[] = {
    PROGRAM_OPTIONS,
    {"--grid", OPTION_GRID, true},
    {"--group", OPTION_GROUP, true},
    {"--save", OPTION_SAVE, true},
    {"--print", OPTION_PRINT, true},
    {"--repeat", OPTION_REPEAT, true},
    {"--call-depth", OPTION_CALL_DEPTH, true},
    {"--json", OPTION_JSON, false},
    {"--log", OPTION_LOG, false},
    {"--timeout", OPTION_TIMEOUT, true},
    {"--unchecked", OPTION_UNCHECKED, false},
    {NULL, 0, false},
};

static bool take_size(const char *option, const char *value, bool *has_size,
                      uint32_t size[3], cli_error *error) {
  if (*has_size) {
    return cli_fail(error, CLI_USAGE, "%s is given twice", option);
  }
  *has_size = true;
  return size_parse(option, value, size, error);
}

static bool take_group(run_options *options, const char *value,
                       cli_error *error) {
  if (!take_size("--group", value, &options->has_group, options->group,
                 error)) {
    return false;
  }
  for (int i = 0; i < 3; ++i) {
    if (options->group[i] == 0) {
      return cli_fail(error, CLI_USAGE, "--group %s: a side is 0", value);
    }
  }
  return true;
}

bool run_output_keeps(const run_output *output, cli_error *error) {
  return output->table == MTL_ARGUMENT_BUFFER ||
         output->table == MTL_ARGUMENT_TEXTURE ||
         cli_fail(error, CLI_USAGE, "%s %.*s: a %s keeps nothing",
                  output->path ? "--save" : "--print", (int)output->what_length,
                  output->what, binding_table_name(output->table));
}

// Reads the name or index of an argument to save or print, [length] characters.
static bool take_output(run_output *output, const char *word, size_t length,
                        cli_error *error) {
  output->what = word;
  output->what_length = length;
  output->is_named = name_is_one(word, length) && !index_is_one(word, length);
  if (output->is_named) {
    return true;
  }
  if (!index_parse(word, length, &output->table, &output->index, error)) {
    return false;
  }
  return run_output_keeps(output, error);
}

static bool take_save(run_options *options, const char *value,
                      cli_error *error) {
  run_output *output = &options->outputs[options->output_count];
  const size_t length = strcspn(value, "=");
  if (value[length] == '\0' || value[length + 1] == '\0') {
    return cli_fail(error, CLI_USAGE,
                    "--save %s: NAME=file.npy or INDEX=file.npy is needed",
                    value);
  }
  output->path = value + length + 1;
  if (!take_output(output, value, length, error)) {
    return false;
  }
  ++options->output_count;
  return true;
}

static bool take_print(run_options *options, const char *value,
                       cli_error *error) {
  run_output *output = &options->outputs[options->output_count];
  const size_t length = strcspn(value, ":");
  if (!take_output(output, value, length, error)) {
    return false;
  }
  output->has_count = value[length] == ':';
  if (output->has_count &&
      !value_parse_count(value + length + 1, strlen(value + length + 1),
                         UINT64_MAX, &output->count)) {
    return cli_fail(error, CLI_USAGE, "--print %s: '%s' is no count", value,
                    value + length + 1);
  }
  ++options->output_count;
  return true;
}

static bool take_call_depth(run_options *options, const char *value,
                            cli_error *error) {
  uint64_t number;
  if (!value_parse_count(value, strlen(value), 8, &number) || number == 0) {
    return cli_fail(error, CLI_USAGE,
                    "--call-depth %s: a number from 1 to 8 is needed", value);
  }
  options->call_depth = (uint32_t)number;
  return true;
}

static bool take_repeat(run_options *options, const char *value,
                        cli_error *error) {
  uint64_t number;
  if (!value_parse_count(value, strlen(value), 1000000000, &number) ||
      number == 0) {
    return cli_fail(error, CLI_USAGE,
                    "--repeat %s: a number from 1 to 1000000000 is needed",
                    value);
  }
  options->repeat = (uint32_t)number;
  return true;
}

static bool take_timeout(run_options *options, const char *value,
                         cli_error *error) {
  enum { MOST_SECONDS = 1000000 };
  char *end = NULL;
  const double seconds = strtod(value, &end);
  if (end == value || *end != '\0' || !(seconds >= 1e-9) ||
      seconds > MOST_SECONDS) {
    return cli_fail(error, CLI_USAGE,
                    "--timeout %s: a number of seconds above 0 is needed, no "
                    "more than %d",
                    value, MOST_SECONDS);
  }
  options->time_limit_ns = (uint64_t)(seconds * 1e9);
  return true;
}

static bool take_binding(run_options *options, const char *word,
                         cli_error *error) {
  kernel_binding *binding = &options->bindings[options->binding_count];
  ++options->binding_count;  // before it is read, so that it is cleared
  if (!binding_parse(word, binding, error)) {
    return false;
  }
  for (size_t i = 0;
       binding->kind != BINDING_OPEN && i + 1 < options->binding_count; ++i) {
    const kernel_binding *earlier = &options->bindings[i];
    if (earlier->kind != BINDING_OPEN && earlier->index == binding->index &&
        binding_table(earlier) == binding_table(binding)) {
      return cli_fail(error, CLI_USAGE, "%s %u is bound twice",
                      binding_table_name(binding_table(binding)),
                      binding->index);
    }
  }
  return true;
}

static bool take_positional(run_options *options, const char *word,
                            cli_error *error) {
  if (options->program.file == NULL) {
    options->program.file = word;
    return true;
  }
  if (binding_is_one(word)) {
    return take_binding(options, word, error);
  }
  if (options->kernel == NULL) {
    options->kernel = word;
    return true;
  }
  return cli_fail(error, CLI_USAGE,
                  "'%s' is one argument too many: it is no binding NAME=...",
                  word);
}

static bool take_argument(run_options *options, int id, const char *value,
                          cli_error *error) {
  switch (id) {
    case ARGUMENT_POSITIONAL: return take_positional(options, value, error);
    case OPTION_GRID:
      if (!options->has_grid && name_is_one(value, strlen(value))) {
        options->has_grid = true;
        options->grid_like = value;
        return true;
      }
      return take_size("--grid", value, &options->has_grid, options->grid,
                       error);
    case OPTION_GROUP: return take_group(options, value, error);
    case OPTION_SAVE: return take_save(options, value, error);
    case OPTION_PRINT: return take_print(options, value, error);
    case OPTION_REPEAT: return take_repeat(options, value, error);
    case OPTION_CALL_DEPTH: return take_call_depth(options, value, error);
    case OPTION_JSON: options->json = true; return true;
    case OPTION_LOG: options->log = true; return true;
    case OPTION_UNCHECKED: options->unchecked = true; return true;
    case OPTION_TIMEOUT: return take_timeout(options, value, error);
    default: return program_options_take(&options->program, id, value, error);
  }
}

kernel_binding *run_find_binding(const run_options *options,
                                 mtl_argument_kind table, uint32_t index) {
  for (size_t i = 0; i < options->binding_count; ++i) {
    if (binding_table(&options->bindings[i]) == table &&
        options->bindings[i].index == index) {
      return &options->bindings[i];
    }
  }
  return NULL;
}

// Checks rules about several options, once all are read.
static bool check_whole(const run_options *options, cli_error *error) {
  if (options->program.file == NULL) {
    return cli_fail(error, CLI_USAGE, "FILE.metal is missing");
  }
  return options->has_grid ||
         (program_options_check_file(&options->program, error) &&
          cli_fail(error, CLI_USAGE, "--grid X[,Y[,Z]] is missing"));
}

bool run_options_parse(char **arguments, run_options *out_options,
                       cli_error *error) {
  memset(out_options, 0, sizeof *out_options);
  out_options->repeat = 1;
  if (!program_options_create(arguments, &out_options->program, error)) {
    return false;
  }
  size_t count = 0;
  while (arguments[count] != NULL) {
    ++count;
  }
  out_options->bindings = calloc(count + 1, sizeof(kernel_binding));
  out_options->outputs = calloc(count + 1, sizeof(run_output));
  if (out_options->bindings == NULL || out_options->outputs == NULL) {
    return cli_fail(error, CLI_FAILED, "out of memory");
  }
  argument_walk walk = {.next = arguments, .options = run_option_specs};
  const char *value;
  int id;
  while ((id = argument_walk_next(&walk, &value, error)) != ARGUMENT_END) {
    if (id == ARGUMENT_WRONG || !take_argument(out_options, id, value, error)) {
      return false;
    }
  }
  return check_whole(out_options, error);
}

void run_options_clear(run_options *options) {
  for (size_t i = 0; i < options->binding_count; ++i) {
    binding_clear(&options->bindings[i]);
  }
  free(options->bindings);
  free(options->outputs);
  program_options_clear(&options->program);
  memset(options, 0, sizeof *options);
}
