// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// events.c: timelines between the host and queues.
#include "conformance.h"

#include <pthread.h>

static uint64_t value_of(mtl_event *event) {
  uint64_t value = UINT64_MAX;
  CHECK_OK(mtl_event_value(event, &value));
  return value;
}

// Commits work that waits for event to reach `from`, fills buffer with byte,
// and raises event to `to`; 0 leaves either out.
static mtl_command_buffer *commit_fill(mtl_queue *queue, mtl_event *event,
                                       uint64_t from, uint64_t to,
                                       mtl_buffer *buffer, uint8_t byte) {
  mtl_command_buffer *commands = new_commands(queue);
  if (from != 0) {
    mtl_command_buffer_wait_event(commands, event, from);
  }
  mtl_blit_encoder *blit = new_blit(commands);
  mtl_blit_encoder_fill(blit, buffer, 0, mtl_buffer_length(buffer), byte);
  end_blit(blit);
  if (to != 0) {
    mtl_command_buffer_signal_event(commands, event, to);
  }
  CHECK_OK(mtl_command_buffer_commit(commands));
  return commands;
}

TEST(events, start_at_zero_or_the_given_value) {
  CHECK_EQUAL(value_of(new_event()), 0);
  mtl_event *event = NULL;
  CHECK_OK(mtl_event_create(
      the_device(),
      &(mtl_event_desc){.shared = true, .initial_value = 1234567890123},
      &event));
  CHECK_EQUAL(value_of(event), 1234567890123);
  mtl_event_release(event);
}

TEST(events, host_signal_raises_and_never_lowers) {
  mtl_event *event = new_event();
  CHECK_OK(mtl_event_signal(event, 5));
  CHECK_EQUAL(value_of(event), 5);
  CHECK_OK(mtl_event_signal(event, 3));
  CHECK_EQUAL(value_of(event), 5);
  CHECK_OK(mtl_event_signal(event, UINT64_MAX));
  CHECK_EQUAL(value_of(event), UINT64_MAX);
}

TEST(events, host_wait_for_a_reached_value_returns_at_once) {
  mtl_event *event = new_event();
  CHECK_OK(mtl_event_wait(event, 0, 0));
  CHECK_OK(mtl_event_signal(event, 5));
  CHECK_OK(mtl_event_wait(event, 5, 0));
  CHECK_OK(mtl_event_wait(event, 4, MTL_WAIT_FOREVER));
}

TEST(events, timeout_zero_only_asks) {
  CHECK_ERROR(mtl_event_wait(new_event(), 1, 0), MTL_TIMED_OUT, "1");
}

TEST(events, timeout_tells_both_values_and_takes_its_time) {
  mtl_event *event = new_event();
  CHECK_OK(mtl_event_signal(event, 17));
  const uint64_t start = now_ns();
  CHECK_ERROR(mtl_event_wait(event, 4321, 20 * 1000 * 1000), MTL_TIMED_OUT,
              "4321");
  CHECK(now_ns() - start >= 20 * 1000 * 1000);
  CHECK_CONTAINS(mtl_last_error(), "17");
}

TEST(events, device_signal_wakes_the_host) {
  mtl_event *event = new_event();
  mtl_buffer *buffer = new_buffer(64);
  commit_fill(new_queue(), event, 0, 8, buffer, 1);
  CHECK_OK(mtl_event_wait(event, 8, LONG_NS));
  CHECK_EQUAL(value_of(event), 8);
}

TEST(events, device_waits_for_the_host) {
  mtl_event *event = new_event();
  mtl_buffer *buffer = new_buffer(64);
  mtl_command_buffer *commands =
      commit_fill(new_queue(), event, 3, 4, buffer, 1);
  CHECK_OK(mtl_event_signal(event, 2));
  CHECK_ERROR(mtl_command_buffer_wait_timeout(commands, 10 * 1000 * 1000),
              MTL_TIMED_OUT, "");
  CHECK(mtl_command_buffer_get_status(commands) < MTL_COMMAND_BUFFER_COMPLETED);
  CHECK_OK(mtl_event_signal(event, 3));
  CHECK_OK(mtl_command_buffer_wait(commands));
  CHECK_EQUAL(value_of(event), 4);
}

