// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// lifetimes.c: releasing anything in any order while work runs.
#include "conformance.h"

#include <dirent.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

// Commits one dispatch that waits for start to reach 1 and then signals done,
// and releases right after the commit every object that the caller does not
// check.
static void commit_and_release_all(mtl_queue *queue, mtl_event *start,
                                   mtl_buffer *data, mtl_event *done) {
  mtl_library *library = NULL;
  CHECK_OK(mtl_library_create_from_source(
      the_device(), simple_kernels, strlen(simple_kernels), NULL, &library));
  mtl_function *function = NULL;
  CHECK_OK(mtl_function_create(library, "add_one", NULL, &function));
  mtl_pipeline *pipeline = NULL;
  CHECK_OK(mtl_pipeline_create(function, NULL, &pipeline));
  mtl_library_release(library);
  mtl_function_release(function);
  mtl_command_buffer *commands = NULL;
  CHECK_OK(mtl_command_buffer_create(queue, NULL, &commands));
  mtl_command_buffer_wait_event(commands, start, 1);
  mtl_compute_encoder *encoder = NULL;
  CHECK_OK(mtl_compute_encoder_create(commands, MTL_DISPATCH_SERIAL, &encoder));
  mtl_compute_encoder_set_pipeline(encoder, pipeline);
  mtl_pipeline_release(pipeline);
  mtl_compute_encoder_set_buffer(encoder, data, 0, 0);
  mtl_compute_encoder_dispatch_threads(encoder, size_of(100, 1, 1),
                                       size_of(32, 1, 1));
  mtl_compute_encoder_release(encoder);
  mtl_command_buffer_signal_event(commands, done, 1);
  CHECK_OK(mtl_command_buffer_commit(commands));
  mtl_command_buffer_release(commands);
}

TEST(lifetimes, everything_released_right_after_commit) {
  mtl_queue *queue = NULL;
  CHECK_OK(mtl_queue_create(the_device(), NULL, &queue));
  mtl_event *start = new_event(), *done = new_event();
  mtl_buffer *data = new_buffer(400);
  commit_and_release_all(queue, start, data, done);
  mtl_queue_release(queue);
  CHECK_OK(mtl_event_signal(start, 1));
  CHECK_OK(mtl_event_wait(done, 1, LONG_NS));
  CHECK_EQUAL(words(data)[0], 1);
  CHECK_EQUAL(words(data)[99], 1);
}

TEST(lifetimes, buffers_released_while_work_waits_for_them) {
  mtl_queue *queue = new_queue();
  mtl_event *event = new_event();
  mtl_buffer *target = new_buffer(4096);
  mtl_buffer *source = NULL;
  CHECK_OK(mtl_buffer_create(
      the_device(), &(mtl_buffer_desc){.length_bytes = 4096}, &source));
  memset(mtl_buffer_contents(source), 0x77, 4096);
  mtl_command_buffer *commands = new_commands(queue);
  mtl_command_buffer_wait_event(commands, event, 1);
  mtl_blit_encoder *blit = new_blit(commands);
  mtl_blit_encoder_copy(blit, source, 0, target, 0, 4096);
  end_blit(blit);
  CHECK_OK(mtl_command_buffer_commit(commands));
  mtl_buffer_release(source);
  CHECK_OK(mtl_event_signal(event, 1));
  CHECK_OK(mtl_command_buffer_wait(commands));
  CHECK_EQUAL(words(target)[1023], 0x77777777);
}

TEST(lifetimes, event_released_while_work_waits_for_it) {
  mtl_event *event = NULL;
  CHECK_OK(mtl_event_create(the_device(), &(mtl_event_desc){.shared = true},
                            &event));
  mtl_command_buffer *waiting = new_commands(new_queue());
  mtl_command_buffer_wait_event(waiting, event, 1);
  CHECK_OK(mtl_command_buffer_commit(waiting));
  mtl_command_buffer *signalling = new_commands(new_queue());
  mtl_command_buffer_signal_event(signalling, event, 1);
  mtl_event_release(event);
  CHECK_OK(mtl_command_buffer_commit(signalling));
  CHECK_OK(mtl_command_buffer_wait(waiting));
}

