// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// counters.c: samples of the device's clock, and the times of encoders and
// commands.
#include "conformance.h"

#include <stdlib.h>

static void release_samples(void *samples) {
  mtl_counter_sample_buffer_release(samples);
}

static mtl_counter_sample_buffer *new_samples(uint32_t count,
                                              mtl_storage_mode mode) {
  mtl_counter_sample_buffer *samples = NULL;
  CHECK_OK(mtl_counter_sample_buffer_create(
      the_device(),
      &(mtl_counter_sample_buffer_desc){
          .sample_count = count, .storage_mode = mode, .label = "samples"},
      &samples));
  test_defer(release_samples, samples);
  return samples;
}

static uint64_t sample_at(mtl_counter_sample_buffer *samples, uint32_t index) {
  uint64_t ticks = 0;
  CHECK_OK(mtl_counter_sample_buffer_resolve(samples, index, 1, &ticks));
  return ticks;
}

static uint64_t device_now(void) {
  uint64_t host_ns = 0, ticks = 0;
  CHECK_OK(mtl_device_sample_timestamps(the_device(), &host_ns, &ticks));
  return ticks;
}

static void encode_one(mtl_compute_encoder *encoder, mtl_buffer *data) {
  mtl_compute_encoder_set_pipeline(encoder,
                                   new_pipeline(simple_kernels, "add_one"));
  mtl_compute_encoder_set_buffer(encoder, data, 0, 0);
  mtl_compute_encoder_dispatch_threads(encoder, size_of(64, 1, 1),
                                       size_of(32, 1, 1));
}

// Two readings a millisecond apart agree with the frequency, to 1 in 100.
TEST(counters, clocks_are_related) {
  uint64_t host_ns[2], ticks[2];
  CHECK_OK(mtl_device_sample_timestamps(the_device(), &host_ns[0], &ticks[0]));
  CHECK(host_ns[0] <= now_ns());
  do {
    CHECK_OK(
        mtl_device_sample_timestamps(the_device(), &host_ns[1], &ticks[1]));
  } while (host_ns[1] - host_ns[0] < 1000000);
  const double told_s = (double)(host_ns[1] - host_ns[0]) / 1e9;
  const double seen_s = (double)(ticks[1] - ticks[0]) /
                        (double)the_info()->timestamp_frequency_hz;
  CHECK(seen_s > told_s * 0.99 && seen_s < told_s * 1.01);
}

TEST(counters, samples_at_the_ends_of_encoders) {
  mtl_counter_sample_buffer *samples = new_samples(4, MTL_STORAGE_SHARED);
  const uint64_t before = device_now();
  mtl_command_buffer *commands = new_commands(new_queue());
  mtl_compute_encoder *compute = NULL;
  CHECK_OK(mtl_compute_encoder_create_with(
      commands, &(mtl_encoder_desc){.samples = {{samples, 2, 0}}}, &compute));
  encode_one(compute, new_buffer(256));
  end(compute);
  mtl_compute_encoder_release(compute);
  mtl_blit_encoder *blit = NULL;
  CHECK_OK(mtl_blit_encoder_create_with(
      commands,
      &(mtl_encoder_desc){.samples = {{samples, 3, MTL_DONT_SAMPLE},
                                      {samples, MTL_DONT_SAMPLE, 1}}},
      &blit));
  mtl_blit_encoder_fill(blit, new_buffer(1 << 20), 0, 1 << 20, 7);
  end_blit(blit);
  mtl_blit_encoder_release(blit);
  finish(commands);
  uint64_t ticks[4];
  CHECK_OK(mtl_counter_sample_buffer_resolve(samples, 0, 4, ticks));
  CHECK(before <= ticks[2]);
  CHECK(ticks[2] <= ticks[0]);
  CHECK(ticks[0] <= ticks[3]);
  CHECK(ticks[3] <= ticks[1]);
  CHECK(ticks[1] <= device_now());
}

