// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// dependencies.c: command buffers that depend on earlier ones of their queue:
// they run behind those that succeed, and not behind those that fail.
#include "conformance.h"

static void depend(mtl_command_buffer *dependent, mtl_command_buffer *earlier) {
  CHECK_OK(mtl_command_buffer_depend_on(dependent, earlier));
}

static void commit(mtl_command_buffer *commands) {
  CHECK_OK(mtl_command_buffer_commit(commands));
}

static mtl_command_buffer *adding_one(mtl_queue *queue, mtl_buffer *data) {
  mtl_command_buffer *commands = new_commands(queue);
  mtl_compute_encoder *encoder = new_encoder(commands);
  mtl_compute_encoder_set_pipeline(encoder,
                                   new_pipeline(simple_kernels, "add_one"));
  mtl_compute_encoder_set_buffer(encoder, data, 0, 0);
  mtl_compute_encoder_dispatch_threads(encoder, size_of(4, 1, 1),
                                       size_of(4, 1, 1));
  end(encoder);
  return commands;
}

static mtl_command_buffer *failing(mtl_queue *queue) {
  mtl_command_buffer *commands = new_commands(queue);
  encode(commands,
         new_pipeline("kernel void fault() { __builtin_trap(); }\n", "fault"),
         new_buffer(16), size_of(1, 1, 1), size_of(1, 1, 1));
  return commands;
}

static void check_did_not_run(mtl_command_buffer *commands) {
  CHECK_ERROR(mtl_command_buffer_wait(commands), MTL_CANCELLED,
              "depends on has failed");
  CHECK_EQUAL(mtl_command_buffer_get_status(commands),
              MTL_COMMAND_BUFFER_ERROR);
}

TEST(dependencies, what_succeeds_is_followed) {
  mtl_queue *queue = new_queue();
  mtl_buffer *data = new_buffer(16);
  mtl_command_buffer *previous = adding_one(queue, data);
  commit(previous);
  for (int i = 0; i < 20; i++) {
    mtl_command_buffer *next = adding_one(queue, data);
    depend(next, previous);
    commit(next);
    previous = next;
  }
  CHECK_OK(mtl_command_buffer_wait(previous));
  for (int i = 0; i < 4; i++) {
    CHECK_EQUAL(words(data)[i], 21);
  }
}

TEST(dependencies, nothing_runs_behind_a_fault) {
  mtl_queue *queue = new_queue();
  mtl_buffer *data = new_buffer(16);
  mtl_buffer *other = new_buffer(16);
  mtl_event *event = new_event();
  mtl_command_buffer *first = failing(queue);
  mtl_command_buffer *second = adding_one(queue, data);
  mtl_command_buffer *free_one = adding_one(queue, other);
  mtl_command_buffer *third = adding_one(queue, data);
  mtl_command_buffer_signal_event(third, event, 5);
  commit(first);
  depend(second, first);
  commit(second);
  commit(free_one);
  depend(third, second);
  commit(third);
  check_did_not_run(third);
  check_did_not_run(second);
  CHECK_ERROR(mtl_command_buffer_wait(first), MTL_KERNEL_FAULT, "fault");
  CHECK_OK(mtl_command_buffer_wait(free_one));
  CHECK_EQUAL(words(data)[0], 0);
  CHECK_EQUAL(words(other)[0], 1);
  CHECK_OK(mtl_event_wait(event, 5, LONG_NS));
}

TEST(dependencies, one_of_several_is_enough_to_fail) {
  mtl_queue *queue = new_queue();
  mtl_buffer *data = new_buffer(16);
  mtl_command_buffer *good = adding_one(queue, data);
  mtl_command_buffer *bad = failing(queue);
  mtl_command_buffer *both = adding_one(queue, data);
  commit(good);
  commit(bad);
  depend(both, good);
  depend(both, bad);
  commit(both);
  check_did_not_run(both);
  CHECK_OK(mtl_command_buffer_wait(good));
  CHECK_EQUAL(words(data)[0], 1);
}

