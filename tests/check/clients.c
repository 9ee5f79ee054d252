// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// clients.c: programs that use the checker from C: dispatches of an encoder and
// of some queues, with what orders them and without it, buffers that are
// reached by addresses, and the error of a command buffer.
#include "client.h"

static void run_concurrent(bool with_barrier) {
  open_all();
  mtl_buffer *x = buffer_of(BYTES), *y = buffer_of(BYTES);
  mtl_command_buffer *commands = commands_of(0);
  mtl_compute_encoder *encoder;
  CHECK_OK(
      mtl_compute_encoder_create(commands, MTL_DISPATCH_CONCURRENT, &encoder));
  dispatch(encoder, "put", x, NULL);
  if (with_barrier) {
    mtl_compute_encoder_memory_barrier(encoder, MTL_BARRIER_BUFFERS);
  }
  dispatch(encoder, "get", x, y);
  CHECK_OK(mtl_compute_encoder_end(encoder));
  CHECK_OK(mtl_command_buffer_commit(commands));
  if (with_barrier) {
    CHECK_OK(mtl_command_buffer_wait(commands));
  } else {
    CHECK_ERROR(mtl_command_buffer_wait(commands), MTL_KERNEL_FAULT,
                "race.dispatch");
  }
}

TEST(dispatches, without_a_barrier_race) {
  run_concurrent(false);
  CHECK(is_found("race.dispatch", "put", "get"));
}

TEST(dispatches, with_a_barrier_do_not) {
  run_concurrent(true);
  CHECK_EQUAL(count_findings(), 0);
}

// Both are committed before either has begun: work that is complete by a commit
// counts as ordered before it.
static void run_queues(void) {
  open_all();
  mtl_buffer *x = buffer_of(BYTES), *y = buffer_of(BYTES);
  mtl_event *start = event_of(true);
  mtl_command_buffer *first = commands_of(0), *second = commands_of(1);
  mtl_command_buffer_wait_event(first, start, 1);
  encode(first, "put", x, NULL);
  mtl_command_buffer_wait_event(second, start, 1);
  encode(second, "get", x, y);
  CHECK_OK(mtl_command_buffer_commit(second));
  CHECK_OK(mtl_command_buffer_commit(first));
  CHECK_OK(mtl_event_signal(start, 1));
  // Either may have come first.
  const mtl_status one = mtl_command_buffer_wait(first);
  const mtl_status other = mtl_command_buffer_wait(second);
  CHECK(one != MTL_OK || other != MTL_OK);
}

TEST(queues, without_an_event_race) {
  run_queues();
  CHECK(is_found("race.dispatch", "put", "get") ||
        is_found("race.dispatch", "get", "put"));
}

static void run_with_event(bool waiting_is_first) {
  open_all();
  mtl_buffer *x = buffer_of(BYTES), *y = buffer_of(BYTES);
  mtl_event *event = event_of(false);
  mtl_command_buffer *put = commands_of(0), *get = commands_of(1);
  encode(put, "put", x, NULL);
  mtl_command_buffer_signal_event(put, event, 1);
  mtl_command_buffer_wait_event(get, event, 1);
  encode(get, "get", x, y);
  CHECK_OK(mtl_command_buffer_commit(waiting_is_first ? get : put));
  CHECK_OK(mtl_command_buffer_commit(waiting_is_first ? put : get));
  wait_for_clean(put);
  wait_for_clean(get);
  CHECK_EQUAL(count_findings(), 0);
  const int32_t *values = mtl_buffer_contents(y);
  CHECK_EQUAL(values[0], 63);
}

TEST(queues, with_an_event_do_not_race) {
  run_with_event(false);
}

TEST(queues, with_an_event_may_wait_before_the_signal_is_committed) {
  run_with_event(true);
}

