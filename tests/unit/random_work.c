// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// random_work.c: threads that use a device at once, each with random work on
// two queues in step through an event; the host computes the same.
#include <mettle/mettle.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "harness/test.h"

enum { THREADS = 4, ROUNDS = 25, GROUP = 64, GROUPS_MAX = 2000 };

static const char source[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "kernel void add(device uint *x [[buffer(0)]],\n"
    "                constant uint &a [[buffer(1)]],\n"
    "                uint i [[thread_position_in_grid]]) { x[i] += a; }\n"
    "kernel void triple(device uint *x [[buffer(0)]],\n"
    "                   device const uint *y [[buffer(1)]],\n"
    "                   uint i [[thread_position_in_grid]]) {\n"
    "  x[i] = 3 * x[i] + y[i];\n"
    "}\n"
    "kernel void reverse(device uint *x [[buffer(0)]],\n"
    "                    threadgroup uint *t [[threadgroup(0)]],\n"
    "                    uint i [[thread_position_in_grid]],\n"
    "                    uint l [[thread_position_in_threadgroup]],\n"
    "                    uint n [[threads_per_threadgroup]]) {\n"
    "  t[l] = x[i];\n"
    "  threadgroup_barrier(mem_flags::mem_threadgroup);\n"
    "  x[i] = t[n - 1 - l];\n"
    "}\n";

static mtl_device *device;
static mtl_pipeline *add;
static mtl_pipeline *triple;
static mtl_pipeline *reverse;

static mtl_pipeline *new_pipeline(mtl_library *library, const char *name) {
  mtl_function *function;
  mtl_pipeline *pipeline;
  CHECK_OK(mtl_function_create(library, name, NULL, &function));
  CHECK_OK(mtl_pipeline_create(function, NULL, &pipeline));
  mtl_function_release(function);
  return pipeline;
}

// What one thread works on, on the device and on the host.
typedef struct work {
  unsigned seed;
  uint32_t count;
  mtl_buffer *x_buffer;
  mtl_buffer *y_buffer;
  uint32_t x[GROUP * GROUPS_MAX];
  uint32_t y[GROUP * GROUPS_MAX];
} work;

static uint32_t below(work *it, uint32_t end) {
  return (uint32_t)rand_r(&it->seed) % end;
}

static void record_add(work *it, mtl_compute_encoder *encoder, bool to_x) {
  const uint32_t amount = below(it, 100);
  mtl_compute_encoder_set_pipeline(encoder, add);
  mtl_compute_encoder_set_buffer(encoder, to_x ? it->x_buffer : it->y_buffer, 0,
                                 0);
  mtl_compute_encoder_set_bytes(encoder, &amount, sizeof amount, 1);
  mtl_compute_encoder_dispatch_threads(encoder, (mtl_size){it->count, 1, 1},
                                       (mtl_size){GROUP, 1, 1});
  for (uint32_t i = 0; i < it->count; i++) {
    (to_x ? it->x : it->y)[i] += amount;
  }
}

static void record_triple(work *it, mtl_compute_encoder *encoder) {
  mtl_compute_encoder_set_pipeline(encoder, triple);
  mtl_compute_encoder_set_buffer(encoder, it->x_buffer, 0, 0);
  mtl_compute_encoder_set_buffer(encoder, it->y_buffer, 0, 1);
  mtl_compute_encoder_dispatch_threadgroups(
      encoder, (mtl_size){it->count / GROUP, 1, 1}, (mtl_size){GROUP, 1, 1});
  for (uint32_t i = 0; i < it->count; i++) {
    it->x[i] = 3 * it->x[i] + it->y[i];
  }
}

static void record_reverse(work *it, mtl_compute_encoder *encoder) {
  mtl_compute_encoder_set_pipeline(encoder, reverse);
  mtl_compute_encoder_set_buffer(encoder, it->x_buffer, 0, 0);
  mtl_compute_encoder_set_threadgroup_memory(encoder, 4 * GROUP, 0);
  mtl_compute_encoder_dispatch_threads(encoder, (mtl_size){it->count, 1, 1},
                                       (mtl_size){GROUP, 1, 1});
  for (uint32_t first = 0; first < it->count; first += GROUP) {
    for (uint32_t i = 0; i < GROUP / 2; i++) {
      const uint32_t low = it->x[first + i];
      it->x[first + i] = it->x[first + GROUP - 1 - i];
      it->x[first + GROUP - 1 - i] = low;
    }
  }
}

static void record(work *it, mtl_command_buffer *commands) {
  mtl_compute_encoder *encoder;
  CHECK_OK(mtl_compute_encoder_create(
      commands, below(it, 2) ? MTL_DISPATCH_CONCURRENT : MTL_DISPATCH_SERIAL,
      &encoder));
  for (uint32_t i = below(it, 12); i > 0; i--) {
    switch (below(it, 4)) {
      case 0: record_add(it, encoder, true); break;
      case 1: record_add(it, encoder, false); break;
      case 2: record_triple(it, encoder); break;
      default: record_reverse(it, encoder); break;
    }
  }
  CHECK_OK(mtl_compute_encoder_end(encoder));
  mtl_compute_encoder_release(encoder);
}

static void run_round(work *it, mtl_queue *const queues[2]) {
  it->count = GROUP * (1 + below(it, GROUPS_MAX));
  for (uint32_t i = 0; i < it->count; i++) {
    it->x[i] = i;
    it->y[i] = 7 * i;
  }
  const size_t bytes = it->count * sizeof(uint32_t);
  CHECK_OK(mtl_buffer_create(
      device, &(mtl_buffer_desc){.length_bytes = bytes, .bytes = it->x},
      &it->x_buffer));
  CHECK_OK(mtl_buffer_create(
      device, &(mtl_buffer_desc){.length_bytes = bytes, .bytes = it->y},
      &it->y_buffer));
  mtl_event *event;
  CHECK_OK(mtl_event_create(device, &(mtl_event_desc){.shared = true}, &event));
  const uint64_t steps = 1 + below(it, 6);
  for (uint64_t step = 0; step < steps; step++) {
    mtl_command_buffer *commands;
    CHECK_OK(mtl_command_buffer_create(queues[step % 2], NULL, &commands));
    mtl_command_buffer_wait_event(commands, event, step);
    record(it, commands);
    mtl_command_buffer_signal_event(commands, event, step + 1);
    CHECK_OK(mtl_command_buffer_commit(commands));
    if (step + 1 == steps && below(it, 2)) {
      CHECK_OK(mtl_command_buffer_wait(commands));
    }
    mtl_command_buffer_release(commands);
  }
  CHECK_OK(mtl_event_wait(event, steps, MTL_WAIT_FOREVER));
  CHECK(memcmp(mtl_buffer_contents(it->x_buffer), it->x, bytes) == 0);
  CHECK(memcmp(mtl_buffer_contents(it->y_buffer), it->y, bytes) == 0);
  mtl_buffer_release(it->x_buffer);
  mtl_buffer_release(it->y_buffer);
  mtl_event_release(event);
}

static void *run_thread(void *context) {
  work *it = context;
  mtl_queue *queues[2];
  CHECK_OK(mtl_queue_create(device, NULL, &queues[0]));
  CHECK_OK(mtl_queue_create(device, NULL, &queues[1]));
  for (int i = 0; i < ROUNDS; i++) {
    run_round(it, queues);
  }
  mtl_queue_release(queues[0]);
  mtl_queue_release(queues[1]);
  return NULL;
}

static void run_on(const char *name) {
  static work works[THREADS];
  CHECK_OK(mtl_device_by_name(name, &device));
  mtl_library *library;
  CHECK_OK(mtl_library_create_from_source(device, source, strlen(source), NULL,
                                          &library));
  add = new_pipeline(library, "add");
  triple = new_pipeline(library, "triple");
  reverse = new_pipeline(library, "reverse");
  mtl_library_release(library);
  pthread_t threads[THREADS];
  for (unsigned i = 0; i < THREADS; i++) {
    works[i].seed = 7919 * (i + 1);
    CHECK_EQUAL(pthread_create(&threads[i], NULL, run_thread, &works[i]), 0);
  }
  for (int i = 0; i < THREADS; i++) {
    CHECK_EQUAL(pthread_join(threads[i], NULL), 0);
  }
  mtl_pipeline_release(add);
  mtl_pipeline_release(triple);
  mtl_pipeline_release(reverse);
  mtl_device_release(device);
}

TEST(random_work, is_right_on_cpu) {
  run_on("cpu");
}

TEST(random_work, is_right_on_cpu_discrete) {
  run_on("cpu-discrete");
}

TEST(random_work, is_right_on_one_thread) {
  CHECK_EQUAL(setenv("METTLE_CPU_THREADS", "1", 1), 0);
  run_on("cpu");
}

TEST(random_work, is_right_on_more_threads_than_cpus) {
  CHECK_EQUAL(setenv("METTLE_CPU_THREADS", "9", 1), 0);
  run_on("cpu");
}
