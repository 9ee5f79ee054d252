// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// threads.c: one device, its queues and events, used by several threads.
#include "conformance.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { THREADS = 6 };

static void run_threads(void *(*function)(void *), void *contexts,
                        size_t context_bytes) {
  pthread_t threads[THREADS];
  for (size_t i = 0; i < THREADS; i++) {
    CHECK_EQUAL(pthread_create(&threads[i], NULL, function,
                               (char *)contexts + i * context_bytes),
                0);
  }
  for (size_t i = 0; i < THREADS; i++) {
    CHECK_EQUAL(pthread_join(threads[i], NULL), 0);
  }
}

static void *add_many(void *context) {
  for (int i = 0; i < 200; i++) {
    work_once(context);
  }
  return NULL;
}

TEST(threads, share_one_queue) {
  worker workers[THREADS];
  workers[0] = (worker){new_queue(), new_pipeline(simple_kernels, "add_one"),
                        new_buffer(4000)};
  for (int i = 1; i < THREADS; i++) {
    workers[i] = workers[0];
  }
  run_threads(add_many, workers, sizeof workers[0]);
  CHECK_EQUAL(words(workers[0].data)[0], 200 * THREADS);
  CHECK_EQUAL(words(workers[0].data)[999], 200 * THREADS);
}

TEST(threads, each_with_a_queue_of_its_own) {
  mtl_pipeline *pipeline = new_pipeline(simple_kernels, "add_one");
  worker workers[THREADS];
  for (int i = 0; i < THREADS; i++) {
    workers[i] = (worker){new_queue(), pipeline, new_buffer(4000)};
  }
  run_threads(add_many, workers, sizeof workers[0]);
  for (int i = 0; i < THREADS; i++) {
    CHECK_EQUAL(words(workers[i].data)[0], 200);
    CHECK_EQUAL(words(workers[i].data)[999], 200);
  }
}

static void *compile_and_run(void *context) {
  const int number = *(int *)context;
  char source[256];
  snprintf(source, sizeof source,
           "kernel void k(device uint *out [[buffer(0)]]) {\n"
           "  out[0] = %d;\n"
           "}\n",
           number);
  mtl_library *library = NULL;
  CHECK_OK(mtl_library_create_from_source(the_device(), source, strlen(source),
                                          NULL, &library));
  mtl_function *function = NULL;
  CHECK_OK(mtl_function_create(library, "k", NULL, &function));
  mtl_pipeline *pipeline = NULL;
  CHECK_OK(mtl_pipeline_create(function, NULL, &pipeline));
  mtl_queue *queue = NULL;
  CHECK_OK(mtl_queue_create(the_device(), NULL, &queue));
  mtl_buffer *out = NULL;
  CHECK_OK(mtl_buffer_create(the_device(),
                             &(mtl_buffer_desc){.length_bytes = 4}, &out));
  mtl_command_buffer *commands = NULL;
  CHECK_OK(mtl_command_buffer_create(queue, NULL, &commands));
  mtl_compute_encoder *encoder = NULL;
  CHECK_OK(mtl_compute_encoder_create(commands, MTL_DISPATCH_SERIAL, &encoder));
  mtl_compute_encoder_set_pipeline(encoder, pipeline);
  mtl_compute_encoder_set_buffer(encoder, out, 0, 0);
  mtl_compute_encoder_dispatch_threads(encoder, size_of(1, 1, 1),
                                       size_of(1, 1, 1));
  mtl_compute_encoder_release(encoder);
  CHECK_OK(mtl_command_buffer_commit(commands));
  CHECK_OK(mtl_command_buffer_wait(commands));
  CHECK_EQUAL(words(out)[0], number);
  mtl_command_buffer_release(commands);
  mtl_queue_release(queue);
  mtl_pipeline_release(pipeline);
  mtl_function_release(function);
  mtl_library_release(library);
  mtl_buffer_release(out);
  return NULL;
}

TEST(threads, compile_side_by_side) {
  int numbers[THREADS];
  for (int i = 0; i < THREADS; i++) {
    numbers[i] = 1000 + i;
  }
  the_device();
  run_threads(compile_and_run, numbers, sizeof numbers[0]);
}

static void *compile_the_same(void *context) {
  (void)context;
  mtl_library *library = NULL;
  CHECK_OK(mtl_library_create_from_source(
      the_device(), simple_kernels, strlen(simple_kernels), NULL, &library));
  CHECK_EQUAL(mtl_library_function_count(library), 2);
  mtl_library_release(library);
  return NULL;
}

TEST(threads, compile_the_same_source_at_once) {
  int unused[THREADS] = {0};
  the_device();
  run_threads(compile_the_same, unused, sizeof unused[0]);
}

static void *make_buffers(void *context) {
  (void)context;
  for (int i = 0; i < 300; i++) {
    mtl_buffer *buffer = NULL;
    CHECK_OK(mtl_buffer_create(
        the_device(), &(mtl_buffer_desc){.length_bytes = (size_t)(i * 37 + 1)},
        &buffer));
    mtl_buffer_release(mtl_buffer_retain(buffer));
    mtl_buffer_release(buffer);
  }
  return NULL;
}

TEST(threads, make_and_free_buffers_at_once) {
  int unused[THREADS] = {0};
  const uint64_t before = mtl_device_current_allocated_bytes(the_device());
  run_threads(make_buffers, unused, sizeof unused[0]);
  CHECK_EQUAL(mtl_device_current_allocated_bytes(the_device()), before);
}

static void *fail_differently(void *context) {
  const int number = *(int *)context;
  char name[32];
  snprintf(name, sizeof name, "device-%d", number);
  for (int i = 0; i < 100; i++) {
    mtl_device *device = NULL;
    CHECK_ERROR(mtl_device_by_name(name, &device), MTL_NOT_FOUND, name);
  }
  return NULL;
}

TEST(threads, each_has_its_own_last_error) {
  int numbers[THREADS];
  for (int i = 0; i < THREADS; i++) {
    numbers[i] = i;
  }
  run_threads(fail_differently, numbers, sizeof numbers[0]);
  CHECK_TEXT(mtl_last_error(), "");
}

static void *wait_for(void *context) {
  CHECK_OK(mtl_command_buffer_wait(*(mtl_command_buffer **)context));
  return NULL;
}

TEST(threads, wait_for_one_command_buffer_together) {
  mtl_event *event = new_event();
  mtl_command_buffer *commands = new_commands(new_queue());
  mtl_command_buffer_wait_event(commands, event, 1);
  CHECK_OK(mtl_command_buffer_commit(commands));
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++) {
    CHECK_EQUAL(pthread_create(&threads[i], NULL, wait_for, &commands), 0);
  }
  CHECK_OK(mtl_event_signal(event, 1));
  for (int i = 0; i < THREADS; i++) {
    CHECK_EQUAL(pthread_join(threads[i], NULL), 0);
  }
}