TEST(lifetimes, many_queues_are_dropped_with_work_in_flight) {
  enum { COUNT = 50 };
  mtl_event *start = new_event();
  mtl_event *done[COUNT];
  mtl_buffer *buffers[COUNT];
  for (int i = 0; i < COUNT; i++) {
    buffers[i] = new_buffer(400);
    done[i] = new_event();
    mtl_queue *queue = NULL;
    CHECK_OK(mtl_queue_create(the_device(), NULL, &queue));
    commit_and_release_all(queue, start, buffers[i], done[i]);
    mtl_queue_release(queue);
  }
  CHECK_OK(mtl_event_signal(start, 1));
  for (int i = 0; i < COUNT; i++) {
    CHECK_OK(mtl_event_wait(done[i], 1, LONG_NS));
    CHECK_EQUAL(words(buffers[i])[99], 1);
  }
}

TEST(lifetimes, uncommitted_work_is_discarded) {
  uint32_t start[1] = {5};
  mtl_buffer *data = BUFFER_OF(start);
  mtl_queue *queue = new_queue();
  mtl_command_buffer *commands = NULL;
  CHECK_OK(mtl_command_buffer_create(queue, NULL, &commands));
  mtl_blit_encoder *blit = NULL;
  CHECK_OK(mtl_blit_encoder_create(commands, &blit));
  mtl_blit_encoder_fill(blit, data, 0, 4, 0);
  CHECK_OK(mtl_blit_encoder_end(blit));
  mtl_blit_encoder_release(blit);
  mtl_command_buffer_release(commands);
  finish(new_commands(queue));
  CHECK_EQUAL(words(data)[0], 5);
}

TEST(lifetimes, retained_objects_need_as_many_releases) {
  mtl_buffer *buffer = NULL;
  CHECK_OK(mtl_buffer_create(the_device(),
                             &(mtl_buffer_desc){.length_bytes = 4}, &buffer));
  CHECK(mtl_buffer_retain(buffer) == buffer);
  mtl_buffer_release(buffer);
  words(buffer)[0] = 1;
  mtl_buffer_release(buffer);
  mtl_queue *queue = NULL;
  CHECK_OK(mtl_queue_create(the_device(), NULL, &queue));
  CHECK(mtl_queue_retain(queue) == queue);
  mtl_queue_release(queue);
  finish(new_commands(queue));
  mtl_queue_release(queue);
}

TEST(lifetimes, encoder_outlives_its_command_buffers_other_owners) {
  mtl_buffer *data = new_buffer(4);
  mtl_command_buffer *commands = NULL;
  CHECK_OK(mtl_command_buffer_create(new_queue(), NULL, &commands));
  mtl_blit_encoder *blit = NULL;
  CHECK_OK(mtl_blit_encoder_create(commands, &blit));
  mtl_command_buffer_release(commands);
  mtl_blit_encoder_fill(blit, data, 0, 4, 1);
  CHECK_OK(mtl_blit_encoder_end(blit));
  mtl_blit_encoder_release(blit);
}

// A completed command buffer releases its resources.
TEST(lifetimes, completed_work_frees_its_buffers) {
  const uint64_t before = mtl_device_current_allocated_bytes(the_device());
  mtl_buffer *data = NULL;
  CHECK_OK(mtl_buffer_create(
      the_device(), &(mtl_buffer_desc){.length_bytes = 1 << 20}, &data));
  mtl_command_buffer *commands = new_commands(new_queue());
  mtl_blit_encoder *blit = new_blit(commands);
  mtl_blit_encoder_fill(blit, data, 0, 1 << 20, 3);
  end_blit(blit);
  finish(commands);
  mtl_buffer_release(data);
  CHECK_EQUAL(mtl_device_current_allocated_bytes(the_device()), before);
}

// --- events that nobody signals ----------------------------------------------

