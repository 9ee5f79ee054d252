// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// submit.c: what it costs to hand work over and to get an answer.
#include <math.h>

#include "bench.h"
#include "opencl.h"

#define BATCH 1000   // dispatches in one command buffer
#define COMMITS 200  // in one sample, each waited for
#define HOPS 60      // from queue to queue; a queue holds 64 command buffers

static const char msl_source[] =
    "kernel void tick(device uint *out [[buffer(0)]],\n"
    "                 uint i [[thread_position_in_grid]]) {\n"
    "  out[i] = i;\n"
    "}\n";
static const char cl_source[] =
    "kernel void tick(global uint *out) {\n"
    "  out[get_global_id(0)] = get_global_id(0);\n"
    "}\n";
static const size_t tick_grid[3] = {32, 1, 1};

static mtl_command_buffer *new_commands(int queue) {
  mtl_command_buffer *commands = NULL;
  MUST(mtl_command_buffer_create(bench_queue(queue), NULL, &commands));
  return commands;
}

// us for one command buffer, made, committed and waited for.
static double mettle_empty(const void *unused) {
  (void)unused;
  const uint64_t start = now_ns();
  for (int i = 0; i < COMMITS; i++) {
    mtl_command_buffer *commands = new_commands(0);
    MUST(mtl_command_buffer_commit(commands));
    MUST(mtl_command_buffer_wait(commands));
    mtl_command_buffer_release(commands);
  }
  return (double)(now_ns() - start) / 1e3 / COMMITS;
}

static opencl_queue *cl_queue(int number) {
  static opencl_queue *queues[2];
  if (queues[number] == NULL) {
    queues[number] = opencl_new_queue();
  }
  return queues[number];
}

static double pocl_empty(const void *unused) {
  (void)unused;
  if (!opencl_is_there()) {
    return NAN;
  }
  opencl_queue *queue = cl_queue(0);
  const uint64_t start = now_ns();
  for (int i = 0; i < COMMITS; i++) {
    opencl_release_event(opencl_marker(queue, NULL));
    opencl_finish(queue);
  }
  return (double)(now_ns() - start) / 1e3 / COMMITS;
}

// Encodes count small dispatches, commits them and waits.
static void run_dispatches(int count) {
  static mtl_pipeline *pipeline;
  static mtl_buffer *out;
  if (pipeline == NULL) {
    pipeline = bench_pipeline(msl_source, "tick");
    out = bench_buffer(32 * sizeof(uint32_t));
  }
  mtl_command_buffer *commands = new_commands(0);
  mtl_compute_encoder *encoder = NULL;
  MUST(mtl_compute_encoder_create(commands, MTL_DISPATCH_SERIAL, &encoder));
  for (int i = 0; i < count; i++) {
    mtl_compute_encoder_set_pipeline(encoder, pipeline);
    mtl_compute_encoder_set_buffer(encoder, out, 0, 0);
    mtl_compute_encoder_dispatch_threads(encoder, (mtl_size){32, 1, 1},
                                         (mtl_size){32, 1, 1});
  }
  MUST(mtl_compute_encoder_end(encoder));
  MUST(mtl_command_buffer_commit(commands));
  MUST(mtl_command_buffer_wait(commands));
  mtl_compute_encoder_release(encoder);
  mtl_command_buffer_release(commands);
}

// us for one small dispatch, encoded, committed and waited for.
static double mettle_one(const void *unused) {
  (void)unused;
  const uint64_t start = now_ns();
  for (int i = 0; i < COMMITS; i++) {
    run_dispatches(1);
  }
  return (double)(now_ns() - start) / 1e3 / COMMITS;
}

// us for one of BATCH small dispatches in one command buffer.
static double mettle_batch(const void *unused) {
  (void)unused;
  const uint64_t start = now_ns();
  run_dispatches(BATCH);
  return (double)(now_ns() - start) / 1e3 / BATCH;
}

static double pocl_batch(const void *unused) {
  (void)unused;
  if (!opencl_is_there()) {
    return NAN;
  }
  static opencl_kernel *kernel;
  static opencl_memory *out;
  if (kernel == NULL) {
    kernel = opencl_new_kernel(cl_source, "tick");
    out = opencl_new_memory(32 * sizeof(uint32_t));
  }
  opencl_queue *queue = cl_queue(0);
  const uint64_t start = now_ns();
  for (int i = 0; i < BATCH; i++) {
    opencl_set_memory(kernel, 0, out);
    opencl_run(queue, kernel, tick_grid, tick_grid);
  }
  opencl_finish(queue);
  return (double)(now_ns() - start) / 1e3 / BATCH;
}

// us from one queue to the other. All the work is committed beforehand and
// waits for the host's signal; then each wait ends with the other queue's
// signal, and nothing else is in the time.
static double mettle_ping_pong(const void *unused) {
  (void)unused;
  static mtl_event *event;
  static uint64_t value;
  if (event == NULL) {
    MUST(mtl_event_create(bench_device(), &(mtl_event_desc){.shared = true},
                          &event));
  }
  const uint64_t first = ++value;
  mtl_command_buffer *commands[HOPS];
  for (int i = 0; i < HOPS; i++) {
    commands[i] = new_commands(i % 2);
    mtl_command_buffer_wait_event(commands[i], event, value);
    mtl_command_buffer_signal_event(commands[i], event, ++value);
    MUST(mtl_command_buffer_commit(commands[i]));
  }
  const uint64_t start = now_ns();
  MUST(mtl_event_signal(event, first));
  MUST(mtl_command_buffer_wait(commands[HOPS - 1]));
  const double result = (double)(now_ns() - start) / 1e3 / HOPS;
  for (int i = 0; i < HOPS; i++) {
    mtl_command_buffer_release(commands[i]);
  }
  return result;
}

static double pocl_ping_pong(const void *unused) {
  (void)unused;
  if (!opencl_is_there()) {
    return NAN;
  }
  opencl_event *events[HOPS + 1];
  events[0] = opencl_new_user_event();
  for (int i = 0; i < HOPS; i++) {
    events[i + 1] = opencl_marker(cl_queue(i % 2), events[i]);
    opencl_flush(cl_queue(i % 2));
  }
  const uint64_t start = now_ns();
  opencl_complete_user_event(events[0]);
  opencl_finish(cl_queue((HOPS - 1) % 2));
  const double result = (double)(now_ns() - start) / 1e3 / HOPS;
  for (int i = 0; i <= HOPS; i++) {
    opencl_release_event(events[i]);
  }
  return result;
}

static const benchmark rows[] = {
    {.name = "empty commit and wait",
     .unit = "us",
     .sample_count = 31,
     .mettle = mettle_empty,
     .peers = {{"pocl", pocl_empty}}},
    {.name = "one dispatch, commit and wait",
     .unit = "us",
     .sample_count = 31,
     .mettle = mettle_one},
    {.name = "dispatch in a batch of 1000",
     .unit = "us",
     .sample_count = 31,
     .mettle = mettle_batch,
     .peers = {{"pocl", pocl_batch}}},
    {.name = "event ping-pong between two queues",
     .unit = "us",
     .sample_count = 31,
     .mettle = mettle_ping_pong,
     .peers = {{"pocl", pocl_ping_pong}}},
};
const bench_topic submit_topic = {.name = "submission",
                                  .rows = rows,
                                  .row_count = sizeof rows / sizeof rows[0]};
