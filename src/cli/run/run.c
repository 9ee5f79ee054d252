// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// run.c: `mettle run`: binds, dispatches, times, and hands on to
// run_output.c.
#include "cli/run/run.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/progress.h"
#include "cli/run/run_buffers.h"

static bool open_pipeline(run_options *options, run_state *state,
                          cli_error *error) {
  if (options->kernel == NULL &&
      !program_only_kernel(&state->program, &options->kernel, error)) {
    return false;
  }
  if (!program_find_function(&state->program, &options->program,
                             options->kernel, false, &state->function, error) ||
      !run_resolve_names(options, state->function, error) ||
      !run_link_functions(options, state, error)) {
    return false;
  }
  // Zeros unless --group is given.
  const mtl_pipeline_desc desc = {
      .debug = options->program.compile.debug,
      .group_threads = {options->group[0], options->group[1],
                        options->group[2]},
      .linked_functions = {.functions = state->linked,
                           .function_count = state->linked_count},
      .max_call_stack_depth = options->call_depth,
      .check = options->checks};
  if (!program_make_pipeline(state->function, &desc, &state->pipeline, error)) {
    return false;
  }
  state->arguments =
      mtl_pipeline_arguments(state->pipeline, &state->argument_count);
  return true;
}

static uint32_t least(uint32_t a, uint32_t b) {
  return a < b ? a : b;
}

// The group of a command line without --group: 256 threads, or what the
// pipeline allows: as rows of 32, one simdgroup, where the grid has two sides
// or three. Never larger than the grid.
static void choose_group(const run_options *options, const run_state *state,
                         uint32_t group[3]) {
  if (options->has_group) {
    memcpy(group, options->group, 3 * sizeof group[0]);
    return;
  }
  const mtl_device_info *info = mtl_device_get_info(state->program.device);
  const uint32_t *grid = options->grid;
  const bool is_row = grid[1] == 1 && grid[2] == 1;
  uint32_t left = least(
      256, mtl_pipeline_max_total_threads_per_threadgroup(state->pipeline));
  for (int i = 0; i < 3; ++i) {
    uint32_t side = least(left, info->max_threadgroup_threads[i]);
    if (i == 0 && !is_row) {
      side = least(side, MTL_SIMD_WIDTH);
    }
    side = least(side, grid[i]);
    group[i] = side > 0 ? side : 1;
    left /= group[i];
  }
}

static int compare_times(const void *a, const void *b) {
  const uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
  return (left > right) - (left < right);
}

static mtl_status create_queue(const run_options *options, run_state *state) {
  const mtl_status status = run_create_log(options, state);
  return status == MTL_OK
             ? mtl_queue_create(
                   state->program.device,
                   &(mtl_queue_desc){
                       .log_state = options->log ? state->log_state : NULL,
                       .time_limit_ns = options->time_limit_ns},
                   &state->queue)
             : status;
}

static bool dispatch_all(const run_options *options, run_state *state,
                         cli_error *error) {
  mtl_status status = create_queue(options, state);
  state->result.times_ns = calloc(options->repeat, sizeof(uint64_t));
  if (state->result.times_ns == NULL) {
    return cli_fail(error, CLI_FAILED, "out of memory");
  }
  progress *bar = progress_start("running");
  for (uint32_t i = 0; i < options->repeat && status == MTL_OK; ++i) {
    if (i > 0) {
      status = run_restore_buffers(options, state);
    }
    if (i > 0 && status == MTL_OK) {
      status = run_restore_textures(options, state);
    }
    if (status == MTL_OK) {
      // Messages of the first run are read or counted.
      const run_attempt attempt = {
          .buffers = state->buffers,
          .queue = state->queue,
          .log_state = i == 0 ? state->log_state : NULL};
      status =
          run_dispatch(options, state, &attempt, &state->result.times_ns[i]);
    }
    progress_set(bar, i + 1, options->repeat);
  }
  progress_stop(bar);
  run_print_lost_messages(options, state);
  qsort(state->result.times_ns, options->repeat, sizeof(uint64_t),
        compare_times);
  // A finding, not a kernel, ended the command buffer with an error.
  const bool is_finding = status == MTL_KERNEL_FAULT && cli_check_has_found();
  return status == MTL_OK || is_finding ||
         cli_fail_status(error, status, options->kernel);
}

