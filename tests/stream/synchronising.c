// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// synchronising.c: the five modes, the current stream, and errors that stay
// until somebody waits.
#include <pthread.h>
#include <string.h>

#include "stream/streams.h"

static mtl_stream_statistics statistics(mtl_stream *stream) {
  return mtl_stream_get_statistics(stream);
}

TEST(sync, none_commits_nothing) {
  mtl_stream *stream = new_stream();
  mtl_buffer *buffer = new_words(stream, 32);
  record(stream, new_kernel("add_one"), buffer, 32);
  CHECK_OK(mtl_stream_synchronize(stream, MTL_SYNC_NONE));
  CHECK_EQUAL(statistics(stream).commits, 0);
  CHECK_EQUAL(statistics(stream).pending_dispatches, 1);
  CHECK(!mtl_stream_is_empty(stream));
  CHECK_OK(mtl_stream_synchronize(stream, MTL_SYNC_COMMIT_AND_WAIT));
  CHECK_EQUAL(words_of(buffer)[31], 1);
}

TEST(sync, commit_leaves_a_fresh_command_buffer) {
  mtl_stream *stream = new_stream();
  mtl_buffer *buffer = new_words(stream, 32);
  mtl_kernel *add_one = new_kernel("add_one");
  record(stream, add_one, buffer, 32);
  CHECK_OK(mtl_stream_synchronize(stream, MTL_SYNC_COMMIT));
  CHECK_EQUAL(statistics(stream).commits, 1);
  CHECK_EQUAL(statistics(stream).pending_dispatches, 0);
  record(stream, add_one, buffer, 32);
  CHECK_OK(mtl_stream_synchronize(stream, MTL_SYNC_COMMIT_AND_WAIT));
  CHECK_EQUAL(statistics(stream).commits, 2);
  CHECK_EQUAL(words_of(buffer)[0], 2);
}

TEST(sync, a_wait_covers_every_batch_that_continued) {
  mtl_stream *stream = new_stream();
  mtl_buffer *buffer = new_words(stream, 64);
  mtl_kernel *slow = new_kernel("slow");
  mtl_kernel *add_one = new_kernel("add_one");
  mtl_buffer *counts = new_words(stream, 64);
  for (int i = 0; i < 20; ++i) {
    record(stream, i == 0 ? slow : add_one, i == 0 ? buffer : counts, 64);
    CHECK_OK(mtl_stream_synchronize(stream, MTL_SYNC_COMMIT_AND_CONTINUE));
  }
  CHECK_EQUAL(statistics(stream).commits, 20);
  CHECK_OK(mtl_stream_synchronize(stream, MTL_SYNC_COMMIT_AND_WAIT));
  CHECK_EQUAL(words_of(counts)[63], 19);
  CHECK(mtl_stream_is_idle(stream));
}

TEST(sync, continue_does_not_stall_behind_hundreds_of_batches) {
  mtl_stream *stream = new_stream();
  mtl_event *gate = NULL;
  CHECK_OK(mtl_event_create(mtl_stream_device(stream),
                            &(mtl_event_desc){.shared = true}, &gate));
  // The queue cannot go on before all batches are committed.
  mtl_command_buffer *blocker = NULL;
  CHECK_OK(mtl_command_buffer_create(mtl_stream_queue(stream), NULL, &blocker));
  mtl_command_buffer_wait_event(blocker, gate, 1);
  CHECK_OK(mtl_command_buffer_commit(blocker));
  mtl_buffer *buffer = new_words(stream, 8);
  mtl_kernel *add_one = new_kernel("add_one");
  for (int i = 0; i < 300; ++i) {
    record(stream, add_one, buffer, 8);
    CHECK_OK(mtl_stream_synchronize(stream, MTL_SYNC_COMMIT_AND_CONTINUE));
  }
  CHECK_EQUAL(statistics(stream).in_flight, 300);
  CHECK_OK(mtl_event_signal(gate, 1));
  CHECK_OK(mtl_stream_synchronize(stream, MTL_SYNC_COMMIT_AND_WAIT));
  CHECK_EQUAL(words_of(buffer)[7], 300);
  mtl_command_buffer_release(blocker);
  mtl_event_release(gate);
}

