// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// run.h: shared by the files of the verb `run`: its options, and a run.
#ifndef METTLE_CLI_RUN_H
#define METTLE_CLI_RUN_H

#include "cli/program/program.h"

// --save or --print.
typedef struct run_output {
  // [what_length] as it was given: a name, whose table and index are found
  // when the kernel is there, or an index
  const char *what;
  size_t what_length;
  bool is_named;
  mtl_argument_kind table;  // buffers or textures
  uint32_t index;
  const char *path;  // to save to; NULL to print
  bool has_count;    // of --print; all elements without
  uint64_t count;
} run_output;

typedef struct run_options {
  program_options program;
  const char *kernel;  // NULL for the only one
  uint32_t grid[3];  // threads
  const char *grid_like;  // the argument that has a thread for each element or
                          // texel; NULL for the numbers
  uint32_t group[3];
  bool has_grid, has_group, json, log;
  bool unchecked;  // without the run that finds accesses behind ends
  uint32_t repeat;
  uint64_t time_limit_ns;  // of a run; 0 if not given
  uint32_t call_depth;  // of calls through function tables; 0 if not given
  uint32_t checks;      // MTL_CHECK_ bits of the pipeline
  kernel_binding *bindings;  // [binding_count], each index of a table once
  size_t binding_count;
  run_output *outputs;  // [output_count], in the order given
  size_t output_count;
} run_options;

// Reads the whole command line of `run`. Opens nothing.
//
// Ownership  End *out_options with run_options_clear, also after a failure.
bool run_options_parse(char **arguments, run_options *out_options,
                       cli_error *error);
void run_options_clear(run_options *options);

// Fails if --save or --print names an argument that keeps no output.
bool run_output_keeps(const run_output *output, cli_error *error);

// Returns the binding at an index of a table, or NULL.
kernel_binding *run_find_binding(const run_options *options,
                                 mtl_argument_kind table, uint32_t index);

// run_names.c: finds the arguments that bindings and outputs name, and reads
// what depends on the arguments' types. After this no binding is OPEN.
bool run_resolve_names(run_options *options, const mtl_function *function,
                       cli_error *error);

// The results of a run, for its outputs.
typedef struct run_result {
  const char *device_name;
  uint32_t group[3];
  uint64_t *times_ns;  // [options->repeat] rising
  // [options->binding_count] the contents to save and print; NULL for a binding
  // without a buffer
  const void **contents;
} run_result;

// Saves and prints what the command line asks for.
bool run_write_outputs(const run_options *options, const run_result *result,
                       cli_error *error);

#endif
