// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// commands.c: the life of a command buffer: statuses, callbacks, times.
#include "conformance.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

static void encode_add(mtl_command_buffer *commands, mtl_pipeline *pipeline,
                       mtl_buffer *data, uint32_t count) {
  encode(commands, pipeline, data, size_of(count, 1, 1), size_of(64, 1, 1));
}

TEST(commands, empty_ones_complete) {
  finish(new_commands(new_queue()));
}

TEST(commands, status_goes_its_way) {
  mtl_event *event = new_event();
  mtl_command_buffer *commands = new_commands(new_queue());
  CHECK_EQUAL(mtl_command_buffer_get_status(commands),
              MTL_COMMAND_BUFFER_NOT_ENQUEUED);
  CHECK_OK(mtl_command_buffer_enqueue(commands));
  CHECK_EQUAL(mtl_command_buffer_get_status(commands),
              MTL_COMMAND_BUFFER_ENQUEUED);
  mtl_command_buffer_wait_event(commands, event, 1);
  CHECK_OK(mtl_command_buffer_commit(commands));
  const mtl_command_buffer_status status =
      mtl_command_buffer_get_status(commands);
  CHECK(status == MTL_COMMAND_BUFFER_COMMITTED ||
        status == MTL_COMMAND_BUFFER_SCHEDULED);
  CHECK_OK(mtl_event_signal(event, 1));
  CHECK_OK(mtl_command_buffer_wait(commands));
  CHECK_EQUAL(mtl_command_buffer_get_status(commands),
              MTL_COMMAND_BUFFER_COMPLETED);
}

TEST(commands, commit_does_not_wait) {
  mtl_event *event = new_event();
  mtl_command_buffer *commands = new_commands(new_queue());
  mtl_command_buffer_wait_event(commands, event, 1);
  CHECK_OK(mtl_command_buffer_commit(commands));
  CHECK_OK(mtl_event_signal(event, 1));
  CHECK_OK(mtl_command_buffer_wait(commands));
}

TEST(commands, waiting_twice_is_fine) {
  mtl_command_buffer *commands = new_commands(new_queue());
  finish(commands);
  CHECK_OK(mtl_command_buffer_wait(commands));
  CHECK_OK(mtl_command_buffer_wait_timeout(commands, 0));
  CHECK_OK(mtl_command_buffer_wait_scheduled(commands));
}

TEST(commands, waiting_before_commit_is_refused) {
  mtl_command_buffer *commands = new_commands(new_queue());
  CHECK_ERROR(mtl_command_buffer_wait(commands), MTL_INVALID_STATE, "commit");
  CHECK_ERROR(mtl_command_buffer_wait_timeout(commands, 5), MTL_INVALID_STATE,
              "commit");
  CHECK_ERROR(mtl_command_buffer_wait_scheduled(commands), MTL_INVALID_STATE,
              "commit");
}

TEST(commands, committing_twice_is_refused) {
  mtl_command_buffer *commands = new_commands(new_queue());
  finish(commands);
  CHECK_ERROR(mtl_command_buffer_commit(commands), MTL_INVALID_STATE, "commit");
  CHECK_EQUAL(mtl_command_buffer_get_status(commands),
              MTL_COMMAND_BUFFER_COMPLETED);
}

TEST(commands, enqueueing_twice_is_refused) {
  mtl_command_buffer *commands = new_commands(new_queue());
  CHECK_OK(mtl_command_buffer_enqueue(commands));
  CHECK_ERROR(mtl_command_buffer_enqueue(commands), MTL_INVALID_STATE,
              "enqueue");
  finish(commands);
  CHECK_ERROR(mtl_command_buffer_enqueue(commands), MTL_INVALID_STATE, "");
}

// Recording into a committed command buffer is refused where the call can tell,
// and never changes the committed work.
TEST(commands, events_after_commit_change_nothing) {
  mtl_event *event = new_event();
  mtl_command_buffer *commands = new_commands(new_queue());
  finish(commands);
  mtl_command_buffer_signal_event(commands, event, 7);
  mtl_command_buffer_wait_event(commands, event, 99);
  CHECK_OK(mtl_command_buffer_wait(commands));
  uint64_t value;
  CHECK_OK(mtl_event_value(event, &value));
  CHECK_EQUAL(value, 0);
}