// The grid of --grid NAME: a thread for each element or texel.
static bool choose_grid(run_options *options, const run_state *state,
                        cli_error *error) {
  for (size_t i = 0; options->grid_like && i < options->binding_count; ++i) {
    const kernel_binding *binding = &options->bindings[i];
    const mtl_argument *argument = run_find_argument(state, binding);
    if (argument == NULL || strcmp(argument->name, options->grid_like) != 0) {
      continue;
    }
    if (binding->kind == BINDING_TEXTURE) {
      memcpy(options->grid, binding->size, sizeof options->grid);
      return true;
    }
    const uint64_t bytes = binding->kind == BINDING_VALUES
                               ? binding->values_bytes
                               : binding->array.data_bytes;
    if (argument->kind == MTL_ARGUMENT_BUFFER && argument->size_bytes > 0 &&
        bytes / argument->size_bytes <= UINT32_MAX) {
      options->grid[0] = (uint32_t)(bytes / argument->size_bytes);
      options->grid[1] = options->grid[2] = 1;
      return true;
    }
  }
  return options->grid_like == NULL ||
         cli_fail(error, CLI_USAGE,
                  "--grid %.60s: X[,Y[,Z]], or a buffer or texture of %.100s "
                  "for a thread each, is needed",
                  options->grid_like, options->kernel);
}

bool run_execute(run_options *options, run_state *state, cli_error *error) {
  if (!program_open(&options->program, &state->program, error) ||
      !open_pipeline(options, state, error) ||
      !run_check_bindings(options, state, error) ||
      !run_make_buffers(options, state, error) ||
      !run_make_textures(options, state, error) ||
      !run_make_tables(options, state, error)) {
    return false;
  }
  if (!choose_grid(options, state, error)) {
    return false;
  }
  choose_group(options, state, state->result.group);
  if (!run_check_ends(options, state, error) ||
      !dispatch_all(options, state, error)) {
    return false;
  }
  state->result.device_name = mtl_device_get_info(state->program.device)->name;
  run_collect_contents(options, state);
  const mtl_status status = run_collect_texels(options, state);
  return status == MTL_OK || cli_fail_status(error, status, options->kernel);
}

void run_state_clear(run_state *state, size_t binding_count) {
  run_release_tables(state, binding_count);
  run_release_textures(state, binding_count);
  run_release_buffers(state, binding_count);
  free(state->result.times_ns);
  mtl_queue_release(state->queue);
  mtl_log_state_release(state->log_state);
  mtl_pipeline_release(state->pipeline);
  mtl_function_release(state->function);
  program_clear(&state->program);
}

static bool run(char **arguments, cli_error *error) {
  run_options options;
  run_state state = {0};
  const bool ok = run_options_parse(arguments, &options, error) &&
                  run_execute(&options, &state, error) &&
                  run_write_outputs(&options, &state.result, error);
  run_state_clear(&state, options.binding_count);
  run_options_clear(&options);
  return ok;
}