TEST(sync, adaptive_commits_to_an_idle_device_and_spares_a_busy_one) {
  mtl_stream *stream =
      new_stream_like((mtl_stream_desc){.flush_dispatches = 8});
  mtl_event *gate = NULL;
  CHECK_OK(mtl_event_create(mtl_stream_device(stream),
                            &(mtl_event_desc){.shared = true}, &gate));
  mtl_buffer *buffer = new_words(stream, 8);
  mtl_kernel *add_one = new_kernel("add_one");
  mtl_command_buffer *blocker = NULL;
  CHECK_OK(mtl_command_buffer_create(mtl_stream_queue(stream), NULL, &blocker));
  mtl_command_buffer_wait_event(blocker, gate, 1);
  CHECK_OK(mtl_command_buffer_commit(blocker));
  record(stream, add_one, buffer, 8);
  CHECK_OK(mtl_stream_synchronize(stream, MTL_SYNC_COMMIT_ADAPTIVE));
  CHECK_EQUAL(statistics(stream).commits, 0);  // not worth waking it
  record(stream, add_one, buffer, 8);
  CHECK_OK(mtl_stream_synchronize(stream, MTL_SYNC_COMMIT_ADAPTIVE));
  CHECK_EQUAL(statistics(stream).commits, 1);  // nothing was in flight
  for (int i = 0; i < 7; ++i) {
    record(stream, add_one, buffer, 8);
    CHECK_OK(mtl_stream_synchronize(stream, MTL_SYNC_COMMIT_ADAPTIVE));
  }
  CHECK_EQUAL(statistics(stream).commits, 1);  // busy, and little pending
  record(stream, add_one, buffer, 8);
  CHECK_OK(mtl_stream_synchronize(stream, MTL_SYNC_COMMIT_ADAPTIVE));
  CHECK_EQUAL(statistics(stream).commits, 2);  // 8 are pending
  CHECK_OK(mtl_event_signal(gate, 1));
  CHECK_OK(mtl_stream_synchronize(stream, MTL_SYNC_COMMIT_AND_WAIT));
  CHECK_EQUAL(words_of(buffer)[0], 10);
  mtl_command_buffer_release(blocker);
  mtl_event_release(gate);
}

TEST(sync, an_unknown_mode_is_refused) {
  CHECK_ERROR(mtl_stream_synchronize(new_stream(), (mtl_sync_mode)5),
              MTL_INVALID_ARGUMENT, "mode");
}

TEST(stream_errors, a_fault_is_returned_by_the_wait_and_then_cleared) {
  mtl_stream *stream = new_stream();
  mtl_buffer *buffer = new_words(stream, 32);
  mtl_kernel *add_one = new_kernel("add_one");
  record(stream, new_kernel("fault"), buffer, 1);
  CHECK_OK(mtl_stream_synchronize(stream, MTL_SYNC_COMMIT));
  record(stream, add_one, buffer, 32);
  CHECK_ERROR(mtl_stream_synchronize(stream, MTL_SYNC_COMMIT_AND_WAIT),
              MTL_KERNEL_FAULT, "fault");
  CHECK_EQUAL(words_of(buffer)[0], 1);  // the next batch ran
  CHECK_OK(mtl_stream_synchronize(stream, MTL_SYNC_COMMIT_AND_WAIT));
}

TEST(stream_errors, the_first_of_two_is_kept) {
  mtl_stream *stream = new_stream();
  CHECK_ERROR(mtl_stream_start_encoding(stream, NULL), MTL_INVALID_ARGUMENT,
              "kernel");
  CHECK_ERROR(mtl_stream_set_int64(stream, 0, 1), MTL_INVALID_STATE,
              "nothing is being encoded");
  CHECK_ERROR(mtl_stream_error(stream), MTL_INVALID_ARGUMENT, "kernel is NULL");
  CHECK_ERROR(mtl_stream_synchronize(stream, MTL_SYNC_COMMIT),
              MTL_INVALID_ARGUMENT, "kernel is NULL");
  CHECK_ERROR(mtl_stream_synchronize(stream, MTL_SYNC_COMMIT_AND_WAIT),
              MTL_INVALID_ARGUMENT, "kernel is NULL");
  CHECK_OK(mtl_stream_synchronize(stream, MTL_SYNC_COMMIT_AND_WAIT));
}

TEST(stream_errors, a_diagnostic_kept_by_a_layer_above_is_told_in_full) {
  mtl_stream *stream = new_stream();
  mtl_shader_library *library = NULL;
  const mtl_status status = mtl_shader_library_create(
      NULL, "kernel void broken(device float *x) { x[0] = nonsense; }",
      &library);
  CHECK_EQUAL(status, MTL_COMPILE_FAILED);
  CHECK(library == NULL);
  mtl_stream_fail(stream, status, NULL);
  CHECK_ERROR(mtl_stream_synchronize(stream, MTL_SYNC_COMMIT_AND_WAIT),
              MTL_COMPILE_FAILED, "nonsense");
}