TEST(commands, enqueued_place_is_kept) {
  mtl_pipeline *pipeline = new_pipeline(
      "kernel void twice(device uint *data [[buffer(0)]]) {\n"
      "  data[0] = data[0] * 2;\n"
      "}\n",
      "twice");
  mtl_buffer *data = new_buffer(4);
  mtl_queue *queue = new_queue();
  mtl_command_buffer *first = new_commands(queue);
  mtl_command_buffer *second = new_commands(queue);
  encode_add(second, pipeline, data, 1);
  encode_add(first, new_pipeline(simple_kernels, "add_one"), data, 1);
  CHECK_OK(mtl_command_buffer_enqueue(first));
  CHECK_OK(mtl_command_buffer_commit(second));
  CHECK_ERROR(mtl_command_buffer_wait_timeout(second, 5 * 1000 * 1000),
              MTL_TIMED_OUT, "");
  CHECK_OK(mtl_command_buffer_commit(first));
  CHECK_OK(mtl_command_buffer_wait(second));
  CHECK_EQUAL(words(data)[0], 2);  // (0 + 1) * 2
}

// Releasing an uncommitted command buffer frees the later ones.
TEST(commands, releasing_an_enqueued_one_frees_its_place) {
  mtl_queue *queue = new_queue();
  mtl_command_buffer *first = NULL;
  CHECK_OK(mtl_command_buffer_create(queue, NULL, &first));
  CHECK_OK(mtl_command_buffer_enqueue(first));
  mtl_command_buffer *second = new_commands(queue);
  CHECK_OK(mtl_command_buffer_commit(second));
  mtl_command_buffer_release(first);
  CHECK_OK(mtl_command_buffer_wait(second));
}

typedef struct log {
  pthread_mutex_t lock;
  char text[64];
  mtl_command_buffer_status statuses[64];
  pthread_t thread;
} log;

static void note(log *entries, char name, mtl_command_buffer *commands) {
  pthread_mutex_lock(&entries->lock);
  const size_t length = strlen(entries->text);
  entries->text[length] = name;
  entries->statuses[length] = mtl_command_buffer_get_status(commands);
  entries->thread = pthread_self();
  pthread_mutex_unlock(&entries->lock);
}

static void note_a(void *context, mtl_command_buffer *commands) {
  note(context, 'a', commands);
}

static void note_b(void *context, mtl_command_buffer *commands) {
  note(context, 'b', commands);
}

static void note_s(void *context, mtl_command_buffer *commands) {
  note(context, 's', commands);
}

TEST(commands, callbacks_run_in_order_before_wait_returns) {
  log entries = {.lock = PTHREAD_MUTEX_INITIALIZER, .thread = pthread_self()};
  mtl_command_buffer *commands = new_commands(new_queue());
  CHECK_OK(mtl_command_buffer_on_completed(commands, note_a, &entries));
  CHECK_OK(mtl_command_buffer_on_scheduled(commands, note_s, &entries));
  CHECK_OK(mtl_command_buffer_on_completed(commands, note_b, &entries));
  CHECK_OK(mtl_command_buffer_on_completed(commands, note_a, &entries));
  CHECK_OK(mtl_command_buffer_commit(commands));
  CHECK_OK(mtl_command_buffer_wait(commands));
  CHECK_TEXT(entries.text, "saba");
  CHECK(entries.statuses[0] >= MTL_COMMAND_BUFFER_SCHEDULED);
  CHECK_EQUAL(entries.statuses[1], MTL_COMMAND_BUFFER_COMPLETED);
}

TEST(commands, callbacks_run_on_a_thread_of_mettles) {
  log entries = {.lock = PTHREAD_MUTEX_INITIALIZER, .thread = pthread_self()};
  mtl_command_buffer *commands = new_commands(new_queue());
  CHECK_OK(mtl_command_buffer_on_completed(commands, note_a, &entries));
  finish(commands);
  CHECK(!pthread_equal(entries.thread, pthread_self()));
}