// Work on a device, queue and buffer of its own that waits for an event to
// reach 1. Everything but the event is released.
static mtl_event *commit_waiting_work(void) {
  mtl_device *device = NULL;
  CHECK_OK(mtl_device_by_name(getenv("METTLE_TEST_DEVICE"), &device));
  mtl_queue *queue = NULL;
  mtl_event *event = NULL;
  mtl_buffer *data = NULL;
  mtl_command_buffer *commands = NULL;
  mtl_blit_encoder *blit = NULL;
  CHECK_OK(mtl_queue_create(device, NULL, &queue));
  CHECK_OK(mtl_event_create(device, &(mtl_event_desc){.shared = true}, &event));
  CHECK_OK(mtl_buffer_create(device, &(mtl_buffer_desc){.length_bytes = 4096},
                             &data));
  mtl_device_release(device);
  CHECK_OK(mtl_command_buffer_create(queue, NULL, &commands));
  mtl_command_buffer_wait_event(commands, event, 1);
  CHECK_OK(mtl_blit_encoder_create(commands, &blit));
  mtl_blit_encoder_fill(blit, data, 0, 4096, 1);
  CHECK_OK(mtl_blit_encoder_end(blit));
  mtl_blit_encoder_release(blit);
  mtl_command_buffer_signal_event(commands, event, 2);
  CHECK_OK(mtl_command_buffer_commit(commands));
  CHECK_EQUAL(mtl_command_buffer_wait_timeout(commands, 1000000),
              MTL_TIMED_OUT);
  CHECK_EQUAL(mtl_command_buffer_wait_timeout(commands, 0), MTL_TIMED_OUT);
  mtl_command_buffer_release(commands);
  mtl_buffer_release(data);
  mtl_queue_release(queue);
  return event;
}

// The threads of this process that are Mettle's, by their names; sanitizers
// have some of their own.
static int thread_count(void) {
  DIR *folder = opendir("/proc/self/task");
  CHECK(folder != NULL);
  int count = 0;
  for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
    char path[300], name[16] = "";
    snprintf(path, sizeof path, "/proc/self/task/%s/comm", entry->d_name);
    FILE *file = fopen(path, "r");
    if (file != NULL) {  // else it has ended meanwhile
      count += fgets(name, sizeof name, file) != NULL &&
               strncmp(name, "mettle", 6) == 0;
      fclose(file);
    }
  }
  closedir(folder);
  return count;
}

// Released work lives on, and takes its device and threads with it at its end.
TEST(lifetimes, released_work_ends_when_its_event_comes) {
  need_device();
  mtl_event *event = commit_waiting_work();
  CHECK(thread_count() > 0);
  CHECK_OK(mtl_event_signal(event, 1));
  CHECK_OK(mtl_event_wait(event, 2, LONG_NS));
  mtl_event_release(event);
  while (thread_count() > 0) {
    sched_yield();  // fails only by the time limit of the test
  }
}

// Nobody can signal any more; the process ends all the same.
TEST(lifetimes, process_ends_while_work_waits_for_ever) {
  need_device();
  fflush(NULL);
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    mtl_event_release(commit_waiting_work());
#ifdef __SANITIZE_ADDRESS__
    _exit(0);  // memory that is never given back is a leak
#endif
    exit(0);
  }
  int status = 0;
  CHECK_EQUAL(waitpid(child, &status, 0), child);
  CHECK(WIFEXITED(status));
  CHECK_EQUAL(WEXITSTATUS(status), 0);
}

static void load_and_run(mtl_queue *queue, const void *bytes, size_t size,
                         mtl_buffer *data) {
  mtl_library *library = NULL;
  CHECK_OK(mtl_library_create_from_data(the_device(), bytes, size, &library));
  mtl_function *function = NULL;
  CHECK_OK(mtl_function_create(library, "add_one", NULL, &function));
  mtl_pipeline *pipeline = NULL;
  CHECK_OK(mtl_pipeline_create(function, NULL, &pipeline));
  const worker one = {queue, pipeline, data};
  work_once(&one);
  mtl_pipeline_release(pipeline);
  mtl_function_release(function);
  mtl_library_release(library);
}

// A library, a function, a pipeline and a command buffer each time.
TEST(lifetimes, loading_again_and_again_takes_no_more_memory) {
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
  test_skip("the sanitizers keep memory of their own");
#endif
  enum { FIRST = 50, MORE = 100, LEAK_BYTES = 16 * 1024 };
  mtl_queue *queue = new_queue();
  mtl_buffer *data = new_buffer(4000);
  size_t size = 0;
  const void *bytes = mtl_library_data(new_library(simple_kernels), &size);
  for (int i = 0; i < FIRST; i++) {
    load_and_run(queue, bytes, size, data);
  }
  const size_t before = test_resident_bytes();
  for (int i = 0; i < MORE; i++) {
    load_and_run(queue, bytes, size, data);
  }
  // Room for memory that a heap keeps; a leak of LEAK_BYTES a time would show.
  CHECK(test_resident_bytes() < before + MORE * LEAK_BYTES);
}