// The wait begins before any work of the process was checked.
TEST(queues, may_wait_before_the_first_checked_pipeline) {
  open_all();
  mtl_buffer *x = buffer_of(BYTES), *y = buffer_of(BYTES);
  mtl_event *event = event_of(false);
  mtl_command_buffer *wait = commands_of(1);
  mtl_command_buffer_wait_event(wait, event, 1);
  CHECK_OK(mtl_command_buffer_commit(wait));
  mtl_command_buffer *put = commands_of(0), *get = commands_of(1);
  encode(get, "get", x, y);
  CHECK_OK(mtl_command_buffer_commit(get));
  encode(put, "put", x, NULL);
  mtl_command_buffer_signal_event(put, event, 1);
  CHECK_OK(mtl_command_buffer_commit(put));
  wait_for_clean(put);
  wait_for_clean(get);
}

// Two queues read, and a third writes behind one of them: a race with the read
// of the other.
static void run_behind_one(const char *waited, const char *other) {
  open_all();
  mtl_buffer *x = buffer_of(BYTES);
  mtl_event *event = event_of(false), *start = event_of(true);
  mtl_command_buffer *commands[] = {commands_of(0), commands_of(1),
                                    commands_of(2)};
  mtl_command_buffer_wait_event(commands[0], start, 1);
  encode(commands[0], waited, x, buffer_of(BYTES));
  mtl_command_buffer_signal_event(commands[0], event, 1);
  mtl_command_buffer_wait_event(commands[1], start, 1);
  encode(commands[1], other, x, buffer_of(BYTES));
  mtl_command_buffer_wait_event(commands[2], event, 1);
  encode(commands[2], "put", x, NULL);
  for (int i = 0; i < 3; ++i) {
    CHECK_OK(mtl_command_buffer_commit(commands[i]));
  }
  CHECK_OK(mtl_event_signal(start, 1));
  for (int i = 0; i < 3; ++i) {
    (void)!mtl_command_buffer_wait(commands[i]);
  }
  CHECK(is_found("race.dispatch", other, "put") ||
        is_found("race.dispatch", "put", other));
}

static void look_at_line(void *context, const mtl_check_finding *finding) {
  const mtl_check_place *read =
      strcmp(finding->first.kernel, "put") ? &finding->first : &finding->second;
  const char *name = context;
  CHECK_TEXT(read->variable, "x");
  CHECK(strcmp(name, read->kernel) == 0);
  CHECK(strcmp(name, "get") ? read->line == 10 || read->line == 11
                            : read->line == 7);
}

TEST(queues, behind_one_of_two_readers_race_with_the_other) {
  run_behind_one("pairs", "pairs");
}

TEST(queues, race_with_the_other_readers_line) {
  run_behind_one("pairs", "get");
  CHECK_OK(mtl_check_report(look_at_line, "get"));
}

// The queue between them dispatches nothing.
TEST(queues, hand_on_what_they_wait_for) {
  open_all();
  mtl_buffer *x = buffer_of(BYTES), *y = buffer_of(BYTES);
  mtl_event *first = event_of(false), *second = event_of(false);
  mtl_command_buffer *put = commands_of(0), *get = commands_of(1),
                     *between = commands_of(2);
  encode(put, "put", x, NULL);
  mtl_command_buffer_signal_event(put, first, 7);
  mtl_command_buffer_wait_event(between, first, 7);
  mtl_command_buffer_signal_event(between, second, 3);
  mtl_command_buffer_wait_event(get, second, 2);
  encode(get, "get", x, y);
  CHECK_OK(mtl_command_buffer_commit(get));
  CHECK_OK(mtl_command_buffer_commit(between));
  CHECK_OK(mtl_command_buffer_commit(put));
  wait_for_clean(put);
  wait_for_clean(get);
}