TEST(commands, callbacks_after_commit_are_refused) {
  log entries = {.lock = PTHREAD_MUTEX_INITIALIZER};
  mtl_command_buffer *commands = new_commands(new_queue());
  finish(commands);
  CHECK_ERROR(mtl_command_buffer_on_completed(commands, note_a, &entries),
              MTL_INVALID_STATE, "commit");
  CHECK_ERROR(mtl_command_buffer_on_scheduled(commands, note_a, &entries),
              MTL_INVALID_STATE, "commit");
  CHECK_TEXT(entries.text, "");
}

typedef struct chain {
  mtl_queue *queue;
  mtl_event *done;
  atomic_int left;
} chain;

// Commits the next command buffer from inside a callback.
static void commit_next(void *context, mtl_command_buffer *commands) {
  (void)commands;
  chain *it = context;
  const int left = atomic_fetch_sub(&it->left, 1) - 1;
  mtl_command_buffer *next = NULL;
  CHECK_OK(mtl_command_buffer_create(it->queue, NULL, &next));
  if (left > 0) {
    CHECK_OK(mtl_command_buffer_on_completed(next, commit_next, it));
  } else {
    mtl_command_buffer_signal_event(next, it->done, 1);
  }
  CHECK_OK(mtl_command_buffer_commit(next));
  mtl_command_buffer_release(next);
}

TEST(commands, callbacks_may_commit_more_work) {
  chain it = {.queue = new_queue(), .done = new_event(), .left = 200};
  mtl_command_buffer *first = new_commands(it.queue);
  CHECK_OK(mtl_command_buffer_on_completed(first, commit_next, &it));
  CHECK_OK(mtl_command_buffer_commit(first));
  CHECK_OK(mtl_event_wait(it.done, 1, LONG_NS));
  CHECK_EQUAL(atomic_load(&it.left), 0);
}

static void note_error(void *context, mtl_command_buffer *commands) {
  const char *text = NULL;
  CHECK_EQUAL(mtl_command_buffer_error(commands, &text), MTL_KERNEL_FAULT);
  atomic_fetch_add((atomic_int *)context, 1);
}

TEST(commands, failed_ones_call_back_with_their_error) {
  atomic_int calls = 0;
  mtl_command_buffer *commands = new_commands(new_queue());
  mtl_compute_encoder *encoder = new_encoder(commands);
  mtl_compute_encoder_set_pipeline(
      encoder,
      new_pipeline("kernel void fault() { __builtin_trap(); }\n", "fault"));
  mtl_compute_encoder_dispatch_threads(encoder, size_of(1, 1, 1),
                                       size_of(1, 1, 1));
  end(encoder);
  CHECK_OK(mtl_command_buffer_on_completed(commands, note_error, &calls));
  CHECK_OK(mtl_command_buffer_commit(commands));
  CHECK_EQUAL(mtl_command_buffer_wait(commands), MTL_KERNEL_FAULT);
  CHECK_EQUAL(atomic_load(&calls), 1);
}

TEST(commands, times_are_in_order_and_inside_the_run) {
  mtl_command_buffer *commands = new_commands(new_queue());
  mtl_buffer *data = new_buffer(1 << 20);
  encode_add(commands, new_pipeline(simple_kernels, "add_one"), data, 1 << 18);
  const mtl_command_buffer_times before =
      mtl_command_buffer_get_times(commands);
  CHECK_EQUAL(before.device_end_ns, 0);
  const uint64_t start = now_ns();
  finish(commands);
  const uint64_t end_ns = now_ns();
  const mtl_command_buffer_times times = mtl_command_buffer_get_times(commands);
  CHECK(times.kernel_start_ns >= start);
  CHECK(times.kernel_end_ns >= times.kernel_start_ns);
  CHECK(times.device_start_ns >= times.kernel_start_ns);
  CHECK(times.device_end_ns > times.device_start_ns);
  CHECK(times.device_end_ns <= end_ns);
}

TEST(commands, error_of_a_good_one_is_ok) {
  mtl_command_buffer *commands = new_commands(new_queue());
  const char *text = NULL;
  CHECK_EQUAL(mtl_command_buffer_error(commands, &text), MTL_OK);
  CHECK_TEXT(text, "");
  finish(commands);
  CHECK_EQUAL(mtl_command_buffer_error(commands, &text), MTL_OK);
  CHECK_TEXT(text, "");
}