TEST(counters, samples_inside_encoders) {
  mtl_counter_sample_buffer *samples = new_samples(4, MTL_STORAGE_SHARED);
  mtl_command_buffer *commands = new_commands(new_queue());
  mtl_buffer *data = new_buffer(256);
  const uint64_t before = device_now();
  mtl_compute_encoder *compute = new_concurrent_encoder(commands);
  mtl_compute_encoder_sample_counters(compute, samples, 0, true);
  encode_one(compute, data);
  mtl_compute_encoder_sample_counters(compute, samples, 1, false);
  encode_one(compute, data);
  mtl_compute_encoder_sample_counters(compute, samples, 2, true);
  end(compute);
  mtl_blit_encoder *blit = new_blit(commands);
  mtl_blit_encoder_sample_counters(blit, samples, 3, true);
  end_blit(blit);
  finish(commands);
  CHECK(before <= sample_at(samples, 0));
  CHECK(sample_at(samples, 0) <= sample_at(samples, 1));
  CHECK(sample_at(samples, 1) <= sample_at(samples, 2));
  CHECK(sample_at(samples, 2) <= sample_at(samples, 3));
  CHECK(sample_at(samples, 3) <= device_now());
}

// The time between two samples is at most the time that the host sees.
TEST(counters, samples_enclose_the_work) {
  enum { BYTES = 64 << 20 };
  mtl_counter_sample_buffer *samples = new_samples(2, MTL_STORAGE_SHARED);
  mtl_buffer *target = new_buffer_like((mtl_buffer_desc){
      .length_bytes = BYTES, .storage_mode = MTL_STORAGE_PRIVATE});
  mtl_command_buffer *commands = NULL;
  CHECK_OK(mtl_command_buffer_create(
      new_queue(), &(mtl_command_buffer_desc){.times_work = true}, &commands));
  release_commands_later(commands);
  mtl_blit_encoder *blit = new_blit(commands);
  mtl_blit_encoder_sample_counters(blit, samples, 0, true);
  mtl_blit_encoder_fill(blit, target, 0, BYTES, 1);
  mtl_blit_encoder_sample_counters(blit, samples, 1, true);
  end_blit(blit);
  finish(commands);
  size_t count = 0;
  const mtl_work_time *times = mtl_command_buffer_work_times(commands, &count);
  CHECK_EQUAL(count, 2);
  const double fill_s = (double)(times[1].end_ns - times[1].start_ns) / 1e9;
  const double samples_s =
      (double)(sample_at(samples, 1) - sample_at(samples, 0)) /
      (double)the_info()->timestamp_frequency_hz;
  // One tick of tolerance at each end.
  CHECK(samples_s >= fill_s - 2.0 / (double)the_info()->timestamp_frequency_hz);
}

TEST(counters, private_samples_are_resolved_by_blits) {
  mtl_counter_sample_buffer *samples = new_samples(3, MTL_STORAGE_PRIVATE);
  mtl_buffer *target = new_buffer(32);
  const uint64_t before = device_now();
  mtl_command_buffer *commands = new_commands(new_queue());
  mtl_blit_encoder *blit = new_blit(commands);
  mtl_blit_encoder_sample_counters(blit, samples, 1, true);
  mtl_blit_encoder_resolve_counters(blit, samples, 1, 2, target, 8);
  end_blit(blit);
  finish(commands);
  const uint64_t *ticks = mtl_buffer_contents(target);
  CHECK_EQUAL(ticks[0], 0);
  CHECK(before <= ticks[1] && ticks[1] <= device_now());
  CHECK_EQUAL(ticks[2], UINT64_MAX);  // MTLCounterErrorValue
  CHECK_EQUAL(ticks[3], 0);
  uint64_t out = 0;
  CHECK_ERROR(mtl_counter_sample_buffer_resolve(samples, 0, 1, &out),
              MTL_INVALID_ARGUMENT, "private");
}

TEST(counters, samples_that_were_not_taken_are_told) {
  mtl_counter_sample_buffer *samples = new_samples(2, MTL_STORAGE_SHARED);
  CHECK_EQUAL(sample_at(samples, 1), UINT64_MAX);
  // A list that could not be recorded runs nothing.
  mtl_command_buffer *commands = new_commands(new_queue());
  mtl_blit_encoder *blit = new_blit(commands);
  mtl_blit_encoder_sample_counters(blit, samples, 0, true);
  mtl_blit_encoder_sample_counters(blit, samples, 2, true);
  CHECK_ERROR(mtl_blit_encoder_end(blit), MTL_INVALID_ARGUMENT,
              "sample 2 is not among the 2 of 'samples'");
  CHECK_ERROR(mtl_command_buffer_commit(commands), MTL_INVALID_ARGUMENT,
              "sample 2");
  CHECK_ERROR(mtl_command_buffer_wait(commands), MTL_INVALID_ARGUMENT,
              "sample 2");
  CHECK_EQUAL(sample_at(samples, 0), UINT64_MAX);
}

