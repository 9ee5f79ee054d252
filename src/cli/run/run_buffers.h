// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// run_buffers.h: the state of a run, and the buffers of its bindings.
#ifndef METTLE_CLI_RUN_BUFFERS_H
#define METTLE_CLI_RUN_BUFFERS_H

#include <stdatomic.h>

#include "cli/run/run.h"

typedef struct run_state {
  cli_program program;
  mtl_function *function;
  mtl_pipeline *pipeline;
  mtl_queue *queue;
  mtl_log_state *log_state;
  _Atomic uint64_t unheard;       // messages that --log would print
  const mtl_argument *arguments;  // [argument_count] the pipeline's
  size_t argument_count;
  // By number of the binding; NULL if it is no buffer:
  mtl_buffer **buffers;
  // The same for textures, their texels as an array has them, and samplers:
  mtl_texture **textures;
  unsigned char **texels;
  mtl_sampler **samplers;
  bool has_textures;  // the three are there
  // And for function tables, of functions linked [linked_count]:
  mtl_function_table **tables;
  mtl_function **linked;
  size_t linked_count;
  // The original contents of a buffer that the kernel writes; NULL if only one
  // run uses it:
  void **first_contents;
  run_result result;
} run_state;

// run.c: opens all that options name and runs the kernel; the contents of
// result are there. End state with run_state_clear, also after a failure.
bool run_execute(run_options *options, run_state *state, cli_error *error);
void run_state_clear(run_state *state, size_t binding_count);

// Checks the command line against the kernel's arguments: fails if one is not
// bound, warns where a type cannot be meant.
bool run_check_bindings(const run_options *options, const run_state *state,
                        cli_error *error);

// Returns the kernel's argument that a binding is for, or NULL.
const mtl_argument *run_find_argument(const run_state *state,
                                      const kernel_binding *binding);

// Makes and fills the buffers; reads the files.
bool run_make_buffers(run_options *options, run_state *state, cli_error *error);

// Restores the buffers that the last run has overwritten.
mtl_status run_restore_buffers(const run_options *options,
                               const run_state *state);

// Sets result.contents.
void run_collect_contents(const run_options *options, run_state *state);

void run_release_buffers(run_state *state, size_t binding_count);

// The parts of a dispatch that differ between attempts.
typedef struct run_attempt {
  mtl_buffer **buffers;  // [binding_count]
  mtl_queue *queue;
  mtl_log_state *log_state;  // NULL for none
} run_attempt;

// run_dispatch.c: one dispatch in a command buffer of its own.
mtl_status run_dispatch(const run_options *options, const run_state *state,
                        const run_attempt *attempt, uint64_t *out_time_ns);

// run_ends.c: runs with copies of all buffers, and fails if the kernel goes
// behind the end of one. Buffers and textures are as before.
bool run_check_ends(const run_options *options, run_state *state,
                    cli_error *error);

// run_log.c: makes the log state, which prints messages with --log and
// otherwise counts them.
mtl_status run_create_log(const run_options *options, run_state *state);
// Warns on standard error of log messages that were lost: there was no room, or
// nobody reads them.
void run_print_lost_messages(const run_options *options,
                             const run_state *state);

// run_textures.c: the same for textures and samplers.
bool run_make_textures(run_options *options, run_state *state,
                       cli_error *error);
mtl_status run_restore_textures(const run_options *options,
                                const run_state *state);
mtl_status run_collect_texels(const run_options *options, run_state *state);
void run_release_textures(run_state *state, size_t binding_count);

// run_tables.c: finds the functions of all tables, for the pipeline to be
// linked with; and makes the tables, once it is there.
bool run_link_functions(const run_options *options, run_state *state,
                        cli_error *error);
bool run_make_tables(const run_options *options, run_state *state,
                     cli_error *error);
void run_release_tables(run_state *state, size_t binding_count);

#endif