// Work that the host has waited for is ordered before the host's signal.
TEST(queues, are_ordered_by_a_signal_of_the_host) {
  open_all();
  mtl_buffer *x = buffer_of(BYTES), *y = buffer_of(BYTES);
  mtl_event *event = event_of(true);
  mtl_command_buffer *put = commands_of(0), *get = commands_of(1);
  mtl_command_buffer_wait_event(get, event, 1);
  encode(get, "get", x, y);
  CHECK_OK(mtl_command_buffer_commit(get));
  encode(put, "put", x, NULL);
  CHECK_OK(mtl_command_buffer_commit(put));
  wait_for_clean(put);
  CHECK_OK(mtl_event_signal(event, 1));
  wait_for_clean(get);
}

// So is work before an event that the host has waited for.
TEST(queues, are_ordered_by_a_wait_of_the_host) {
  open_all();
  mtl_buffer *x = buffer_of(BYTES), *y = buffer_of(BYTES);
  mtl_event *event = event_of(true), *never = event_of(true);
  mtl_command_buffer *put = commands_of(0), *get = commands_of(1);
  encode(put, "put", x, NULL);
  mtl_command_buffer_signal_event(put, event, 1);
  mtl_command_buffer_wait_event(put, never, 1);
  encode(get, "get", x, y);
  CHECK_OK(mtl_command_buffer_commit(put));
  CHECK_OK(mtl_event_wait(event, 1, MTL_WAIT_FOREVER));
  CHECK_OK(mtl_command_buffer_commit(get));
  wait_for_clean(get);
  CHECK_OK(mtl_event_signal(never, 1));
  wait_for_clean(put);
}

// The value that is waited for comes before the write; one behind it is no
// order, though it may have come by the time of the read.
TEST(queues, race_with_what_comes_behind_the_signal) {
  open_all();
  mtl_buffer *x = buffer_of(BYTES), *y = buffer_of(BYTES);
  mtl_event *event = event_of(false);
  mtl_command_buffer *put = commands_of(0), *get = commands_of(1);
  mtl_command_buffer_signal_event(put, event, 1);
  encode(put, "put", x, NULL);
  mtl_command_buffer_signal_event(put, event, 2);
  mtl_command_buffer_wait_event(get, event, 1);
  encode(get, "get", x, y);
  CHECK_OK(mtl_command_buffer_commit(get));
  CHECK_OK(mtl_command_buffer_commit(put));
  const mtl_status one = mtl_command_buffer_wait(put);
  const mtl_status other = mtl_command_buffer_wait(get);
  CHECK(one != MTL_OK || other != MTL_OK);
  CHECK(is_found("race.dispatch", "put", "get") ||
        is_found("race.dispatch", "get", "put"));
}

// used: the buffer passed to use_buffer, or NULL.
static mtl_status run_follow(uint64_t address, mtl_buffer *used) {
  mtl_buffer *list = buffer_of(sizeof address);
  memcpy(mtl_buffer_contents(list), &address, sizeof address);
  mtl_command_buffer *commands = commands_of(0);
  mtl_compute_encoder *encoder;
  CHECK_OK(mtl_compute_encoder_create(commands, MTL_DISPATCH_SERIAL, &encoder));
  if (used) {
    mtl_compute_encoder_use_buffer(encoder, used, MTL_USAGE_WRITE);
  }
  dispatch(encoder, "follow", list, NULL);
  CHECK_OK(mtl_compute_encoder_end(encoder));
  CHECK_OK(mtl_command_buffer_commit(commands));
  return mtl_command_buffer_wait(commands);
}

TEST(addresses, of_a_short_buffer_are_out_of_bounds) {
  open_all();
  mtl_buffer *buffer = buffer_of(BYTES - 4);
  CHECK_ERROR(run_follow(mtl_buffer_gpu_address(buffer), buffer),
              MTL_KERNEL_FAULT, "bounds.device");
}

TEST(addresses, of_nothing_are_out_of_bounds) {
  open_all();
  CHECK_ERROR(run_follow(0, NULL), MTL_KERNEL_FAULT, "bounds.device");
  CHECK(is_found("bounds.device", "follow", ""));
}

