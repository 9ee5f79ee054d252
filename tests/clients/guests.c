// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// guests.c: signals, threads and ends of the process that Mettle is a guest in.
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/test.h"
#include "mettle/mettle.h"

static const char source[] =
    "kernel void spin(device uint *x [[buffer(0)]],\n"
    "                 uint i [[thread_position_in_grid]]) {\n"
    "  uint v = i;\n"
    "  for (uint k = 0; k < 2000; ++k) { v = v * 1664525u + 1013904223u; }\n"
    "  x[i] = v;\n"
    "}\n"
    "kernel void endless(device volatile uint *x [[buffer(0)]],\n"
    "                    uint i [[thread_position_in_grid]]) {\n"
    "  while (x[0] != 77) { x[1] = i; }\n"
    "}\n";
enum { WIDE = 1024 };

typedef struct guest {
  mtl_device *device;
  mtl_library *library;
  mtl_function *function;
  mtl_pipeline *pipeline;
  mtl_queue *queue;
  mtl_buffer *buffer;
} guest;

static guest open_guest(const char *kernel) {
  guest it;
  CHECK_OK(mtl_device_default(&it.device));
  CHECK_OK(mtl_library_create_from_source(it.device, source, strlen(source),
                                          NULL, &it.library));
  CHECK_OK(mtl_function_create(it.library, kernel, NULL, &it.function));
  CHECK_OK(mtl_pipeline_create(it.function, NULL, &it.pipeline));
  CHECK_OK(mtl_queue_create(it.device, NULL, &it.queue));
  CHECK_OK(mtl_buffer_create(
      it.device, &(mtl_buffer_desc){.length_bytes = 4 * WIDE}, &it.buffer));
  return it;
}

static void close_guest(const guest *it) {
  mtl_buffer_release(it->buffer);
  mtl_queue_release(it->queue);
  mtl_pipeline_release(it->pipeline);
  mtl_function_release(it->function);
  mtl_library_release(it->library);
  mtl_device_release(it->device);
}

// A dispatch, then event rises to value.
static mtl_command_buffer *commit(const guest *it, mtl_event *event,
                                  uint64_t value) {
  mtl_command_buffer *commands = NULL;
  mtl_compute_encoder *encoder = NULL;
  CHECK_OK(mtl_command_buffer_create(it->queue, NULL, &commands));
  CHECK_OK(mtl_compute_encoder_create(commands, MTL_DISPATCH_SERIAL, &encoder));
  mtl_compute_encoder_set_pipeline(encoder, it->pipeline);
  mtl_compute_encoder_set_buffer(encoder, it->buffer, 0, 0);
  mtl_compute_encoder_dispatch_threads(encoder, (mtl_size){WIDE, 1, 1},
                                       (mtl_size){64, 1, 1});
  CHECK_OK(mtl_compute_encoder_end(encoder));
  mtl_compute_encoder_release(encoder);
  if (event) {
    mtl_command_buffer_signal_event(commands, event, value);
  }
  CHECK_OK(mtl_command_buffer_commit(commands));
  return commands;
}

// The generator of Numerical Recipes, 2000 steps from i; by the host.
static uint32_t spun(uint32_t i) {
  for (int k = 0; k < 2000; k++) {
    i = i * 1664525u + 1013904223u;
  }
  return i;
}

// --- signals -----------------------------------------------------------------

static atomic_bool storm_is_over;
static atomic_int signals_seen;

static void on_signal(int signal) {
  (void)signal;
  atomic_fetch_add(&signals_seen, 1);
}

static void *send_signals(void *context) {
  static const int numbers[] = {SIGINT, SIGALRM, SIGUSR1};
  const pthread_t target = *(const pthread_t *)context;
  for (int i = 0; !atomic_load(&storm_is_over); i++) {
    pthread_kill(target, numbers[i % 3]);
    usleep(50);
  }
  return NULL;
}

TEST(guests, waits_under_a_storm_of_signals) {
  const struct sigaction action = {.sa_handler = on_signal};  // no SA_RESTART
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGALRM, &action, NULL);
  sigaction(SIGUSR1, &action, NULL);
  pthread_t self = pthread_self(), sender;
  CHECK_EQUAL(pthread_create(&sender, NULL, send_signals, &self), 0);
  const guest it = open_guest("spin");
  mtl_event *event = NULL;
  CHECK_OK(mtl_event_create(it.device, &(mtl_event_desc){.shared = true},
                            &event));
  for (uint64_t i = 1; i <= 200; i++) {
    mtl_command_buffer *commands = commit(&it, event, i);
    switch (i % 3) {
      case 0: CHECK_OK(mtl_command_buffer_wait(commands)); break;
      case 1: CHECK_OK(mtl_event_wait(event, i, MTL_WAIT_FOREVER)); break;
      default:
        CHECK_OK(mtl_command_buffer_wait_timeout(commands, 10000000000u));
    }
    mtl_command_buffer_release(commands);
  }
  atomic_store(&storm_is_over, true);
  pthread_join(sender, NULL);
  CHECK(atomic_load(&signals_seen) > 0);
  CHECK_EQUAL(((uint32_t *)mtl_buffer_contents(it.buffer))[WIDE - 1],
              spun(WIDE - 1));
  mtl_event_release(event);
  close_guest(&it);
}

// --- threads -----------------------------------------------------------------

static void *commit_and_wait(void *context) {
  mtl_command_buffer *commands = commit(context, NULL, 0);
  const mtl_status status = mtl_command_buffer_wait(commands);
  mtl_command_buffer_release(commands);
  return (void *)(uintptr_t)status;
}

TEST(guests, threads_come_wait_and_end) {
  guest it = open_guest("spin");
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 32 * 1024);
  for (int i = 0; i < 60; i++) {
    pthread_t threads[4];
    for (int k = 0; k < 4; k++) {
      CHECK_EQUAL(pthread_create(&threads[k], k % 2 ? &small : NULL,
                                 commit_and_wait, &it),
                  0);
    }
    for (int k = 0; k < 4; k++) {
      void *status = NULL;
      pthread_join(threads[k], &status);
      CHECK_EQUAL((uintptr_t)status, MTL_OK);
    }
  }
  close_guest(&it);
}

// --- the end of the process --------------------------------------------------

static int status_of(pid_t child) {
  int status = 0;
  CHECK_EQUAL(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static _Noreturn void run_and_exit(int queues, bool release) {
  alarm(20);
  for (int i = 0; i < queues; i++) {
    const guest it = open_guest("endless");
    mtl_command_buffer *commands = commit(&it, NULL, 0);
    CHECK_OK(mtl_command_buffer_wait_scheduled(commands));
    if (release) {
      mtl_command_buffer_release(commands);
      close_guest(&it);
    }
  }
  exit(7);
}

static void check_exit(int queues, bool release) {
  const pid_t child = fork();
  if (child == 0) {
    run_and_exit(queues, release);
  }
  CHECK_EQUAL(status_of(child), 7);
}

TEST(guests, process_ends_while_kernels_run) { check_exit(4, false); }

TEST(guests, process_ends_after_releasing_kernels_that_run) {
  check_exit(4, true);
}
