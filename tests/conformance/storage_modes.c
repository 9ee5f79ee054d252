// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// storage_modes.c: what the host and the device see of each other's writes.
#include "conformance.h"

static mtl_buffer *new_buffer_in(mtl_storage_mode mode, const void *bytes,
                                 size_t length_bytes) {
  return new_buffer_like((mtl_buffer_desc){
      .length_bytes = length_bytes, .storage_mode = mode, .bytes = bytes});
}

static void add_one(mtl_buffer *buffer, uint32_t count) {
  RUN(new_pipeline(simple_kernels, "add_one"), size_of(count, 1, 1),
      size_of(32, 1, 1), buffer);
}

TEST(storage_modes, shared_writes_of_the_host_reach_the_device) {
  mtl_buffer *buffer = new_buffer(16);
  words(buffer)[0] = 10;
  add_one(buffer, 4);
  CHECK_EQUAL(words(buffer)[0], 11);
  words(buffer)[0] = 20;
  add_one(buffer, 4);
  CHECK_EQUAL(words(buffer)[0], 21);
  CHECK_EQUAL(words(buffer)[3], 2);
}

TEST(storage_modes, managed_initial_bytes_reach_the_device) {
  const uint32_t bytes[4] = {5, 6, 7, 8};
  mtl_buffer *buffer = new_buffer_in(MTL_STORAGE_MANAGED, bytes, sizeof bytes);
  mtl_command_buffer *commands = new_commands(new_queue());
  mtl_compute_encoder *encoder = new_encoder(commands);
  mtl_compute_encoder_set_pipeline(encoder,
                                   new_pipeline(simple_kernels, "add_one"));
  mtl_compute_encoder_set_buffer(encoder, buffer, 0, 0);
  mtl_compute_encoder_dispatch_threads(encoder, size_of(4, 1, 1),
                                       size_of(4, 1, 1));
  end(encoder);
  mtl_blit_encoder *blit = new_blit(commands);
  mtl_blit_encoder_synchronize(blit, buffer);
  end_blit(blit);
  finish(commands);
  CHECK_EQUAL(words(buffer)[0], 6);
  CHECK_EQUAL(words(buffer)[3], 9);
}

TEST(storage_modes, managed_modified_range_reaches_the_device) {
  mtl_buffer *buffer = new_buffer_in(MTL_STORAGE_MANAGED, NULL, 64);
  mtl_buffer *copy = new_buffer(64);
  words(buffer)[2] = 22;
  words(buffer)[15] = 99;
  CHECK_OK(mtl_buffer_did_modify_range(buffer, 8, 4));
  CHECK_OK(mtl_buffer_did_modify_range(buffer, 60, 4));
  mtl_command_buffer *commands = new_commands(new_queue());
  mtl_blit_encoder *blit = new_blit(commands);
  mtl_blit_encoder_copy(blit, buffer, 0, copy, 0, 64);
  end_blit(blit);
  finish(commands);
  CHECK_EQUAL(words(copy)[2], 22);
  CHECK_EQUAL(words(copy)[15], 99);
}

// A device with memory of its own does not see host writes that it was not told
// of.
TEST(storage_modes, managed_untold_writes_stay_with_the_host) {
  if (the_info()->has_unified_memory) {
    test_skip("one memory: a write is seen at once");
  }
  mtl_buffer *buffer = new_buffer_in(MTL_STORAGE_MANAGED, NULL, 64);
  mtl_buffer *copy = new_buffer(64);
  words(buffer)[2] = 22;
  mtl_command_buffer *commands = new_commands(new_queue());
  mtl_blit_encoder *blit = new_blit(commands);
  mtl_blit_encoder_copy(blit, buffer, 0, copy, 0, 64);
  end_blit(blit);
  finish(commands);
  CHECK_EQUAL(words(copy)[2], 0);
}

TEST(storage_modes, managed_device_writes_stay_away_until_synchronized) {
  if (the_info()->has_unified_memory) {
    test_skip("one memory: a write is seen at once");
  }
  mtl_buffer *buffer = new_buffer_in(MTL_STORAGE_MANAGED, NULL, 16);
  add_one(buffer, 4);
  CHECK_EQUAL(words(buffer)[0], 0);
  mtl_command_buffer *commands = new_commands(new_queue());
  mtl_blit_encoder *blit = new_blit(commands);
  mtl_blit_encoder_synchronize(blit, buffer);
  end_blit(blit);
  finish(commands);
  CHECK_EQUAL(words(buffer)[0], 1);
}