static const char run_help[] =
    "usage: mettle run FILE.metal [KERNEL] --grid X[,Y[,Z]] [option...] "
    "[BINDING...]\n"
    "\n"
    "Compiles FILE.metal, or loads the code container that 'mettle compile'\n"
    "wrote, and runs KERNEL, or the only kernel, with X * Y * Z threads.\n"
    "\n"
    "  mettle run saxpy.metal --grid x x=@x.npy y=zeros:1000 a=0.5 --print "
    "y:8\n"
    "\n"
    "  --grid X[,Y[,Z]]       threads in all; uneven edges are exact\n"
    "  --grid NAME            a thread for each element of the argument NAME, "
    "or for\n"
    "                         each texel\n"
    "  --group X[,Y[,Z]]      threads in a threadgroup. Without it: 256 "
    "threads\n"
    "                         along X, or for a grid with Y or Z rows of 32, "
    "no\n"
    "                         more than the kernel allows or the grid has\n"
    "  --save NAME=FILE       write an argument when the run is done: a buffer "
    "or a\n"
    "                         texture to file.npy, with the type and shape "
    "that it\n"
    "                         came in, a texture to file.png\n"
    "  --print NAME[:COUNT]   print an argument, or its first COUNT elements\n"
    "  --repeat N             run N times, each from the same contents, and\n"
    "                         tell the least and the median time\n"
    "  --timeout SECONDS      end a kernel that runs for longer, and tell the\n"
    "                         line that it was at; METTLE_KERNEL_SECONDS if "
    "not\n"
    "                         given, and no limit without that\n"
    "  --trace FILE           write a timeline of the run, for Perfetto and\n"
    "                         'mettle trace'\n"
    "  --unchecked            do not run it once more before, on copies of "
    "the\n"
    "                         arguments that end with a page: accesses behind "
    "an\n"
    "                         end may then not be found\n"
    "  --json                 print one JSON object: kernel, device, grid, "
    "group\n"
    "                         and time_ns (min, median, runs) of the dispatch\n"
    "                         alone; with --print its arguments as \"print\"\n"
    "  --log                  print what the kernel says by os_log to "
    "standard\n"
    "                         error, a message a line with its level, "
    "subsystem\n"
    "                         and category\n"
    "  --call-depth N         how deep calls through function tables nest, 1 "
    "if\n"
    "                         not given, at most 8\n"
    "  --check[=LIST]         check every access (docs/checking.md): races, "
    "bounds,\n"
    "                         init, sync, align if LIST is not given; nan, "
    "integer,\n"
    "                         host, uniform, stop, all\n"
    "  --check-report FILE    write the findings as text, FILE.json or "
    "FILE.sarif\n"
    "  --check-suppress FILE  leave out what FILE names, a line "
    "KIND:KERNEL:FILE:LINE\n"
    "  --schedule WHICH       of --check: forward, reverse, random:SEED, stale:SEED\n"
    "                         or explore:N, which compares N schedules\n"
    "  --debug                tier T0: one thread at a time, in order, "
    "unoptimised,\n"
    "                         with debug information\n"
    PROGRAM_HELP
    "\n"
    "BINDING is NAME=VALUE for the argument NAME; for a buffer VALUE is\n"
    "  V[,V...]               values of its own type: a=0.5 x=1,2,3\n"
    "  zeros:COUNT            COUNT zeros, or ones:COUNT; iota:COUNT is 0, 1, "
    "2, ...\n"
    "  rand:COUNT[:SEED]      uniform in [0, 1); integers: any value. The "
    "same\n"
    "                         values for the same SEED, 0 if not given\n"
    "  @file.npy              a NumPy array; its bytes in the order of the "
    "file\n"
    "  {MEMBER:V,...}         a struct; quote the braces from the shell. Or:\n"
    "  NAME.MEMBER=V          one member, NAME[3].MEMBER=V one of an element; "
    "what\n"
    "                         is not given is 0. 'mettle reflect' lists "
    "members\n"
    "For other arguments it is\n"
    "  @file.png[:FORMAT]     a texture: gray is r8Unorm or r16Unorm, colour\n"
    "                         rgba8Unorm or rgba16Unorm; Uint where the "
    "kernel\n"
    "                         reads integers\n"
    "  @file.npy[:FORMAT]     a texture of an array of layers or depth, rows,\n"
    "                         texels and components, as many of the first as\n"
    "                         the kernel's type has and components if there "
    "is\n"
    "                         more than one; a cube has 6 layers. FORMAT is a\n"
    "                         pixel format of Metal's, rgba8Unorm for "
    "instance;\n"
    "                         without it, the one of the array's type\n"
    "  [FORMAT:]X[,Y[,Z]]     a texture of zeros; Z is depth or layers\n"
    "  like:NAME              a texture of zeros as large as another\n"
    "  WORD[,WORD...]         a sampler: nearest or linear; clamp_to_edge,\n"
    "                         clamp_to_zero, clamp_to_border, repeat or\n"
    "                         mirrored_repeat; pixel or normalized\n"
    "  BYTES                  threadgroup memory\n"
    "  [FUNCTION],...         a visible_function_table of FILE's functions; "
    "an\n"
    "                         entry without a name is empty\n"
    "INDEX, tgINDEX, texINDEX, samplerINDEX and tableINDEX stand for the NAME "
    "of\n"
    "the argument with that index, in --save and --print too. Where values may "
    "be\n"
    "of another type than the kernel's, TYPE: says which, as in x=zeros:f32:8 "
    "or\n"
    "p=u32:640,f32:0.5, values of several types lying as in C. TYPE is one "
    "of\n" VALUE_TYPE_NAMES
    "\n"
    "\n"
    "exit code: 0 done, 1 the run failed, 2 wrong usage, 3 the source did not\n"
    "compile. With --check: 0 nothing was found, 3 something was, 4 not all "
    "could\n"
    "be checked\n";

const cli_verb cli_verb_run = {
    .name = "run",
    .summary = "compile a kernel and run it on data",
    .help = run_help,
    .run = run,
    .traces = true,
    .checks = true,
};