TEST(counters, sample_buffers_may_be_released_early) {
  mtl_counter_sample_buffer *samples = NULL;
  CHECK_OK(mtl_counter_sample_buffer_create(
      the_device(), &(mtl_counter_sample_buffer_desc){.sample_count = 2},
      &samples));
  CHECK_EQUAL(mtl_counter_sample_buffer_count(samples), 2);
  CHECK_TEXT(mtl_counter_sample_buffer_label(samples), "");
  mtl_command_buffer *commands = new_commands(new_queue());
  mtl_compute_encoder *compute = NULL;
  CHECK_OK(mtl_compute_encoder_create_with(
      commands, &(mtl_encoder_desc){.samples = {{samples, 0, 1}}}, &compute));
  mtl_counter_sample_buffer_release(samples);
  encode_one(compute, new_buffer(256));
  mtl_compute_encoder_release(compute);  // which ends it
  finish(commands);
}

TEST(counters, wrong_uses_are_told) {
  mtl_counter_sample_buffer *samples = (mtl_counter_sample_buffer *)1;
  mtl_counter_sample_buffer_desc desc = {0};
  CHECK_ERROR(mtl_counter_sample_buffer_create(the_device(), &desc, &samples),
              MTL_INVALID_ARGUMENT, "0 samples are not within 1 to 4096");
  CHECK(samples == NULL);
  desc.sample_count = 4097;
  CHECK_ERROR(mtl_counter_sample_buffer_create(the_device(), &desc, &samples),
              MTL_INVALID_ARGUMENT, "4097");
  desc = (mtl_counter_sample_buffer_desc){.sample_count = 1,
                                          .storage_mode = MTL_STORAGE_MANAGED};
  CHECK_ERROR(mtl_counter_sample_buffer_create(the_device(), &desc, &samples),
              MTL_INVALID_ARGUMENT, "storage mode 1");
  samples = new_samples(2, MTL_STORAGE_SHARED);
  uint64_t out[3];
  CHECK_ERROR(mtl_counter_sample_buffer_resolve(samples, 1, 2, out),
              MTL_INVALID_ARGUMENT, "2 samples from 1");
  CHECK_ERROR(mtl_counter_sample_buffer_resolve(samples, UINT32_MAX, 2, out),
              MTL_INVALID_ARGUMENT, "not among the 2");
  CHECK_OK(mtl_counter_sample_buffer_resolve(samples, 2, 0, NULL));
  CHECK_ERROR(mtl_device_sample_timestamps(the_device(), NULL, out),
              MTL_INVALID_ARGUMENT, "out_host_ns");
  mtl_command_buffer *commands = new_commands(new_queue());
  mtl_compute_encoder *compute = (mtl_compute_encoder *)1;
  CHECK_ERROR(mtl_compute_encoder_create_with(
                  commands, &(mtl_encoder_desc){.samples = {{samples, 0, 2}}},
                  &compute),
              MTL_INVALID_ARGUMENT, "sample 2");
  CHECK(compute == NULL);
  // The failed call has left no encoder open.
  mtl_blit_encoder *blit = new_blit(commands);
  mtl_blit_encoder_resolve_counters(blit, samples, 0, 2, new_buffer(32), 4);
  CHECK_ERROR(mtl_blit_encoder_end(blit), MTL_INVALID_ARGUMENT,
              "multiple of 8");
}

static mtl_command_buffer *new_timed_commands(void) {
  mtl_command_buffer *commands = NULL;
  CHECK_OK(mtl_command_buffer_create(
      new_queue(), &(mtl_command_buffer_desc){.times_work = true}, &commands));
  release_commands_later(commands);
  return commands;
}

static void check_time(const mtl_work_time *time, mtl_work_kind kind,
                       uint32_t encoder, const char *name, const char *group) {
  CHECK_EQUAL(time->kind, kind);
  CHECK_EQUAL(time->encoder, encoder);
  CHECK_TEXT(time->name, name);
  CHECK_TEXT(time->debug_group, group);
}