TEST(commands, labels_and_queues_are_kept) {
  mtl_queue *queue = new_queue();
  mtl_command_buffer *commands = NULL;
  CHECK_OK(mtl_command_buffer_create(
      queue, &(mtl_command_buffer_desc){.label = "frame 1"}, &commands));
  CHECK_TEXT(mtl_command_buffer_label(commands), "frame 1");
  CHECK(mtl_command_buffer_queue(commands) == queue);
  mtl_command_buffer_set_label(commands, "frame 2");
  CHECK_TEXT(mtl_command_buffer_label(commands), "frame 2");
  mtl_command_buffer_release(commands);
}

TEST(commands, unretained_references_run) {
  mtl_command_buffer *commands = NULL;
  CHECK_OK(mtl_command_buffer_create(
      new_queue(), &(mtl_command_buffer_desc){.unretained_references = true},
      &commands));
  release_commands_later(commands);
  mtl_buffer *data = new_buffer(400);
  encode_add(commands, new_pipeline(simple_kernels, "add_one"), data, 100);
  finish(commands);
  CHECK_EQUAL(words(data)[99], 1);
}

TEST(commands, ten_thousand_dispatches_in_one) {
  mtl_command_buffer *commands = new_commands(new_queue());
  mtl_buffer *data = new_buffer(400);
  mtl_compute_encoder *encoder = new_encoder(commands);
  mtl_compute_encoder_set_pipeline(encoder,
                                   new_pipeline(simple_kernels, "add_one"));
  mtl_compute_encoder_set_buffer(encoder, data, 0, 0);
  for (int i = 0; i < 10000; i++) {
    mtl_compute_encoder_dispatch_threads(encoder, size_of(100, 1, 1),
                                         size_of(32, 1, 1));
  }
  end(encoder);
  finish(commands);
  CHECK_EQUAL(words(data)[0], 10000);
  CHECK_EQUAL(words(data)[99], 10000);
}

TEST(commands, null_arguments_are_refused) {
  mtl_command_buffer *commands = (mtl_command_buffer *)1;
  CHECK_ERROR(mtl_command_buffer_create(NULL, NULL, &commands),
              MTL_INVALID_ARGUMENT, "queue");
  CHECK_ERROR(mtl_command_buffer_create(new_queue(), NULL, NULL),
              MTL_INVALID_ARGUMENT, "out_command_buffer");
  CHECK_ERROR(mtl_command_buffer_commit(NULL), MTL_INVALID_ARGUMENT,
              "command_buffer");
  CHECK_ERROR(mtl_command_buffer_wait(NULL), MTL_INVALID_ARGUMENT,
              "command_buffer");
  CHECK_ERROR(
      mtl_command_buffer_on_completed(new_commands(new_queue()), NULL, NULL),
      MTL_INVALID_ARGUMENT, "callback");
  mtl_command_buffer_release(NULL);
}

typedef struct direct {
  mtl_queue *queue;
  mtl_buffer *target;
  mtl_event *event;
  mtl_event *told;
  mtl_command_buffer *next;
  int *order;
  int place;
  mtl_status wait_status;
} direct;

static void note_direct(void *context, mtl_command_buffer *commands) {
  direct *note = context;
  note->place = ++*note->order;
  CHECK_EQUAL(mtl_command_buffer_get_status(commands),
              MTL_COMMAND_BUFFER_COMPLETED);
}

static void note_later(void *context, mtl_command_buffer *commands) {
  (void)commands;
  direct *note = context;
  note->place = ++*note->order;
}

// Direct callbacks run first, in whatever order they were added.
TEST(commands, direct_callbacks_come_before_the_others) {
  int order = 0;
  direct first = {.order = &order}, second = first, later = first;
  mtl_command_buffer *commands = new_commands(new_queue());
  CHECK_OK(mtl_command_buffer_on_completed(commands, note_later, &later));
  CHECK_OK(
      mtl_command_buffer_on_completed_directly(commands, note_direct, &first));
  CHECK_OK(
      mtl_command_buffer_on_completed_directly(commands, note_direct, &second));
  finish(commands);
  CHECK_EQUAL(first.place, 1);
  CHECK_EQUAL(second.place, 2);
  CHECK_EQUAL(later.place, 3);
  CHECK_ERROR(
      mtl_command_buffer_on_completed_directly(commands, note_direct, &first),
      MTL_INVALID_STATE, "committed already");
}