TEST(storage_modes, private_round_trip_by_blits_and_a_kernel) {
  const uint32_t bytes[4] = {1, 2, 3, 4};
  mtl_buffer *source = new_buffer_with(bytes, sizeof bytes);
  mtl_buffer *hidden = new_buffer_in(MTL_STORAGE_PRIVATE, NULL, sizeof bytes);
  mtl_buffer *target = new_buffer(sizeof bytes);
  mtl_command_buffer *commands = new_commands(new_queue());
  mtl_blit_encoder *up = new_blit(commands);
  mtl_blit_encoder_copy(up, source, 0, hidden, 0, sizeof bytes);
  end_blit(up);
  mtl_compute_encoder *encoder = new_encoder(commands);
  mtl_compute_encoder_set_pipeline(encoder,
                                   new_pipeline(simple_kernels, "add_one"));
  mtl_compute_encoder_set_buffer(encoder, hidden, 0, 0);
  mtl_compute_encoder_dispatch_threads(encoder, size_of(4, 1, 1),
                                       size_of(4, 1, 1));
  end(encoder);
  mtl_blit_encoder *down = new_blit(commands);
  mtl_blit_encoder_copy(down, hidden, 0, target, 0, sizeof bytes);
  end_blit(down);
  finish(commands);
  for (uint32_t i = 0; i < 4; i++) {
    CHECK_EQUAL(words(target)[i], i + 2);
  }
}

TEST(storage_modes, private_starts_with_given_bytes) {
  const uint32_t bytes[4] = {11, 12, 13, 14};
  mtl_buffer *hidden = new_buffer_in(MTL_STORAGE_PRIVATE, bytes, sizeof bytes);
  mtl_buffer *target = new_buffer(sizeof bytes);
  mtl_command_buffer *commands = new_commands(new_queue());
  mtl_blit_encoder *blit = new_blit(commands);
  mtl_blit_encoder_copy(blit, hidden, 0, target, 0, sizeof bytes);
  end_blit(blit);
  finish(commands);
  CHECK_EQUAL(words(target)[0], 11);
  CHECK_EQUAL(words(target)[3], 14);
}

// Metal promises a shared buffer's device writes to the host before an event
// that follows them is seen.
TEST(storage_modes, shared_writes_are_seen_when_an_event_is) {
  mtl_buffer *buffer = new_buffer(16);
  mtl_event *event = new_event();
  mtl_command_buffer *commands = new_commands(new_queue());
  mtl_blit_encoder *blit = new_blit(commands);
  mtl_blit_encoder_fill(blit, buffer, 0, 16, 0x5A);
  end_blit(blit);
  mtl_command_buffer_signal_event(commands, event, 1);
  CHECK_OK(mtl_command_buffer_commit(commands));
  CHECK_OK(mtl_event_wait(event, 1, LONG_NS));
  CHECK_EQUAL(words(buffer)[3], 0x5A5A5A5A);
  CHECK_OK(mtl_command_buffer_wait(commands));
}

// A host write that a signal from the host follows is seen by work that waited
// for the signal, though it was committed before the write.
TEST(storage_modes, shared_host_writes_before_a_signal_are_seen) {
  mtl_buffer *buffer = new_buffer(16);
  mtl_buffer *copy = new_buffer(16);
  mtl_event *event = new_event();
  mtl_command_buffer *commands = new_commands(new_queue());
  mtl_command_buffer_wait_event(commands, event, 1);
  mtl_blit_encoder *blit = new_blit(commands);
  mtl_blit_encoder_copy(blit, buffer, 0, copy, 0, 16);
  end_blit(blit);
  CHECK_OK(mtl_command_buffer_commit(commands));
  words(buffer)[1] = 77;
  CHECK_OK(mtl_event_signal(event, 1));
  CHECK_OK(mtl_command_buffer_wait(commands));
  CHECK_EQUAL(words(copy)[1], 77);
}
