// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// model.c: `mettle model`: PyTorch models that AOTInductor compiled for "mps".
// The command line, and the model's life.
#include "cli/model/model.h"
#include "cli/base/suggest.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/arguments.h"

enum {
  OPTION_WEIGHTS = 1,
  OPTION_INPUT,
  OPTION_OUTPUT_DIR,
  OPTION_REPEAT,
  OPTION_JSON,
};

static const option_spec specs[] = {
    {"--weights", OPTION_WEIGHTS, true},
    {"--input", OPTION_INPUT, true},
    {"--output-dir", OPTION_OUTPUT_DIR, true},
    {"--repeat", OPTION_REPEAT, true},
    {"--json", OPTION_JSON, false},
    {NULL, 0, false},
};

enum { REPEAT_MAX = 1000000 };

// a.npy:bf16 is a file and a type; a colon without a type is the path's.
static bool add_input(model_options *options, const char *text,
                      cli_error *error) {
  model_input *grown = realloc(
      options->inputs, (options->input_count + 1) * sizeof *options->inputs);
  if (grown == NULL) {
    return cli_fail(error, CLI_FAILED, "out of memory");
  }
  options->inputs = grown;
  model_input *input = &grown[options->input_count];
  *input = (model_input){0};
  const char *colon = strrchr(text, ':');
  input->has_type =
      colon != NULL &&
      value_type_by_name(colon + 1, strlen(colon + 1), &input->type);
  input->path =
      strndup(text, input->has_type ? (size_t)(colon - text) : strlen(text));
  if (input->path == NULL) {
    return cli_fail(error, CLI_FAILED, "out of memory");
  }
  options->input_count += 1;
  return true;
}

static bool set_repeat(model_options *options, const char *text,
                       cli_error *error) {
  uint64_t number;
  if (!value_parse_count(text, strlen(text), REPEAT_MAX, &number) ||
      number == 0) {
    return cli_fail(error, CLI_USAGE, "--repeat %s: not 1 to %d", text,
                    REPEAT_MAX);
  }
  options->repeat = (uint32_t)number;
  return true;
}

static bool fail_verb(const char *text, cli_error *error) {
  static const char *const names[] = {"run", "info"};
  char suggestion[CLI_SUGGESTION_SIZE];
  cli_suggest(suggestion, text, strlen(text), names, 2);
  return cli_fail(error, CLI_USAGE, "'%.200s' is neither run nor info%s", text,
                  suggestion);
}

static bool set_positional(model_options *options, int place, const char *text,
                           cli_error *error) {
  if (place == 0) {
    options->is_info = strcmp(text, "info") == 0;
    return options->is_info || strcmp(text, "run") == 0 ||
           fail_verb(text, error);
  }
  if (place == 1) {
    options->path = text;
    return true;
  }
  return cli_fail(error, CLI_USAGE, "'%s' is one argument too many", text);
}

static bool set_option(model_options *options, int id, const char *value,
                       cli_error *error) {
  switch (id) {
    case OPTION_WEIGHTS: options->weights = value; return true;
    case OPTION_INPUT: return add_input(options, value, error);
    case OPTION_OUTPUT_DIR: options->output_dir = value; return true;
    case OPTION_REPEAT: return set_repeat(options, value, error);
    default: options->json = true; return true;
  }
}

static bool parse(char **arguments, model_options *options, cli_error *error) {
  argument_walk walk = {.next = arguments, .options = specs};
  const char *value;
  int place = 0;
  int id;
  while ((id = argument_walk_next(&walk, &value, error)) != ARGUMENT_END) {
    const bool ok = id == ARGUMENT_WRONG ? false
                    : id == ARGUMENT_POSITIONAL
                        ? set_positional(options, place++, value, error)
                        : set_option(options, id, value, error);
    if (!ok) {
      return false;
    }
  }
  if (place == 0) {
    return cli_fail(error, CLI_USAGE, "run or info is missing");
  }
  if (options->path == NULL) {
    return cli_fail(error, CLI_USAGE, "the model's file is missing");
  }
  if (!options->is_info && options->output_dir == NULL) {
    return cli_fail(error, CLI_USAGE, "--output-dir is missing");
  }
  return true;
}

static bool open_and_run(const model_options *options, cli_error *error) {
  // Generated code has checks of its inputs' types, sizes and strides, and of
  // the strides of what operators return, which it asks for here.
  setenv("AOTI_RUNTIME_CHECK_INPUTS", "1", 0);
  mtl_model *model = NULL;
  const mtl_model_desc desc = {.weights_path = options->weights,
                               .compile_lazily = options->is_info};
  const mtl_status status = mtl_model_load(options->path, &desc, &model);
  if (status != MTL_OK) {
    return model_fail(options, status, error);
  }
  const bool ok = options->is_info ? model_info(options, model, error)
                                   : model_run(options, model, error);
  mtl_model_release(model);
  return ok;
}

static bool model(char **arguments, cli_error *error) {
  model_options options = {.repeat = 1};
  const bool ok =
      parse(arguments, &options, error) && open_and_run(&options, error);
  for (size_t i = 0; i < options.input_count; ++i) {
    free(options.inputs[i].path);
  }
  free(options.inputs);
  return ok;
}

static const char model_help[] =
    "usage: mettle model run MODEL.so --output-dir DIR [--input FILE]... "
    "[option...]\n"
    "       mettle model info MODEL.so [--json]\n"
    "\n"
    "Runs a PyTorch model that AOTInductor compiled for device mps, or tells\n"
    "its inputs, outputs, constants and kernels. Nothing of PyTorch is "
    "needed.\n"
    "\n"
    "  --input a.npy[:TYPE]   the next input, a NumPy array. NumPy has no\n"
    "                         bfloat16: a.npy:bf16 is an array of its bits as\n"
    "                         uint16; TYPE must be as long as the file's. The\n"
    "                         model checks types and sizes, and is given its\n"
    "                         layout (channels last, say), unless\n"
    "                         AOTI_RUNTIME_CHECK_INPUTS=0 is set\n"
    "  --output-dir DIR       write DIR/0.npy, DIR/1.npy, ...; bfloat16 as\n"
    "                         uint16. DIR is made if it is not there\n"
    "  --weights BLOB         the weights; X_weights.blob beside X.so if not\n"
    "                         given\n"
    "  --repeat N             run N times, and tell the least and the median\n"
    "                         time\n"
    "  --trace FILE           write a timeline of the run, for Perfetto and\n"
    "                         'mettle trace'\n"
    "  --check[=LIST]         check every access of the kernels, and "
    "--check-report,\n"
    "                         --check-suppress and --schedule, as 'mettle "
    "run' has\n"
    "                         them\n"
    "  --json                 print one JSON object: device, outputs, time_ns\n"
    "                         (min, median, runs) from the call to the last\n"
    "                         result, and what one run recorded: dispatches,\n"
    "                         commits, bytes\n"
    "\n"
    "exit code: 0 done, 1 failed, 2 wrong usage, 3 a kernel did not compile\n";

const cli_verb cli_verb_model = {
    .name = "model",
    .summary = "run a PyTorch model that AOTInductor compiled",
    .help = model_help,
    .run = model,
    .traces = true,
    .checks = true,
};