TEST(stream_errors, a_dispatch_without_its_argument_fails_the_wait) {
  mtl_stream *stream = new_stream();
  mtl_buffer *buffer = new_words(stream, 8);
  record(stream, new_kernel("add_one"), buffer, 8);
  // The previous dispatch's argument is unbound.
  const uint64_t grid[] = {8};
  CHECK_OK(mtl_stream_start_encoding(stream, new_kernel("add_one")));
  CHECK_OK(mtl_stream_dispatch(stream, grid, 1, NULL));
  CHECK_ERROR(mtl_stream_synchronize(stream, MTL_SYNC_COMMIT_AND_WAIT),
              MTL_INVALID_ARGUMENT, "not bound");
}

static void *current_of_thread(void *context) {
  CHECK_OK(mtl_stream_current(context));
  return NULL;
}

TEST(current, each_thread_has_its_own_and_the_default_otherwise) {
  mtl_stream *by_default = NULL;
  CHECK_OK(mtl_stream_default(&by_default));
  mtl_stream *stream = new_stream();
  mtl_stream_set_current(stream);
  mtl_stream *here = NULL;
  CHECK_OK(mtl_stream_current(&here));
  CHECK(here == stream);
  mtl_stream *there = NULL;
  pthread_t thread;
  CHECK_EQUAL(pthread_create(&thread, NULL, current_of_thread, &there), 0);
  pthread_join(thread, NULL);
  CHECK(there == by_default);
  mtl_stream_set_current(NULL);
  CHECK_OK(mtl_stream_current(&here));
  CHECK(here == by_default);
}

typedef struct shared_stream {
  mtl_stream *stream;
  mtl_kernel *scale, *add_one;
  mtl_buffer *buffer;
} shared_stream;

static void *scale_and_add(void *context) {
  const shared_stream *shared = context;
  const uint64_t grid[] = {32};
  for (int i = 0; i < 100; ++i) {
    mtl_stream_lock(shared->stream);
    CHECK_OK(mtl_stream_start_encoding(shared->stream, shared->scale));
    CHECK_OK(mtl_stream_set_buffer(shared->stream, 0, shared->buffer, 0, 0));
    CHECK_OK(mtl_stream_set_int64(shared->stream, 1, 1));
    CHECK_OK(mtl_stream_dispatch(shared->stream, grid, 1, NULL));
    record(shared->stream, shared->add_one, shared->buffer, 32);
    mtl_stream_unlock(shared->stream);
  }
  CHECK_OK(mtl_stream_synchronize(shared->stream, MTL_SYNC_COMMIT_AND_WAIT));
  return NULL;
}

TEST(current, four_threads_share_a_locked_stream) {
  mtl_stream *stream = new_stream();
  shared_stream shared = {stream, new_kernel("scale"), new_kernel("add_one"),
                          new_words(stream, 32)};
  pthread_t threads[4];
  for (int i = 0; i < 4; ++i) {
    CHECK_EQUAL(pthread_create(&threads[i], NULL, scale_and_add, &shared), 0);
  }
  for (int i = 0; i < 4; ++i) {
    pthread_join(threads[i], NULL);
  }
  CHECK_EQUAL(words_of(shared.buffer)[31], 400);
}

TEST(stream_life, release_commits_what_is_pending) {
  mtl_stream *stream = NULL;
  CHECK_OK(mtl_stream_create(NULL, NULL, &stream));
  mtl_buffer *buffer = new_words(stream, 8);
  mtl_event *event = NULL;
  CHECK_OK(mtl_event_create(mtl_stream_device(stream),
                            &(mtl_event_desc){.shared = true}, &event));
  record(stream, new_kernel("add_one"), buffer, 8);
  mtl_queue *queue = mtl_queue_retain(mtl_stream_queue(stream));
  mtl_stream_release(stream);
  mtl_command_buffer *last = NULL;
  CHECK_OK(mtl_command_buffer_create(queue, NULL, &last));
  CHECK_OK(mtl_command_buffer_commit(last));
  CHECK_OK(mtl_command_buffer_wait(last));
  CHECK_EQUAL(words_of(buffer)[7], 1);
  mtl_command_buffer_release(last);
  mtl_queue_release(queue);
  mtl_event_release(event);
}
