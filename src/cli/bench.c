// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// bench.c: `mettle bench`: a few figures of this machine in some seconds, all
// through the public API. bench/ has the thorough ones.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/base/arguments.h"
#include "cli/base/json.h"
#include "cli/base/progress.h"
#include "mettle/mettle.h"

#define COPY_BYTES ((size_t)64 << 20)  // larger than most caches
#define ELEMENTS (COPY_BYTES / sizeof(float))
#define ROUNDS 30  // of ping-pong: below a queue's limit of command buffers

static const char source[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "kernel void nothing() {}\n"
    "kernel void saxpy(device const float *x [[buffer(0)]],\n"
    "                  device float *y [[buffer(1)]],\n"
    "                  uint i [[thread_position_in_grid]]) {\n"
    "  y[i] += 2.5f * x[i];\n"
    "}\n";

typedef struct bench_state {
  mtl_device *device;
  mtl_queue *queues[2];
  mtl_library *library;
  mtl_pipeline *nothing, *saxpy;
  mtl_buffer *buffers[2];  // [ELEMENTS] float
  mtl_event *event;
  uint64_t event_value;
} bench_state;

// Ends the calling function with the failed call's status.
#define MTL_TRY(call)                \
  do {                               \
    const mtl_status status_ = call; \
    if (status_ != MTL_OK) {         \
      return status_;                \
    }                                \
  } while (0)

static uint64_t now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static mtl_status make_pipeline(const bench_state *state, const char *name,
                                mtl_pipeline **out_pipeline) {
  mtl_function *function;
  MTL_TRY(mtl_function_create(state->library, name, NULL, &function));
  const mtl_status status = mtl_pipeline_create(function, NULL, out_pipeline);
  mtl_function_release(function);
  return status;
}

static mtl_status open_state(bench_state *state) {
  const mtl_buffer_desc desc = {.length_bytes = COPY_BYTES};
  MTL_TRY(mtl_device_default(&state->device));
  for (int i = 0; i < 2; ++i) {
    MTL_TRY(mtl_queue_create(state->device, NULL, &state->queues[i]));
    MTL_TRY(mtl_buffer_create(state->device, &desc, &state->buffers[i]));
    // The first touch of a page is the system's time, not ours.
    memset(mtl_buffer_contents(state->buffers[i]), 0, COPY_BYTES);
  }
  MTL_TRY(mtl_event_create(state->device, &(mtl_event_desc){.shared = true},
                           &state->event));
  MTL_TRY(mtl_library_create_from_source(state->device, source, strlen(source),
                                         NULL, &state->library));
  MTL_TRY(make_pipeline(state, "nothing", &state->nothing));
  return make_pipeline(state, "saxpy", &state->saxpy);
}

static void close_state(bench_state *state) {
  for (int i = 0; i < 2; ++i) {
    mtl_queue_release(state->queues[i]);
    mtl_buffer_release(state->buffers[i]);
  }
  mtl_event_release(state->event);
  mtl_pipeline_release(state->nothing);
  mtl_pipeline_release(state->saxpy);
  mtl_library_release(state->library);
  mtl_device_release(state->device);
}

// Commits, waits and releases.
static mtl_status finish(mtl_command_buffer *commands) {
  mtl_status status = mtl_command_buffer_commit(commands);
  if (status == MTL_OK) {
    status = mtl_command_buffer_wait(commands);
  }
  mtl_command_buffer_release(commands);
  return status;
}

// Each measure sets *out_value in its unit, once.
typedef mtl_status measure(bench_state *state, double *out_value);

static mtl_status measure_empty_commit(bench_state *state, double *out_value) {
  const uint64_t start = now_ns();
  mtl_command_buffer *commands;
  MTL_TRY(mtl_command_buffer_create(state->queues[0], NULL, &commands));
  MTL_TRY(finish(commands));
  *out_value = (double)(now_ns() - start) * 1e-3;
  return MTL_OK;
}

// Runs pipeline count times in one command buffer.
static mtl_status run_batch(bench_state *state, mtl_pipeline *pipeline,
                            uint32_t count, mtl_size grid, mtl_size group) {
  mtl_command_buffer *commands;
  mtl_compute_encoder *encoder;
  MTL_TRY(mtl_command_buffer_create(state->queues[0], NULL, &commands));
  mtl_status status =
      mtl_compute_encoder_create(commands, MTL_DISPATCH_SERIAL, &encoder);
  if (status != MTL_OK) {
    mtl_command_buffer_release(commands);
    return status;
  }
  mtl_compute_encoder_set_pipeline(encoder, pipeline);
  mtl_compute_encoder_set_buffer(encoder, state->buffers[0], 0, 0);
  mtl_compute_encoder_set_buffer(encoder, state->buffers[1], 0, 1);
  for (uint32_t i = 0; i < count; ++i) {
    mtl_compute_encoder_dispatch_threads(encoder, grid, group);
  }
  status = mtl_compute_encoder_end(encoder);
  mtl_compute_encoder_release(encoder);
  if (status != MTL_OK) {
    mtl_command_buffer_release(commands);
    return status;
  }
  return finish(commands);
}

static mtl_status measure_batch(bench_state *state, double *out_value) {
  const uint64_t start = now_ns();
  MTL_TRY(run_batch(state, state->nothing, 1000, (mtl_size){32, 1, 1},
                    (mtl_size){32, 1, 1}));
  *out_value = (double)(now_ns() - start) * 1e-6;  // us each, of 1000
  return MTL_OK;
}

static mtl_status measure_saxpy(bench_state *state, double *out_value) {
  const uint64_t start = now_ns();
  MTL_TRY(run_batch(state, state->saxpy, 1, (mtl_size){ELEMENTS, 1, 1},
                    (mtl_size){256, 1, 1}));
  *out_value = 3.0 * COPY_BYTES / (double)(now_ns() - start);
  return MTL_OK;
}

static mtl_status measure_copy(bench_state *state, double *out_value) {
  const uint64_t start = now_ns();
  mtl_command_buffer *commands;
  mtl_blit_encoder *encoder;
  MTL_TRY(mtl_command_buffer_create(state->queues[0], NULL, &commands));
  mtl_status status = mtl_blit_encoder_create(commands, &encoder);
  if (status == MTL_OK) {
    mtl_blit_encoder_copy(encoder, state->buffers[0], 0, state->buffers[1], 0,
                          COPY_BYTES);
    status = mtl_blit_encoder_end(encoder);
    mtl_blit_encoder_release(encoder);
  }
  if (status != MTL_OK) {
    mtl_command_buffer_release(commands);
    return status;
  }
  MTL_TRY(finish(commands));
  *out_value = (double)COPY_BYTES / (double)(now_ns() - start);
  return MTL_OK;
}

// One side of a round: waits for value and raises it by one.
static mtl_status commit_turn(bench_state *state, int player, uint64_t value) {
  mtl_command_buffer *commands;
  MTL_TRY(mtl_command_buffer_create(state->queues[player], NULL, &commands));
  mtl_command_buffer_wait_event(commands, state->event, value);
  mtl_command_buffer_signal_event(commands, state->event, value + 1);
  const mtl_status status = mtl_command_buffer_commit(commands);
  mtl_command_buffer_release(commands);
  return status;
}

static mtl_status measure_ping_pong(bench_state *state, double *out_value) {
  const uint64_t first = state->event_value + 1;
  for (uint64_t i = 0; i < ROUNDS; ++i) {
    MTL_TRY(commit_turn(state, 0, first + 2 * i));
    MTL_TRY(commit_turn(state, 1, first + 2 * i + 1));
  }
  const uint64_t start = now_ns();
  MTL_TRY(mtl_event_signal(state->event, first));
  state->event_value = first + 2 * ROUNDS;
  MTL_TRY(mtl_event_wait(state->event, state->event_value, MTL_WAIT_FOREVER));
  *out_value = (double)(now_ns() - start) * 1e-3 / ROUNDS;
  return MTL_OK;
}

static mtl_status compile_source(bench_state *state, const char *macro_value) {
  const mtl_macro macro = {"MEASURED", macro_value};
  const mtl_compile_options options = {.macros = &macro, .macro_count = 1};
  bench_state compiled = {.device = state->device};
  MTL_TRY(mtl_library_create_from_source(state->device, source, strlen(source),
                                         &options, &compiled.library));
  const mtl_status status = make_pipeline(&compiled, "saxpy", &compiled.saxpy);
  mtl_pipeline_release(compiled.saxpy);
  mtl_library_release(compiled.library);
  return status;
}

static mtl_status measure_compile(bench_state *state, double *out_value) {
  char unique[48];  // so that it is in no cache
  const uint64_t start = now_ns();
  snprintf(unique, sizeof unique, "%" PRIu64 "ull", start);
  MTL_TRY(compile_source(state, unique));
  *out_value = (double)(now_ns() - start) * 1e-6;
  return MTL_OK;
}

static mtl_status measure_cache(bench_state *state, double *out_value) {
  const uint64_t start = now_ns();
  MTL_TRY(compile_source(state, "1"));
  *out_value = (double)(now_ns() - start) * 1e-6;
  return MTL_OK;
}

#define MAX_SAMPLES 1000

static const struct {
  const char *name;
  const char *unit;
  measure *run;
  uint32_t samples;  // the first is a rehearsal; the median of the rest counts
} figures[] = {
    {"empty commit + wait", "us", measure_empty_commit, MAX_SAMPLES},
    {"dispatch in a batch of 1000", "us", measure_batch, 50},
    {"event ping-pong between two queues", "us", measure_ping_pong, 30},
    {"copy bandwidth", "GB/s", measure_copy, 20},
    {"saxpy bandwidth", "GB/s", measure_saxpy, 20},
    {"compile a small kernel", "ms", measure_compile, 6},
    {"the same from the cache", "ms", measure_cache, 20},
};
#define FIGURE_COUNT (sizeof figures / sizeof *figures)

static int compare_values(const void *a, const void *b) {
  const double left = *(const double *)a, right = *(const double *)b;
  return (left > right) - (left < right);
}

static mtl_status take_figure(bench_state *state, size_t number,
                              double *out_value) {
  double values[MAX_SAMPLES];
  const uint32_t count = figures[number].samples;
  for (uint32_t i = 0; i < count; ++i) {
    MTL_TRY(figures[number].run(state, &values[i]));
  }
  qsort(values + 1, count - 1, sizeof *values, compare_values);
  *out_value = values[1 + (count - 1) / 2];
  return MTL_OK;
}

static mtl_status take_figures(bench_state *state, double *values) {
  MTL_TRY(open_state(state));
  progress *bar = progress_start("measuring");
  mtl_status status = MTL_OK;
  for (size_t i = 0; i < FIGURE_COUNT && status == MTL_OK; ++i) {
    status = take_figure(state, i, &values[i]);
    progress_set(bar, i + 1, FIGURE_COUNT);
  }
  progress_stop(bar);
  return status;
}

static void print_figures(const double *values, bool as_json) {
  fputs(as_json ? "[" : "", stdout);
  for (size_t i = 0; i < FIGURE_COUNT; ++i) {
    if (as_json) {
      fputs(i == 0 ? "{\"name\": " : ", {\"name\": ", stdout);
      json_write_text(stdout, figures[i].name);
      printf(", \"unit\": \"%s\", \"value\": %.6g, \"peers\": {}}",
             figures[i].unit, values[i]);
    } else {
      printf("%-36s %10.3f %s\n", figures[i].name, values[i], figures[i].unit);
    }
  }
  fputs(as_json ? "]\n" : "", stdout);
}

static bool parse(char **arguments, bool *out_as_json, cli_error *error) {
  enum { OPTION_JSON = 1 };
  static const option_spec specs[] = {{"--json", OPTION_JSON, false},
                                      {NULL, 0, false}};
  argument_walk walk = {.next = arguments, .options = specs};
  const char *value;
  int id;
  while ((id = argument_walk_next(&walk, &value, error)) != ARGUMENT_END) {
    if (id == ARGUMENT_WRONG) {
      return false;
    }
    if (id == ARGUMENT_POSITIONAL) {
      return cli_fail(error, CLI_USAGE, "'%s' is one argument too many", value);
    }
    *out_as_json = true;
  }
  return true;
}

static bool bench(char **arguments, cli_error *error) {
  bool as_json = false;
  if (!parse(arguments, &as_json, error)) {
    return false;
  }
  bench_state state = {0};
  double values[FIGURE_COUNT];
  const mtl_status status = take_figures(&state, values);
  const bool ok = status == MTL_OK || cli_fail_status(error, status, "bench");
  close_state(&state);
  if (ok) {
    print_figures(values, as_json);
  }
  return ok;
}

static const char bench_help[] =
    "usage: mettle bench [--json]\n"
    "\n"
    "Measures the default device (METTLE_DEVICE names another): what commits,\n"
    "dispatches, events, copies and compilations cost. Medians, in a few\n"
    "seconds. 'make bench' in Mettle's sources measures more.\n"
    "\n"
    "  --json                 print a JSON array of {name, unit, value, "
    "peers}\n"
    "\n"
    "exit code: 0 done, 1 failed, 2 wrong usage\n";

const cli_verb cli_verb_bench = {
    .name = "bench",
    .summary = "measure what things cost on this machine",
    .help = bench_help,
    .run = bench,
};