TEST(events, wait_recorded_before_any_signal_exists) {
  mtl_event *event = new_event();
  mtl_buffer *buffer = new_buffer(4);
  mtl_command_buffer *waiting =
      commit_fill(new_queue(), event, 1, 2, buffer, 0xBB);
  mtl_command_buffer *signalling =
      commit_fill(new_queue(), event, 0, 1, buffer, 0xAA);
  CHECK_OK(mtl_command_buffer_wait(waiting));
  CHECK_OK(mtl_command_buffer_wait(signalling));
  CHECK_EQUAL(value_of(event), 2);
  CHECK_EQUAL(words(buffer)[0], 0xBBBBBBBB);
}

TEST(events, wait_is_for_at_least_the_value) {
  mtl_event *event = new_event();
  mtl_buffer *buffer = new_buffer(4);
  mtl_command_buffer *commands =
      commit_fill(new_queue(), event, 5, 0, buffer, 1);
  CHECK_OK(mtl_event_signal(event, 1000));
  CHECK_OK(mtl_command_buffer_wait(commands));
}

TEST(events, waiting_queue_does_not_hold_up_another) {
  mtl_event *event = new_event();
  mtl_buffer *buffer = new_buffer(4);
  mtl_command_buffer *waiting =
      commit_fill(new_queue(), event, 1, 0, buffer, 1);
  for (int i = 0; i < 100; i++) {
    CHECK_OK(mtl_command_buffer_wait(
        commit_fill(new_queue(), event, 0, 0, new_buffer(4), 2)));
  }
  CHECK(mtl_command_buffer_get_status(waiting) < MTL_COMMAND_BUFFER_COMPLETED);
  CHECK_OK(mtl_event_signal(event, 1));
  CHECK_OK(mtl_command_buffer_wait(waiting));
}

// More queues wait than there are workers; the one that frees them comes last.
TEST(events, many_waiting_queues_leave_workers_free) {
  enum { QUEUES = 40 };
  mtl_event *event = new_event();
  mtl_buffer *buffers[QUEUES];
  mtl_command_buffer *waiting[QUEUES];
  for (uint64_t i = 0; i < QUEUES; i++) {
    buffers[i] = new_buffer(4);
    waiting[i] =
        commit_fill(new_queue(), event, i + 1, i + 2, buffers[i], (uint8_t)i);
  }
  commit_fill(new_queue(), event, 0, 1, new_buffer(4), 1);
  for (uint64_t i = 0; i < QUEUES; i++) {
    CHECK_OK(mtl_command_buffer_wait(waiting[i]));
    CHECK_EQUAL(words(buffers[i])[0], i * 0x01010101);
  }
  CHECK_EQUAL(value_of(event), QUEUES + 1);
}

TEST(events, queue_keeps_its_order_behind_a_wait) {
  mtl_event *event = new_event();
  mtl_buffer *buffer = new_buffer(4);
  mtl_queue *queue = new_queue();
  commit_fill(queue, event, 1, 0, buffer, 0x11);
  mtl_command_buffer *last = commit_fill(queue, event, 0, 0, buffer, 0x22);
  CHECK_ERROR(mtl_command_buffer_wait_timeout(last, 5 * 1000 * 1000),
              MTL_TIMED_OUT, "");
  CHECK_EQUAL(words(buffer)[0], 0);
  CHECK_OK(mtl_event_signal(event, 1));
  CHECK_OK(mtl_command_buffer_wait(last));
  CHECK_EQUAL(words(buffer)[0], 0x22222222);
}

TEST(events, ping_pong_between_two_queues) {
  enum { ROUNDS = 200 };
  mtl_event *event = new_event();
  mtl_queue *ping = new_queue(), *pong = new_queue();
  mtl_buffer *data = new_buffer(4);
  mtl_pipeline *pipeline = new_pipeline(simple_kernels, "add_one");
  mtl_command_buffer *last = NULL;
  for (uint64_t i = 0; i < ROUNDS; i++) {
    last = new_commands(i % 2 ? pong : ping);
    mtl_command_buffer_wait_event(last, event, i);
    mtl_compute_encoder *encoder = new_encoder(last);
    mtl_compute_encoder_set_pipeline(encoder, pipeline);
    mtl_compute_encoder_set_buffer(encoder, data, 0, 0);
    mtl_compute_encoder_dispatch_threads(encoder, size_of(1, 1, 1),
                                         size_of(1, 1, 1));
    end(encoder);
    mtl_command_buffer_signal_event(last, event, i + 1);
    CHECK_OK(mtl_command_buffer_commit(last));
    // Stay under the 64 that a queue holds.
    if (i >= 60) {
      CHECK_OK(mtl_event_wait(event, i - 50, LONG_NS));
    }
  }
  CHECK_OK(mtl_command_buffer_wait(last));
  CHECK_EQUAL(value_of(event), ROUNDS);
  CHECK_EQUAL(words(data)[0], ROUNDS);
}