static mtl_status run_with_set(bool is_of_queue) {
  mtl_buffer *buffer = buffer_of(BYTES);
  mtl_residency_set *set;
  CHECK_OK(mtl_residency_set_create(device, NULL, &set));
  const mtl_allocation allocation = {.buffer = buffer};
  CHECK_OK(mtl_residency_set_add(set, &allocation, 1));
  CHECK_OK(mtl_residency_set_commit(set));
  if (is_of_queue) {
    CHECK_OK(mtl_queue_add_residency_sets(queues[0], &set, 1));
  }
  return run_follow(mtl_buffer_gpu_address(buffer), NULL);
}

TEST(addresses, of_what_is_not_resident_are_found) {
  open_all();
  mtl_buffer *buffer = buffer_of(BYTES);
  CHECK_ERROR(run_follow(mtl_buffer_gpu_address(buffer), NULL),
              MTL_KERNEL_FAULT, "bounds.residency");
  CHECK_ERROR(run_follow(mtl_buffer_gpu_address(buffer), buffer_of(BYTES)),
              MTL_KERNEL_FAULT, "bounds.residency");
  CHECK_OK(run_follow(mtl_buffer_gpu_address(buffer), buffer));
}

TEST(addresses, of_a_set_of_the_queue_are_resident) {
  open_all();
  CHECK_OK(run_with_set(true));
  CHECK_ERROR(run_with_set(false), MTL_KERNEL_FAULT, "bounds.residency");
}

// Made before the first checked pipeline, and bound to nothing.
TEST(addresses, of_buffers_made_before_are_known) {
  open_all();
  mtl_buffer *plain = buffer_of(BYTES);
  CHECK_OK(run_follow(mtl_buffer_gpu_address(plain), plain));
  CHECK_EQUAL(count_findings(), 0);
  const int32_t *values = mtl_buffer_contents(plain);
  CHECK_EQUAL(values[63], 63);
}

TEST(addresses, of_the_memory_of_hosts_are_known) {
  open_all();
  const size_t page = 65536;
  int32_t *memory = aligned_alloc(page, page);
  mtl_buffer *buffer;
  CHECK_OK(mtl_buffer_create(device,
                             &(mtl_buffer_desc){.length_bytes = page,
                                                .no_copy_bytes = memory},
                             &buffer));
  CHECK_OK(run_follow(mtl_buffer_gpu_address(buffer), buffer));
  CHECK_EQUAL(count_findings(), 0);
  CHECK_EQUAL(memory[63], 63);
  // No buffer is left.
  const uint64_t address = mtl_buffer_gpu_address(buffer);
  mtl_buffer_release(buffer);
  CHECK_ERROR(run_follow(address, NULL), MTL_KERNEL_FAULT, "bounds.device");
  free(memory);
}

TEST(addresses, of_parts_of_a_heap_are_known) {
  open_all();
  mtl_heap *heap;
  mtl_buffer *first, *second;
  CHECK_OK(mtl_heap_create(
      device, &(mtl_heap_desc){.length_bytes = 65536}, &heap));
  const mtl_buffer_desc desc = {.length_bytes = BYTES};
  CHECK_OK(mtl_heap_create_buffer(heap, &desc, 0, &first));
  CHECK_OK(mtl_heap_create_buffer(heap, &desc, 0, &second));
  CHECK_OK(run_follow(mtl_buffer_gpu_address(second), second));
  CHECK_EQUAL(count_findings(), 0);
  const int32_t *values = mtl_buffer_contents(second);
  CHECK_EQUAL(values[63], 63);
}