static void commit_more(void *context, mtl_command_buffer *commands) {
  direct *note = context;
  CHECK_EQUAL(mtl_command_buffer_get_status(commands),
              MTL_COMMAND_BUFFER_COMPLETED);
  // Waiting for the queue is refused there.
  mtl_command_buffer *next = NULL;
  CHECK_OK(mtl_command_buffer_create(note->queue, NULL, &next));
  mtl_command_buffer_signal_event(next, note->event, 2);
  CHECK_OK(mtl_command_buffer_commit(next));
  note->wait_status = mtl_command_buffer_wait(next);
  mtl_command_buffer_release(next);
  CHECK_OK(mtl_event_signal(note->told, 1));
}

TEST(commands, direct_callbacks_commit_and_signal) {
  direct note = {
      .queue = new_queue(), .event = new_event(), .told = new_event()};
  mtl_command_buffer *commands = NULL;
  CHECK_OK(mtl_command_buffer_create(note.queue, NULL, &commands));
  CHECK_OK(
      mtl_command_buffer_on_completed_directly(commands, commit_more, &note));
  CHECK_OK(mtl_command_buffer_commit(commands));
  mtl_command_buffer_release(commands);
  CHECK_OK(mtl_event_wait(note.event, 2, MTL_WAIT_FOREVER));
  CHECK_OK(mtl_event_wait(note.told, 1, MTL_WAIT_FOREVER));
  CHECK_EQUAL(note.wait_status, MTL_INVALID_STATE);
}

// Each callback commits the next command buffer; only the last is waited for.
static void commit_one_more(void *context, mtl_command_buffer *commands) {
  (void)commands;
  direct *note = context;
  uint64_t value = 0;
  CHECK_OK(mtl_event_value(note->event, &value));
  if (value == 500) {
    return;
  }
  mtl_command_buffer *next = NULL;
  CHECK_OK(mtl_command_buffer_create(note->queue, NULL, &next));
  mtl_command_buffer_signal_event(next, note->event, value + 1);
  CHECK_OK(
      mtl_command_buffer_on_completed_directly(next, commit_one_more, note));
  CHECK_OK(mtl_command_buffer_commit(next));
  mtl_command_buffer_release(next);
}

TEST(commands, direct_callbacks_form_chains) {
  direct note = {.queue = new_queue(), .event = new_event()};
  mtl_command_buffer *first = new_commands(note.queue);
  CHECK_OK(
      mtl_command_buffer_on_completed_directly(first, commit_one_more, &note));
  CHECK_OK(mtl_command_buffer_commit(first));
  CHECK_OK(mtl_event_wait(note.event, 500, MTL_WAIT_FOREVER));
  // The last callback has returned when its command buffer is done.
  mtl_command_buffer *last = new_commands(note.queue);
  finish(last);
}

static void note_status(void *context, mtl_command_buffer *commands) {
  direct *note = context;
  note->wait_status = mtl_command_buffer_error(commands, NULL);
}

TEST(commands, direct_callbacks_of_failed_ones_see_the_error) {
  direct note = {0};
  mtl_command_buffer *commands = new_commands(new_queue());
  CHECK_OK(
      mtl_command_buffer_on_completed_directly(commands, note_status, &note));
  mtl_blit_encoder *blit = new_blit(commands);
  mtl_blit_encoder_fill(blit, NULL, 0, 4, 0);
  CHECK_ERROR(mtl_blit_encoder_end(blit), MTL_INVALID_ARGUMENT, "NULL");
  CHECK_ERROR(mtl_command_buffer_commit(commands), MTL_INVALID_ARGUMENT,
              "NULL");
  CHECK_ERROR(mtl_command_buffer_wait(commands), MTL_INVALID_ARGUMENT, "NULL");
  CHECK_EQUAL(note.wait_status, MTL_INVALID_ARGUMENT);
}