// Waits and signals between encoders order their sides of one command buffer.
TEST(events, waits_and_signals_inside_one_command_buffer) {
  mtl_event *event = new_event();
  mtl_buffer *buffer = new_buffer(4);
  mtl_command_buffer *commands = new_commands(new_queue());
  for (uint64_t i = 0; i < 3; i++) {
    mtl_blit_encoder *blit = new_blit(commands);
    mtl_blit_encoder_fill(blit, buffer, 0, 4, (uint8_t)(i + 1));
    end_blit(blit);
    mtl_command_buffer_signal_event(commands, event, 2 * i + 1);
    mtl_command_buffer_wait_event(commands, event, 2 * i + 2);
  }
  CHECK_OK(mtl_command_buffer_commit(commands));
  for (uint64_t i = 0; i < 3; i++) {
    CHECK_OK(mtl_event_wait(event, 2 * i + 1, LONG_NS));
    CHECK_EQUAL(value_of(event), 2 * i + 1);
    CHECK_EQUAL(words(buffer)[0], (i + 1) * 0x01010101);
    CHECK_OK(mtl_event_signal(event, 2 * i + 2));
  }
  CHECK_OK(mtl_command_buffer_wait(commands));
}

TEST(events, command_buffer_of_nothing_but_a_signal) {
  mtl_event *event = new_event();
  mtl_command_buffer *commands = new_commands(new_queue());
  mtl_command_buffer_signal_event(commands, event, 9);
  finish(commands);
  CHECK_EQUAL(value_of(event), 9);
}

TEST(events, plain_events_order_queues) {
  mtl_event *event = NULL;
  CHECK_OK(mtl_event_create(the_device(), NULL, &event));
  release_event_later(event);
  mtl_buffer *buffer = new_buffer(4);
  mtl_command_buffer *second =
      commit_fill(new_queue(), event, 1, 0, buffer, 0x22);
  commit_fill(new_queue(), event, 0, 1, buffer, 0x11);
  CHECK_OK(mtl_command_buffer_wait(second));
  CHECK_EQUAL(words(buffer)[0], 0x22222222);
}

TEST(events, plain_events_are_closed_to_the_host) {
  mtl_event *event = NULL;
  CHECK_OK(mtl_event_create(the_device(), NULL, &event));
  release_event_later(event);
  uint64_t value;
  CHECK_ERROR(mtl_event_value(event, &value), MTL_INVALID_ARGUMENT, "shared");
  CHECK_ERROR(mtl_event_signal(event, 1), MTL_INVALID_ARGUMENT, "shared");
  CHECK_ERROR(mtl_event_wait(event, 1, 0), MTL_INVALID_ARGUMENT, "shared");
}

typedef struct listener {
  pthread_mutex_t lock;
  pthread_cond_t called;
  int calls;
  uint64_t value;
  mtl_event *event;
  pthread_t thread;
} listener;

static listener new_listener(void) {
  return (listener){PTHREAD_MUTEX_INITIALIZER,
                    PTHREAD_COND_INITIALIZER,
                    0,
                    0,
                    NULL,
                    pthread_self()};
}

static void note_value(void *context, mtl_event *event, uint64_t value) {
  listener *note = context;
  pthread_mutex_lock(&note->lock);
  note->calls++;
  note->value = value;
  note->event = event;
  note->thread = pthread_self();
  pthread_cond_broadcast(&note->called);
  pthread_mutex_unlock(&note->lock);
}

static void await_call(listener *note) {
  pthread_mutex_lock(&note->lock);
  while (note->calls == 0) {
    pthread_cond_wait(&note->called, &note->lock);
  }
  pthread_mutex_unlock(&note->lock);
}

TEST(events, listener_is_called_when_the_host_signals) {
  mtl_event *event = new_event();
  listener note = new_listener();
  CHECK_OK(mtl_event_notify(event, 5, note_value, &note));
  CHECK_OK(mtl_event_signal(event, 4));
  CHECK_OK(mtl_event_signal(event, 7));
  await_call(&note);
  CHECK_EQUAL(note.value, 7);
  CHECK(note.event == event);
  CHECK(!pthread_equal(note.thread, pthread_self()));
}