TEST(counters, every_piece_of_work_has_its_times) {
  mtl_command_buffer *commands = new_timed_commands();
  mtl_buffer *data = new_buffer(256);
  const uint64_t before_ns = now_ns();
  mtl_compute_encoder *compute = new_encoder(commands);
  encode_one(compute, data);
  mtl_compute_encoder_push_debug_group(compute, "outer");
  mtl_compute_encoder_push_debug_group(compute, "inner");
  encode_one(compute, data);
  end(compute);
  mtl_blit_encoder *blit = new_blit(commands);
  mtl_blit_encoder_fill(blit, data, 0, 4, 0);
  mtl_blit_encoder_update(blit, data, 4, "abcd", 4);
  mtl_blit_encoder_copy(blit, data, 0, data, 8, 4);
  end_blit(blit);
  end_blit(new_blit(commands));
  CHECK(mtl_command_buffer_work_times(commands, NULL) == NULL);
  finish(commands);
  size_t count = 0;
  const mtl_work_time *times = mtl_command_buffer_work_times(commands, &count);
  CHECK_EQUAL(count, 8);
  check_time(&times[0], MTL_WORK_COMPUTE_ENCODER, 0, "", "");
  check_time(&times[1], MTL_WORK_DISPATCH, 0, "add_one", "");
  check_time(&times[2], MTL_WORK_DISPATCH, 0, "add_one", "outer/inner");
  check_time(&times[3], MTL_WORK_BLIT_ENCODER, 1, "", "");
  check_time(&times[4], MTL_WORK_FILL, 1, "", "");
  check_time(&times[5], MTL_WORK_FILL, 1, "", "");
  check_time(&times[6], MTL_WORK_COPY, 1, "", "");
  check_time(&times[7], MTL_WORK_BLIT_ENCODER, 2, "", "");
  static const size_t order[] = {1, 2, 4, 5, 6};
  uint64_t earlier_ns = before_ns;
  for (size_t i = 0; i < COUNT_OF(order); i++) {
    CHECK(earlier_ns <= times[order[i]].start_ns);
    CHECK(times[order[i]].start_ns <= times[order[i]].end_ns);
    earlier_ns = times[order[i]].end_ns;
  }
  CHECK(earlier_ns <= now_ns());
  CHECK_EQUAL(times[0].start_ns, times[1].start_ns);
  CHECK_EQUAL(times[0].end_ns, times[2].end_ns);
  CHECK_EQUAL(times[3].start_ns, times[4].start_ns);
  CHECK_EQUAL(times[3].end_ns, times[6].end_ns);
  CHECK_EQUAL(times[7].start_ns, 0);
  CHECK_EQUAL(times[7].end_ns, 0);
  const mtl_command_buffer_times whole = mtl_command_buffer_get_times(commands);
  CHECK(whole.device_start_ns <= times[1].start_ns);
  CHECK(times[6].end_ns <= whole.device_end_ns);
}

// Large enough for several threads.
TEST(counters, dispatches_that_are_shared_end_with_their_last_thread) {
  enum { COUNT = 8 << 20, DISPATCHES = 4 };
  mtl_pipeline *pipeline = new_pipeline(simple_kernels, "add_one");
  mtl_buffer *data[DISPATCHES];
  mtl_command_buffer *commands = new_timed_commands();
  mtl_compute_encoder *compute = new_concurrent_encoder(commands);
  mtl_compute_encoder_set_pipeline(compute, pipeline);
  for (int i = 0; i < DISPATCHES; i++) {
    data[i] = new_buffer(COUNT * sizeof(uint32_t));
    mtl_compute_encoder_set_buffer(compute, data[i], 0, 0);
    mtl_compute_encoder_dispatch_threads(compute, size_of(COUNT, 1, 1),
                                         size_of(256, 1, 1));
  }
  end(compute);
  finish(commands);
  size_t count = 0;
  const mtl_work_time *times = mtl_command_buffer_work_times(commands, &count);
  CHECK_EQUAL(count, 1 + DISPATCHES);
  const mtl_command_buffer_times whole = mtl_command_buffer_get_times(commands);
  for (size_t i = 1; i < count; i++) {
    CHECK(whole.device_start_ns <= times[i].start_ns);
    CHECK(times[i].start_ns < times[i].end_ns);
    CHECK(times[i].end_ns <= whole.device_end_ns);
    CHECK_EQUAL(words(data[i - 1])[COUNT - 1], 1);
  }
}