// Buffers over one piece of the program's memory, as arrays and their slices.
static mtl_buffer *slice_of(int32_t *memory, size_t first, size_t count) {
  mtl_buffer *buffer;
  CHECK_OK(mtl_buffer_create(
      device,
      &(mtl_buffer_desc){.length_bytes = 4 * count,
                         .no_copy_bytes = memory + first,
                         .hazard_tracking = MTL_HAZARD_UNTRACKED},
      &buffer));
  return buffer;
}

static void put_all(mtl_buffer *buffer, uint32_t threads) {
  mtl_command_buffer *commands = commands_of(0);
  mtl_compute_encoder *encoder;
  CHECK_OK(mtl_compute_encoder_create(commands, MTL_DISPATCH_SERIAL, &encoder));
  mtl_compute_encoder_set_pipeline(encoder,
                                   pipeline_of("put", MTL_CHECK_DEFAULT));
  mtl_compute_encoder_set_buffer(encoder, buffer, 0, 0);
  mtl_compute_encoder_dispatch_threads(encoder, (mtl_size){threads, 1, 1},
                                       (mtl_size){256, 1, 1});
  CHECK_OK(mtl_compute_encoder_end(encoder));
  CHECK_OK(mtl_command_buffer_commit(commands));
  wait_for_clean(commands);
}

enum { MANY = 1 << 18 };

TEST(slices, of_one_memory_are_checked_as_one) {
  open_all();
  int32_t *memory = aligned_alloc(65536, 4 * MANY);
  mtl_buffer *part = slice_of(memory, 0, 64);
  put_all(part, 64);
  mtl_buffer *whole = slice_of(memory, 0, MANY);
  put_all(whole, MANY);
  put_all(slice_of(memory, 64, 64), 64);
  put_all(whole, MANY);
  CHECK_EQUAL(memory[MANY - 1], MANY - 1);
  // Behind a slice's end, but inside the whole.
  CHECK_OK(run_follow(mtl_buffer_gpu_address(whole) + 400, whole));
  CHECK_EQUAL(memory[100 + 63], 63);
  mtl_buffer_release(part);
  put_all(whole, MANY);
  CHECK_EQUAL(count_findings(), 0);
}

TEST(slices, that_overlap_race) {
  open_all();
  int32_t *memory = aligned_alloc(65536, 65536);
  mtl_buffer *x = slice_of(memory, 0, 96), *y = slice_of(memory, 32, 96);
  mtl_command_buffer *commands = commands_of(0);
  mtl_compute_encoder *encoder;
  CHECK_OK(
      mtl_compute_encoder_create(commands, MTL_DISPATCH_CONCURRENT, &encoder));
  dispatch(encoder, "put", x, NULL);
  dispatch(encoder, "put", y, NULL);
  CHECK_OK(mtl_compute_encoder_end(encoder));
  CHECK_OK(mtl_command_buffer_commit(commands));
  CHECK_ERROR(mtl_command_buffer_wait(commands), MTL_KERNEL_FAULT,
              "race.dispatch");
}

TEST(pipelines, without_checks_have_no_findings) {
  open_all();
  mtl_pipeline *pipeline = pipeline_of("put", 0);
  mtl_command_buffer *commands = commands_of(0);
  mtl_compute_encoder *encoder;
  CHECK_OK(mtl_compute_encoder_create(commands, MTL_DISPATCH_SERIAL, &encoder));
  mtl_compute_encoder_set_pipeline(encoder, pipeline);
  mtl_compute_encoder_set_buffer(encoder, buffer_of(BYTES), 0, 0);
  mtl_compute_encoder_dispatch_threads(encoder, (mtl_size){THREADS, 1, 1},
                                       (mtl_size){32, 1, 1});
  CHECK_OK(mtl_compute_encoder_end(encoder));
  CHECK_OK(mtl_command_buffer_commit(commands));
  CHECK_OK(mtl_command_buffer_wait(commands));
  uint64_t dispatches = 1;
  mtl_check_counts(NULL, NULL, &dispatches, NULL);
  CHECK_EQUAL(dispatches, 0);
}