TEST(events, listener_is_called_when_a_queue_signals) {
  mtl_event *event = new_event();
  listener note = new_listener();
  CHECK_OK(mtl_event_notify(event, 2, note_value, &note));
  commit_fill(new_queue(), event, 0, 2, new_buffer(4), 1);
  await_call(&note);
  CHECK_EQUAL(note.value, 2);
}

TEST(events, listener_of_a_reached_value_is_called_at_once) {
  mtl_event *event = new_event();
  CHECK_OK(mtl_event_signal(event, 9));
  listener note = new_listener();
  CHECK_OK(mtl_event_notify(event, 3, note_value, &note));
  await_call(&note);
  CHECK_EQUAL(note.value, 9);
}

TEST(events, listeners_are_each_called_once) {
  enum { COUNT = 10 };
  mtl_event *event = new_event();
  static listener notes[COUNT];
  for (uint64_t i = 0; i < COUNT; i++) {
    notes[i] = new_listener();
    CHECK_OK(mtl_event_notify(event, i + 1, note_value, &notes[i]));
  }
  for (uint64_t i = 0; i < COUNT; i++) {
    CHECK_OK(mtl_event_signal(event, i + 1));
  }
  for (int i = 0; i < COUNT; i++) {
    await_call(&notes[i]);
    CHECK_EQUAL(notes[i].calls, 1);
  }
}

// The callback may use the event: it holds no lock of Mettle's.
static void signal_next(void *context, mtl_event *event, uint64_t value) {
  (void)context;
  CHECK_OK(mtl_event_signal(event, value + 1));
}

TEST(events, listener_may_signal_its_own_event) {
  mtl_event *event = new_event();
  CHECK_OK(mtl_event_notify(event, 1, signal_next, NULL));
  CHECK_OK(mtl_event_signal(event, 1));
  CHECK_OK(mtl_event_wait(event, 2, LONG_NS));
}

TEST(events, listener_that_is_never_called_is_freed) {
  mtl_event *event = NULL;
  CHECK_OK(mtl_event_create(the_device(), &(mtl_event_desc){.shared = true},
                            &event));
  listener note = new_listener();
  CHECK_OK(mtl_event_notify(event, 5, note_value, &note));
  mtl_event_release(event);
  CHECK_EQUAL(note.calls, 0);
}

static void *signal_slowly(void *context) {
  for (uint64_t value = 1; value <= 100; value++) {
    CHECK_OK(mtl_event_signal(context, value));
  }
  return NULL;
}

TEST(events, several_threads_wait_for_one_event) {
  mtl_event *event = new_event();
  pthread_t thread;
  CHECK_EQUAL(pthread_create(&thread, NULL, signal_slowly, event), 0);
  for (uint64_t value = 1; value <= 100; value += 9) {
    CHECK_OK(mtl_event_wait(event, value, LONG_NS));
    CHECK(value_of(event) >= value);
  }
  pthread_join(thread, NULL);
}

TEST(events, failed_work_signals_all_the_same) {
  mtl_event *event = new_event();
  mtl_command_buffer *commands = new_commands(new_queue());
  mtl_compute_encoder *encoder = new_encoder(commands);
  mtl_compute_encoder_set_pipeline(
      encoder,
      new_pipeline("kernel void fault() { __builtin_trap(); }\n", "fault"));
  mtl_compute_encoder_dispatch_threads(encoder, size_of(1, 1, 1),
                                       size_of(1, 1, 1));
  end(encoder);
  mtl_command_buffer_signal_event(commands, event, 1);
  CHECK_OK(mtl_command_buffer_commit(commands));
  CHECK_OK(mtl_event_wait(event, 1, LONG_NS));
  CHECK_EQUAL(mtl_command_buffer_wait(commands), MTL_KERNEL_FAULT);
}

TEST(events, null_arguments_are_refused) {
  uint64_t value;
  CHECK_ERROR(mtl_event_value(NULL, &value), MTL_INVALID_ARGUMENT, "event");
  CHECK_ERROR(mtl_event_signal(NULL, 1), MTL_INVALID_ARGUMENT, "event");
  CHECK_ERROR(mtl_event_wait(NULL, 1, 0), MTL_INVALID_ARGUMENT, "event");
  CHECK_ERROR(mtl_event_notify(new_event(), 1, NULL, NULL),
              MTL_INVALID_ARGUMENT, "callback");
  mtl_event_release(NULL);
  mtl_fence_release(NULL);
}