TEST(counters, times_are_kept_only_if_asked_for) {
  mtl_command_buffer *commands = new_commands(new_queue());
  encode(commands, new_pipeline(simple_kernels, "add_one"), new_buffer(256),
         size_of(64, 1, 1), size_of(32, 1, 1));
  finish(commands);
  size_t count = 1;
  CHECK(mtl_command_buffer_work_times(commands, &count) == NULL);
  CHECK_EQUAL(count, 0);
  mtl_queue *queue = NULL;
  CHECK_OK(mtl_queue_create(the_device(), &(mtl_queue_desc){.times_work = true},
                            &queue));
  release_queue_later(queue);
  commands = new_commands(queue);
  encode(commands, new_pipeline(simple_kernels, "add_one"), new_buffer(256),
         size_of(64, 1, 1), size_of(32, 1, 1));
  finish(commands);
  const mtl_work_time *times = mtl_command_buffer_work_times(commands, &count);
  CHECK_EQUAL(count, 2);
  CHECK_TEXT(times[1].name, "add_one");
  CHECK(times[1].start_ns != 0);
}

TEST(counters, work_that_did_not_run_has_no_times) {
  mtl_command_buffer *commands = new_timed_commands();
  mtl_blit_encoder *blit = new_blit(commands);
  mtl_blit_encoder_fill(blit, new_buffer(8), 0, 8, 1);
  end_blit(blit);
  CHECK_OK(mtl_command_buffer_cancel(commands));
  CHECK_OK(mtl_command_buffer_commit(commands));
  CHECK_ERROR(mtl_command_buffer_wait(commands), MTL_CANCELLED, "");
  size_t count = 0;
  const mtl_work_time *times = mtl_command_buffer_work_times(commands, &count);
  CHECK_EQUAL(count, 2);
  CHECK_EQUAL(times[0].end_ns, 0);
  CHECK_EQUAL(times[1].start_ns, 0);
  CHECK_EQUAL(times[1].end_ns, 0);
}

static void nothing(const void *arguments, void *const *addresses,
                    void *scratch, uint64_t first, uint64_t end) {
  (void)arguments;
  (void)addresses;
  (void)scratch;
  (void)first;
  (void)end;
}

TEST(counters, host_work_has_its_times) {
  mtl_command_buffer *commands = new_timed_commands();
  mtl_command_buffer_host_work(
      commands,
      &(mtl_host_work){.name = "sort", .function = nothing, .piece_count = 3});
  finish(commands);
  size_t count = 0;
  const mtl_work_time *times = mtl_command_buffer_work_times(commands, &count);
  CHECK_EQUAL(count, 1);
  check_time(&times[0], MTL_WORK_HOST_WORK, UINT32_MAX, "sort", "");
  CHECK(times[0].start_ns != 0 && times[0].start_ns <= times[0].end_ns);
}

// Twice, since an execution's prepared memory is used again.
TEST(counters, executions_of_indirect_commands_have_their_times) {
  enum { COUNT = 1 << 20 };
  mtl_indirect_command_buffer *indirect = NULL;
  CHECK_OK(mtl_indirect_command_buffer_create(
      the_device(),
      &(mtl_indirect_command_buffer_desc){.max_commands = 2, .max_buffers = 1},
      &indirect));
  mtl_pipeline *pipeline = new_pipeline(simple_kernels, "add_one");
  mtl_buffer *data = new_buffer(COUNT * sizeof(uint32_t));
  for (uint32_t i = 0; i < 2; i++) {
    CHECK_OK(mtl_indirect_command_buffer_set_pipeline(indirect, i, pipeline));
    CHECK_OK(mtl_indirect_command_buffer_set_buffer(indirect, i, data, 0, 0));
    CHECK_OK(mtl_indirect_command_buffer_dispatch_threads(
        indirect, i, size_of(COUNT, 1, 1), size_of(256, 1, 1)));
  }
  for (int round = 0; round < 2; round++) {
    mtl_command_buffer *commands = new_timed_commands();
    mtl_compute_encoder *compute = new_encoder(commands);
    mtl_compute_encoder_use_buffer(compute, data,
                                   MTL_USAGE_READ | MTL_USAGE_WRITE);
    mtl_compute_encoder_execute_commands(compute, indirect, 0, 2);
    end(compute);
    finish(commands);
    size_t count = 0;
    const mtl_work_time *times =
        mtl_command_buffer_work_times(commands, &count);
    CHECK_EQUAL(count, 2);
    check_time(&times[1], MTL_WORK_EXECUTE, 0, "", "");
    const mtl_command_buffer_times whole =
        mtl_command_buffer_get_times(commands);
    CHECK(whole.device_start_ns <= times[1].start_ns);
    CHECK(times[1].start_ns < times[1].end_ns);
    CHECK(times[1].end_ns <= whole.device_end_ns);
  }
  CHECK_EQUAL(words(data)[COUNT - 1], 4);
  mtl_indirect_command_buffer_release(indirect);
}