TEST(dependencies, what_completed_long_ago_counts) {
  mtl_queue *queue = new_queue();
  mtl_buffer *data = new_buffer(16);
  mtl_command_buffer *good = adding_one(queue, data);
  mtl_command_buffer *bad = failing(queue);
  commit(good);
  commit(bad);
  CHECK_OK(mtl_command_buffer_wait(good));
  CHECK(mtl_command_buffer_wait(bad) != MTL_OK);
  mtl_command_buffer *behind_good = adding_one(queue, data);
  mtl_command_buffer *behind_bad = adding_one(queue, data);
  depend(behind_good, good);
  depend(behind_bad, bad);
  commit(behind_good);
  commit(behind_bad);
  check_did_not_run(behind_bad);
  CHECK_OK(mtl_command_buffer_wait(behind_good));
  CHECK_EQUAL(words(data)[0], 2);
}

TEST(dependencies, a_cancelled_one_has_failed) {
  mtl_queue *queue = new_queue();
  mtl_event *event = new_event();
  mtl_command_buffer *first = new_commands(queue);
  mtl_command_buffer_wait_event(first, event, 1);
  mtl_command_buffer *second = new_commands(queue);
  commit(first);
  depend(second, first);
  commit(second);
  CHECK_OK(mtl_command_buffer_cancel(first));
  check_did_not_run(second);
  CHECK_ERROR(mtl_command_buffer_wait(first), MTL_CANCELLED, "was cancelled");
}

TEST(dependencies, one_whose_recording_failed_has_failed) {
  mtl_queue *queue = new_queue();
  mtl_command_buffer *first = new_commands(queue);
  mtl_compute_encoder *encoder = new_encoder(first);
  mtl_compute_encoder_dispatch_threads(encoder, size_of(1, 1, 1),
                                       size_of(1, 1, 1));  // no pipeline
  (void)!mtl_compute_encoder_end(encoder);
  CHECK(mtl_command_buffer_commit(first) != MTL_OK);
  mtl_command_buffer *second = new_commands(queue);
  depend(second, first);
  commit(second);
  check_did_not_run(second);
}

TEST(dependencies, earlier_is_kept) {
  mtl_queue *queue = new_queue();
  mtl_event *event = new_event();
  mtl_command_buffer *first = NULL;
  CHECK_OK(mtl_command_buffer_create(queue, NULL, &first));
  mtl_command_buffer_wait_event(first, event, 1);
  commit(first);
  mtl_command_buffer *second = new_commands(queue);
  depend(second, first);
  mtl_command_buffer_release(first);
  CHECK_OK(mtl_event_signal(event, 1));
  commit(second);
  CHECK_OK(mtl_command_buffer_wait(second));
}

TEST(dependencies, errors_tell) {
  mtl_queue *queue = new_queue();
  mtl_command_buffer *open = new_commands(queue);
  mtl_command_buffer *dependent = new_commands(queue);
  mtl_command_buffer *elsewhere = new_commands(new_queue());
  commit(elsewhere);
  CHECK_ERROR(mtl_command_buffer_depend_on(dependent, NULL),
              MTL_INVALID_ARGUMENT, "NULL");
  CHECK_ERROR(mtl_command_buffer_depend_on(dependent, open),
              MTL_INVALID_ARGUMENT, "is not committed");
  CHECK_ERROR(mtl_command_buffer_depend_on(dependent, elsewhere),
              MTL_INVALID_ARGUMENT, "another queue");
  CHECK_ERROR(mtl_command_buffer_depend_on(NULL, elsewhere),
              MTL_INVALID_ARGUMENT, "NULL");
  commit(open);
  CHECK_OK(mtl_command_buffer_enqueue(dependent));
  CHECK_ERROR(mtl_command_buffer_depend_on(dependent, open), MTL_INVALID_STATE,
              "enqueued already");
  commit(dependent);
  CHECK_ERROR(mtl_command_buffer_depend_on(dependent, open), MTL_INVALID_STATE,
              "committed already");
}
