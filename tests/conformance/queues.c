// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// queues.c: order, room, labels, and several at once.
#include "conformance.h"

#include <pthread.h>
#include <stdatomic.h>

TEST(queues, labels_and_devices_are_kept) {
  mtl_queue *queue = NULL;
  CHECK_OK(mtl_queue_create(the_device(), &(mtl_queue_desc){.label = "main"},
                            &queue));
  CHECK_TEXT(mtl_queue_label(queue), "main");
  mtl_queue_set_label(queue, "other");
  CHECK_TEXT(mtl_queue_label(queue), "other");
  mtl_queue_set_label(queue, NULL);
  CHECK_TEXT(mtl_queue_label(queue), "");
  CHECK(mtl_queue_device(queue) == the_device());
  mtl_queue_release(queue);
}

TEST(queues, null_arguments_are_refused) {
  mtl_queue *queue = (mtl_queue *)1;
  CHECK_ERROR(mtl_queue_create(NULL, NULL, &queue), MTL_INVALID_ARGUMENT,
              "device");
  CHECK_ERROR(mtl_queue_create(the_device(), NULL, NULL), MTL_INVALID_ARGUMENT,
              "out_queue");
  mtl_queue_release(NULL);
}

typedef struct maker {
  mtl_queue *queue;
  atomic_int made;
  pthread_mutex_t lock;
  pthread_cond_t progress;
} maker;

static void *make_three(void *context) {
  maker *it = context;
  for (int i = 0; i < 3; i++) {
    mtl_command_buffer *commands = NULL;
    CHECK_OK(mtl_command_buffer_create(it->queue, NULL, &commands));
    pthread_mutex_lock(&it->lock);
    atomic_fetch_add(&it->made, 1);
    pthread_cond_signal(&it->progress);
    pthread_mutex_unlock(&it->lock);
    CHECK_OK(mtl_command_buffer_commit(commands));
    mtl_command_buffer_release(commands);
  }
  return NULL;
}

// With room for two, the third creation waits until one has completed.
TEST(queues, full_queue_makes_creation_wait) {
  maker it = {.lock = PTHREAD_MUTEX_INITIALIZER,
              .progress = PTHREAD_COND_INITIALIZER};
  CHECK_OK(mtl_queue_create(
      the_device(), &(mtl_queue_desc){.max_command_buffers = 2}, &it.queue));
  release_queue_later(it.queue);
  mtl_event *event = new_event();
  mtl_command_buffer *first = new_commands(it.queue);
  mtl_command_buffer_wait_event(first, event, 1);
  CHECK_OK(mtl_command_buffer_commit(first));
  pthread_t thread;
  CHECK_EQUAL(pthread_create(&thread, NULL, make_three, &it), 0);
  pthread_mutex_lock(&it.lock);
  while (atomic_load(&it.made) < 1) {
    pthread_cond_wait(&it.progress, &it.lock);
  }
  pthread_mutex_unlock(&it.lock);
  // One waits for the event and one behind it: the queue is full. That the
  // next creation has not returned cannot be seen without waiting for what
  // must not happen, so give it a while through a wait that must time out.
  CHECK_EQUAL(mtl_event_wait(event, 1, 20 * 1000 * 1000), MTL_TIMED_OUT);
  CHECK_EQUAL(atomic_load(&it.made), 1);
  CHECK_OK(mtl_event_signal(event, 1));
  pthread_join(thread, NULL);
  CHECK_EQUAL(atomic_load(&it.made), 3);
}

// Uncommitted ones that are released give their room back.
TEST(queues, discarded_command_buffers_give_their_room_back) {
  mtl_queue *queue = NULL;
  CHECK_OK(mtl_queue_create(
      the_device(), &(mtl_queue_desc){.max_command_buffers = 1}, &queue));
  release_queue_later(queue);
  for (int i = 0; i < 10; i++) {
    mtl_command_buffer *commands = NULL;
    CHECK_OK(mtl_command_buffer_create(queue, NULL, &commands));
    mtl_command_buffer_release(commands);
  }
}

TEST(queues, thousands_of_command_buffers_pass_through) {
  mtl_queue *queue = new_queue();
  mtl_buffer *data = new_buffer(4);
  mtl_pipeline *pipeline = new_pipeline(simple_kernels, "add_one");
  mtl_command_buffer *last = NULL;
  for (int i = 0; i < 3000; i++) {
    mtl_command_buffer_release(last);
    CHECK_OK(mtl_command_buffer_create(queue, NULL, &last));
    mtl_compute_encoder *encoder = NULL;
    CHECK_OK(mtl_compute_encoder_create(last, MTL_DISPATCH_SERIAL, &encoder));
    mtl_compute_encoder_set_pipeline(encoder, pipeline);
    mtl_compute_encoder_set_buffer(encoder, data, 0, 0);
    mtl_compute_encoder_dispatch_threads(encoder, size_of(1, 1, 1),
                                         size_of(1, 1, 1));
    mtl_compute_encoder_release(encoder);
    CHECK_OK(mtl_command_buffer_commit(last));
  }
  CHECK_OK(mtl_command_buffer_wait(last));
  mtl_command_buffer_release(last);
  CHECK_EQUAL(words(data)[0], 3000);
}

// Each queue's work waits for the other's, so neither can finish alone.
TEST(queues, run_side_by_side) {
  mtl_event *event = new_event();
  mtl_command_buffer *left = new_commands(new_queue());
  mtl_command_buffer *right = new_commands(new_queue());
  mtl_command_buffer_signal_event(left, event, 1);
  mtl_command_buffer_wait_event(left, event, 2);
  mtl_command_buffer_wait_event(right, event, 1);
  mtl_command_buffer_signal_event(right, event, 2);
  CHECK_OK(mtl_command_buffer_commit(left));
  CHECK_OK(mtl_command_buffer_commit(right));
  CHECK_OK(mtl_command_buffer_wait(left));
  CHECK_OK(mtl_command_buffer_wait(right));
}

// Behind an event that nobody has signalled, more than any limit of Metal's.
TEST(queues, unlimited_queue_makes_nobody_wait) {
  enum { COUNT = 5000 };
  mtl_queue *queue = NULL;
  CHECK_OK(mtl_queue_create(
      the_device(),
      &(mtl_queue_desc){.max_command_buffers = MTL_UNLIMITED_COMMAND_BUFFERS},
      &queue));
  release_queue_later(queue);
  mtl_event *gate = new_event(), *count = new_event();
  mtl_command_buffer *first = new_commands(queue);
  mtl_command_buffer_wait_event(first, gate, 1);
  CHECK_OK(mtl_command_buffer_commit(first));
  for (uint64_t i = 1; i <= COUNT; i++) {
    mtl_command_buffer *commands = NULL;
    CHECK_OK(mtl_command_buffer_create(queue, NULL, &commands));
    mtl_command_buffer_signal_event(commands, count, i);
    CHECK_OK(mtl_command_buffer_commit(commands));
    mtl_command_buffer_release(commands);
  }
  uint64_t value = 1;
  CHECK_OK(mtl_event_value(count, &value));
  CHECK_EQUAL(value, 0);
  CHECK_OK(mtl_event_signal(gate, 1));
  CHECK_OK(mtl_event_wait(count, COUNT, LONG_NS));
}
