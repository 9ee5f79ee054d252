// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// endings.c: work that does not end by itself: time limits, cancelling, and
// what other queues notice of it.
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "conformance.h"

// Each runs until word 0 is 77. The numbers are lines of an error.
static const char endless[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "kernel void idle(device uint *x [[buffer(0)]]) {\n"
    "  while (true) {\n"
    "  }\n"
    "  x[1] = 1;\n"
    "}\n"
    "kernel void looks(device volatile uint *x [[buffer(0)]],\n"
    "                  uint i [[thread_position_in_grid]]) {\n"
    "  while (x[0] != 77) { x[1] = i; }\n"
    "}\n"
    "kernel void atomic(device atomic_uint *x [[buffer(0)]]) {\n"
    "  while (atomic_load_explicit(x, memory_order_relaxed) != 77) {}\n"
    "}\n"
    "kernel void counts(device float *x [[buffer(0)]]) {\n"
    "  for (float f = 0; f < 1e30f; f = sin(f)) { x[1] = f; }\n"
    "}\n"
    "kernel void meets(device volatile uint *x [[buffer(0)]],\n"
    "                  uint i [[thread_index_in_threadgroup]]) {\n"
    "  threadgroup uint shared[64];\n"
    "  while (x[0] != 77) {\n"
    "    shared[i % 64] = i;\n"
    "    threadgroup_barrier(mem_flags::mem_threadgroup);\n"
    "    x[1] = shared[(i + 1) % 64];\n"
    "    threadgroup_barrier(mem_flags::mem_threadgroup);\n"
    "  }\n"
    "}\n"
    "static uint forever(uint n) { while (n != 0) { n = n % 2 + 2; } return n; }\n"
    "kernel void calls(device uint *x [[buffer(0)]]) {\n"
    "  x[0] = forever(x[0] + 1);\n"
    "}\n";

enum { SHORT_NS = 20 * 1000 * 1000 };

static mtl_pipeline *endless_pipeline(const char *name, bool debug) {
  mtl_function *function = new_function(new_library(endless), name);
  mtl_pipeline *pipeline = NULL;
  CHECK_OK(mtl_pipeline_create(function, &(mtl_pipeline_desc){.debug = debug},
                               &pipeline));
  release_pipeline_later(pipeline);
  return pipeline;
}

static mtl_command_buffer *limited_commands(mtl_queue *queue,
                                            uint64_t limit_ns) {
  mtl_command_buffer *commands = NULL;
  CHECK_OK(mtl_command_buffer_create(
      queue, &(mtl_command_buffer_desc){.time_limit_ns = limit_ns}, &commands));
  release_commands_later(commands);
  return commands;
}

static mtl_queue *limited_queue(uint64_t limit_ns) {
  mtl_queue *queue = NULL;
  CHECK_OK(mtl_queue_create(
      the_device(), &(mtl_queue_desc){.time_limit_ns = limit_ns}, &queue));
  release_queue_later(queue);
  return queue;
}

// Commits a kernel that does not end.
static void start(mtl_command_buffer *commands, mtl_pipeline *pipeline,
                  uint32_t threads) {
  encode(commands, pipeline, new_buffer(4096), size_of(threads, 1, 1),
         size_of(threads < 64 ? threads : 64, 1, 1));
  CHECK_OK(mtl_command_buffer_commit(commands));
}

static void check_limit(const char *name, const char *place, bool debug) {
  static const uint32_t sizes[] = {1, 64, 64 * 50};
  mtl_pipeline *pipeline = endless_pipeline(name, debug);
  mtl_queue *queue = new_queue();
  for (size_t i = 0; i < COUNT_OF(sizes); i++) {
    mtl_command_buffer *commands = limited_commands(queue, SHORT_NS);
    start(commands, pipeline, sizes[i]);
    CHECK_ERROR(mtl_command_buffer_wait(commands), MTL_TIMED_OUT, name);
    CHECK_CONTAINS(mtl_last_error(), place);
    CHECK_CONTAINS(mtl_last_error(), "its limit of 0.02 s");
    CHECK_EQUAL(mtl_command_buffer_get_status(commands),
                MTL_COMMAND_BUFFER_ERROR);
  }
}

#define LIMIT_TESTS(kernel, place)                   \
  TEST(endings, limit_ends_a_kernel_that_##kernel) { \
    check_limit(#kernel, place, false);              \
  }                                                  \
  TEST(endings, limit_ends_one_in_debug_that_##kernel) { \
    check_limit(#kernel, place, true);               \
  }
LIMIT_TESTS(idle, "program_source:4, ")
LIMIT_TESTS(looks, "program_source:10, ")
LIMIT_TESTS(atomic, "at program_source:")  // in the library's header, too
LIMIT_TESTS(counts, "(program_source:15)")
LIMIT_TESTS(meets, "(program_source:18)")
LIMIT_TESTS(calls, "program_source:28, ")

TEST(endings, limit_of_the_queue_is_every_ones) {
  mtl_queue *queue = limited_queue(SHORT_NS);
  mtl_pipeline *pipeline = endless_pipeline("looks", false);
  for (int i = 0; i < 3; i++) {
    mtl_command_buffer *commands = new_commands(queue);
    start(commands, pipeline, 64);
    CHECK_ERROR(mtl_command_buffer_wait(commands), MTL_TIMED_OUT, "looks");
  }
}

TEST(endings, own_limit_goes_before_the_queues) {
  mtl_queue *queue = limited_queue(1000 * SECOND_NS);
  mtl_command_buffer *commands = limited_commands(queue, SHORT_NS);
  start(commands, endless_pipeline("looks", false), 64);
  CHECK_ERROR(mtl_command_buffer_wait(commands), MTL_TIMED_OUT, "0.02 s");
}

TEST(endings, environment_limits_queues_that_have_none) {
  (void)the_device();
  setenv("METTLE_KERNEL_SECONDS", "0.02", 1);
  mtl_queue *queue = new_queue();
  mtl_queue *unlimited = limited_queue(MTL_NO_TIME_LIMIT);
  unsetenv("METTLE_KERNEL_SECONDS");
  mtl_pipeline *pipeline = endless_pipeline("idle", false);
  mtl_command_buffer *free_one = new_commands(unlimited);
  mtl_command_buffer *freed_one = limited_commands(queue, MTL_NO_TIME_LIMIT);
  mtl_command_buffer *commands = new_commands(queue);
  start(free_one, pipeline, 1);
  start(commands, pipeline, 1);
  CHECK_ERROR(mtl_command_buffer_wait(commands), MTL_TIMED_OUT, "0.02 s");
  start(freed_one, pipeline, 1);
  CHECK_ERROR(mtl_command_buffer_wait_timeout(free_one, 2 * SHORT_NS),
              MTL_TIMED_OUT, "has not completed");
  CHECK_ERROR(mtl_command_buffer_wait_timeout(freed_one, 2 * SHORT_NS),
              MTL_TIMED_OUT, "has not completed");
  CHECK_OK(mtl_command_buffer_cancel(free_one));
  CHECK_OK(mtl_command_buffer_cancel(freed_one));
  CHECK_ERROR(mtl_command_buffer_wait(free_one), MTL_CANCELLED, "cancelled");
  CHECK_ERROR(mtl_command_buffer_wait(freed_one), MTL_CANCELLED, "cancelled");
}

TEST(endings, environment_must_be_a_number_of_seconds) {
  static const char *const wrong[] = {"soon", "0", "-1", "1s", "nan", "1.2.3"};
  (void)the_device();  // which looks at the variables, too
  for (size_t i = 0; i < COUNT_OF(wrong); i++) {
    mtl_queue *queue = NULL;
    setenv("METTLE_KERNEL_SECONDS", wrong[i], 1);
    CHECK_ERROR(mtl_queue_create(the_device(), NULL, &queue),
                MTL_INVALID_ARGUMENT, "METTLE_KERNEL_SECONDS");
    CHECK_CONTAINS(mtl_last_error(), wrong[i]);
    CHECK(!queue);
  }
}

TEST(endings, time_of_waiting_does_not_count) {
  mtl_queue *queue = limited_queue(SHORT_NS);
  mtl_event *event = new_event();
  mtl_command_buffer *commands = new_commands(queue);
  mtl_command_buffer_wait_event(commands, event, 1);
  CHECK_OK(mtl_command_buffer_commit(commands));
  CHECK_ERROR(mtl_command_buffer_wait_timeout(commands, 3 * SHORT_NS),
              MTL_TIMED_OUT, "has not completed");
  CHECK_OK(mtl_event_signal(event, 1));
  CHECK_OK(mtl_command_buffer_wait(commands));
}

// Work behind an early end: its events, and the queue's next work.
static void check_what_follows(mtl_status status, uint64_t limit_ns) {
  mtl_queue *queue = new_queue();
  mtl_event *event = new_event();
  mtl_pipeline *add_one = new_pipeline(simple_kernels, "add_one");
  mtl_buffer *skipped = new_buffer(256), *data = new_buffer(256);
  mtl_command_buffer *first = limited_commands(queue, limit_ns);
  encode(first, endless_pipeline("looks", false), new_buffer(4096),
         size_of(64, 1, 1), size_of(64, 1, 1));
  encode(first, add_one, skipped, size_of(64, 1, 1), size_of(64, 1, 1));
  mtl_command_buffer_signal_event(first, event, 5);
  mtl_command_buffer *second = new_commands(queue);
  encode(second, add_one, data, size_of(64, 1, 1), size_of(64, 1, 1));
  CHECK_OK(mtl_command_buffer_commit(first));
  CHECK_OK(mtl_command_buffer_commit(second));
  if (status == MTL_CANCELLED) {
    CHECK_OK(mtl_command_buffer_cancel(first));
  }
  CHECK_OK(mtl_event_wait(event, 5, LONG_NS));
  CHECK_ERROR(mtl_command_buffer_wait(first), status, "");
  CHECK_OK(mtl_command_buffer_wait(second));
  CHECK_EQUAL(words(skipped)[3], 0);
  CHECK_EQUAL(words(data)[3], 1);
}

TEST(endings, queue_goes_on_after_a_limit) {
  check_what_follows(MTL_TIMED_OUT, SHORT_NS);
}

TEST(endings, queue_goes_on_after_cancelling) {
  check_what_follows(MTL_CANCELLED, 0);
}

TEST(endings, cancelled_before_commit_does_nothing) {
  mtl_queue *queue = new_queue();
  mtl_buffer *data = new_buffer(256);
  mtl_command_buffer *commands = new_commands(queue);
  encode(commands, new_pipeline(simple_kernels, "add_one"), data,
         size_of(64, 1, 1), size_of(64, 1, 1));
  CHECK_OK(mtl_command_buffer_cancel(commands));
  CHECK_OK(mtl_command_buffer_commit(commands));
  CHECK_ERROR(mtl_command_buffer_wait(commands), MTL_CANCELLED, "cancelled");
  CHECK_EQUAL(words(data)[0], 0);
}

TEST(endings, cancelled_behind_another_keeps_its_place) {
  mtl_queue *queue = new_queue();
  mtl_pipeline *pipeline = endless_pipeline("looks", false);
  mtl_command_buffer *first = new_commands(queue);
  mtl_command_buffer *second = new_commands(queue);
  start(first, pipeline, 64);
  start(second, pipeline, 64);
  CHECK_OK(mtl_command_buffer_cancel(second));
  CHECK_ERROR(mtl_command_buffer_wait_timeout(second, SHORT_NS), MTL_TIMED_OUT,
              "has not completed");
  CHECK_OK(mtl_command_buffer_cancel(first));
  CHECK_ERROR(mtl_command_buffer_wait(second), MTL_CANCELLED, "cancelled");
  CHECK_ERROR(mtl_command_buffer_wait(first), MTL_CANCELLED, "cancelled");
}

TEST(endings, cancelling_ends_a_wait_for_an_event) {
  mtl_queue *queue = new_queue();
  mtl_event *never = new_event(), *after = new_event();
  mtl_command_buffer *commands = new_commands(queue);
  mtl_command_buffer_wait_event(commands, never, 1);
  mtl_command_buffer_wait_event(commands, never, 2);
  mtl_command_buffer_signal_event(commands, after, 1);
  CHECK_OK(mtl_command_buffer_commit(commands));
  CHECK_OK(mtl_command_buffer_wait_scheduled(commands));
  CHECK_OK(mtl_command_buffer_cancel(commands));
  CHECK_ERROR(mtl_command_buffer_wait(commands), MTL_CANCELLED, "cancelled");
  CHECK_OK(mtl_event_wait(after, 1, LONG_NS));
  CHECK_OK(mtl_event_signal(never, 2));  // nobody waits any more
}

TEST(endings, cancelling_what_has_completed_changes_nothing) {
  mtl_command_buffer *commands = new_commands(new_queue());
  finish(commands);
  CHECK_OK(mtl_command_buffer_cancel(commands));
  CHECK_OK(mtl_command_buffer_wait(commands));
  CHECK_EQUAL(mtl_command_buffer_get_status(commands),
              MTL_COMMAND_BUFFER_COMPLETED);
  CHECK_ERROR(mtl_command_buffer_cancel(NULL), MTL_INVALID_ARGUMENT, "NULL");
}

static void *wait_for(void *commands) {
  return (void *)(uintptr_t)mtl_command_buffer_wait(commands);
}

// A client's thread that waits runs the kernel itself.
TEST(endings, cancelling_reaches_a_clients_thread) {
  mtl_command_buffer *commands = new_commands(new_queue());
  start(commands, endless_pipeline("looks", false), 1);
  pthread_t thread;
  CHECK_EQUAL(pthread_create(&thread, NULL, wait_for, commands), 0);
  CHECK_OK(mtl_command_buffer_wait_scheduled(commands));
  CHECK_OK(mtl_command_buffer_cancel(commands));
  void *status = NULL;
  pthread_join(thread, &status);
  CHECK_EQUAL((uintptr_t)status, MTL_CANCELLED);
}

TEST(endings, limit_reaches_a_thread_that_blocks_all_signals) {
  sigset_t all, now;
  sigfillset(&all);
  CHECK_EQUAL(pthread_sigmask(SIG_SETMASK, &all, NULL), 0);
  mtl_queue *queue = limited_queue(SHORT_NS);
  mtl_pipeline *pipeline = endless_pipeline("looks", false);
  for (int i = 0; i < 5; i++) {
    mtl_command_buffer *commands = new_commands(queue);
    start(commands, pipeline, 1);
    CHECK_ERROR(mtl_command_buffer_wait(commands), MTL_TIMED_OUT, "looks");
  }
  CHECK_EQUAL(pthread_sigmask(SIG_SETMASK, NULL, &now), 0);
  CHECK_EQUAL(sigismember(&now, SIGSEGV), 1);  // as the client left it
  CHECK_EQUAL(sigismember(&now, SIGUSR1), 1);
}

TEST(endings, endless_kernels_leave_threads_for_other_queues) {
  const uint32_t count = 2 + the_info()->compute_units;
  mtl_pipeline *pipeline = endless_pipeline("looks", false);
  mtl_pipeline *add_one = new_pipeline(simple_kernels, "add_one");
  mtl_command_buffer **stuck = calloc(count, sizeof(mtl_command_buffer *));
  CHECK(stuck);
  for (uint32_t i = 0; i < count; i++) {
    stuck[i] = new_commands(new_queue());
    // Threads would share every other one.
    start(stuck[i], pipeline, i % 2 ? 64 * 100 : 64);
  }
  mtl_buffer *data = new_buffer(256);
  mtl_command_buffer *commands = new_commands(new_queue());
  encode(commands, add_one, data, size_of(64, 1, 1), size_of(64, 1, 1));
  CHECK_OK(mtl_command_buffer_commit(commands));
  CHECK_OK(mtl_command_buffer_wait_timeout(commands, LONG_NS));
  CHECK_EQUAL(words(data)[5], 1);
  for (uint32_t i = 0; i < count; i++) {
    CHECK_OK(mtl_command_buffer_cancel(stuck[i]));
  }
  for (uint32_t i = 0; i < count; i++) {
    CHECK_ERROR(mtl_command_buffer_wait(stuck[i]), MTL_CANCELLED, "cancelled");
  }
  free(stuck);
}

typedef struct canceller {
  mtl_command_buffer *_Atomic commands;
  atomic_bool is_over;
} canceller;

static void *cancel_all(void *context) {
  canceller *it = context;
  while (!atomic_load(&it->is_over)) {
    mtl_command_buffer *commands = atomic_exchange(&it->commands, NULL);
    if (commands) {
      CHECK_OK(mtl_command_buffer_cancel(commands));
      mtl_command_buffer_release(commands);
    }
  }
  return NULL;
}

// Cancelled anywhere between record and completion, work either is done or has
// been cancelled, and the queue never stands still.
TEST(endings, cancelling_at_any_moment) {
  canceller it = {0};
  pthread_t thread;
  mtl_queue *queue = new_queue();
  mtl_event *event = new_event();
  mtl_pipeline *add_one = new_pipeline(simple_kernels, "add_one");
  mtl_buffer *data = new_buffer(4 * 100000);
  CHECK_EQUAL(pthread_create(&thread, NULL, cancel_all, &it), 0);
  for (uint32_t i = 0; i < 400; i++) {
    mtl_command_buffer *commands = NULL;
    CHECK_OK(mtl_command_buffer_create(queue, NULL, &commands));
    // Every fourth waits for an event that is signalled after it has been
    // handed over.
    if (i % 4 == 0) {
      mtl_command_buffer_wait_event(commands, event, i + 1);
    }
    encode(commands, add_one, data, size_of(i % 2 ? 100000 : 100, 1, 1),
           size_of(64, 1, 1));
    CHECK_OK(mtl_command_buffer_commit(commands));
    mtl_command_buffer_retain(commands);
    mtl_command_buffer_release(atomic_exchange(&it.commands, commands));
    CHECK_OK(mtl_event_signal(event, i + 1));
    const mtl_status status = mtl_command_buffer_wait(commands);
    CHECK(status == MTL_OK || status == MTL_CANCELLED);
    mtl_command_buffer_release(commands);
  }
  atomic_store(&it.is_over, true);
  pthread_join(thread, NULL);
  mtl_command_buffer_release(atomic_load(&it.commands));
}

// --- waiting in callbacks ----------------------------------------------------

typedef struct waiter {
  mtl_command_buffer *second;
  mtl_queue *queue;
  mtl_status status;
  mtl_status scheduled;
  atomic_int calls;
} waiter;

static void count(void *context, mtl_command_buffer *commands) {
  (void)commands;
  atomic_fetch_add(&((waiter *)context)->calls, 1);
}

static void wait_for_second(void *context, mtl_command_buffer *commands) {
  waiter *it = context;
  (void)commands;
  it->scheduled = mtl_command_buffer_wait_scheduled(it->second);
  it->status = mtl_command_buffer_wait(it->second);
}

TEST(endings, callback_may_wait_for_the_next_of_its_queue) {
  mtl_queue *queue = new_queue();
  mtl_command_buffer *first = new_commands(queue);
  waiter it = {.second = new_commands(queue), .status = MTL_IO_ERROR};
  mtl_event *event = new_event();
  mtl_command_buffer_wait_event(first, event, 1);
  CHECK_OK(mtl_command_buffer_on_completed(first, wait_for_second, &it));
  CHECK_OK(mtl_command_buffer_on_completed(it.second, count, &it));
  CHECK_OK(mtl_command_buffer_commit(first));
  CHECK_OK(mtl_command_buffer_commit(it.second));
  CHECK_OK(mtl_event_signal(event, 1));
  CHECK_OK(mtl_command_buffer_wait_timeout(first, LONG_NS));
  CHECK_EQUAL(it.status, MTL_OK);
  CHECK_EQUAL(it.scheduled, MTL_OK);
  CHECK_OK(mtl_command_buffer_wait_timeout(it.second, LONG_NS));
  CHECK_EQUAL(atomic_load(&it.calls), 1);
}

// Callbacks of two queues, each of which waits for the other queue's work.
TEST(endings, callbacks_of_two_queues_may_wait_for_each_other) {
  mtl_event *event = new_event();
  mtl_command_buffer *a = new_commands(new_queue());
  mtl_command_buffer *b = new_commands(new_queue());
  waiter first = {.second = b, .status = MTL_IO_ERROR};
  waiter second = {.second = a, .status = MTL_IO_ERROR};
  mtl_command_buffer_wait_event(a, event, 1);
  mtl_command_buffer_wait_event(b, event, 1);
  CHECK_OK(mtl_command_buffer_on_completed(a, wait_for_second, &first));
  CHECK_OK(mtl_command_buffer_on_completed(b, wait_for_second, &second));
  CHECK_OK(mtl_command_buffer_commit(a));
  CHECK_OK(mtl_command_buffer_commit(b));
  CHECK_OK(mtl_event_signal(event, 1));
  CHECK_OK(mtl_command_buffer_wait_timeout(a, LONG_NS));
  CHECK_OK(mtl_command_buffer_wait_timeout(b, LONG_NS));
  CHECK_EQUAL(first.status, MTL_OK);
  CHECK_EQUAL(second.status, MTL_OK);
}

static void make_more(void *context, mtl_command_buffer *commands) {
  waiter *it = context;
  (void)commands;
  mtl_command_buffer *more = NULL;
  it->status = mtl_command_buffer_create(it->queue, NULL, &more);
  if (it->status == MTL_OK) {
    it->status = mtl_command_buffer_commit(more);
  }
  mtl_command_buffer_release(more);
}

// The queue has room for two, and both have callbacks that come one by one.
TEST(endings, callback_finds_room_in_its_full_queue) {
  mtl_queue *queue = NULL;
  CHECK_OK(mtl_queue_create(
      the_device(), &(mtl_queue_desc){.max_command_buffers = 2}, &queue));
  release_queue_later(queue);
  waiter it = {.queue = queue, .status = MTL_IO_ERROR};
  mtl_event *event = new_event();
  mtl_command_buffer *first = new_commands(queue);
  mtl_command_buffer *second = new_commands(queue);
  mtl_command_buffer_wait_event(first, event, 1);
  CHECK_OK(mtl_command_buffer_on_completed(first, make_more, &it));
  CHECK_OK(mtl_command_buffer_on_completed(second, count, &it));
  CHECK_OK(mtl_command_buffer_commit(first));
  CHECK_OK(mtl_command_buffer_commit(second));
  CHECK_OK(mtl_event_signal(event, 1));
  CHECK_OK(mtl_command_buffer_wait_timeout(second, LONG_NS));
  CHECK_EQUAL(it.status, MTL_OK);
}

static void wait_in_deallocator(void *context, void *bytes, size_t length) {
  waiter *it = context;
  (void)length;
  it->status = mtl_command_buffer_wait(it->second);
  free(bytes);
}

// A queue releases its work's resources in a deallocator that waits; meanwhile
// the queue cannot continue.
TEST(endings, deallocator_that_waits_for_its_queue_is_told) {
  enum { BYTES = 16384 };
  mtl_queue *queue = new_queue();
  mtl_event *event = new_event();
  mtl_command_buffer *first = new_commands(queue);
  waiter it = {.second = new_commands(queue), .status = MTL_IO_ERROR};
  mtl_buffer *buffer = NULL;
  CHECK_OK(mtl_buffer_create(
      the_device(),
      &(mtl_buffer_desc){.length_bytes = BYTES,
                         .no_copy_bytes = aligned_alloc(BYTES, BYTES),
                         .deallocator = wait_in_deallocator,
                         .deallocator_context = &it},
      &buffer));
  mtl_command_buffer_wait_event(first, event, 1);
  encode(first, new_pipeline(simple_kernels, "add_one"), buffer,
         size_of(64, 1, 1), size_of(64, 1, 1));
  mtl_buffer_release(buffer);
  CHECK_OK(mtl_command_buffer_commit(first));
  CHECK_OK(mtl_command_buffer_commit(it.second));
  CHECK_OK(mtl_event_signal(event, 1));
  CHECK_OK(mtl_command_buffer_wait_timeout(first, LONG_NS));
  CHECK_EQUAL(it.status, MTL_INVALID_STATE);
  CHECK_OK(mtl_command_buffer_wait_timeout(it.second, LONG_NS));
}
